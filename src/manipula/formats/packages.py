"""``package://arm/meshes/a.stl``: where a package of ROS lies, and the file in it that a description names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from manipula.errors import DescriptionError, printable

SCHEMES = ("package:", "model:")
PathLike = str | os.PathLike[str]


def find_package(name: str, package_dirs: Sequence[PathLike] = ()) -> Path:
    """The folder of a package: the first folder of that name among, or directly in, the folders that are searched."""
    if not name or name in (".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise DescriptionError(f"'{printable(name, 60)}' cannot be the name of a package.")
    for root in searched_folders(package_dirs):
        for place in (root, root / name):
            if place.name == name and os.path.isdir(place):
                return place
    raise DescriptionError(
        f"The package '{printable(name, 60)}' is not found; give the folder it lies in: package_dirs=[…], or set ROS_PACKAGE_PATH.")  # fmt: skip


def folders_by_name(package_dirs: Sequence[PathLike]) -> dict[str, Path]:
    """The packages that these folders are or hold; the first of a name counts."""
    found: dict[str, Path] = {}
    for folder in checked_folders(package_dirs):
        for place in (folder.resolve(), *sorted(p for p in folder.resolve().iterdir() if p.is_dir())):
            found.setdefault(place.name, place)
    return found


def checked_folders(package_dirs: Sequence[PathLike]) -> Iterator[Path]:
    """The folders that are given.

    Raises:
        DescriptionError: one of them is none.
    """
    if isinstance(package_dirs, (str, os.PathLike)):
        raise DescriptionError("package_dirs is a list of folders.", field="package_dirs")
    for given in package_dirs:
        if not isinstance(given, (str, os.PathLike)) or not os.path.isdir(given):
            raise DescriptionError("This folder of package_dirs does not exist.", file=str(given), field="package_dirs")
        yield Path(given)


def searched_folders(package_dirs: Sequence[PathLike]) -> Iterator[Path]:
    """The folders in which packages are looked for: those given, then those of ROS."""
    yield from checked_folders(package_dirs)
    for variable, below in (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share")):
        for entry in os.environ.get(variable, "").split(os.pathsep):
            if entry:
                yield Path(entry) / below
