"""Can the machine do it? The limits that a robot and a scenario state, and how a recorded motion stands against them.

Samples are not the whole motion: where a velocity changes its sign between two samples the position turns there, and its extremum is taken
from the polynomial through position, velocity and acceleration at both ends (likewise for the velocity). What two polynomials of different
degree disagree about is not counted, so that a coarse record never breaks a limit by interpolation alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manipula.algebra.value import Value
from manipula.errors import ManipulaError, printable
from manipula.simulation.point_motion import point_rates
from manipula.simulation.recorded import limits_of, robot_of
from manipula.simulation.stated_limits import QUANTITIES, Limit, limit_of

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

TIP = -1  # in the place of a joint's number
Peak = tuple[int, str, int, float, float, float, float, float]  # see ``peaks.py``


@dataclass(frozen=True, eq=False, repr=False)
class Check(Value):
    """One quantity of one joint (or of the tip): its worst value, when, and the limit.

    Attributes:
        first: when the limit is passed for the first time; NaN when it never is.
        name, unit: of the joint, and of the quantity there. run: the run of a batch that is meant, −1 in a single run.
    """

    quantity: str
    worst: float
    time: float
    limit: Limit
    first: float = float("nan")
    name: str = ""
    unit: str = ""
    run: int = -1

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
                return float(abs(self.worst / edge)) if edge and not inside else (0.0 if inside else float("inf"))
            return abs(self.worst - centre) / half if half > 0 else (1.0 if self.worst == centre else float("inf"))
        return abs(self.worst) / self.limit if self.limit > 0 else (0.0 if self.worst == 0 else float("inf"))

    @property
    def ok(self) -> bool:
        return not self.use > 1.0 + SLACK

    def sentence(self) -> str:
        """What happens to this limit, with joint, time and size."""
        who = "The tip" if not self.name else f"Joint '{printable(self.name, 40)}'"
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
                f"the acceleration jumps there, and the {what} of a jump is infinite."
            )
        when = f" at t = {self.time:.4g} s" if abs(self.time - self.first) > 5e-5 * (1.0 + abs(self.time)) else ""
        return (
            f"{who}{where} passes its {what} limit of {bound:.6g} {self.unit} at t = {self.first:.4g} s "
            f"and reaches {self.worst:.6g} {self.unit}{when}."
        )


@dataclass(frozen=True, eq=False, repr=False)
class LimitVerdict(Value):
    """How a result stands against every stated limit.

    Attributes:
        feasible: True when every stated limit is kept, False when one is not, None when none is stated.
        checks: one for every stated limit, in the order of the joints; of a batch that of the worst run.
        runs: ``feasible`` of every run of a batch.
        remarks: what the verdict rests on, where that is not plain.
    """

    feasible: bool | None
    checks: tuple[Check, ...]
    runs: tuple[bool | None, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def broken(self) -> tuple[Check, ...]:
        """The limits that are not kept, in the order of time."""
        return tuple(sorted((c for c in self.checks if not c.ok), key=lambda c: c.first))

    @property
    def reason(self) -> str:
        """One sentence."""
        if self.feasible is None:
            return "No limits are stated, so nothing says whether the machine can do it."
        if self.feasible:
            kinds = [q for q in QUANTITIES if any(c.quantity == q for c in self.checks)]
            which = " and ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
            return f"Every stated limit is kept ({which})."
        broken = self.broken
        failed = sum(f is False for f in self.runs)
        head = f"{failed} of {len(self.runs)} runs break a limit. " if self.runs else ""
        more = len(broken) - 1
        tail = f" {more} other limit{'s are' if more > 1 else ' is'} broken too." if more else ""
        return f"{head}{broken[0].sentence()}{tail}" if broken else f"{head}{self.remarks[0]}"


# what is stated ------------------------------------------------------------------------------------------------------


# how a motion stands against it --------------------------------------------------------------------------------------


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
    h = t[k + 1] - t[k]
    a, b, v, w = y[k], y[k + 1], h * rate[k], h * rate[k + 1]
    # a + v u + (3(b − a) − 2v − w) u² + (2(a − b) + v + w) u³, whose derivative vanishes at u
    c2, c3 = 3.0 * (b - a) - 2.0 * v - w, 2.0 * (a - b) + v + w
    root = np.sqrt(np.maximum(c2 * c2 - 3.0 * c3 * v, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(v > 0, -v / (c2 - root), -v / (c2 + root))
    u = np.clip(np.where(np.isfinite(u), u, 0.5), 0.0, 1.0)
    cubic = a + u * (v + u * (c2 + u * c3))
    if more is not None:
        c = h * h * (more[k] / 2) - c2, h * h * (more[k + 1] / 2) - (c2 + 3.0 * c3)
        finer = u * u * (1 - u) ** 2 * (c[0] * (1 - u) + c[1] * u)
    else:
        assert whole is not None
        mean = a + v / 2 + c2 / 3 + c3 / 4
        finer = 30.0 * ((whole[k + 1] - whole[k]) / h - mean) * (u * (1 - u)) ** 2
    best = cubic + finer
    towards = np.where(rate[k] > 0, -1.0, 1.0)  # a maximum is moved down, a minimum up
    best = best + towards * np.abs(finer)
    best = np.where(rate[k] > 0, np.maximum(best, np.maximum(a, b)), np.minimum(best, np.minimum(a, b)))
    return t[k] + u * h, best


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


def strained(check: Check, result: Any, joint: int) -> Check:
    """A check of samples completed by what the run was seen to do between them (``meta["peaks"]``)."""
    run = int(result.meta.get("run", 0))
    for row in result.meta.get("peaks") or ():
        if (row[0], row[1], row[2]) == (run, check.quantity, joint):
            for value, time in ((row[3], row[4]), (row[5], row[6])):
                seen = replace(check, worst=float(value), time=float(time))
                check = seen if seen.use > check.use else check
            if not check.ok:  # the first passage is that of the limit the run was held against
                stated: Any = dict(result.meta.get("limits") or {}).get("tip" if joint == TIP else check.quantity) or ()
                same = limit_of(stated.get(check.quantity) if joint == TIP else stated[joint]) == check.limit
                firsts = [check.first, float(row[7]) if same else check.time]
                check = replace(check, first=float(np.fmin(*firsts)))
    return check


def limit_verdict(result: Any) -> LimitVerdict:
    """How a result stands against the limits it carries (``meta["limits"]``; the stored robot's where a file has none)."""
    limits = limits_of(result)
    if not limits or "q" not in result.arrays:
        return LimitVerdict(None, ())
    q = result.arrays["q"]
    jerk, unknown = None, ()
    if "jerk" in limits:
        try:
            jerk = result.jerk()
        except ManipulaError as error:
            unknown = (f"Limits of jerk could not be checked: {error}",)
    if q.ndim == 2:
        checks, remarks = _single(result, limits, jerk)
        ended = result.status == "limit"  # there the samples end before the crossing
        kept = not ended and all(c.ok for c in checks) if checks or ended else None
        return LimitVerdict(kept, checks, (), (*((result.reason,) if ended else ()), *unknown, *remarks))
    found = [_single(result.run(k), limits, None if jerk is None else jerk.run(k)) for k in range(len(q))]
    ended = [status == "limit" for status in result.statuses]
    if not any(checks for checks, _ in found) and not any(ended):
        return LimitVerdict(None, (), (None,) * len(q))
    runs = tuple(
        not end and all(c.ok for c in checks) if checks or end else None for end, (checks, _) in zip(ended, found)
    )
    strained: dict[tuple[str, str], Check] = {}  # each limit as the run that strains it most finds it
    for k, (checks, _) in enumerate(found):
        for c in checks:
            kept = strained.get((c.name, c.quantity))
            if kept is None or c.use > kept.use:
                strained[c.name, c.quantity] = replace(c, run=k)
    stops = (reason for reason, end in zip(result.reasons, ended) if end)
    remarks = tuple(dict.fromkeys((*stops, *unknown, *(r for _, said in found for r in said))))
    return LimitVerdict(all(kept is not False for kept in runs), tuple(strained.values()), runs, remarks)


def _single(result: Any, limits: Mapping[str, Any], jerk: Any) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    arrays, t = result.arrays, result.t
    n = arrays["q"].shape[1]
    names = tuple(result.joint_names) if len(result.joint_names) == n else tuple(f"joint{i + 1}" for i in range(n))
    kinds = tuple(result.meta.get("joint_kinds", ())) or ("revolute",) * n
    checks: list[Check] = []
    remarks: list[str] = [jerk.remark] if jerk is not None and jerk.remark else []
    absent: dict[str, None] = {}
    for i in range(n):
        units = SLIDING if kinds[i] == "prismatic" else TURNING
        for quantity in QUANTITIES:
            limit = limit_of((limits.get(quantity) or [None] * n)[i])
            if limit is None or (quantity == "jerk" and jerk is None):
                continue
            if quantity == "jerk" and jerk is not None:
                times, values = jerk.signal(i)
            elif SIGNALS[quantity] in arrays:
                times, values = filled(quantity, t, arrays, i)
            else:
                times, values = t, np.full(len(t), np.nan)
            if np.isnan(values).all():
                absent[quantity] = None
                continue
            found = strained(worst(quantity, values, times, limit), result, i)
            checks.append(replace(found, name=names[i], unit=units[quantity]))
    if absent:
        remarks.append(f"Limits of {' and '.join(absent)} could not be checked: nothing of it was recorded.")
    if limits.get("tip"):
        more, said = _tip(result, limits["tip"])
        checks += more
        remarks += said
    return tuple(checks), tuple(remarks)


def _tip(result: Any, limits: Mapping[str, float]) -> tuple[list[Check], list[str]]:
    robot = robot_of(result)
    if not all(name in result.arrays for name in ("q", "qd", "qdd")):
        return [], ["Limits of the tip could not be checked: its motion was not recorded."]
    if robot is None or robot.tip is None:
        return [], ["Limits of the tip could not be checked: the result does not say which robot moved."]
    checks, remarks = [], []
    q, qd, qdd = (np.asarray(result.arrays[name], float) for name in ("q", "qd", "qdd"))
    _, v, a = point_rates(robot, "tip", q, qd, qdd)
    for quantity, limit in limits.items():
        if quantity == "jerk":
            found = result.jerk("tip")
            times, values = found.signal()
            remarks += [found.remark] if found.remark else []
        else:
            times, values = result.t, np.linalg.norm(v if quantity == "velocity" else a, axis=-1)
        unit = SLIDING[quantity]
        checks.append(replace(strained(worst(quantity, values, times, float(limit)), result, TIP), unit=unit))
    return checks, remarks
