"""Was a run to end at the limits of its joints, and did it pass one and turn back within a step?

Limits are watched at the ends of steps. What a joint does between them is found afterwards, with the extremes of the run.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.stated_limits import position_limits


def with_unstopped_verdicts(result: Result, s: Scenario) -> Result:
    """The result; runs that were not stopped at a limit, which they pass by more than they are exact, are not finished."""
    if not s.stop_at_limits or "finished" not in result.statuses:
        return result
    count = len(result.statuses)
    low, high = (np.broadcast_to(x, (count, s.robot.n)) for x in position_limits(s.robot, s.limits, s.parameters))
    states, reasons, trusted = list(result.statuses), list(result.reasons), list(result.trusted_untils)
    for run, quantity, joint, lowest, early, highest, late, first in result.meta.get("peaks", ()):
        if quantity != "position" or joint < 0 or states[run] != "finished":
            continue
        below, above = float(low[run, joint]) - lowest, highest - float(high[run, joint])
        beyond, when = (below, early) if below > above else (above, late)
        edge = float(low[run, joint] if below > above else high[run, joint])
        if not beyond > s.tolerance * max(1.0, abs(edge)):
            continue
        unit = "rad" if s.robot.joints[joint].is_revolute else "m"
        states[run] = "inaccurate"
        reasons[run] = (
            f"Joint '{s.robot.joint_names[joint]}' passes its limit by {beyond:.2g} {unit} at t = {when:.6g} s and turns back within a step, so "
            "the run was not stopped there: reduce the step."
        )
        trusted[run] = float(np.fmin(trusted[run], first))
    missed = [k for k in range(count) if states[k] != result.statuses[k]]
    if not missed:
        return result
    head = "" if count == 1 else f"{len(missed)} of {count} runs: "
    overall = (("inaccurate", head + reasons[missed[0]]) if result.status == "finished" else (result.status, result.reason))  # fmt: skip
    return dataclasses.replace(
        result, status=overall[0], reason=overall[1], statuses=tuple(states), reasons=tuple(reasons),
        trusted_untils=tuple(trusted), trusted_until=float(np.min(trusted)),
    )  # fmt: skip
