"""``<attach>`` and ``<replicate>``: other models, and copies, as if they had been written out.

A model of ``<asset>`` is read under the rules of ``include`` and keeps its own compiler and default classes; its names, and what refers to them, get
the prefix. Without ``body`` everything of its world is attached. Equalities, tendons and actuators between attached
bodies come along. Copy i of a ``<replicate>`` is turned by i times its ``euler`` angles and stands one ``offset``, seen from the copy
before, further; its names are numbered.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from manipula.errors import BudgetError, DescriptionError, printable, unknown_name
from manipula.formats.mjcf.include import join_includes
from manipula.formats.mjcf.schema import check_schema
from manipula.formats.mjcf.settings import Defaults, Settings
from manipula.formats.mjcf.trusted_folder import TrustedFolder
from manipula.formats.xml.reader import Budget, BudgetUsed, Element, read_xml

DEEPEST = 8  # models inside models
_WORDS = "name class childclass joint joint1 joint2 jointinparent body body1 body2 site site1 site2 tendon tendon1 tendon2 mesh"
_NAMES = frozenset(_WORDS.split())
_ALONG = ("equality", "tendon", "actuator")
_LEFT = ("keyframe", "contact", "sensor", "custom")
_OWNERS = {"joint": "joint", "jointinparent": "joint", "joint1": "joint", "joint2": "joint", "site": "site", "site1": "site",
           "site2": "site", "body": "body", "body1": "body", "body2": "body"}  # fmt: skip


@dataclass
class Expansion:
    """Expands one main file: what it may cost, and the settings and classes of the models that it attaches."""

    trusted: TrustedFolder | None
    budget: Budget
    spent: BudgetUsed
    settings: Settings
    defaults: Defaults
    notes: list[str]

    def expand(self, root: Element) -> None:
        """Write out every ``<attach>`` and ``<replicate>`` below ``root``.

        Raises:
            DescriptionError: a model or body that is not there, a file outside the folder, more elements than the budget has.
        """
        self._expand(root, self.trusted and self.trusted.main, self.defaults, 0)

    def _expand(self, root: Element, folder: Path | None, defaults: Defaults, depth: int) -> None:
        models = {
            m.attributes.get("name") or Path(m.get("file")).stem: m for a in root.all("asset") for m in a.all("model")
        }
        sections: list[Element] = []
        todo = list(root.all("worldbody"))
        while todo:
            holder = todo.pop()
            for at, child in enumerate(holder.children):
                if child.tag == "attach":
                    if depth >= DEEPEST:
                        child.fail(f"Models are attached to models more than {DEEPEST} deep.")
                    holder.children[at], along = self._attached(child, models, folder, defaults, depth)
                    sections += along
                else:
                    if child.tag == "replicate":
                        holder.children[at] = self._replicated(child)
                    todo.append(holder.children[at])
        root.children += sections

    def _attached(
        self, attach: Element, models: dict[str, Element], folder: Path | None, defaults: Defaults, depth: int
    ) -> tuple[Element, list[Element]]:
        name, prefix = attach.get("model"), attach.get("prefix")
        if name not in models:
            raise unknown_name("model", name, models, file=attach.file, line=attach.line, field="attach.model")
        root, file = self._model(models[name], folder)
        own = self.settings.attach(root, file.parent)
        for element in _everything(root):
            element.model = own
        inner = Defaults(root)
        self._expand(root, file.parent, inner, depth + 1)
        frame = Element("frame", {"childclass": f"{prefix}main"}, attach.line, file=attach.file, model=own)
        worlds = [child for world in root.all("worldbody") for child in world.children]
        wanted = attach.attributes.get("body")
        if wanted is None:
            frame.children = worlds
        else:
            frame.children = [
                e
                for world in worlds
                for e in _everything(world)
                if e.tag == "body" and e.attributes.get("name") == wanted
            ][:1]
            if not frame.children:
                attach.fail(f"The model '{printable(name, 60)}' has no body '{printable(wanted, 60)}'.", "body")
        if "frame" in attach.attributes:
            attach.fail("Attaching a single frame of a model is not read; name a body, or none.", "frame")
        here = {
            (e.tag.replace("freejoint", "joint"), e.attributes["name"])
            for e in _everything(frame)
            if "name" in e.attributes
        }
        along = []
        for section in root.children:
            if section.tag in _ALONG:
                section.children = [e for e in section.children if _refers_inside(e, here)]
                if section.tag == "tendon":
                    here |= {("tendon", e.attributes.get("name", "")) for e in section.children}
                for e in section.children:
                    e.attributes.setdefault("class", "main")
            if section.tag in (*_ALONG, "asset"):
                for mesh in section.all("mesh"):
                    mesh.attributes.setdefault("name", Path(mesh.attributes.get("file", "").replace("\\", "/")).stem)
                    mesh.attributes.setdefault("class", "main")
                along.append(section)
            elif section.tag in _LEFT and section.children:
                self.notes.append(f"<{section.tag}> of the attached model '{printable(name, 60)}' is not read.")
        defaults.adopt(inner, prefix, attach)
        for top in (*frame.children, *along):
            for e in _everything(top):
                _rename(e, prefix)
        return frame, along

    def _model(self, model: Element, folder: Path | None) -> tuple[Element, Path]:
        """A fresh copy of a model's file, its includes joined."""
        if self.trusted is None or folder is None:
            model.fail("A text has no folder to look this file up in; give the path of the main file.", "file")
        try:
            path = self.trusted.file(folder, model.get("file"))
        except DescriptionError as error:
            raise error.at(file=model.file, line=model.line, field="model.file") from None
        root, _ = read_xml(path, self.budget, self.spent)
        try:
            join_includes(root, str(path), self.trusted, self.budget, self.spent)
            if root.tag != "mujoco":
                root.fail(f"A model starts with <mujoco>, found <{printable(root.tag)}>.")
            check_schema(root)
        except DescriptionError as error:
            raise error.at(file=str(path)) from None
        for element in _everything(root):
            element.file = element.file or str(path)
        return root, path

    def _replicated(self, replicate: Element) -> Element:
        count = replicate.number("count")
        if count != int(count) or not 1 <= count <= 1000:
            replicate.fail(f"A whole number from 1 to 1000 is needed, found {count:g}.", "count")
        offset = np.array(replicate.numbers("offset", 3, (0.0, 0.0, 0.0)))
        angles = np.array(replicate.numbers("euler", 3, (0.0, 0.0, 0.0)))
        whole = Element("frame", {}, replicate.line, file=replicate.file, model=replicate.model)
        at = np.zeros(3)
        for i in range(int(count)):
            where = {"pos": _words(at), "euler": _words(i * angles)}
            one = Element("frame", where, replicate.line, file=replicate.file, model=replicate.model)
            one.children = [self._copy(child) for child in replicate.children]
            suffix = f"{replicate.get('sep', '')}{str(i).zfill(len(str(int(count) - 1)))}"
            for child in one.children:
                for e in _everything(child):
                    if "name" in e.attributes:
                        e.attributes["name"] += suffix
            whole.children.append(one)
            at = at + self.settings.orientation(one) @ offset
        return whole

    def _copy(self, element: Element) -> Element:
        """A copy of an element with all that it holds, which the budget counts."""
        twin = Element(element.tag, dict(element.attributes), element.line, file=element.file, model=element.model)
        todo = [(element, twin)]
        while todo:
            old, new = todo.pop()
            self.spent.elements += 1
            if self.spent.elements > self.budget.elements:
                raise BudgetError(f"More than {self.budget.elements} elements, copies counted.", line=element.line)
            for child in old.children:
                new.children.append(
                    Element(child.tag, dict(child.attributes), child.line, file=child.file, model=child.model)
                )
            todo.extend(zip(old.children, new.children))
        return twin


def _everything(root: Element) -> list[Element]:
    found = [root]
    for element in found:  # grows while it is read
        found.extend(element.children)
    return found


def _refers_inside(element: Element, here: set[tuple[str, str]]) -> bool:
    """Is everything that it refers to part of what is attached?"""
    for e in _everything(element):
        for attribute, value in e.attributes.items():
            kind = "tendon" if attribute.startswith("tendon") else _OWNERS.get(attribute)
            if kind is not None and (kind, value) not in here and not (kind == "body" and value == "world"):
                return False
    return True


def _rename(element: Element, prefix: str) -> None:
    for attribute in _NAMES & element.attributes.keys():
        if element.attributes[attribute] != "world":
            element.attributes[attribute] = prefix + element.attributes[attribute]


def _words(values: np.ndarray) -> str:
    return " ".join(repr(float(v)) for v in values)
