"""``<include>`` of SDF: the model of another file takes its place, with the name, pose and placement that the include states.

``<uri>`` names an ``.sdf`` file below the folder of the main file, a folder there with a ``model.sdf`` (or what its ``model.config`` names),
or ``model://NAME`` in a folder NAME there or in ``package_dirs``. Nothing outside is opened, a file that includes itself is refused, and
all files together share one budget.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from manipula.errors import DescriptionError, printable
from manipula.formats.guard import check_reference, safe_join
from manipula.formats.packages import SCHEMES, find_package
from manipula.formats.sdf.values import name_in, text_of
from manipula.formats.xml.reader import Budget, BudgetUsed, Element, read_xml

LARGEST_NUMBER_OF_FILES = 200
LEVELS = 12
STATED = ("pose", "placement_frame", "static")  # what an include states instead of the model
_IN_INCLUDE = ("uri", "name", "plugin", *STATED)


class Includes:
    """The included files of one description.

    Args:
        file: the main file; ``None`` for a text, which has no folder.
        package_dirs: folders of models, or folders that hold them.
    """

    def __init__(self, file: str | None, package_dirs: Sequence[str | os.PathLike[str]], budget: Budget, spent: BudgetUsed) -> None:  # fmt: skip
        self.main = None if file is None else Path(file).resolve()
        self.package_dirs, self.budget, self.spent, self.files = package_dirs, budget, spent, 0

    def join(self, holder: Element, version: tuple[int, int], above: tuple[Path, ...] = ()) -> None:
        """Replace every ``<include>`` in an element and in the models inside it by the model that it names.

        Args:
            above: the files that lead here.

        Raises:
            DescriptionError: a file outside the folder, in itself, missing, or without a model.
        """
        if len(above) > LEVELS:
            holder.fail(f"Files include each other more than {LEVELS} levels deep.")
        for at, child in enumerate(holder.children):
            if child.tag == "include":
                holder.children[at] = self._model(child, version, above)
            elif child.tag == "model":
                self.join(child, version, above)

    def _model(self, include: Element, version: tuple[int, int], above: tuple[Path, ...]) -> Element:
        if self.main is None:
            include.fail("A text has no folder to look this file up in; give the path of the main file.", "uri")
        for child in include.children:
            if child.tag not in _IN_INCLUDE:
                child.fail(f"<{printable(child.tag)}> in an <include> changes the included model, which is not read.")
        uri = name_in(include, "uri")
        try:
            path = self._path(uri, above[-1].parent if above else self.main.parent)
        except DescriptionError as error:
            raise error.at(file=include.file, line=include.line, field="include.uri") from None
        if path in (self.main, *above):
            include.fail(f"The file '{printable(uri, 60)}' includes itself.", "uri")
        self.files += 1
        if self.files > LARGEST_NUMBER_OF_FILES:
            include.fail(f"More than {LARGEST_NUMBER_OF_FILES} included files.", "uri")
        root, _ = read_xml(path, self.budget, self.spent)
        models = list(root.all("model")) if root.tag == "sdf" else []
        if len(models) != 1:
            include.fail(f"'{printable(uri, 60)}' holds {len(models)} models; an included file is SDF with one.", "uri")
        if (_minor(root) < 5) != (version[1] < 5):
            include.fail("Joint axes have another meaning before SDF 1.5; bring both files to one version.", "uri")
        model = models[0]
        self._placed(model, path)
        self.join(model, version, (*above, path))
        return _stated(include, model)

    def _path(self, uri: str, folder: Path) -> Path:
        assert self.main is not None
        root, reference = self.main.parent, uri
        if uri.startswith(SCHEMES):
            name, _, rest = check_reference(uri).partition("/")
            inside = Path(os.path.realpath(root / name))
            own = inside.is_relative_to(root) and os.path.isdir(inside)
            root = inside if own else find_package(name, self.package_dirs)
            reference = rest or "."
        elif folder.is_relative_to(root) and folder != root:
            reference = f"{folder.relative_to(root).as_posix()}/{uri}"
        place = Path(os.path.realpath(root / check_reference(reference) if reference != "." else root))
        if place.is_relative_to(root) and os.path.isdir(place):
            below = place.relative_to(root).as_posix()
            return safe_join(root, f"{below}/{_named(place, self.budget, self.spent)}", (".sdf", ".xml"))
        return safe_join(root, reference, (".sdf", ".xml"))

    def _placed(self, model: Element, path: Path) -> None:
        """Note the file of every element; meshes that it names from its own folder are named from that of the main file."""
        assert self.main is not None
        folder = path.parent
        below = folder.relative_to(self.main.parent).as_posix() if folder.is_relative_to(self.main.parent) else ""
        todo = [model]
        while todo:
            element = todo.pop()
            element.file = str(path)
            if element.tag == "mesh":
                for uri in element.all("uri"):
                    if below not in ("", ".") and ":" not in uri.text and not uri.text.strip().startswith("/"):
                        uri.text = f"{below}/{uri.text.strip()}"
            todo.extend(element.children)


def _named(folder: Path, budget: Budget, spent: BudgetUsed) -> str:
    """The file that ``model.config`` in a folder names for the newest version, ``model.sdf`` where there is none."""
    config = folder / "model.config"
    if not config.is_file():
        return "model.sdf"
    root, _ = read_xml(config, budget, spent)
    listed = [(_minor(e), text_of(e)) for e in root.all("sdf")]
    return max(listed)[1] if listed else "model.sdf"


def _minor(element: Element) -> int:
    """Of ``version="1.9"`` the 9; 0 where it is left out."""
    minor = element.get("version", "1.0").strip().partition(".")[2].partition(".")[0]
    return int(minor) if minor.isdecimal() and minor.isascii() and len(minor) <= 3 else 0


def _stated(include: Element, model: Element) -> Element:
    """The model with the name, pose, placement and <static> of the include."""
    own = [tag for tag in STATED if include.one(tag) is not None]
    given = include.one("name")
    attributes = dict(model.attributes) | ({"name": text_of(given)} if given is not None else {})
    merge = include.get("merge", "false")
    if merge.strip().lower() in ("1", "true"):
        attributes["merge"] = "true"
    place = include.one("placement_frame")
    if place is not None:
        attributes["placement_frame"] = text_of(place)
    elif "pose" in own:
        attributes.pop("placement_frame", None)
    children = [c for c in model.children if c.tag not in own or c.tag == "placement_frame"]
    children += [c for c in include.children if c.tag in ("pose", "static")]
    return Element("model", attributes, include.line, children, model.text, include.file)
