"""xacro → URDF text, by the library ``xacrodoc``, and only when the caller says so.

xacro evaluates Python expressions that stand in the file: expanding a file of somebody else runs what that somebody wrote. So ``load`` never
expands by itself; ``load(path, xacro=True)`` and ``--xacro`` are the caller's word that the file is trusted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from manipula.errors import DescriptionError, printable
from manipula.formats.guard import read_text
from manipula.formats.packages import folders_by_name

_RELATIVE = re.compile(r"""<xacro:include\s[^>]*?filename\s*=\s*["'](?![/$"'])""")  # meant from the file's own folder

HOW = (
    "This is a xacro file, which holds Python expressions. If you trust it: load(path, xacro=True), with its arguments "
    'xacro={"name": "value"}; or expand it first: xacro FILE > arm.urdf, or xacrodoc FILE -o arm.urdf.'
)


def expand(path: str, arguments: Any = True, package_dirs: Sequence[str | os.PathLike[str]] = ()) -> str:
    """URDF text of a xacro file that the caller trusts.

    Args:
        arguments: ``True``, or values of the file's ``<xacro:arg>``.
        package_dirs: where ``$(find …)`` looks, before the folders above the file and those of ROS.
    """
    if arguments is not True and not isinstance(arguments, Mapping):
        raise DescriptionError(
            f"xacro is True or a table of arguments, found {printable(arguments, 40)}.", field="xacro"
        )
    from xml.sax.saxutils import escape  # and with it the whole of HTTP

    folder = os.path.dirname(os.path.abspath(path))
    text = _RELATIVE.sub(
        lambda found: found.group() + escape(folder, {'"': "&quot;", "'": "&apos;"}) + "/", read_text(path)
    )
    try:
        from xacrodoc import XacroDoc, packages
    except ImportError:
        raise DescriptionError(
            "Reading xacro needs the library xacrodoc: pip install 'manipula[xacro]'. Or expand the file with ROS: xacro FILE > arm.urdf.",
            file=path) from None  # fmt: skip
    values = {} if arguments is True else {str(name): str(value) for name, value in arguments.items()}
    try:
        packages.walk_up_from(path)
        if package_dirs:
            packages.look_in([os.fspath(place) for place in package_dirs])
            packages.update_package_cache(folders_by_name(package_dirs))
        return XacroDoc.from_string(text, subargs=values, resolve_packages=False, rootdir=folder).dom.toxml()
    except DescriptionError:
        raise
    except Exception as problem:  # somebody else's code, and expressions of the file
        raise DescriptionError(
            f"xacro cannot expand this file: {type(problem).__name__}: {printable(problem, 300)}", file=path
        ) from None
