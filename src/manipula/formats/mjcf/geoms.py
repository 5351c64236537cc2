r"""The mass that MuJoCo gives to a geom: density times volume (1000 kg/m³ unless stated), or the stated mass.

Solid shapes are homogeneous; with ``shellinertia`` the mass lies on the surface and the density is per area. ``fromto`` puts a shape
between two points: z from the second to the first, half the distance as its half length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from manipula.algebra.inertia import Moments, moments
from manipula.algebra.pose import Pose
from manipula.errors import printable
from manipula.formats.mjcf.meshes import Meshes
from manipula.formats.mjcf.settings import Settings
from manipula.formats.xml.reader import Element

DENSITY = 1000.0
MASSLESS = ("plane", "hfield")
BETWEEN_POINTS = ("capsule", "cylinder", "ellipsoid", "box")


class Shape(NamedTuple):
    """Volume (area of a shell) and principal moments per unit of mass [m²]."""

    volume: float
    moments: tuple[float, float, float]


def _sphere(r: float, shell: bool) -> Shape:
    each = (2 / 3 if shell else 2 / 5) * r * r
    return Shape(4 * math.pi * r * r if shell else 4 / 3 * math.pi * r**3, (each, each, each))


def _capsule(r: float, h: float, shell: bool) -> Shape:
    """A cylinder of half length h between two hemispheres, whose centres of mass lie 3r/8 (shell: r/2) beyond its ends."""
    ball, tube = (
        (4 * math.pi * r * r, 4 * math.pi * r * h) if shell else (4 / 3 * math.pi * r**3, 2 * math.pi * r * r * h)
    )
    caps = ball / (ball + tube)
    barrel = 1 - caps
    own = (2 / 3 if shell else 2 / 5) * r * r
    off = (r / 2 if shell else 3 / 8 * r) * 2 * h + h * h  # (h + d)² − d² with d the centre of a hemisphere
    across = barrel * ((r * r / 2 if shell else r * r / 4) + h * h / 3) + caps * (own + off)
    along = barrel * (r * r if shell else r * r / 2) + caps * own
    return Shape(ball + tube, (across, across, along))


def _cylinder(r: float, h: float, shell: bool) -> Shape:
    if not shell:
        across = r * r / 4 + h * h / 3
        return Shape(2 * math.pi * r * r * h, (across, across, r * r / 2))
    lids, tube = 2 * math.pi * r * r, 4 * math.pi * r * h
    flat = lids / (lids + tube)
    across = (1 - flat) * (r * r / 2 + h * h / 3) + flat * (r * r / 4 + h * h)
    return Shape(lids + tube, (across, across, (1 - flat) * r * r + flat * r * r / 2))


def _ellipsoid(a: float, b: float, c: float, shell: bool) -> Shape:
    """The shell is MuJoCo's approximation: Thomsen's area, and what a solid gains when its axes grow by 1e-6."""
    volume = 4 / 3 * math.pi * a * b * c
    solid = ((b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5)
    if not shell:
        return Shape(volume, solid)
    p, grown = 1.6075, 1e-6
    area = 4 * math.pi * (((a * b) ** p + (b * c) ** p + (c * a) ** p) / 3) ** (1 / p)
    larger, bigger = _ellipsoid(a + grown, b + grown, c + grown, False)
    x, y, z = ((larger * m - volume * n) / (larger - volume) for m, n in zip(bigger, solid))
    return Shape(area, (x, y, z))


def _box(a: float, b: float, c: float, shell: bool) -> Shape:
    """Half lengths a, b, c. A pair of sides, at ±c with the half lengths a and b, has the moments (b²/3 + c², a²/3 + c², (a² + b²)/3)."""
    if not shell:
        return Shape(8 * a * b * c, ((b * b + c * c) / 3, (a * a + c * c) / 3, (a * a + b * b) / 3))
    ab, bc, ca = (u / (a * b + b * c + c * a) for u in (a * b, b * c, c * a))
    A, B, C = a * a, b * b, c * c
    return Shape(
        8 * (a * b + b * c + c * a),
        (
            ab * (B / 3 + C) + bc * (B + C) / 3 + ca * (B + C / 3),
            ab * (A / 3 + C) + bc * (A + C / 3) + ca * (A + C) / 3,
            ab * (A + B) / 3 + bc * (A + B / 3) + ca * (A / 3 + B),
        ),
    )


SHAPES: Mapping[str, tuple[int, Callable[..., Shape]]] = {
    "sphere": (1, _sphere), "capsule": (2, _capsule), "cylinder": (2, _cylinder), "ellipsoid": (3, _ellipsoid), "box": (3, _box),
}  # fmt: skip


def weighs(geom: Element, settings: Settings) -> bool:
    """Does MuJoCo take a mass from this geom (its class filled in)?"""
    low, high = settings.groups
    if not low <= geom.number("group", 0.0) <= high or geom.get("type", "sphere") in MASSLESS:
        return False
    for word in ("mass", "density"):
        if geom.number(word, 0.0) < 0:
            geom.fail(f"It must not be negative, found {geom.number(word):g}.", word)
    return geom.number("mass" if "mass" in geom.attributes else "density", DENSITY) != 0


def weight(geom: Element, X_BF: Pose, settings: Settings, meshes: Meshes) -> Moments:
    """Mass, first and second moment about the origin of the body, of a geom that stands in the frame F of its body.

    Raises:
        DescriptionError: a size that is missing or not positive, or a mesh that cannot be read.
    """
    kind = geom.get("type", "sphere")
    shell = geom.choice("shellinertia", ("true", "false"), "false") == "true"
    if kind in SHAPES:
        if "mesh" in geom.attributes:
            geom.fail("A shape that MuJoCo fits to a mesh is not computed here; state <inertial> in its body.", "mesh")
        X_BG, sizes = placed(geom, X_BF, settings)
        volume, diagonal = SHAPES[kind][1](*sizes, shell)
        inertia, centre = np.diag(diagonal), np.zeros(3)
    elif kind == "mesh":
        if shell:
            geom.fail("For a mesh the shell is chosen by inertia='shell' of the <mesh>.", "shellinertia")
        X_BG = X_BF @ settings.pose(geom)
        volume, centre, inertia = meshes.solid(geom)
    else:
        geom.fail(
            f"The mass of a geom of type '{printable(kind, 20)}' is not computed here; state <inertial> in its body.",
            "type",
        )
    mass = geom.number("mass") if "mass" in geom.attributes else geom.number("density", DENSITY) * volume
    return moments(mass, centre, mass * inertia).seen_from(X_BG.R, X_BG.p)


def placed(geom: Element, X_BF: Pose, settings: Settings) -> tuple[Pose, list[float]]:
    """Where a geom with a shape of its own stands in the body, and its sizes."""
    kind = geom.get("type", "sphere")
    count = SHAPES[kind][0]
    ends = "fromto" in geom.attributes
    if ends and kind not in BETWEEN_POINTS:
        geom.fail(f"Only {', '.join(BETWEEN_POINTS)} may stand between two points.", "fromto")
    given = list(geom.numbers("size", range(1 if ends else count, 4)))
    if ends:
        a, b = np.array(geom.numbers("fromto", 6)).reshape(2, 3)
        pose = settings.between(geom)
        given = [*([given[0]] * (count - 1)), float(np.linalg.norm(a - b)) / 2]
    else:
        pose = settings.pose(geom)
    if min(given[:count]) <= 0:
        geom.fail(f"The sizes of a {kind} are positive, found {' '.join(f'{v:g}' for v in given[:count])}.", "size")
    return X_BF @ pose, given[:count]
