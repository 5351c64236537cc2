"""A result from samples, verdicts and the settings of its run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.algebra.value import FrozenDict, Later, LazyDict, handed_over
from manipula.simulation.result import Result, RunVerdict
from manipula.simulation.scenario import Scenario
from manipula.simulation.stated_limits import stated_limits

PROVENANCE = (
    "versions",
    "robot_digest",
    "robot_toml",
    "parameters",
    "settings",
    "limits",
    "scenario_toml",
    "acting",
    "columns",
)
EMPTY: Mapping[str, Any] = FrozenDict()
WORST_FIRST = ("failed", "not_finite", "diverged", "singular", "limit", "step_too_small", "inaccurate", "finished")


def assembled(s: Scenario, t: np.ndarray, arrays: dict[str, np.ndarray], verdicts: list[RunVerdict], error: np.ndarray,
              notes: tuple[str, ...], trusted: np.ndarray | None = None, more: Mapping[str, Any] = EMPTY,
              *later: Later) -> Result:  # fmt: skip
    """One result from the samples and verdicts of all runs of a batch.

    Args:
        arrays: signals (N, S, …); or a FrozenDict of what the result is to hold.
        trusted: until when each run can be trusted, (N,). more: entries of the result's ``meta``;
            later: groups of them that are found when somebody looks.
    """
    if trusted is None:
        finished = np.array([v.status == "finished" for v in verdicts])
        trusted = np.where(finished & np.isfinite(error), float(s.duration or 0.0), np.nan)
    found = error[~np.isnan(error)]
    known = np.where(np.isnan(error), -1.0, error).tolist()
    # of those that ended alike the least exact one speaks
    worst = min(zip(verdicts, known), key=lambda v: (WORST_FIRST.index(v[0].status), -v[1]))[0]
    count = sum(v.status == worst.status for v in verdicts)
    reason = worst.reason if len(verdicts) == 1 else f"{count} of {len(verdicts)} runs: {worst.reason}"
    if not isinstance(arrays, FrozenDict):
        arrays = {name: handed_over(value if s.is_batch else value[0]) for name, value in arrays.items()}
    plain = {
        "robot": s.robot.name, "joint_names": s.robot.joint_names, "kind": s.resolved_kind(),
        "joint_kinds": tuple(j.kind for j in s.robot.joints), "integrator": s.integrator, "step": s.step, "duration": s.duration,
        "seed": s.noise.seed, "tolerance": s.tolerance, "name": s.name, **more,
    }  # fmt: skip
    own = isinstance(arrays, LazyDict)  # nothing of a user's, which may change before it is read
    if own:
        meta: Any = LazyDict(plain, (PROVENANCE, lambda: provenance(s)), *later)
    else:
        meta = LazyDict({**plain, **provenance(s)}, *later) if later else {**plain, **provenance(s)}
    return Result(t, arrays, worst.status, reason, tuple(v.status for v in verdicts), tuple(v.reason for v in verdicts),
                  float(found.max()) if len(found) else float("nan"), meta,
                  notes, s, tuple(map(float, error)), least(trusted), tuple(map(float, trusted)))  # fmt: skip


def not_started(s: Scenario, q0: np.ndarray, qd0: np.ndarray, verdicts: list[RunVerdict]) -> Result:
    """A result whose only sample is the initial state, (N, n) each."""
    t = s.times
    arrays = {name: np.full((len(x), len(t), s.robot.n), np.nan) for name, x in (("q", q0), ("qd", qd0))}
    arrays["q"][:, 0], arrays["qd"][:, 0] = q0, qd0
    nothing = np.full(len(q0), np.nan)
    return assembled(s, t, arrays, verdicts, nothing, (), nothing)


def least(trusted: np.ndarray) -> float:
    """Until when all runs of a batch can be trusted; NaN when one was not verified."""
    return float(np.min(trusted)) if len(trusted) else float("nan")


def provenance(scenario: Scenario) -> dict[str, Any]:
    """``robot_toml``, the values of its free ``parameters``, the ``settings`` that differ from their defaults, and the ``limits``."""
    from manipula.simulation.provenance import acting, columns, robot_text, settings, versions
    from manipula.simulation.recorded import scenario_text

    free = {name: np.asarray(value, float).tolist() for name, value in (scenario.parameters or {}).items()}
    return {
        "versions": versions(), "robot_digest": scenario.robot.digest,
        "robot_toml": robot_text(scenario.robot), "parameters": free, "settings": settings(scenario),
        "limits": stated_limits(scenario.robot, scenario.limits, parameters=scenario.parameters), "scenario_toml": scenario_text(scenario),
        "acting": acting(scenario.robot, scenario.friction, scenario.drives, tuple(scenario.vary or ())),
        "columns": columns(scenario.robot, scenario.friction, scenario.contacts),
    }  # fmt: skip
