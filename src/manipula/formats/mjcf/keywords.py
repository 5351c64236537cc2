"""Attributes of MJCF that take one of a few words, as MuJoCo 4.0 knows them; a test holds them against MuJoCo."""

from __future__ import annotations

from collections.abc import Mapping

from manipula.errors import unknown_name
from manipula.formats.xml.reader import Element

_BOOL, _AUTO = "true false", "true false auto"
_SWITCHES = (
    "alignfree autolimits balanceinertia discardvisual fitaabb fusestatic savecanonical savecompiled saveinertial "
    "strippath usethread"
)
_SHAPES = "plane hfield sphere capsule ellipsoid cylinder box mesh sdf"
_FOLLOW = "fixed track trackcom targetbody targetbodycom"
_ACTUATOR: Mapping[str, str] = {
    "ctrllimited": _AUTO, "forcelimited": _AUTO, "actlimited": _AUTO, "actearly": _BOOL, "interp": "zoh linear cubic",
}  # fmt: skip
_ACTUATORS = "general motor position velocity intvelocity pid damper cylinder muscle adhesion dcmotor orientation"
KEYWORDS: Mapping[str, Mapping[str, str]] = {
    "option": {
        "integrator": "Euler RK4 implicit implicitfast discrete", "cone": "pyramidal elliptic",
        "jacobian": "dense sparse auto", "solver": "PGS CG Newton",
    },
    "compiler": {
        **dict.fromkeys(_SWITCHES.split(), _BOOL),
        "angle": "degree radian", "inertiafromgeom": _AUTO,
    },
    "body": {"mocap": _BOOL, "sleep": "auto never allowed init"},
    "joint": {"type": "hinge slide free ball", "limited": _AUTO, "actuatorfrclimited": _AUTO, "actuatorgravcomp": _BOOL},
    "geom": {"type": _SHAPES, "fluidshape": "none ellipsoid", "shellinertia": _BOOL},
    "site": {"type": _SHAPES},
    "camera": {"mode": _FOLLOW, "projection": "perspective orthographic"},
    "light": {"mode": _FOLLOW, "type": "spot directional point image", "active": _BOOL, "castshadow": _BOOL, "directional": _BOOL},
    "texture": {"type": "2d cube skybox", "builtin": "none gradient checker flat"},
    "equality": {"active": _BOOL}, "connect": {"active": _BOOL}, "weld": {"active": _BOOL},
    "tendon": {"limited": _AUTO}, "spatial": {"limited": _AUTO}, "fixed": {"limited": _AUTO},
    **dict.fromkeys(_ACTUATORS.split(), _ACTUATOR),
    "general": {
        **_ACTUATOR, "dyntype": "none integrator filter filterexact muscle user dcmotor pid",
        "gaintype": "fixed affine muscle user dcmotor pid so3", "biastype": "none affine muscle user dcmotor so3",
    },
}  # fmt: skip


def check_keywords(element: Element) -> None:
    """Refuse a word that MuJoCo does not know where it expects one of a few."""
    known = KEYWORDS.get(element.tag, {})
    for attribute, value in element.attributes.items():
        words = "enable disable" if element.tag == "flag" else known.get(attribute)
        if words is not None and value.strip() not in words.split():
            raise unknown_name(f"value of {attribute}", value, words.split(), line=element.line,
                               field=f"{element.tag}.{attribute}")  # fmt: skip
