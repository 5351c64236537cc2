r"""Coupled joints: fewer coordinates than moving bodies.

The positions of all bodies' joints are :math:`\\bar q = G q + o`, with one non-zero number in every row of G. The offsets o sit in the
constants of the mechanism, so that here :math:`\\bar q = G q`. From the equations of motion of the free joints follow those of the coupled
ones by the principle of virtual work:

.. math:: M = G^T\\bar M G,\\qquad C = G^T\\bar C G,\\qquad g = G^T\\bar g,\\qquad \\tau = G^T\\bar\\tau,\\qquad J = \\bar J G

:math:`C` remains the Christoffel matrix, since G is constant. Every recursion is written for free joints;
``reduction.coupled`` makes of it the function of a mechanism that may have couplings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar, Vector


class Coupling(NamedTuple):
    """G by rows: body i moves ``ratio[i]`` times coordinate ``coordinate[i]``.

    Attributes:
        n: number of coordinates.
        coordinate, ratio: one per body.
        body: for every body of the robot (those of its joints, then followers) its place among the mechanism's.
    """

    n: int
    coordinate: tuple[int, ...]
    ratio: tuple[Any, ...]
    body: tuple[int, ...]

    def expand(self, q: Vector) -> np.ndarray:
        """G q: one number per body from one per coordinate."""
        return array([_times(r, q[c]) for c, r in zip(self.coordinate, self.ratio)])

    def contract(self, a: np.ndarray, axis: int) -> np.ndarray:
        """Gᵀ along one axis of an array with one entry per body there."""
        rows = np.moveaxis(np.asarray(a), axis, 0)
        out = zeros(self.n, *rows.shape[1:])
        for row, c, r in zip(rows, self.coordinate, self.ratio):
            out[c] = out[c] + _times(r, row)
        return array(np.moveaxis(out, 0, axis))

    def pick(self, a: np.ndarray, axis: int, count: int) -> np.ndarray:
        """The entries of the robot's first ``count`` bodies, in the robot's order."""
        return array(np.take(np.asarray(a), self.body[:count], axis=axis))


def _times(ratio: Scalar, x: Any) -> Any:
    """The product; nothing is multiplied by 1."""
    plain = isinstance(ratio, (float, int))
    return x if plain and ratio == 1 else -x if plain and ratio == -1 else ratio * x
