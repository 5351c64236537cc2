"""``<visual>`` of SDF: boxes, cylinders, spheres, capsules, ellipsoids and meshes with their diffuse colour."""

from __future__ import annotations

from manipula.errors import printable
from manipula.formats.appearance import Looks, only_shape
from manipula.formats.sdf.poses import Poses
from manipula.formats.sdf.values import name_in, number_in, numbers_of, pose_of, text_of
from manipula.formats.xml.reader import Element
from manipula.robot.appearance import Colour, VisualDraft


def read_visuals(model: Element, poses: Poses, looks: Looks) -> None:
    """Take the shapes of every link of a model."""
    for link in model.all("link"):
        for visual in link.all("visual"):
            looks.add(lambda link=link, visual=visual: _shape(link.get("name"), visual, poses, looks))


def _shape(link: str, visual: Element, poses: Poses, looks: Looks) -> VisualDraft | None:
    shape, file = only_shape(visual), ""
    match shape.tag:
        case "box":
            size = numbers_of(shape.need("size"), 3)
        case "sphere":
            size = numbers_of(shape.need("radius"), 1)
        case "cylinder" | "capsule":
            size = (*numbers_of(shape.need("radius"), 1), *numbers_of(shape.need("length"), 1))
        case "ellipsoid":
            size = numbers_of(shape.need("radii"), 3)
        case "mesh":
            if shape.one("submesh") is not None:
                shape.fail("Parts of a mesh are not shown.")
            scale = shape.one("scale")
            size, file = (1.0, 1.0, 1.0) if scale is None else numbers_of(scale, 3), name_in(shape, "uri")
        case "plane" | "empty":
            return None
        case other:
            shape.fail(f"Shapes are box, sphere, cylinder, capsule, ellipsoid and mesh, found <{printable(other)}>.")
    if number_in(visual, "transparency", 0.0) >= 1.0:
        return None
    pose = visual.one("pose")
    X = pose_of(pose)
    if pose is not None and pose.attributes.get("relative_to"):
        X = poses.between(("link", link), poses.node(pose.get("relative_to"), pose)) @ X
    colour = looks.colour(lambda: _colour(visual))
    return VisualDraft(link, shape.tag, size, X, colour, file, visual.line, f"visual of '{link}'")


def _colour(visual: Element) -> Colour | None:
    """The diffuse colour; its opacity may be left out."""
    material = visual.one("material")
    diffuse = None if material is None else material.one("diffuse")
    if diffuse is None:
        return None
    red, green, blue, *rest = numbers_of(diffuse, 4 if len(text_of(diffuse).split()) == 4 else 3)
    return red, green, blue, (rest[0] if rest else 1.0) * (1.0 - number_in(visual, "transparency", 0.0))
