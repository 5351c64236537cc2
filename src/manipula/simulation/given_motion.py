"""Runs whose motion is given: kinematic and inverse-dynamics runs. Torques follow from the motion, not the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.errors import DescriptionError
from manipula.model import Model
from manipula.simulation import judge
from manipula.simulation.assembly import assembled
from manipula.simulation.progress import phase
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.setup import initial_state


def kinematic(s: Scenario) -> Result:
    from manipula.simulation.kinematic import run_kinematic

    phase("compiling")
    q0, _ = initial_state(s)
    done = run_kinematic(s, q0)
    return _posed(s, done["t"], done["q"], done["qd"], done["qdd"], done["estimate"])


def inverse_dynamics(s: Scenario) -> Result:
    t = s.times
    if s.reference is None:
        raise DescriptionError("An inverse-dynamics run follows a reference; none is given.", field="reference")
    if s.reference.space == "joint":
        q, qd, qdd = (np.asarray(s.reference.derivatives(t, 2)))[:3]
    else:
        from manipula.simulation.joint_motion import along_task

        q, qd, qdd = along_task(s, t)
    return _posed(s, t, q[None], qd[None], qdd[None], float("nan"))


def _posed(s: Scenario, t: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, estimate: Any) -> Result:
    """A result from a known joint motion (N, S, n): torques by inverse dynamics, friction added."""
    model = Model(s.robot)
    inertial = model.inverse_dynamics(q, qd, qdd)
    friction = np.zeros_like(q)
    laws = [j.friction for j in s.robot.joints] if s.friction is None else (s.friction or [None] * s.robot.n)
    for i, law in enumerate(laws):
        if law is not None and not law.states and not law.needs_load:
            friction[..., i] = np.vectorize(law.torque, otypes=[float])(qd[..., i])
    tau = inertial + friction
    arrays = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "friction": friction, "power": tau * qd}
    if s.robot.tip is not None:
        pose = model.pose(q)
        arrays["tip"], arrays["pose"] = pose[..., :3, 3], pose
    if s.reference.space == "task" and "tip" in arrays:
        arrays["target"] = np.broadcast_to(s.reference.position(t), arrays["tip"].shape).copy()
        arrays["error"] = arrays["target"] - arrays["tip"]
    arrays["kinetic"], arrays["potential"] = model.kinetic_energy(q, qd), model.potential_energy(q)
    arrays["energy"] = arrays["kinetic"] + arrays["potential"]
    errors = np.broadcast_to(np.asarray(estimate, float), len(q))
    verdicts = [_verdict(s, t, k, arrays, float(errors[k])) for k in range(len(q))]
    return assembled(s, t, arrays, verdicts, errors, ())


def _verdict(s: Scenario, t: np.ndarray, k: int, arrays: dict[str, np.ndarray], error: float) -> judge.Verdict:
    crossed = judge.limits_crossed(s.robot, arrays["q"][k]) if s.stop_at_limits else None
    if crossed is not None:
        sample, joint = crossed
        for name in arrays:
            arrays[name][k, sample + 1 :] = np.nan
        return judge.Verdict(
            "limit", f"Joint '{s.robot.joint_names[joint]}' passed its limit at t = {t[sample]:.6g} s."
        )
    if error > s.tolerance:
        return judge.Verdict(
            "inaccurate",
            f"Repeating the run with a finer step changed the answer by {error:.1e} (allowed {s.tolerance:.1e}): "
            f"reduce the step, or the motion itself is too sensitive.",
        )
    if not all(np.isfinite(arrays[name][k]).all() for name in ("q", "qd")):
        return judge.Verdict("not_finite", "A sample is not a finite number.")
    if s.resolved_kind() == "inverse_dynamics":
        off = float(np.abs(arrays["error"][k]).max()) if "error" in arrays else 0.0
        if off > s.tolerance:
            return judge.Verdict(
                "inaccurate", f"The joints found miss the reference by up to {off:.1e} (allowed {s.tolerance:.1e})."
            )
        met = f"; the tip is within {off:.1e} m of it" if "error" in arrays else ""
        return judge.Verdict("finished", f"Torques along {s.duration:g} s of the reference{met}.")
    trust = f"; error about {error:.1e}" if np.isfinite(error) else "; accuracy not verified"
    return judge.Verdict("finished", f"{s.duration:g} s simulated{trust}.")
