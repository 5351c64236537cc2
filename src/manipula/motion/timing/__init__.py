"""Time laws s(t): each a small value that gives a profile for a length.

==================  ==================================================
``rest_to_rest``    cubic, quintic, septic, cosine, cycloid: one table
``trapezoid``       accelerate, cruise, brake
``double_s``        jerk-limited
``piecewise_jerk``  constant jerk in phases
``constant_speed``  constant speed
``table``           a table of times and lengths
``formula``         a formula or function
``scaled``          another law, slower or in a given time
``base``            what a time law and a profile are
==================  ==================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from manipula.motion.timing.base import FunctionProfile, PiecewiseProfile, Profile, TimeLaw
from manipula.motion.timing.constant_speed import constant_speed
from manipula.motion.timing.double_s import double_s
from manipula.motion.timing.formula import formula
from manipula.motion.timing.piecewise_jerk import piecewise_jerk
from manipula.motion.timing.rest_to_rest import cosine, cubic, cycloid, quintic, septic
from manipula.motion.timing.scaled import scaled
from manipula.motion.timing.table import table
from manipula.motion.timing.trapezoid import trapezoid
from manipula.parts.registry import PartKind, described_call

REGISTRY: dict[str, Callable[..., TimeLaw]] = {
    "constant_speed": constant_speed,
    "trapezoid": trapezoid,
    "cubic": cubic,
    "quintic": quintic,
    "septic": septic,
    "cosine": cosine,
    "cycloid": cycloid,
    "double_s": double_s,
    "piecewise_jerk": piecewise_jerk,
    "table": table,
    "formula": formula,
    "scaled": scaled,
}
KIND = PartKind("time law", "kind", REGISTRY, "manipula.motion.timing.REGISTRY", public="mp.timing")


def from_description(description: Mapping[str, Any]) -> TimeLaw:
    """The law a file describes: ``{"kind": "quintic", "duration": 2.0}``."""
    law, arguments = described_call(description, REGISTRY, "time law", "timing")
    return law(**{k: from_description(v) if isinstance(v, Mapping) else v for k, v in arguments.items()})


__all__ = [
    "KIND",
    "REGISTRY",
    "FunctionProfile",
    "PiecewiseProfile",
    "Profile",
    "TimeLaw",
    "constant_speed",
    "cosine",
    "cubic",
    "cycloid",
    "double_s",
    "formula",
    "from_description",
    "piecewise_jerk",
    "quintic",
    "scaled",
    "septic",
    "table",
    "trapezoid",
]

__dir__ = __all__.copy
