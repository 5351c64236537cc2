"""Was a run to end at the limits of its joints, and did it pass one and turn back within a step?

Limits are watched at the ends of steps. What a joint does between them is found afterwards, with the extremes of the run.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from manipula.simulation.limit_checks import GIVEN, only_samples, turning_values
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.stated_limits import position_limits

JUDGED = ("finished", "limit", "inaccurate")  # other runs are not right for reasons of their own


class _Passage(NamedTuple):
    """A joint of a run beyond its limit where it turns back: by how much, when, and when a limit is known to be passed first."""

    run: int
    joint: int
    beyond: float
    time: float
    first: float


def with_unstopped_verdicts(result: Result, s: Scenario) -> Result:
    """The result; runs that were not stopped at a limit, which they pass by more than they are exact, are not finished, nor stopped later on."""
    # what is known of given motions goes beyond where they were stopped
    judged = ("finished",) if result.meta.get("kind") in GIVEN else JUDGED
    if not s.stop_at_limits or not set(judged) & set(result.statuses):
        return result
    count = len(result.statuses)
    states, reasons, trusted = list(result.statuses), list(result.reasons), list(result.trusted_untils)
    missed: list[int] = []
    for run, joint, beyond, when, first in sorted(_passages(result, s), key=lambda p: (p.run, p.time)):
        if run in missed or states[run] not in judged:
            continue
        missed.append(run)
        trusted[run] = float(np.fmin(trusted[run], first))
        if states[run] == "inaccurate" and not np.isinf(result.error_estimates[run]):
            continue  # its positions are not even right
        unit = "rad" if s.robot.joints[joint].is_revolute else "m"
        states[run] = "inaccurate"
        reasons[run] = (
            f"Joint '{s.robot.joint_names[joint]}' passes its limit by {beyond:.2g} {unit} at t = {when:.6g} s and turns back within a step, so "
            "the run was not stopped there: reduce the step."
        )
    if not missed:
        return result
    status, reason = result.status, result.reason
    told = [k for k in missed if reasons[k] != result.reasons[k]]
    if told and status in judged:
        status, reason = "inaccurate", f"{len(told)} of {count} runs: " * (count > 1) + reasons[told[0]]
    return dataclasses.replace(
        result, status=status, reason=reason, statuses=tuple(states), reasons=tuple(reasons),
        trusted_untils=tuple(trusted), trusted_until=float(np.min(trusted)),
    )  # fmt: skip


def _passages(result: Result, s: Scenario) -> list[_Passage]:
    """Where runs are beyond a limit by more than they are exact: as they were seen between samples, and from samples at which steps end."""
    low, high = position_limits(s.robot, s.limits, s.parameters)
    found = [
        row
        for run, quantity, joint, lowest, early, highest, late, first in result.meta.get("peaks", ())
        if quantity == "position" and joint >= 0
        for row in ((run, joint, lowest, early, first), (run, joint, highest, late, first))
    ]
    if all(name in result.arrays for name in ("q", "qd", "qdd")) and not only_samples(result, "position", anew=True):
        of = [
            np.asarray(result.arrays[name]).reshape(len(result.statuses), -1, s.robot.n) for name in ("q", "qd", "qdd")
        ]
        turns = np.argwhere((of[1][:, :-1] * of[1][:, 1:] < 0.0) & np.isfinite(of[2][:, :-1] + of[2][:, 1:]))
        run, k, joint = turns.T
        y, rate, more = ((x[run, k, joint], x[run, k + 1, joint]) for x in of)
        when, values = turning_values(result.t[k], result.t[k + 1] - result.t[k], y, rate, more, None)
        found += zip(run.tolist(), joint.tolist(), values.tolist(), when.tolist(), when.tolist())
    out = []
    for run, joint, value, when, first in found:
        below, above = float(low[joint]) - value, value - float(high[joint])
        edge = float(low[joint] if below > above else high[joint])
        beyond = max(below, above)
        if beyond > s.tolerance * max(1.0, abs(edge)):
            out.append(_Passage(run, joint, beyond, when, float(np.fmin(first, when))))
    return out
