"""``robot_descriptions:panda_description``: a name of the package ``robot_descriptions``, which fetches the files it knows from public repositories.

Only this prefix asks for it; nothing else in this package reaches for the network.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Mapping
from typing import Any

from manipula.errors import DescriptionError, printable, unknown_name

PREFIX = "robot_descriptions:"


def described_file(source: str, xacro: Any = None) -> tuple[str, list[str]]:
    """The URDF or MJCF file behind a name such as ``robot_descriptions:panda_description``, and the folders of its packages.

    Args:
        xacro: the caller's word that a description that has to be expanded is trusted; a table gives it arguments.

    Raises:
        DescriptionError: the package is not installed, it does not know the name, or the files cannot be fetched.
    """
    name = source.removeprefix(PREFIX)
    try:
        from robot_descriptions._descriptions import DESCRIPTIONS as known
    except ImportError:
        raise DescriptionError(
            "This name needs the package robot_descriptions: pip install 'manipula[descriptions]'.",
            field=printable(source),
        ) from None
    if name not in known and f"{name}_description" in known:
        name = f"{name}_description"
    if name not in known:
        raise unknown_name("robot in robot_descriptions", name, sorted(known))
    try:
        with contextlib.redirect_stdout(sys.stderr):  # it tells there what it fetches, and ours may be a table or JSON
            module = importlib.import_module(f"robot_descriptions.{name}")
    except Exception as problem:  # no network, no git, a repository that is gone
        reason = printable(problem, 300)
        raise DescriptionError(
            f"The files of '{name}' cannot be fetched ({type(problem).__name__}: {reason}). They are downloaded once, by git; a network is needed.",
            field=printable(source),
        ) from None
    for word in ("URDF_PATH", "MJCF_PATH"):
        if hasattr(module, word):
            if xacro:
                raise DescriptionError("This is no .xacro file: nothing is expanded.", field="xacro")
            return str(getattr(module, word)), _folders(module, word == "MJCF_PATH")
    if not hasattr(module, "XACRO_PATH"):
        raise DescriptionError("This description has neither a URDF nor an MJCF file.", field=printable(source))
    if not xacro:
        raise DescriptionError(
            "This description is a xacro file, which holds Python expressions; if you trust it: load(…, xacro=True).",
            field=printable(source),
        )
    return _expanded(module, source, dict(xacro) if isinstance(xacro, Mapping) else {}), _folders(module, False)


def _folders(module: Any, above: bool) -> list[str]:
    """Where the package looks for what its files name: the repository, and what the package and the repository lie in.

    Args:
        above: only the folder around the file, inside which it may open others.
    """
    package, repository = (getattr(module, word, "") for word in ("PACKAGE_PATH", "REPOSITORY_PATH"))
    found = [repository] if above else [p and os.path.dirname(p) for p in (package, repository)] + [repository]
    return list(dict.fromkeys(p for p in found if p and os.path.isdir(p)))


def _expanded(module: Any, source: str, arguments: dict[str, str]) -> str:
    try:
        from robot_descriptions._xacro import get_urdf_path

        return str(get_urdf_path(module, xacro_args=arguments) if arguments else get_urdf_path(module))
    except Exception as problem:  # xacrodoc is missing, or the file cannot be expanded
        raise DescriptionError(
            f"xacro cannot expand this description: {type(problem).__name__}: {printable(problem, 300)}",
            field=printable(source),
        ) from None
