"""A straight line."""

from __future__ import annotations

import numpy as np

from manipula.motion.paths.base import Path
from manipula.motion.paths.checks import vector3
from manipula.motion.paths.fields import End, Start
from manipula.motion.paths.polyline import straight_pieces
from manipula.motion.paths.primitive import primitive


@primitive
def line(a: Start, b: End) -> Path:
    """The straight line from point ``a`` to point ``b`` [m]; two coordinates mean z = 0.

    p(s) = a + s (b − a)/|b − a|
    """
    return Path([straight_pieces(np.array([vector3(a, "a"), vector3(b, "b")]), "a, b")])
