"""What became of a run whose motion is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.redundancy.arm import Arm
from manipula.simulation.given_motion.joint_motion import JointMotion
from manipula.simulation.given_motion.watching import Seen
from manipula.simulation.result import RunVerdict
from manipula.simulation.scenario import Scenario
from manipula.simulation.stepping.corners import Jump, jumps_in_words
from manipula.simulation.verdicts import judge

DRIFT = 10.0  # times the tolerance, per metre of reach: what integrating the joints may leave at the tip
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Facts:
    """The samples of all members of a run, and the errors found: of the motion, and of what friction remembers, (N,)."""

    scenario: Scenario
    motion: JointMotion
    arrays: dict[str, np.ndarray]
    errors: np.ndarray
    memory: np.ndarray
    between: Sequence[Seen | None]  # of every member: what its samples leave out
    jumps: list[Jump]  # of the reference

    @property
    def dynamic(self) -> bool:
        """Is the run there for its torques?"""
        return self.scenario.resolved_kind() == "inverse_dynamics"

    @property
    def unit(self) -> str:
        if getattr(self.scenario.reference, "space", "") == "task":
            return "m"
        kinds = {j.is_revolute for j in self.scenario.robot.joints}
        return "rad or m" if len(kinds) > 1 else "rad" if True in kinds else "m"

    @property
    def allowed(self) -> float:
        """How far the tip may be from where it should be [m]."""
        s = self.scenario
        known = [np.abs(self.arrays[name]) for name in ("tip", "target") if name in self.arrays]
        # the tip in axes of the base, however far that is carried
        if "base_pose" in self.arrays and "error" in self.arrays:
            known[0] = np.abs(self.arrays["target"] - self.arrays["error"])
        reach = max((float(np.nanmax(v, initial=0.0)) for v in known), default=0.0)
        return (1.0 if self.dynamic else DRIFT) * s.tolerance * max(1.0, reach)

    def notes(self) -> tuple[str, ...]:
        s, out = self.scenario, []
        if self.jumps and not self.dynamic:
            out.append(
                f"The reference jumps: {jumps_in_words(self.jumps, self.unit)}. No torque does that; the torques reported there are those "
                "just after."
            )
        if not self.dynamic and "error" in self.arrays and not s.tasks:
            gap = float(np.linalg.norm(self.arrays["error"][:, 0], axis=-1).max())
            if gap > self.allowed:
                then = (
                    f"a gain of {s.gain:g}/s takes it there"
                    if s.gain
                    else "without a gain it stays so far from its path"
                )
                out.append(f"The tip starts {gap:.3g} m away from the start of the reference; {then}.")
        if s.tasks and "error" in self.arrays:
            off = np.nan_to_num(np.linalg.norm(self.arrays["error"], axis=-1))
            run, at = np.unravel_index(int(np.argmax(off)), off.shape)
            if off[run, at] > self.allowed:
                whose = f" of run {run}" if len(off) > 1 else ""
                out.append(
                    f"The tip{whose} is off the reference by up to {off[run, at]:.3g} m, at t = {self.motion.t[at]:.6g} s: its task is not "
                    "served alone (others of its priority or above, bounds, a start elsewhere)."
                )
        return tuple(out)


def is_singular(condition: Any, tolerance: float) -> Any:
    r"""Are rates solved from a Jacobian of condition κ too inexact? Accelerations lose :math:`\epsilon\kappa^2`."""
    return condition * condition * tolerance < EPS


def trusted_until(facts: Facts, k: int, verdict: RunVerdict) -> float:
    """The last time until which the numbers of member k are right; NaN where something was integrated and nothing repeated."""
    remembers, integrated = "bristles" in facts.arrays, facts.motion.integrated
    if (integrated and np.isnan(facts.errors[k])) or (remembers and np.isnan(facts.memory[k])):
        return float("nan")
    return float(facts.scenario.duration or 0.0) if verdict.status == "finished" else last_right(facts, k)


def last_right(facts: Facts, k: int) -> float:
    """The last sample until which nothing is known to be wrong with member k; 0 where it is wrong from the start."""
    s, motion, t = facts.scenario, facts.motion.member(k), facts.motion.t
    errors = facts.errors[k], facts.memory[k]
    right = np.isfinite(facts.arrays["q"][k]).all(axis=-1) & ~is_singular(motion.condition, s.tolerance)
    if facts.dynamic and facts.jumps:
        right &= t < facts.jumps[0].t
    off = _off(facts, k)
    if off is not None:
        right &= off.max(axis=1) <= facts.allowed
    if errors[0] > s.tolerance:
        right &= t <= motion.agreed
    if errors[1] > s.tolerance:
        right[1:] = False
    count = int(np.logical_and.accumulate(right).sum())
    return float(t[count - 1]) if count else 0.0


def told_until(verdict: RunVerdict, trusted: float) -> RunVerdict:
    """The verdict on a run that is not exact enough to its end, with the time until which it is."""
    if verdict.status != "inaccurate" or not trusted > 0.0:
        return verdict
    return verdict._replace(reason=f"{verdict.reason} It can be trusted until t = {trusted:.6g} s.")


def judged(facts: Facts, k: int, limit: Any, dense: JointMotion | None) -> RunVerdict:
    """The verdict on member k.

    Args:
        limit: of the actuators. dense: the motion on all steps, where the run ends at a joint limit.
    """
    s, motion = facts.scenario, facts.motion.member(k)
    whole = np.isfinite(np.concatenate([motion.q, motion.qd, motion.qdd], axis=1)).all(axis=1)
    if not whole.all():
        return RunVerdict(
            "not_finite", f"The motion is no finite number any more at t = {motion.t[int(np.argmin(whole))]:.6g} s."
        )
    stopped = _limit(facts, k, dense) if dense is not None else None
    if stopped is not None:
        return stopped
    if facts.dynamic and facts.jumps:
        return RunVerdict(
            "failed",
            f"The reference jumps: {jumps_in_words(facts.jumps, facts.unit)}. No finite torque does that; between these instants the "
            "torques are right. Round the corner, or stop there.",
        )
    return (
        _singular(facts, motion)
        or _error(facts, k)
        or _miss(facts, k)
        or _torque(facts, k, limit)
        or RunVerdict("finished", _finished(s, facts, k))
    )


def _limit(facts: Facts, k: int, dense: JointMotion) -> RunVerdict | None:
    s = facts.scenario
    crossed = judge.limits_crossed(s.robot, s.limits, dense.q, s.parameters)
    if crossed is None:
        return None
    sample = crossed[0]
    state = dense.q[sample], dense.before[0][sample], dense.before[1][sample]
    joint, when = judge.crossing(s.robot, s.limits, state, float(dense.t[sample]), s.parameters)
    for value in facts.arrays.values():
        value[k, facts.motion.t > dense.t[sample]] = np.nan
    return RunVerdict("limit", f"Joint '{s.robot.joint_names[joint]}' passed its limit at t = {when:.6g} s.")


def _singular(facts: Facts, motion: JointMotion) -> RunVerdict | None:
    if facts.scenario.tasks and np.isnan(motion.condition).any():
        first = float(motion.t[int(np.argmax(np.isnan(motion.condition)))])
        return RunVerdict(
            "inaccurate", f"At t = {first:.6g} s the bounded least squares of the tasks did not reach their minimum."
        )
    worst = int(np.argmin(motion.condition))
    smallest = float(motion.condition[worst])
    if not is_singular(smallest, facts.scenario.tolerance):
        return None
    when = "at" if smallest > 0.0 else "at or shortly after"
    return RunVerdict(
        "singular",
        f"The arm is in a singular posture (stretched out or folded, 1/κ = {smallest:.1e}) {when} t = {motion.t[worst]:.6g} s: rates "
        "and torques are not determined there.",
    )


def _error(facts: Facts, k: int) -> RunVerdict | None:
    allowed = facts.scenario.tolerance
    if np.inf in (facts.errors[k], facts.memory[k]):
        return RunVerdict(
            "inaccurate", "Repeated with finer steps the run could not be continued to its end: reduce the step."
        )
    if facts.errors[k] > allowed:
        return RunVerdict(
            "inaccurate",
            f"Repeating the run with a finer step changed the answer by {facts.errors[k]:.1e} (allowed {allowed:.1e}): "
            "reduce the step, or the motion itself is too sensitive.",
        )
    if facts.memory[k] > allowed:
        return RunVerdict(
            "inaccurate",
            f"Integrating what friction remembers again changed it by {facts.memory[k]:.1e} of its size (allowed {allowed:.1e}): "
            "reduce the step.",
        )
    return None


def _off(facts: Facts, k: int) -> np.ndarray | None:
    """How far the tip is from where the reference wants it (S, 3), but for a start off the path that the gain is to correct."""
    if "error" not in facts.arrays or facts.scenario.tasks:  # tasks need not all be served
        return None
    s, t, e = facts.scenario, facts.motion.t, facts.arrays["error"][k]
    expected = np.zeros_like(e)
    if not facts.dynamic:
        rows = [i for i in range(3) if i in Arm(s.robot).task]
        expected[:, rows] = np.exp(-s.gain * t)[:, None] * e[0, rows]
    off = np.abs(e - expected)
    turned = facts.arrays.get("orientation_error")
    if turned is None or facts.dynamic:  # inverse dynamics finds its joints by the pose itself
        return off
    return np.concatenate([off, np.abs(turned[k] - np.exp(-s.gain * t)[:, None] * turned[k, 0])], axis=1)


def _miss(facts: Facts, k: int) -> RunVerdict | None:
    """Is the tip where the reference wants it?"""
    s, t, off = facts.scenario, facts.motion.t, _off(facts, k)
    if off is None:
        return None
    if off.max() <= facts.allowed:
        return None
    at, axis = np.unravel_index(int(np.argmax(off)), off.shape)
    if axis >= 3:
        return RunVerdict(
            "failed",
            f"The tool is turned away from the reference by up to {off.max():.3g} rad, at t = {t[at]:.6g} s (allowed {facts.allowed:.1e} rad).",
        )
    fixed = axis not in Arm(s.robot).task
    why = f": the tip of '{s.robot.name}' cannot move in {'xyz'[axis]}" if fixed else ""
    how = "misses" if facts.dynamic or s.gain else "leaves"
    return RunVerdict(
        "failed",
        f"The tip {how} the reference by up to {off.max():.3g} m, at t = {t[at]:.6g} s{why} (allowed {facts.allowed:.1e} m).",
    )


def _torque(facts: Facts, k: int, limit: Any) -> RunVerdict | None:
    """Limits of the actuators cannot cut a motion that is given; they can only be broken by it."""
    if limit is None:
        return None
    s, t, tau = facts.scenario, facts.motion.t, np.abs(facts.arrays["tau"][k])
    seen = facts.between[k]
    if seen is not None:
        t, tau = seen.t, np.maximum(np.abs(seen.after["tau"]), np.abs(seen.before["tau"]))
    bound = np.asarray(per_joint(limit, s.robot.n), float)
    over = tau / np.maximum(bound, 1e-300)
    if over.max() <= 1.0:
        return None
    at, joint = np.unravel_index(int(np.argmax(over)), over.shape)
    unit = "N·m" if s.robot.joints[joint].is_revolute else "N"
    return RunVerdict(
        "failed",
        f"The motion needs {tau[at, joint]:.4g} {unit} in joint '{s.robot.joint_names[joint]}' at t = {t[at]:.6g} s; the "
        f"actuator gives {bound[joint]:.4g} {unit}.",
    )


def _finished(s: Scenario, facts: Facts, k: int) -> str:
    off = float(np.abs(facts.arrays["error"][k]).max()) if "error" in facts.arrays else 0.0
    met = f"; the tip is within {off:.1e} m of it" if "error" in facts.arrays and not s.tasks else ""
    found = np.fmax(facts.errors[k], facts.memory[k])
    if facts.dynamic:
        unknown = "; accuracy not verified" if facts.motion.integrated or "bristles" in facts.arrays else ""
        trust = f"; error about {found:.1e}" if np.isfinite(found) else unknown
        return f"Torques along {s.duration:g} s of the reference{met}{trust}."
    trust = f"; error about {found:.1e}" if np.isfinite(found) else "; accuracy not verified"
    return f"{s.duration:g} s along the reference{met}{trust}."
