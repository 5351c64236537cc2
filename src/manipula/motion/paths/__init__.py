"""Paths p(s): one primitive a file, all evaluated by arc length with exact derivatives (see :mod:`.base`)."""

from manipula.motion.paths import orientation
from manipula.motion.paths.base import Curve, Path
from manipula.motion.paths.bspline import bspline
from manipula.motion.paths.circle import arc, circle
from manipula.motion.paths.compose import concatenate, reverse, scale, transform, translate
from manipula.motion.paths.csv_file import from_csv
from manipula.motion.paths.ellipse import ellipse
from manipula.motion.paths.figure_eight import figure_eight
from manipula.motion.paths.formula import formula
from manipula.motion.paths.helix import helix
from manipula.motion.paths.joint import joint
from manipula.motion.paths.line import line
from manipula.motion.paths.polyline import polyline
from manipula.motion.paths.primitive import KIND, REGISTRY, from_description, primitive
from manipula.motion.paths.rectangle import rectangle, square
from manipula.motion.paths.spline import spline
from manipula.motion.paths.svg import from_svg

__all__ = [
    "KIND",
    "REGISTRY",
    "Curve",
    "Path",
    "arc",
    "bspline",
    "circle",
    "concatenate",
    "ellipse",
    "figure_eight",
    "formula",
    "from_csv",
    "from_description",
    "from_svg",
    "helix",
    "joint",
    "line",
    "orientation",
    "polyline",
    "primitive",
    "rectangle",
    "reverse",
    "scale",
    "spline",
    "square",
    "transform",
    "translate",
]
