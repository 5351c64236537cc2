"""The geoms that MuJoCo's viewer shows: groups 0 to 2, not transparent, on bodies.

The ground and other geoms of the world are scenery and left out, save those that ``to_mjcf`` named. Meshes stand where their
file says, ``refpos`` and ``refquat`` taken off; MuJoCo's own frame for them, in the centre of mass, is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.pose import IDENTITY, Pose
from manipula.errors import DescriptionError, unknown_name
from manipula.formats.appearance import Looks
from manipula.formats.mjcf.extension import PREFIX
from manipula.formats.mjcf.geoms import SHAPES, placed
from manipula.formats.mjcf.meshes import Meshes
from manipula.formats.mjcf.settings import Defaults, Settings
from manipula.formats.xml.reader import Element
from manipula.robot.appearance import Colour, VisualDraft

SHOWN = (0, 2)  # groups
GREY = (0.5, 0.5, 0.5, 1.0)  # rgba of a geom that states none: the material's counts


class Visuals:
    """Collects the shapes of one body after the other."""

    def __init__(self, root: Element, settings: Settings, defaults: Defaults, meshes: Meshes) -> None:
        self.settings, self.defaults, self.meshes = settings, defaults, meshes
        self.looks = Looks(settings.folder)
        self.materials = {m.attributes.get("name", ""): m for a in root.all("asset") for m in a.all("material")}

    def body(self, name: str, world: bool, inside: Sequence[tuple[Element, Pose, str | None]]) -> None:
        """Take the shapes of a body from what it holds."""
        for geom, X_BF, inherited in inside:
            if geom.tag == "geom" and (not world or geom.attributes.get("name", "").startswith(PREFIX)):
                self.looks.add(
                    lambda g=geom, X=X_BF, inherited=inherited: self._shape(name, self.defaults.filled(g, inherited), X)
                )

    def _shape(self, body: str, geom: Element, X_BF: Pose) -> VisualDraft | None:
        kind = geom.get("type", "sphere")
        if not SHOWN[0] <= geom.number("group", 0.0) <= SHOWN[1] or kind in ("plane", "hfield"):
            return None
        colour = self.looks.colour(lambda: self._colour(geom))
        if colour is not None and colour[3] == 0.0:
            return None
        here: dict[str, Any] = {"line": geom.line, "field": f"geom of '{body}'"}
        if kind == "mesh":
            return self._mesh(body, geom, X_BF @ self.settings.pose(geom), colour, here)
        if kind not in SHAPES or "mesh" in geom.attributes:
            geom.fail("Shapes are sphere, capsule, cylinder, ellipsoid, box and mesh, none of them fitted to a mesh.")
        X_BG, sizes = placed(geom, X_BF, self.settings)
        if kind == "box":
            sizes = [2.0 * v for v in sizes]
        elif kind in ("cylinder", "capsule"):
            sizes[1] *= 2.0
        return VisualDraft(body, kind, tuple(sizes), X_BG, colour, **here)

    def _mesh(self, body: str, geom: Element, X_BG: Pose, colour: Colour | None, here: dict[str, Any]) -> VisualDraft:
        """With the corners v of the file, MuJoCo shows S Rᵀ (v − p) for ``refpos`` p, ``refquat`` R and ``scale`` S."""
        name = geom.get("mesh")
        if name not in self.meshes.known:
            raise unknown_name("mesh", name, self.meshes.known, file=geom.file, line=geom.line, field="geom.mesh")
        mesh = self.defaults.filled(self.meshes.known[name], None)
        scale = mesh.numbers("scale", 3, (1.0, 1.0, 1.0))
        at = np.array(mesh.numbers("refpos", 3, (0.0, 0.0, 0.0)))
        turn = np.array(mesh.numbers("refquat", 4, (1.0, 0.0, 0.0, 0.0)))
        if not np.linalg.norm(turn) > 1e-10:
            mesh.fail("The direction is zero.", "refquat")
        turned = bool(np.any(turn[1:]))
        if turned and len(set(scale)) > 1:
            mesh.fail("A mesh that is turned and then stretched along its axes is not shown.", "refquat")
        X_GM = IDENTITY
        if turned or np.any(at):
            R = np.array(rotation.from_quaternion_wxyz([float(v) for v in turn / np.linalg.norm(turn)]), float).T
            X_GM = Pose.of(R if turned else None, -np.array(scale) * (R @ at))
        if "file" not in mesh.attributes:
            mesh.fail("Meshes without a file are not shown.")
        if name not in self.looks.meshes:
            try:
                self.looks.meshes[name] = str(self.meshes.path(mesh))
            except DescriptionError as error:
                self.looks.meshes[name] = error
        return VisualDraft(body, "mesh", scale, X_BG @ X_GM, colour, name, **here)

    def _colour(self, geom: Element) -> Colour | None:
        """The geom's own, where it is not the grey that counts as none, else that of its material."""
        own = geom.numbers("rgba", 4, GREY)
        material = self.materials.get(geom.attributes.get("material", ""))
        if own == GREY and material is not None:
            own = self.defaults.filled(material, None).numbers("rgba", 4, (1.0, 1.0, 1.0, 1.0))
        elif "rgba" not in geom.attributes:
            return None
        red, green, blue, opacity = own
        return red, green, blue, opacity


def touches(geom: Element) -> bool:
    """May it be in contact with others, as far as it says so itself?"""
    return any(geom.get(word, "1").strip() != "0" for word in ("contype", "conaffinity"))
