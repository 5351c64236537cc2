"""The shapes that a description shows, and where their mesh files lie. No fault here is one of the robot: what cannot be shown is reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from manipula.algebra.pose import IDENTITY
from manipula.errors import DescriptionError, printable
from manipula.formats.guard import check_reference, safe_join
from manipula.formats.meshes.reader import SUFFIXES
from manipula.formats.packages import SCHEMES, find_package, searched_folders
from manipula.lazy import cached_property
from manipula.robot.appearance import MOST_SHAPES, Colour, VisualDraft, placed

if TYPE_CHECKING:
    from manipula.formats.xml.reader import Element

PACKAGE_FILES = ("package.xml", "model.config")  # one of them stands in the folder of a package
LEVELS = 6  # folders above a description that may be its package


class Looks:
    """The shapes of one description as they are found; ``notes`` tells of those that cannot be shown.

    Args:
        folder: where the description lies; ``None`` for a text, whose meshes only packages can hold.
        package_dirs: folders of packages, before those of ROS.
    """

    def __init__(self, folder: Path | None, package_dirs: Sequence[str | os.PathLike[str]] = ()) -> None:
        self.folders = MeshFolders(folder, package_dirs)
        for _ in searched_folders(package_dirs):  # which refuses folders that are not there
            pass
        self.shapes: list[VisualDraft] = []
        self.meshes: dict[str, str | DescriptionError] = {}  # reference → file, or why there is none
        self.faults: list[str] = []

    def add(self, make: Callable[[], VisualDraft | None]) -> None:
        """Take the shape that ``make`` reads; a fault in it is reported."""
        try:
            if len(self.shapes) >= MOST_SHAPES:
                raise DescriptionError(f"At most {MOST_SHAPES} shapes are shown.")
            shape = make()
            if shape is None:
                return
            placed(shape, 0, IDENTITY)
            if shape.kind == "mesh":
                shape.file = self.mesh(shape.file)
                if not shape.file:
                    return
            self.shapes.append(shape)
        except DescriptionError as error:
            self.faults.append(str(error))

    def colour(self, make: Callable[[], Colour | None]) -> Colour | None:
        """The colour that ``make`` reads; ``None`` where it is no colour, which is reported."""
        try:
            return make()
        except DescriptionError as error:
            self.faults.append(str(error))
            return None

    def mesh(self, reference: str) -> str:
        """The file of a mesh; empty where there is none."""
        if reference not in self.meshes:
            try:
                self.meshes[reference] = str(self.folders.find(reference))
            except DescriptionError as error:
                self.meshes[reference] = error
        found = self.meshes[reference]
        return found if isinstance(found, str) else ""

    def notes(self) -> list[str]:
        """One sentence for mesh files that are not there, and one for shapes that are damaged."""
        told = []
        lost = [error for error in self.meshes.values() if isinstance(error, DescriptionError)]
        if lost:
            told.append(
                f"{len(lost)} of {len(self.meshes)} mesh files of the appearance are not shown; the first: {lost[0].problem}"
            )
        if self.faults:
            told.append(
                f"{len(self.faults)} parts of the appearance cannot be shown; the first: {printable(self.faults[0], 200)}"
            )
        return told


def only_shape(visual: Element) -> Element:
    """The one shape in the ``<geometry>`` of a visual."""
    geometry = visual.need("geometry")
    if len(geometry.children) != 1:
        geometry.fail(f"One shape is needed in <geometry>, found {len(geometry.children)}.")
    return geometry.children[0]


def written_path(file: str, folder: Path | None) -> str:
    """The path of a mesh file as a description in ``folder`` names it: from there where it lies inside, else the whole path."""
    path = Path(file)
    inside = folder is not None and path.is_relative_to(folder.resolve())
    return path.relative_to(folder.resolve()).as_posix() if folder is not None and inside else path.as_posix()


class MeshFolders:
    """The folders in which the meshes of one description may lie; each is looked at once."""

    def __init__(self, folder: Path | None, package_dirs: Sequence[str | os.PathLike[str]] = ()) -> None:
        self.folder, self.package_dirs = folder, package_dirs

    def find(self, reference: str) -> Path:
        """The regular file of a mesh that a description in ``folder`` names; it is not opened.

        It lies, after every link has been followed, in that folder, in the package around it (a folder that holds ``package.xml`` or
        ``model.config``), or in a package of ``package_dirs`` or ROS.

        Args:
            reference: ``meshes/a.stl``, ``package://arm/meshes/a.stl``, ``model://…``, ``file:///…`` or an absolute path.

        Raises:
            DescriptionError: no such file or package, a path that leads elsewhere, or a file that holds no mesh.
        """
        try:
            return self._found(reference)
        except (OSError, RuntimeError, ValueError) as problem:
            if isinstance(problem, DescriptionError):
                raise
            raise DescriptionError(f"The path '{printable(reference, 60)}' cannot be followed.") from None

    @cached_property
    def _home(self) -> Path | None:
        return None if self.folder is None else self.folder.resolve()

    @cached_property
    def _around(self) -> list[Path]:
        """The packages around the description."""
        above = [] if self._home is None else [self._home, *self._home.parents][:LEVELS]
        return [place for place in above if any((place / name).is_file() for name in PACKAGE_FILES)]

    def _found(self, reference: str) -> Path:
        if reference.startswith(SCHEMES):
            name, _, rest = check_reference(reference).partition("/")
            own = next((p for p in self._around if p.name == name), None)
            return safe_join(find_package(name, self.package_dirs) if own is None else own, rest, SUFFIXES)
        path = reference.removeprefix("file://").replace("\\", "/")
        if self._home is None and not path.startswith("/"):
            raise DescriptionError(f"'{printable(reference, 60)}': a text has no folder to look this file up in.")
        real = Path(self._home or "/", path).resolve()
        home = [] if self._home is None else [self._home]
        for root in (*home, *self._around, *(p.resolve() for p in searched_folders(self.package_dirs))):
            if real.is_relative_to(root):
                return safe_join(root, real.relative_to(root).as_posix(), SUFFIXES)
        shown = printable(reference, 60)
        raise DescriptionError(f"'{shown}' leads out of the folder of the description and its packages.")
