"""``load`` and ``save``: the format follows the file's suffix; a bare word is a name in the catalog."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from manipula.errors import DescriptionError, printable, unknown_name
from manipula.formats import descriptions, xacro_files
from manipula.formats.whole_file import file_path, write_whole
from manipula.formats.xml.first_tag import first_tag
from manipula.robot.robot import Robot
from manipula.robot.select_built import selected
from manipula.robot.selection import Selection

READABLE = (".toml", ".urdf", ".xml", ".sdf", ".txt")
WRITABLE = (".toml", ".urdf", ".xml", ".txt")


def load(
    source: str | os.PathLike[str], tip: str | None = None, *, lock: Mapping[str, float] | None = None,
    drop: Sequence[str] | str | None = None, chain: tuple[str, str] | None = None, symbolic: bool = False,
    xacro: bool | Mapping[str, str] = False, package_dirs: Sequence[str | os.PathLike[str]] = (),
) -> Robot:  # fmt: skip
    """A robot from a file (``.toml``, ``.urdf``, ``.sdf``, ``.xml`` for MJCF or either, ``.txt`` for the 13-column table) or the catalog.

    Args:
        source: path, or a catalog name such as "scara-khang"; a name of the catalog wins over a file or folder called the same.
            "robot_descriptions:panda_description" asks the package of that name, which downloads the file once.
        tip: frame that becomes the tip, where the description leaves it open or names another.
        lock: joints that are held still, with their positions [rad or m]: ``{"finger_joint1": 0.02}``. Their links keep their mass.
        drop: joints or links that are left out with all that hangs on them, mass included.
        chain: ``(base, tip)``, the joints between two links with what is fixed to their links; all else is left out.
        symbolic: names in the ``[parameters]`` of a TOML file or a robot of the catalog stay free, so that equations are
            written in them; their values stand in ``robot.values`` and are used where numbers are needed.
        xacro: expand a ``.xacro`` file, which runs the Python expressions in it: for files you trust. A table gives it arguments.
        package_dirs: folders in which the packages of a .urdf, .sdf or .xacro file (``package://…``) are looked for, before those of ROS; for
            MJCF, folders above the file, inside which what it includes and its meshes may lie too.

    Raises:
        DescriptionError: with file, line, field, what was found and what is allowed.
    """
    text = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(text, str):
        raise DescriptionError(f"A path or a catalog name is needed, found {type(text).__name__}.")
    if tip is not None and (not isinstance(tip, str) or not tip):
        raise DescriptionError(
            f"The tip is the name of a frame or link, found {printable(repr(tip), 40)}; left out, it is the robot's own.",
            field="tip",
        )
    selection = Selection.of(lock, drop, chain)
    if text.startswith(descriptions.PREFIX):
        text, folders = descriptions.described_file(text, xacro)
        xacro, package_dirs = False, (*package_dirs, *folders)
    _refuse_idle(text, xacro, package_dirs)
    suffix = Path(text).suffix.lower()
    if symbolic and suffix not in ("", ".toml"):
        raise DescriptionError(
            f"Only .toml files and the catalog have [parameters] that can stay symbolic, found '{printable(suffix)}'.",
            file=text,
        )
    if suffix in (".urdf", ".xml", ".sdf"):  # these may hold joints that only a selection makes possible
        robot = _read_xml(text, suffix, tip, selection, package_dirs)
    elif suffix in READABLE:
        robot = _read(text, suffix, symbolic, selection)
    elif suffix == ".xacro":
        if not xacro:
            raise DescriptionError(xacro_files.HOW, file=text)
        robot = _read_xacro(text, xacro, package_dirs, tip, selection)
    elif not suffix and _in_catalog(text):  # a file or folder of that name has no suffix, hence no format
        robot = _from_catalog(text, symbolic, selection)
    elif os.path.isdir(text):
        raise DescriptionError(
            f"This is a folder; a robot is one file ({', '.join(READABLE)}) or a name of the catalog.", file=text
        )
    elif suffix or os.sep in text or os.path.exists(text):
        found = f"'{printable(suffix)}'" if suffix else "no suffix"
        raise DescriptionError(
            f"The format follows the suffix; found {found}, known are {', '.join(READABLE)}.", file=text
        )
    else:
        robot = _from_catalog(text, symbolic, selection)
    return robot if tip is None or tip == robot.tip else robot.replace(tip=tip)


def _refuse_idle(text: str, xacro: object, package_dirs: object) -> None:
    """Refuse words that nothing would come of."""
    suffix = Path(text).suffix.lower()
    if xacro and suffix != ".xacro":
        raise DescriptionError("This is no .xacro file: nothing is expanded.", file=text, field="xacro")
    if package_dirs and suffix not in (".xacro", ".urdf", ".sdf", ".xml"):
        raise DescriptionError(
            "Only .urdf, .sdf, .xacro and .xml files name packages.", file=text, field="package_dirs"
        )


def _read_xacro(
    path: str, arguments: object, package_dirs: Sequence[str | os.PathLike[str]], tip: str | None, selection: Selection
) -> Robot:
    from manipula.formats.urdf import read_urdf

    text = xacro_files.expand(path, arguments, package_dirs)
    try:
        robot = read_urdf(text, tip, selection, package_dirs, Path(path).parent)
    except DescriptionError as error:
        raise error.at(file=f"{path}, expanded") from None
    return robot.replace(notes=(*robot.notes, "xacro expanded this file: its Python expressions were evaluated."))


def _in_catalog(name: str) -> bool:
    from manipula.formats.catalog import catalog_names

    return name in catalog_names()


def _from_catalog(name: str, symbolic: bool, selection: Selection) -> Robot:
    from manipula.formats.catalog import select_catalog

    return select_catalog(name, symbolic, selection)


def _read_xml(
    path: str, suffix: str, tip: str | None, selection: Selection, package_dirs: Sequence[str | os.PathLike[str]]
) -> Robot:
    tag = first_tag(path) if suffix == ".xml" else ""  # other programs write URDF and SDF in .xml files too
    if suffix == ".urdf" or tag == "robot":
        from manipula.formats.urdf import read_urdf

        return read_urdf(Path(path), tip, selection, package_dirs)
    if suffix == ".sdf" or tag == "sdf":
        from manipula.formats.sdf import read_sdf

        return read_sdf(path, tip, selection, package_dirs)
    from manipula.formats.mjcf import read_mjcf

    return read_mjcf(path, tip, selection, package_dirs)


def _read(path: str, suffix: str, symbolic: bool, selection: Selection) -> Robot:
    if suffix == ".toml":
        from manipula.formats.toml import from_toml

        return from_toml(Path(path), symbolic=symbolic, selection=selection)
    from manipula.formats.table import from_table

    return selected(from_table(Path(path)), selection, file=path)


def to_text(robot: Robot, suffix: str, folder: Path | None = None) -> str:
    """The text of a robot in the format of that suffix, for a file in ``folder``."""
    if suffix == ".toml":
        from manipula.formats.toml import to_toml

        return to_toml(robot, folder)
    if suffix == ".urdf":
        from manipula.formats.urdf import to_urdf

        return to_urdf(robot, folder)
    if suffix == ".xml":
        from manipula.formats.mjcf import to_mjcf

        return to_mjcf(robot)
    if suffix == ".txt":
        from manipula.formats.table import to_table

        return to_table(robot)
    raise unknown_name("format to write", suffix, WRITABLE)


def save(robot: Robot, path: str | os.PathLike[str]) -> Path:
    """Write a robot; the file appears whole or not at all."""
    if not isinstance(robot, Robot):
        raise DescriptionError(f"A robot is saved, found {printable(robot)}; load(…) reads one.", field="robot")
    target = file_path(path)
    text = to_text(robot, target.suffix.lower(), target.parent)
    return write_whole(target, text)
