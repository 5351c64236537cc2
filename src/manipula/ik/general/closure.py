r"""The closure equations of a 6R loop after Raghavan and Roth, as numbers.

With axes as lines (h, p) and the motion :math:`G = E_1\cdots E_6`, the direction h₆ and the point p₆, which joint 6 does not move, give

.. math:: E_3E_4E_5\,\{h_6, p_6\} = E_2^{-1}E_1^{-1}G\,\{h_6, p_6\}

For a direction l and a position p (from one origin) both sides of :math:`p,\ l,\ p\cdot p,\ p\cdot l,\ p\times l,\ (p\cdot p)l - 2(p\cdot l)p` are
products of (1, cos, sin) of the joints on that side [Raghavan & Roth 1993]: 14 equations. Their coefficients are found by evaluating
them at angles 0, π/2 and π, never symbolically, in one compiled function that serves every robot.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra.linear import array, cross, dot
from manipula.ik.closed_form.geometry import carry, turn_vector
from manipula.ik.closed_form.subproblems import CosSin, rotate

EQUATIONS = 14
SAMPLES = (CosSin(1.0, 0.0), CosSin(0.0, 1.0), CosSin(-1.0, 0.0))  # 0, π/2, π


def moved(h: Any, p: Any, t: CosSin, back: bool, direction: Any, point: Any) -> tuple[np.ndarray, np.ndarray]:
    """A direction and a point after a joint, or before it."""
    turn = CosSin(t.c, -t.s) if back else t
    return rotate(h, turn, direction), array(p + rotate(h, turn, array(point - p)))


def fourteen(l: Any, p: Any) -> list[Any]:
    """The functions of a direction and a position that stay within products of (1, cos, sin)."""
    pp, pl = dot(p, p), dot(p, l)
    return [*p, *l, pp, pl, *cross(p, l), *(pp * x - 2.0 * pl * y for x, y in zip(l, p))]


def transform(values: np.ndarray, axis: int) -> np.ndarray:
    """Values at 0, π/2, π along an axis → factors of 1, cos, sin."""
    zero, quarter, half = (np.take(values, k, axis=axis) for k in range(3))
    constant = 0.5 * (zero + half)
    return np.stack([constant, 0.5 * (zero - half), quarter - constant], axis=axis)


def _coefficients(h: Any, p: Any, G: Any) -> Any:
    h, p = np.asarray(h, dtype=object), np.asarray(p, dtype=object)
    origin = p[2]
    left = np.empty((3, 3, 3, EQUATIONS), dtype=object)
    for k in product(range(3), repeat=3):
        l, x = h[5], p[5]
        for joint, sample in zip((4, 3, 2), reversed(k)):
            l, x = moved(h[joint], p[joint], SAMPLES[sample], False, l, x)
        left[k] = fourteen(l, array(x - origin))
    for axis in range(3):
        left = transform(left, axis)
    right = np.empty((3, 3, EQUATIONS), dtype=object)
    start = turn_vector(G, h[5]), carry(G, p[5])
    for k in product(range(3), repeat=2):
        l, x = start
        for joint, sample in zip((0, 1), k):
            l, x = moved(h[joint], p[joint], SAMPLES[sample], True, l, x)
        right[k] = fourteen(l, array(x - origin))
    for axis in range(2):
        right = transform(right, axis)
    return {
        "left": left.reshape(3, 9, EQUATIONS).transpose(0, 2, 1),  # (1, c3, s3) × equation × (1, c4, s4) ⊗ (1, c5, s5)
        "right": right.reshape(9, EQUATIONS).T,  # equation × (1, c1, s1) ⊗ (1, c2, s2)
    }


@lru_cache(maxsize=1)
def closure_kernel() -> native.Kernel:
    """``kernel(h (6, 3), p (6, 3), G (4, 4))`` → left (3, 14, 9), right (14, 9)."""
    return native.compile_function(_coefficients, {"h": (6, 3), "p": (6, 3), "G": (4, 4)}, name="closure_6r")


def closure(h: np.ndarray, p: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients left (3, 14, 9) and right (14, 9) for numbers, complex ones included."""
    if np.iscomplexobj(h) or np.iscomplexobj(p) or np.iscomplexobj(G):
        found = _coefficients(h, p, G)
        return np.asarray(found["left"], complex), np.asarray(found["right"], complex)
    return closure_kernel()(h, p, G)
