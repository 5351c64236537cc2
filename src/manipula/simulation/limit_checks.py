"""How a motion stands against stated limits: one check for every limited quantity of every joint.

Samples are not the whole motion: where a velocity changes its sign between two samples the position turns there, and its extremum is taken
from the polynomial through position, velocity and acceleration at both ends (likewise for the velocity). What two polynomials of different
degree disagree about is not counted. A run that is recorded more coarsely than it was made carries what it was seen to do between its
samples (``meta["peaks"]``); nothing is then interpolated, so that a coarse record never breaks a limit by interpolation alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.algebra.value import Value
from manipula.errors import printable, told_apart
from manipula.simulation.carried_points import Carrying, rates_of
from manipula.simulation.integrators import ADAPTIVE
from manipula.simulation.point_motion import point_of_text
from manipula.simulation.stated_limits import Limit, limit_of
from manipula.simulation.stepping.grid import LOOKS

if TYPE_CHECKING:
    from manipula.robot.robot import Robot
    from manipula.simulation.result import Result

SIGNALS = {"position": "q", "velocity": "qd", "acceleration": "qdd", "torque": "tau", "power": "power"}
SLACK = 1e-9  # of the limit: rounding breaks none
TURNING = {
    "position": "rad",
    "velocity": "rad/s",
    "acceleration": "rad/s²",
    "jerk": "rad/s³",
    "torque": "N·m",
    "power": "W",
}
SLIDING = {"position": "m", "velocity": "m/s", "acceleration": "m/s²", "jerk": "m/s³", "torque": "N", "power": "W"}

NOTHING = "nothing of it was recorded."
SAMPLES_ONLY = (
    "the run was looked at only at its samples, which lie too far apart; run it again with these limits, or sample it "
    "at every step and every millisecond."
)

GIVEN = ("kinematic", "inverse_dynamics")  # kinds of runs whose motion is given
TIP = -1  # in the place of a joint's number
Peak = tuple[int, str, int, float, float, float, float, float]
"""``(run, quantity, joint, lowest, its time, highest, its time, first)``; first: when the limit is passed (NaN: never). The tip has −1 in the
place of a joint. Of a batch only those that break a limit, so that a file can hold them."""


@dataclass(frozen=True, eq=False, repr=False)
class Check(Value):
    """One quantity of one joint (or of the tip): its worst value, when, and the limit.

    Attributes:
        first: when the limit is passed for the first time; NaN when it never is.
        name, unit: of the joint, and of the quantity there. run: the run of a batch that is meant, −1 in a single run.
        point: is it a point of the arm, and the name that of the point?
    """

    quantity: str
    worst: float
    time: float
    limit: Limit
    first: float = float("nan")
    name: str = ""
    unit: str = ""
    run: int = -1
    point: bool = False

    @property
    def use(self) -> float:
        """Worst value in units of the limit; above 1 it is exceeded. NaN without a limit."""
        if self.limit is None:
            return float("nan")
        if isinstance(self.limit, tuple):
            low, high = self.limit
            centre, half = (low + high) / 2, (high - low) / 2
            if not np.isfinite(half):
                edge = high if np.isfinite(high) else low
                inside = self.worst <= high if np.isfinite(high) else self.worst >= low
                beyond = float(abs(self.worst - edge))
                return 0.0 if inside else 1.0 + beyond / abs(edge) if edge else float("inf")
            return abs(self.worst - centre) / half if half > 0 else (1.0 if self.worst == centre else float("inf"))
        return abs(self.worst) / self.limit if self.limit > 0 else (0.0 if self.worst == 0 else float("inf"))

    @property
    def ok(self) -> bool:
        return not self.use > 1.0 + SLACK

    def sentence(self) -> str:
        """What happens to this limit, with joint, time and size."""
        kind = "Point" if self.point else "Joint"
        who = "The tip" if not self.name else f"{kind} '{printable(self.name, 40)}'"
        where = f" of run {self.run}" if self.run >= 0 else ""
        what = {"torque": "force"}.get(self.quantity, self.quantity) if self.unit == "N" else self.quantity
        bound = self.limit
        if isinstance(bound, tuple):
            bound = bound[1] if self.worst > bound[1] else bound[0]
        if self.ok or bound is None:
            return f"{who}{where} keeps its {what} limit."
        if np.isinf(self.worst):
            return (
                f"{who}{where} breaks its {what} limit of {bound:.6g} {self.unit} at t = {self.first:.4g} s: "
                f"the {'acceleration' if self.quantity == 'jerk' else 'velocity'} jumps there, and the {what} of a jump is infinite."
            )
        when = f" at t = {self.time:.4g} s" if abs(self.time - self.first) > 5e-5 * (1.0 + abs(self.time)) else ""
        mirrored = self.worst < 0 and not isinstance(self.limit, tuple)
        reached, limit = told_apart(-self.worst if mirrored else self.worst, bound)
        return (
            f"{who}{where} passes its {what} limit of {limit} {self.unit} at t = {self.first:.4g} s "
            f"and reaches {'-' if mirrored else ''}{reached} {self.unit}{when}."
        )


def worst(quantity: str, values: np.ndarray, t: np.ndarray, limit: Limit) -> Check:
    """The moment at which a signal (S,) comes nearest to its limit, or passes it most, and when it passes it first."""
    values = np.asarray(values, float)
    known = ~np.isnan(values)
    if not known.any():
        return Check(quantity, float("nan"), float("nan"), limit)
    if isinstance(limit, tuple):
        low, high = limit
        over = np.maximum(low - values, values - high)
        size = max((abs(x) for x in limit if np.isfinite(x)), default=0.0)
        half = (high - low) / 2 if np.isfinite(high - low) else size
    else:
        over = np.abs(values) - (0.0 if limit is None else limit)
        half = 0.0 if limit is None else limit
    by = np.where(known, over, -np.inf)
    at = int(np.argmax(by)) if np.isfinite(by).any() or (by == np.inf).any() else int(np.nanargmax(np.abs(values)))
    first = np.flatnonzero(by > SLACK * half) if limit is not None else []
    return Check(quantity, float(values[at]), float(t[at]), limit, float(t[first[0]]) if len(first) else float("nan"))


def turning_points(t: np.ndarray, y: np.ndarray, rate: np.ndarray, more: np.ndarray | None, whole: np.ndarray | None
                   ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Times and values of the extrema of a signal (S,) between its samples, moved towards the samples by what is uncertain.

    Args:
        rate: its derivative; the extremum is that of the cubic through both. more: the second derivative, for a quintic; or
            whole: the integral of the signal, for a quartic. One of them says how far the cubic can be trusted.
    """
    k = np.flatnonzero(rate[:-1] * rate[1:] < 0.0)
    if not len(k):
        return np.zeros(0), np.zeros(0)
    ends = [None if x is None else (x[k], x[k + 1]) for x in (y, rate, more, whole)]
    return turning_values(t[k], t[k + 1] - t[k], ends[0], ends[1], ends[2], ends[3])


def turning_values(
    t: np.ndarray, h: np.ndarray, y: Any, rate: Any, more: Any, whole: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The same of steps that begin at t and are h long, in each of which the rate changes its sign: of every signal the values at both ends."""
    a, b, v, w = *y, h * rate[0], h * rate[1]
    # a + v u + (3(b − a) − 2v − w) u² + (2(a − b) + v + w) u³, whose derivative vanishes at u
    c2, c3 = 3.0 * (b - a) - 2.0 * v - w, 2.0 * (a - b) + v + w
    root = np.sqrt(np.maximum(c2 * c2 - 3.0 * c3 * v, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(v > 0, -v / (c2 - root), -v / (c2 + root))
    u = np.clip(np.where(np.isfinite(u), u, 0.5), 0.0, 1.0)
    cubic = a + u * (v + u * (c2 + u * c3))
    if more is not None:
        c = h * h * (more[0] / 2) - c2, h * h * (more[1] / 2) - (c2 + 3.0 * c3)
        finer = u * u * (1 - u) ** 2 * (c[0] * (1 - u) + c[1] * u)
    else:
        assert whole is not None
        mean = a + v / 2 + c2 / 3 + c3 / 4
        finer = 30.0 * ((whole[1] - whole[0]) / h - mean) * (u * (1 - u)) ** 2
    best = cubic + finer
    towards = np.where(rate[0] > 0, -1.0, 1.0)  # a maximum is moved down, a minimum up
    best = best + towards * np.abs(finer)
    best = np.where(rate[0] > 0, np.maximum(best, np.maximum(a, b)), np.minimum(best, np.minimum(a, b)))
    return t + u * h, best


def filled(quantity: str, t: np.ndarray, arrays: Mapping[str, np.ndarray], joint: int) -> tuple[np.ndarray, np.ndarray]:
    """Times and values of a recorded quantity of one joint of a single run, with what it reaches between the samples."""
    values = np.asarray(arrays[SIGNALS[quantity]][:, joint], float)
    if quantity not in ("position", "velocity") or len(t) < 2 or "qd" not in arrays or "qdd" not in arrays:
        return t, values
    good = np.isfinite(values)
    last = len(good) if good.all() else int(np.argmin(good))
    q, qd, qdd = (np.asarray(arrays[name][:last, joint], float) for name in ("q", "qd", "qdd"))
    if not (np.isfinite(qd).all() and np.isfinite(qdd).all()):
        return t, values
    found = turning_points(t[:last], q, qd, qdd, None) if quantity == "position" else turning_points(t[:last], qd, qdd, None, q)  # fmt: skip
    times = np.concatenate([t, found[0]])
    order = np.argsort(times, kind="stable")
    return times[order], np.concatenate([values, found[1]])[order]


def only_samples(result: Result, quantity: str, anew: bool = False) -> bool:
    """Is nothing known of a quantity between samples that lie further apart than the steps, or than looks at a motion that steps do not shape?

    ``meta["watched"]``: what was looked at on every step; absent, that is all that the run had limits of. ``anew``: nothing of that was kept.
    """
    watched: Any = result.meta.get("watched", result.meta.get("limits") or ())
    if quantity in watched and not anew:
        return False
    step = result.meta.get("step")
    if not isinstance(step, (int, float)):
        return True
    enough = float(step)
    if result.meta.get("kind") in GIVEN:
        enough = min(enough, LOOKS * max(1.0, float(result.t[-1])))
    elif result.meta.get("integrator") in ADAPTIVE:
        enough = min(enough, LOOKS)
    return bool(np.diff(result.t).max(initial=0.0) > enough * (1.0 + 1e-9))


def shows_between(result: Result, quantity: str, anew: bool = False) -> bool:
    """Do the samples of a run say what lies between them? Not where they are further apart than looks, nor where better is known (``only_samples``)."""
    watched = result.meta.get("watched", result.meta.get("limits") or ())
    better = quantity in watched and not anew and result.meta.get("peaks") is not None
    return not better and not only_samples(result, quantity, True)


def strained(check: Check, result: Result, joint: int) -> Check:
    """A check of samples completed by what the run was seen to do between them (``meta["peaks"]``)."""
    run = int(result.meta.get("run", 0))
    for row in result.meta.get("peaks") or ():
        if (row[0], row[1], row[2]) == (run, check.quantity, joint):
            check = completed(check, row, result.meta.get("limits") or {})
    return check


def completed(check: Check, row: Peak, held: Mapping[str, Any]) -> Check:
    """A check completed by one row of ``meta["peaks"]`` that is about the same quantity; ``held``: the limits that the run was compared with."""
    joint = int(row[2])
    for value, time in ((row[3], row[4]), (row[5], row[6])):
        seen = replace(check, worst=float(value), time=float(time))
        check = seen if (seen.use, abs(seen.worst)) > (check.use, abs(check.worst)) else check
    if not check.ok:  # the first passage is that of the limit the run was compared with
        stated: Any = of_points(held)[-1 - joint][1] if joint <= TIP else held.get(check.quantity) or ()
        same = limit_of(stated.get(check.quantity) if joint <= TIP else stated[joint]) == check.limit
        check = replace(check, first=float(np.fmin(check.first, float(row[7]) if same else check.time)))
    return check


def of_points(limits: Mapping[str, Any]) -> list[tuple[str, dict[str, float]]]:
    """The tip and all other points that have limits, by name; point k has −1 − k in the place of a joint's number."""
    return [
        ("tip", dict(limits.get("tip") or {})),
        *((name, dict(v)) for name, v in (limits.get("points") or {}).items()),
    ]


def peaks_of(robot: Robot | None, limits: Mapping[str, Any], t: np.ndarray, arrays: Mapping[str, np.ndarray],
             before: Mapping[str, np.ndarray] | None = None, run: int = 0, broken_only: bool = False,
             moved: Carrying | None = None) -> list[Peak]:  # fmt: skip
    """Every limited quantity of one run whose signals are known at the times t, joint after joint.

    Args:
        robot: with numbers in it; without one nothing is said of the tip.
        before: the same signals just before the times t, where they may jump and are known; "tip": infinite where the acceleration of the
            tip is there, else NaN.
        moved: what carries points beside the joints: a base, tools.
    """
    found: list[Peak] = []

    def add(quantity: str, joint: int, times: np.ndarray, values: np.ndarray, limit: Any) -> None:
        good = ~np.isnan(values)
        if not good.any():
            return
        times, values = times[good], values[good]
        check = worst(quantity, values, times, limit)
        if not (broken_only and check.ok):
            low, high = int(np.argmin(values)), int(np.argmax(values))
            ends = float(values[low]), float(times[low]), float(values[high]), float(times[high])
            found.append((run, quantity, joint, *ends, check.first))

    for quantity, signal in SIGNALS.items():
        for i, entry in enumerate(limits.get(quantity) or ()):
            if entry is None or signal not in arrays:
                continue
            times, values = filled(quantity, t, arrays, i)
            if before is not None and signal in before:
                times, values = np.concatenate([times, t]), np.concatenate([values, before[signal][:, i]])
                order = np.argsort(times, kind="stable")
                times, values = times[order], values[order]
            add(quantity, i, times, values, limit_of(entry))
    for k, (name, wanted) in enumerate(of_points(limits)):
        sizes = {key: size for key, size in wanted.items() if key != "jerk"}
        if not sizes or robot is None or (name == "tip" and robot.tip is None):
            continue
        where = point_of_text(name)
        sides = [("left", {**arrays, **(before or {})})] if before is not None or moved is not None else []
        rates = [
            rates_of(moved, robot, where, t, *(np.where(np.isfinite(a[x]), a[x], arrays[x]) for x in ("q", "qd", "qdd")), side=side)
            for side, a in (*sides, ("right", arrays))
        ]  # fmt: skip
        for key, size in sizes.items():
            rows = [np.linalg.norm(side[1 if key == "velocity" else 2], axis=-1) for side in rates]
            if key == "acceleration" and before is not None and "tip" in before:
                rows = [before["tip"], *rows]
            add(key, TIP - k, np.repeat(t, len(rows)), np.column_stack(rows).ravel(), float(size))
    return found
