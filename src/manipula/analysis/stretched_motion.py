r"""The same motion k times as long, and whether it can be had at all.

A motion that is given (a trajectory, a kinematic or inverse-dynamics run, a tracked reference) is stretched by reading it at t/k. What torques
make of an arm (free fall, played torques, a goal) does not stretch, nor do disturbances that come at a time of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, floor, log10
from typing import Any

import numpy as np

from manipula.errors import ManipulaError
from manipula.model import Model
from manipula.motion.looks import LookPlaces
from manipula.motion.paths.base import Side
from manipula.motion.piecewise import PiecewiseTrajectory
from manipula.motion.timing.scaled import ScaledProfile
from manipula.motion.trajectory import PathTrajectory, Trajectory
from manipula.simulation.plant.disturbances import PayloadChange, WrenchTable
from manipula.simulation.recorded import scenario_of
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.simulate import simulate

DIGITS = 6  # of a factor that is reported
MARGIN = 1e-6  # of the factor: a peak between two places that are looked at
TRIES = (0.0, 1e-5, 1e-4, 1e-3, 1e-2)  # by how much more a factor is stretched that is not enough
MOST_STEPS = 10_000  # along a given motion; a tracked one is made with its own steps
MOST_TRACKED = 100_000
ON_IT = 1e-6  # rad or m, per s: a start on the reference


class StretchedTrajectory(Trajectory):
    """p(t/k); the n-th derivative is divided by kⁿ."""

    def __init__(self, inner: Any, factor: float) -> None:
        self.inner, self.factor = inner, factor
        self.duration, self.dimension, self.space = inner.duration * factor, inner.dimension, inner.space

    @property
    def breaks(self) -> np.ndarray:
        return np.asarray(self.inner.breaks, float) * self.factor

    def looks(self) -> LookPlaces:
        inner = self.inner.looks()
        return LookPlaces(inner.places * self.factor, inner.hidden * self.factor)

    def derivatives(self, t: Any, order: int = 3, side: Side = "right") -> np.ndarray:
        rates = np.asarray(self.inner.derivatives(np.asarray(t, float) / self.factor, order, side))
        return rates * (self.factor ** -np.arange(order + 1.0)).reshape(-1, *[1] * (rates.ndim - 1))


def stretched(motion: Any, k: float) -> Any:
    """The trajectory k times as long."""
    if isinstance(motion, PathTrajectory):
        return PathTrajectory(motion.path, ScaledProfile(motion.profile, k))
    if isinstance(motion, PiecewiseTrajectory):
        powers = k ** -np.arange(motion.coefficients.shape[1] + 0.0)
        return PiecewiseTrajectory(motion.breaks * k, motion.coefficients * powers[:, None], motion.space)
    return StretchedTrajectory(motion, k)


def stored_scenario(result: Result) -> Scenario | None:
    """The scenario as it is stored with a result, so that the answer is the same before and after; None when none is."""
    found = scenario_of(replace(result, scenario=None))
    return found if isinstance(found, Scenario) else None


def unstretchable(result: Result, s: Scenario | None) -> str:
    """Why nobody can say what a run would be when it is stretched; empty when its motion is given."""
    if s is None:
        return "what the run was made from is not stored with it."
    kind, reference = s.resolved_kind(), s.reference
    if result.status != "finished":
        return "the run did not come to its end."
    if reference is None or kind in ("free", "playback") or (s.controller is not None and s.controller.space == "none"):
        return "the motion is not given, it follows from the torques."
    if s.contacts or s.base_motion is not None:
        return "contacts and the motion of the base do not stretch."
    if any(isinstance(d, PayloadChange) or _timed(d, float(s.duration or 0.0)) for d in s.disturbances):
        return "disturbances act at fixed times, which do not stretch."
    if getattr(reference, "has_orientation", False) and not isinstance(reference, PathTrajectory):
        return "the motion of the tool's orientation cannot be stretched."
    if kind == "dynamic" and _off(result, s) > ON_IT:
        return "the run does not start on its reference."
    return ""


def _timed(d: Any, duration: float) -> bool:
    """Does a wrench change in time or with the motion, or begin or end during the run?"""
    if isinstance(d, WrenchTable) or d.needs_state:
        return True
    return d.start > 0.0 or d.stop < duration or np.isfinite(d.stop) or any(isinstance(v, str) for v in d.wrench)


def _off(result: Result, s: Scenario) -> float:
    """How far a run starts from its reference, in position and velocity."""
    q, qd = (np.asarray(result.arrays[name][0], float) for name in ("q", "qd"))
    target = np.asarray(s.reference.derivatives(0.0, 1), float)
    if s.reference.space == "joint":
        return float(max(np.abs(q - target[0]).max(), np.abs(qd - target[1]).max()))
    if s.robot.parameters:
        return float("inf")
    model, rows = Model(s.robot), slice(0, target.shape[1])
    tip, speed = model.position(q)[rows], (model.jacobian(q)[:3] @ qd)[rows]
    return float(max(np.abs(tip - target[0]).max(), np.abs(speed - target[1]).max()))


def run_again(s: Scenario, k: float) -> Result | None:
    """The run of a scenario with its reference stretched; None where it cannot be made, or takes too long."""
    duration, given = float(s.duration or 0.0) * k, s.resolved_kind() != "dynamic"
    if not given and duration / s.step > MOST_TRACKED:
        return None
    rates = None if s.qd0 is None else np.asarray(s.qd0, float) / k
    step = max(s.step, duration / MOST_STEPS) if given else s.step
    try:
        return simulate(
            s.replace(reference=stretched(s.reference, k), duration=duration, step=step, sample=None, qd0=rates)
        )
    except ManipulaError:
        return None


def rounded_up(k: float) -> float:
    """The factor with as many digits as are reported, rounded up."""
    place = DIGITS - 1 - floor(log10(k))
    return round(ceil(k * (1.0 + MARGIN) * 10.0**place) / 10.0**place, place)


def verified(k: float, fits: Callable[[float], bool]) -> float:
    """The factor, rounded up, or a little more, with which the stretched motion was seen to keep its limits; NaN when none was."""
    return next((rounded_up(k * (1.0 + more)) for more in TRIES if fits(rounded_up(k * (1.0 + more)))), float("nan"))
