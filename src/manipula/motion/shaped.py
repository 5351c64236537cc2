r"""References that do not excite a vibration: input shaping.

A reference is replaced by a sum of itself, delayed, :math:`r_s(t) = \sum_i A_i\,r(t - t_i)` with :math:`\sum A_i = 1`, so that what the first one
excites in a mode the others cancel. With :math:`\omega_d = 2\pi f\sqrt{1-\zeta^2}` and :math:`K = e^{-\zeta\pi/\sqrt{1-\zeta^2}}`:

=======  =========================================================  ===============================
shaper   amplitudes                                                 delays
=======  =========================================================  ===============================
``zv``   :math:`(1, K)/(1 + K)`                                     0, :math:`\pi/\omega_d`
``zvd``  :math:`(1, 2K, K^2)/(1 + K)^2`                             0, :math:`\pi/\omega_d`, twice that
=======  =========================================================  ===============================

After the last delay nothing of the mode is left (zv: zero vibration); zvd also makes its derivative by the frequency zero, so that a frequency that is a
little wrong leaves little [Singer & Seering 1990].
"""

from __future__ import annotations

from math import comb
from typing import Annotated, Any, Literal

import numpy as np

from manipula.errors import DescriptionError
from manipula.motion.piecewise import PiecewiseTrajectory, to_piecewise
from manipula.motion.trajectory import Trajectory
from manipula.parts.checks import check_arguments
from manipula.parts.field import Choice, Number, Part

EXACT = 1e-12  # of a reference that is no polynomial
SAME = 1e-12  # of the duration: breaks that are one


def shaped(
    reference: Annotated[Any, Part("reference", "the reference to be shaped")],
    frequency: Annotated[Any, Number("Hz", "natural frequency f of the vibration, undamped", above=0.0)],
    damping: Annotated[Any, Number("1", "damping ratio ζ of the vibration", least=0.0, below=1.0)] = 0.0,
    shaper: Annotated[
        Literal["zv", "zvd"], Choice("two impulses, or three that forgive a wrong frequency", "zv", "zvd")
    ] = "zv",
) -> PiecewiseTrajectory:
    """The reference with a vibration of one frequency shaped out of it; it takes half a period longer (zvd: a whole one).

    Raises:
        DescriptionError: what is no reference, numbers out of range, a reference that says how the tool is turned.
    """
    given = {"reference": reference, "frequency": frequency, "damping": damping, "shaper": shaper}
    if not isinstance(reference, Trajectory):
        raise DescriptionError(f"A reference is needed, found {type(reference).__name__}.", field="reference")
    check_arguments(shaped, given, "a shaped reference")
    root = np.sqrt(1.0 - damping**2)
    share, late = np.exp(-damping * np.pi / root), 0.5 / (frequency * root)
    count = 2 if shaper == "zv" else 3
    amplitudes = np.array([comb(count - 1, i) * share**i for i in range(count)]) / (1.0 + share) ** (count - 1)
    made = _delayed_sum(to_piecewise(reference, EXACT), amplitudes, late * np.arange(count))
    own = getattr(reference, "description", None)
    if own is not None:
        made.description = {"kind": "shaped", **given, "reference": dict(own)}
    return made


def _delayed_sum(table: PiecewiseTrajectory, amplitudes: np.ndarray, delays: np.ndarray) -> PiecewiseTrajectory:
    """The sum of delayed motions, each at rest before its start and behind its end, piece by piece."""
    breaks = np.unique(np.concatenate([table.breaks + d for d in delays]))
    kept = np.concatenate([[True], np.diff(breaks) > SAME * breaks[-1]])
    breaks = breaks[kept]
    low, degree = breaks[:-1], table.coefficients.shape[1]
    total = np.zeros((len(low), degree, table.dimension))
    for amplitude, delay in zip(amplitudes, delays):
        middle = 0.5 * (breaks[:-1] + breaks[1:]) - delay
        piece = np.clip(np.searchsorted(table.breaks, middle) - 1, 0, len(table.coefficients) - 1)
        offset = (low - delay - table.breaks[piece])[:, None]
        c = table.coefficients[piece]
        for k in range(degree):
            moved = sum(comb(j, k) * c[:, j] * offset ** (j - k) for j in range(k, degree))
            rest = np.zeros_like(c[:, 0])
            if k == 0:
                rest = np.where(middle[:, None] < 0.0, table.position(0.0), table.position(table.duration))
            moving = ((middle > 0.0) & (middle < table.duration))[:, None]
            total[:, k] += amplitude * np.where(moving, moved, rest)
    return PiecewiseTrajectory(breaks, total, table.space)
