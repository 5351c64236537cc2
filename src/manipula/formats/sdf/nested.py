"""Models inside a model, made one: what stands in a nested model ``arm`` is called ``arm::link`` outside, as SDF calls it.

The nested model's own frame becomes a frame ``arm``, where the ``<pose>`` of the nested model puts it (in the frame of the model around
it unless ``relative_to`` says otherwise), fixed to its canonical link. A merged include keeps its names.
"""

from __future__ import annotations

from manipula.errors import printable
from manipula.formats.sdf.poses import MODEL
from manipula.formats.sdf.values import flag_in, text_of
from manipula.formats.xml.reader import Element

WORLD = "world"
_KEPT = ("link", "joint", "frame")
_LEFT = ("pose", "static", "self_collide", "allow_auto_disable", "enable_wind", "plugin", "gripper", "model")


def flatten(model: Element) -> None:
    """Put the links, joints and frames of every model inside a model into it, in place, under their outer names.

    Raises:
        DescriptionError: a static part, an axis in the frame of a nested model, something that only a model of its own can have.
    """
    for inner in list(model.all("model")):
        flatten(inner)
        at = next(i for i, child in enumerate(model.children) if child is inner)
        model.children[at : at + 1] = _outside(inner)


def _outside(inner: Element) -> list[Element]:
    """The elements of a nested model as they are called in the model around it, and the frame that stands for it."""
    name = inner.get("name")
    if "::" in name:
        inner.fail("'::' parts names of models; no model can be called so.", "name")
    if flag_in(inner, "static"):
        inner.fail("A part of a robot that is static cannot move with it; remove <static>.")
    if inner.attributes.get("placement_frame"):
        inner.fail("A nested model is placed by its own frame; 'placement_frame' is not read.", "placement_frame")
    for child in inner.children:
        if child.tag not in (*_KEPT, *_LEFT):
            child.fail(f"<{printable(child.tag)}> in a nested model is not read.")
    links = [link.get("name") for link in inner.all("link")]
    if not links:
        inner.fail("No link is described in this nested model.")
    merged = inner.attributes.get("merge") == "true"
    frame = f"_merged__{name}__model__" if merged else name
    scope = _Scope("" if merged else f"{name}::", frame)
    canonical = inner.attributes.get("canonical_link") or links[0]
    pose = inner.one("pose")
    placed = Element("pose", {"relative_to": MODEL}, inner.line, [], "", inner.file)
    if pose is not None:
        stated = {word: value for word, value in pose.attributes.items() if value}
        placed = Element("pose", {"relative_to": MODEL} | stated, pose.line, [], pose.text, pose.file)
    own = Element("frame", {"name": frame, "attached_to": scope(canonical)}, inner.line, [placed], "", inner.file)
    return [own, *(scope.element(child) for child in inner.children if child.tag in _KEPT)]


class _Scope:
    """Names inside a nested model as they are called outside.

    Args:
        prefix: ``arm::``, or nothing for a merged one. frame: the outer name of the nested model's own frame.
    """

    def __init__(self, prefix: str, frame: str) -> None:
        self.prefix, self.frame = prefix, frame

    def __call__(self, name: str) -> str:
        return self.frame if name == MODEL else name if name == WORLD else f"{self.prefix}{name}"

    def element(self, element: Element) -> Element:
        """A link, joint or frame with outer names; a pose that stands in the nested model's frame says so."""
        attributes = dict(element.attributes)
        attributes["name"] = self(element.get("name"))
        children = [self._inside(child) for child in element.children]
        if element.tag == "frame":
            attributes["attached_to"] = self(attributes.get("attached_to") or MODEL)
        stands_in_model = element.tag == "link" or (
            element.tag == "frame" and not element.attributes.get("attached_to")
        )
        if stands_in_model:
            pose = next((c for c in children if c.tag == "pose"), None)
            if pose is None:
                children.append(Element("pose", {"relative_to": self.frame}, element.line, [], "", element.file))
            elif not pose.attributes.get("relative_to"):
                pose.attributes["relative_to"] = self.frame
        return Element(element.tag, attributes, element.line, children, element.text, element.file)

    def _inside(self, child: Element) -> Element:
        attributes = dict(child.attributes)
        text = child.text
        if child.tag in ("parent", "child"):
            text = self(text_of(child))
        for word in ("relative_to", "expressed_in"):
            if attributes.get(word):
                attributes[word] = self(attributes[word])
        if child.tag in ("mimic", "drake:mimic") and "joint" in attributes:
            attributes["joint"] = self(attributes["joint"])
        if child.tag in ("axis", "axis2") and flag_in(child, "use_parent_model_frame"):
            child.fail(
                "The axis of a joint in a nested model stands in its own frame; <use_parent_model_frame> is not read."
            )
        return Element(child.tag, attributes, child.line, [self._inside(c) for c in child.children], text, child.file)
