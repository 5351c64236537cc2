"""Robot → ``<visual>`` of URDF. Capsules and ellipsoids, which URDF does not have, go into ``<manipula>``."""

from __future__ import annotations

from pathlib import Path

from manipula.formats.appearance import written_path
from manipula.formats.urdf.origins import write_origin
from manipula.formats.xml.writer import XmlWriter
from manipula.robot.appearance import Colour, Visual
from manipula.robot.robot import Robot

_OWN = ("capsule", "ellipsoid")


class Shapes:
    """The shapes of a robot: those that URDF has words for by the number of their body, and the others."""

    def __init__(self, robot: Robot, folder: Path | None) -> None:
        self.folder = folder
        self.names = [*(link.name for link in robot.bodies), robot.base_link.name]  # −1 is the base
        self.own = [s for s in robot.appearance if s.kind in _OWN]
        self.of: dict[int | None, list[Visual]] = {}
        for shape in robot.appearance:
            if shape.kind not in _OWN:
                self.of.setdefault(shape.link, []).append(shape)
        self.colours: dict[Colour, str] = {}

    def write_own(self, xml: XmlWriter) -> None:
        """The shapes that other programs would refuse."""
        for shape in self.own:
            self.write(xml, shape, self.names[shape.link])

    def write(self, xml: XmlWriter, shape: Visual, link: str | None = None) -> None:
        """One ``<visual>``."""
        xml.open("visual", link=link)
        write_origin(xml, shape.pose)
        xml.open("geometry")
        size = shape.size
        match shape.kind:
            case "box":
                xml.leaf("box", size=size)
            case "sphere":
                xml.leaf("sphere", radius=size[0])
            case "cylinder" | "capsule":
                xml.leaf(shape.kind, radius=size[0], length=size[1])
            case "ellipsoid":
                xml.leaf("ellipsoid", radii=size)
            case _:
                path = written_path(shape.file, self.folder)
                named = f"file://{path}" if path.startswith("/") else path
                xml.leaf("mesh", filename=named, scale=None if set(size) == {1.0} else size)
        xml.close("geometry")
        if shape.colour is not None:
            xml.open("material", name=self.colours.setdefault(shape.colour, f"colour{len(self.colours) + 1}"))
            xml.leaf("color", rgba=shape.colour)
            xml.close("material")
        xml.close("visual")
