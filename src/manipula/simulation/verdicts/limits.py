"""Can the machine do it? A result against every limit that its robot and its scenario state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula.algebra.value import Value
from manipula.errors import ManipulaError, printable
from manipula.simulation.carried_points import rates_of
from manipula.simulation.limit_checks import (
    NOTHING,
    SAMPLES_ONLY,
    SIGNALS,
    SLACK,
    SLIDING,
    TIP,
    Check,
    filled,
    of_points,
    only_samples,
    shows_between,
    strained,
    worst,
)
from manipula.simulation.point_motion import ORIGIN, point_of_text
from manipula.simulation.recorded import carrying_of, limits_of, robot_of
from manipula.simulation.stated_limits import QUANTITIES, limit_of
from manipula.simulation.verdicts.batch_limits import BatchChecks, batch_checks, named
from manipula.verbs import notebook_html

if TYPE_CHECKING:
    from manipula.robot.robot import Robot
    from manipula.simulation.result import Result
    from manipula.simulation.signals.jerk import Jerk


NONE_STATED = "No limits are stated, so nothing says whether the machine can do it."
ENDED = "No limit was exceeded before the run ended; what would have followed is not known."
UNTRUSTED = (
    "No limit is broken by the numbers of this run, but they cannot be trusted, so nothing is known of the motion."
)
DIED = ("diverged", "not_finite", "singular", "step_too_small")


def died(status: str, q: np.ndarray) -> bool:
    """Did a run with positions q (S, n) end before its time, so that what it would have done is not known?"""
    return status in DIED or not np.isfinite(q).all()


@dataclass(frozen=True, eq=False, repr=False)
class LimitVerdict(Value):
    """How a result stands against every stated limit.

    Attributes:
        feasible: True when every stated limit was compared with the motion and is kept; False when one is not; None when that is not known:
            none is stated, one could not be checked, the run ended before its time or its numbers cannot be trusted.
        checks: one for every stated limit, in the order of the joints; of a batch that of the worst run.
        runs: ``feasible`` of every run of a batch.
        remarks: what the verdict rests on, where that is not plain.
        unchecked: a sentence about every limit that could not be checked: which, and why. They are among the remarks.
        uses: how much every run of a batch uses of the limit that it strains most; NaN where it was compared with none.
    """

    feasible: bool | None
    checks: tuple[Check, ...]
    runs: tuple[bool | None, ...] = ()
    remarks: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    uses: tuple[float, ...] = ()

    def _repr_html_(self) -> str | None:
        """A table, for notebooks."""
        return notebook_html(self)

    @property
    def broken(self) -> tuple[Check, ...]:
        """The limits that are not kept, in the order of time."""
        return tuple(sorted((c for c in self.checks if not c.ok), key=lambda c: c.first))

    @property
    def reason(self) -> str:
        """One sentence; of limits that could not be checked one each."""
        if self.feasible is None:
            early = [said for said in (ENDED, UNTRUSTED) if said in self.remarks]
            return " ".join(early[:1] or self.unchecked) or next(iter(self.remarks), NONE_STATED)
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


class _RunChecks(NamedTuple):
    """One run against its limits: what was checked, what needs a word, and what could not be checked."""

    checks: tuple[Check, ...]
    remarks: tuple[str, ...]
    unchecked: tuple[str, ...]


def limit_verdict(result: Result) -> LimitVerdict:
    """How a result stands against the limits it carries (``meta["limits"]``; the stored robot's where a file has none)."""
    limits = limits_of(result)
    if not limits or "q" not in result.arrays:
        return LimitVerdict(None, ())
    q = result.arrays["q"]
    jerk: Jerk | str | None = None
    if "jerk" in limits:
        try:
            jerk = result.jerk()
        except ManipulaError as error:
            jerk = could_not("jerk", str(error))
    if q.ndim == 2:
        held = _single(result, limits, jerk, robot_of(result) if limits.get("tip") or limits.get("points") else None)
        kept = _kept(result.status, q, held)
        stop = (result.reason,) if result.status == "limit" else _unknown(kept, result.status, q)
        return LimitVerdict(kept, held.checks, (), (*stop, *held.unchecked, *held.remarks), held.unchecked)
    # nothing else asks for the robot, which takes longer than the rest
    at_tip = bool(limits.get("tip") or limits.get("points"))
    robot = robot_of(result) if at_tip else None
    quick = batch_checks(result, limits)
    found: dict[int, _RunChecks] = {}  # run after run, of those that could not be looked at together
    for k in range(len(q)) if quick is None else np.flatnonzero(~quick.regular).tolist():
        one = result.run(k)
        of_jerk = jerk if jerk is None or isinstance(jerk, str) else jerk.run(k)
        found[k] = _single(one, limits, of_jerk, robot or (robot_of(one) if at_tip else None))
    together = _said_of_all(result, quick) if quick is not None else ()
    names, kinds = _joints(result, q.shape[-1])
    runs: list[bool | None] = []
    uses: list[float] = []
    early: list[str] = []
    strained: dict[tuple[str, str], Check] = {}  # each limit as the run that strains it most finds it
    if quick is not None and quick.regular.any():
        most = np.where(quick.regular[:, None], quick.use, -np.inf)
        for j, k in enumerate(most.argmax(axis=0).tolist()):
            c = named(quick.check(result, k, j), names, kinds, quick.rows[j][1])
            strained[c.name, c.quantity] = replace(c, run=k)
    for k, status in enumerate(result.statuses):
        held = found.get(k)
        if held is None:
            assert quick is not None
            use = float(quick.use[k].max())
            broken = status == "limit" or use > 1.0 + SLACK
            proves = not together and status not in (*DIED, "inaccurate", "failed")
            runs.append(False if broken else True if proves else None)
            uses.append(use)
        else:
            runs.append(_kept(status, q[k], held))
            uses.append(max((c.use for c in held.checks), default=float("nan")))
            for c in held.checks:
                kept = strained.get((c.name, c.quantity))
                if kept is None or c.use > kept.use or (c.use == kept.use and k < kept.run):
                    strained[c.name, c.quantity] = replace(c, run=k)
        early += _unknown(runs[k], status, q[k])
    stops = (reason for reason, status in zip(result.reasons, result.statuses) if status == "limit")
    unchecked = tuple(dict.fromkeys((*together, *(said for held in found.values() for said in held.unchecked))))
    remarks = (*stops, *early, *unchecked, *(r for held in found.values() for r in held.remarks))
    whole = False if False in runs else None if None in runs else True
    return LimitVerdict(
        whole, tuple(strained.values()), tuple(runs), tuple(dict.fromkeys(remarks)), unchecked, tuple(uses)
    )


def _said_of_all(result: Result, checks: BatchChecks) -> tuple[str, ...]:
    """What could not be checked in any run, because only samples were looked at."""
    return tuple(
        could_not(quantity, SAMPLES_ONLY)
        for quantity in dict.fromkeys(quantity for quantity, _, _ in checks.rows)
        if only_samples(result, quantity)
    )


def _joints(result: Result, n: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and kinds of the joints."""
    names = tuple(result.joint_names) if len(result.joint_names) == n else tuple(f"joint{i + 1}" for i in range(n))
    return names, tuple(result.meta.get("joint_kinds", ())) or ("revolute",) * n


def could_not(quantity: str, why: str) -> str:
    """The sentence about a limit that could not be checked."""
    return f"Limits of {quantity} could not be checked: {why[:1].lower() + why[1:] if why[1:2].islower() else why}"


def _kept(status: str, q: np.ndarray, held: _RunChecks) -> bool | None:
    """Does one run keep its limits? Of one that ended before its time, or is not right, only what it broke is known."""
    if status == "limit" or not all(c.ok for c in held.checks):  # where it stopped, the samples end before the crossing
        return False
    return True if held.checks and not held.unchecked and not unproven(status, q) else None


def unproven(status: str, q: np.ndarray) -> str:
    """Why a run with positions q (S, n) that breaks no limit proves nothing; empty where it does."""
    return ENDED if died(status, q) else UNTRUSTED if status in ("inaccurate", "failed") else ""


def _unknown(kept: bool | None, status: str, q: np.ndarray) -> tuple[str, ...]:
    why = unproven(status, q) if kept is None else ""
    return (why,) if why else ()


def _single(result: Result, limits: Mapping[str, Any], jerk: Jerk | str | None, robot: Robot | None) -> _RunChecks:
    arrays, t = result.arrays, result.t
    n = arrays["q"].shape[1]
    names, kinds = _joints(result, n)
    checks: list[Check] = []
    known = None if isinstance(jerk, str) else jerk
    remarks = [known.remark] if known is not None and known.remark else []
    absent: dict[str, str] = {}  # of a quantity: why
    going = np.isfinite(arrays["q"]).all(axis=1)
    for i in range(n):
        for quantity in QUANTITIES:
            limit = limit_of((limits.get(quantity) or [None] * n)[i])
            if limit is None:
                continue
            if quantity == "jerk":
                if known is None:
                    absent[quantity] = str(jerk or could_not("jerk", NOTHING))
                    continue
                times, values = known.signal(i)
            elif SIGNALS[quantity] in arrays:
                times, values = t, np.asarray(arrays[SIGNALS[quantity]][:, i], float)
                if shows_between(result, quantity):
                    times, values = filled(quantity, t, arrays, i)
                gap = np.isnan(arrays[SIGNALS[quantity]][:, i]) & going
                if gap.any():
                    when = (
                        f"at t = {t[int(np.argmax(gap))]:.6g} s that of joint '{printable(names[i], 40)}' is no number."
                    )
                    absent.setdefault(quantity, could_not(quantity, NOTHING if gap.all() else when))
            else:
                times, values = t, np.full(len(t), np.nan)
            if np.isnan(values).all():
                absent[quantity] = could_not(quantity, NOTHING)
                continue
            found = strained(worst(quantity, values, times, limit), result, i)
            if quantity == "jerk" and known is not None:
                said = estimated(found, known)
            else:
                said = could_not(quantity, SAMPLES_ONLY) if only_samples(result, quantity) else ""
            if said:
                absent.setdefault(quantity, said)
            checks.append(named(found, names, kinds, i))
    for k, (name, wanted) in enumerate(of_points(limits)):
        if not wanted:
            continue
        held = _point(result, name, wanted, robot, k)
        checks += held.checks
        remarks += held.remarks
        absent |= {said: said for said in held.unchecked}
    return _RunChecks(tuple(checks), tuple(remarks), tuple(dict.fromkeys(absent.values())))


def estimated(check: Check, jerk: Jerk) -> str:
    """What is to be said of a jerk that is kept only because its estimate may be off; empty where it is not."""
    if jerk.exact or not check.ok or replace(check, worst=abs(check.worst) + jerk.error).ok:
        return ""
    return could_not(
        "jerk", f"it is an estimate that may be off by {jerk.error:.3g}, and the limit is no further away."
    )


def _point(result: Result, name: str, limits: Mapping[str, float], robot: Robot | None, number: int) -> _RunChecks:
    """The tip (number 0), or another point by its name."""
    who = "the tip" if not number else f"'{printable(name, 40)}'"
    if not all(name in result.arrays for name in ("q", "qd", "qdd")):
        return _RunChecks((), (), (could_not(who, "its motion was not recorded."),))
    if robot is None or (not number and robot.tip is None):
        return _RunChecks((), (), (could_not(who, "the result does not say which robot moved."),))
    where = point_of_text(name)
    try:
        moved = carrying_of(result, where[0])
    except ManipulaError as error:
        return _RunChecks((), (), (could_not(who, str(getattr(error, "problem", error))),))
    checks, remarks, unchecked = [], [], []
    q, qd, qdd = (np.asarray(result.arrays[name], float) for name in ("q", "qd", "qdd"))
    _, v, a = rates_of(moved, robot, where, result.t, q, qd, qdd)
    for quantity, limit in limits.items():
        found: Jerk | None = None
        said = (
            could_not(f"the {quantity} of {who}", SAMPLES_ONLY)
            if only_samples(result, "points" if number else "tip")
            else ""
        )
        if quantity == "jerk":
            try:
                found = result.jerk(*((where[0], None) if where[1] == ORIGIN else (None, where)))
            except ManipulaError as error:
                unchecked.append(could_not(f"the jerk of {who}", str(error)))
                continue
            times, values = found.signal()
            remarks += [found.remark] if found.remark else []
        else:
            times, values = result.t, np.linalg.norm(v if quantity == "velocity" else a, axis=-1)
            if np.isnan(values[np.isfinite(q).all(axis=1)]).any():
                said = could_not(f"the {quantity} of {who}", "its motion is no number at some samples.")
        check = strained(worst(quantity, values, times, float(limit)), result, TIP - number)
        if found is not None:
            said = estimated(check, found)
        unchecked += [said] if said else []
        named = {"name": name, "point": True} if number else {}
        checks.append(replace(check, unit=SLIDING[quantity], **named))
    return _RunChecks(tuple(checks), tuple(remarks), tuple(unchecked))
