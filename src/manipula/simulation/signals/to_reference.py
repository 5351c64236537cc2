r"""A run as a reference: what an arm did once, for a controller to follow.

Between two samples the motion is the quintic that meets position, velocity and acceleration at both, which the run recorded exactly; its error falls with
:math:`h^6` in the position, :math:`h^5` in the velocity and :math:`h^4` in the acceleration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from manipula.algebra.arguments import choice, positive
from manipula.errors import DescriptionError, SolveError
from manipula.motion.piecewise import PiecewiseTrajectory, hermite
from manipula.simulation.point_motion import point_rates
from manipula.simulation.recorded import carrying_of, robot_of

if TYPE_CHECKING:
    from manipula.simulation.result import Result


def reference_of(
    result: Result, *, space: Literal["joint", "task"] = "joint", until: float | None = None
) -> PiecewiseTrajectory:
    """The motion of a result as a reference; ``accuracy`` says how well it stands for the run.

    ``accuracy`` has the largest misses in position, velocity and acceleration of the same reference made from every second sample, at the samples
    between: the run's own states. The reference itself, made from all samples, is better (64, 32 and 16 times where the motion is smooth).

    Args:
        space: the joints, or the tip.
        until: end [s], taken down to a sample; none: the end of the run. A run that did not finish can be followed as far as it is trusted.
    """
    choice(space, "space", ("joint", "task"))
    missing = [name for name in ("q", "qd", "qdd") if name not in result.arrays]
    if missing:
        raise DescriptionError(f"A reference needs the signals q, qd and qdd; this result has no {', '.join(missing)}.")
    motion: Any = [np.asarray(result.arrays[name], float) for name in ("q", "qd", "qdd")]
    if motion[0].ndim != 2:
        raise DescriptionError("A batch is many motions; result.run(i).to_reference() takes one of them.", field="run")
    t = np.asarray(result.t, float)
    end = float(t[-1]) if until is None else positive(until, "until")
    if end > t[-1] * (1.0 + 1e-12):
        raise DescriptionError(f"'until' is {end:g} s; the run was recorded until {t[-1]:g} s.", field="until")
    if not result.ok and not end <= result.trusted_until * (1.0 + 1e-12):
        raise SolveError(
            f"The run ended as '{result.status}' ({result.reason}) and is trusted until {result.trusted_until:g} s; "
            f"'until' may name an end up to there.",
            result,
        )
    count = int(np.sum(t <= end * (1.0 + 1e-12)))
    if count < 2:
        raise DescriptionError(f"At least two samples are needed; {count} lie before {end:g} s.", field="until")
    t, states = t[:count], np.stack([x[:count] for x in motion])
    if space == "task":
        states = _of_the_tip(result, states)
    if not np.isfinite(states).all():
        raise DescriptionError(
            "The recorded motion is not finite everywhere; 'until' may end it before.", field="until"
        )
    coefficients = hermite(states[:, :-1], states[:, 1:], np.diff(t))
    return PiecewiseTrajectory(t, coefficients, space, _missed(t, states))


def _of_the_tip(result: Result, states: np.ndarray) -> np.ndarray:
    """Position, velocity and acceleration of the tip (3, S, 3)."""
    robot = robot_of(result)
    if robot is None:
        raise DescriptionError(
            "The result does not say which robot moved, so the motion of its tip is not known.", field="space"
        )
    found = carrying_of(result, "tip")  # a reference is in axes of the base
    if found is not None and found.tools:
        raise DescriptionError(
            "A change of the payload moves the tip to another tool during the run, and a reference cannot jump; until = … may end it before.",
            field="space",
        )
    return np.stack(point_rates(robot, "tip", *states))


def _missed(t: np.ndarray, states: np.ndarray) -> tuple[float, float, float]:
    """What the reference through every second sample misses at the samples between; nan for a run of two samples."""
    if len(t) < 3:
        return float("nan"), float("nan"), float("nan")
    last = len(t) - 1 - (len(t) - 1) % 2
    coarse = PiecewiseTrajectory(
        t[: last + 1 : 2], hermite(states[:, :last:2], states[:, 2 : last + 1 : 2], np.diff(t[: last + 1 : 2])), "joint"
    )
    off = np.abs(coarse.derivatives(t[1:last:2], 2) - states[:, 1:last:2]).max(axis=(1, 2))
    return float(off[0]), float(off[1]), float(off[2])
