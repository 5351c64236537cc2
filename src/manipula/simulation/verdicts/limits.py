"""Can the machine do it? A result against every limit that its robot and its scenario state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.algebra.value import Value
from manipula.errors import ManipulaError
from manipula.simulation.limit_checks import SIGNALS, SLIDING, TIP, TURNING, Check, filled, strained, worst
from manipula.simulation.point_motion import point_rates
from manipula.simulation.recorded import limits_of, robot_of
from manipula.simulation.stated_limits import QUANTITIES, limit_of

if TYPE_CHECKING:
    from manipula.simulation.result import Result


NONE_STATED = "No limits are stated, so nothing says whether the machine can do it."
ENDED = "No limit was exceeded before the run ended; what would have followed is not known."
DIED = ("diverged", "not_finite", "singular", "step_too_small")


def died(status: str, q: np.ndarray) -> bool:
    """Did a run with positions q (S, n) end before its time, so that what it would have done is not known?"""
    return status in DIED or not np.isfinite(q).all()


@dataclass(frozen=True, eq=False, repr=False)
class LimitVerdict(Value):
    """How a result stands against every stated limit.

    Attributes:
        feasible: True when every stated limit is kept, False when one is not, None when none is stated, or when the run ended before its
            time without breaking one.
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
            return ENDED if ENDED in self.remarks else next(iter(self.remarks), NONE_STATED)
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


def limit_verdict(result: Result) -> LimitVerdict:
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
        kept = _kept(result.status, q, checks)
        stop = (
            (result.reason,)
            if result.status == "limit"
            else (ENDED,)
            if kept is None and died(result.status, q)
            else ()
        )
        return LimitVerdict(kept, checks, (), (*stop, *unknown, *remarks))
    found = [_single(result.run(k), limits, None if jerk is None else jerk.run(k)) for k in range(len(q))]
    ended = [status == "limit" for status in result.statuses]
    if not any(checks for checks, _ in found) and not any(ended):
        return LimitVerdict(None, (), (None,) * len(q))
    runs = tuple(_kept(status, q[k], found[k][0]) for k, status in enumerate(result.statuses))
    strained: dict[tuple[str, str], Check] = {}  # each limit as the run that strains it most finds it
    for k, (checks, _) in enumerate(found):
        for c in checks:
            kept = strained.get((c.name, c.quantity))
            if kept is None or c.use > kept.use:
                strained[c.name, c.quantity] = replace(c, run=k)
    stops = (reason for reason, end in zip(result.reasons, ended) if end)
    early = (ENDED,) if None in runs else ()
    remarks = tuple(dict.fromkeys((*stops, *early, *unknown, *(r for _, said in found for r in said))))
    whole = False if False in runs else None if None in runs else True
    return LimitVerdict(whole, tuple(strained.values()), runs, remarks)


def _kept(status: str, q: np.ndarray, checks: tuple[Check, ...]) -> bool | None:
    """Does one run keep its limits? Of one that ended before its time only what it broke is known."""
    if status == "limit" or not all(c.ok for c in checks):  # where it stopped, the samples end before the crossing
        return False
    return True if checks and not died(status, q) else None


def _single(result: Result, limits: Mapping[str, Any], jerk: Any) -> tuple[tuple[Check, ...], tuple[str, ...]]:
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


def _tip(result: Result, limits: Mapping[str, float]) -> tuple[list[Check], list[str]]:
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
