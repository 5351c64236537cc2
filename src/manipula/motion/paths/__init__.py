"""Paths p(s): one primitive per file, all evaluated by arc length with exact derivatives.

================  ========================================
``line``          a straight line
``polyline``      straight sides, sharp or rounded corners
``rectangle``     rectangles and squares
``circle``        circles, arcs through three points
``ellipse``       ellipses
``figure_eight``  the figure eight
``helix``         helices
``spline``        cubic splines
``bspline``       B-splines
``joint``         paths in joint space
``formula``       formulas of one parameter
``csv_file``      points of a CSV file
``svg``           SVG path data
``compose``       joined, moved, scaled, reversed
``orientation``   how the tool is turned
``corners``       rounding of corners
``sampling``      many places at once, in machine code
``polynomial``    piecewise polynomial curves
``primitive``     the registry
``base``          what a path is
``arc_length``    s(u) and its inverse
``fields``        shared declarations
``checks``        points, directions, planes
================  ========================================
"""

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

__dir__ = __all__.copy
