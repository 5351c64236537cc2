"""``<visual>`` of URDF: boxes, cylinders, spheres, capsules and meshes with their colours."""

from __future__ import annotations

from manipula.errors import printable
from manipula.formats.appearance import Looks, only_shape
from manipula.formats.urdf.origins import origin_of
from manipula.formats.xml.reader import Element
from manipula.robot.appearance import Colour, VisualDraft


def read_visuals(root: Element, looks: Looks) -> None:
    """Take the shapes of every link; a material that has a name may be defined anywhere in the file."""
    links = list(root.all("link"))
    visuals = [(link.get("name"), visual) for link in links for visual in link.all("visual")]
    visuals += [(v.get("link", ""), v) for own in root.all("manipula") for v in own.all("visual")]
    materials = [*root.all("material"), *(m for _, visual in visuals for m in visual.all("material"))]
    colours: dict[str, Element] = {}
    for material in materials:
        for colour in material.all("color"):
            colours.setdefault(material.attributes.get("name", ""), colour)
    for link, visual in visuals:
        looks.add(lambda link=link, visual=visual: _shape(link, visual, colours, looks))


def _shape(link: str, visual: Element, colours: dict[str, Element], looks: Looks) -> VisualDraft:
    shape, file = only_shape(visual), ""
    match shape.tag:
        case "box":
            size = shape.numbers("size", 3)
        case "sphere":
            size = shape.numbers("radius", 1)
        case "cylinder" | "capsule":
            size = (shape.number("radius"), shape.number("length"))
        case "ellipsoid":  # ours
            size = shape.numbers("radii", 3)
        case "mesh":
            size, file = shape.numbers("scale", 3, (1.0, 1.0, 1.0)), shape.get("filename")
        case other:
            shape.fail(f"Shapes are box, sphere, cylinder, capsule and mesh, found <{printable(other)}>.")
    colour = looks.colour(lambda: _colour(visual, colours))
    return VisualDraft(link, shape.tag, size, origin_of(visual), colour, file, visual.line, f"visual of '{link}'")


def _colour(visual: Element, colours: dict[str, Element]) -> Colour | None:
    """``rgba`` of the visual's own material, else of the one that has its name."""
    material = visual.one("material")
    if material is None:
        return None
    stated = material.one("color")
    if stated is None:
        stated = colours.get(material.attributes.get("name", ""))
    if stated is None:
        return None
    red, green, blue, opacity = stated.numbers("rgba", 4)
    return red, green, blue, opacity
