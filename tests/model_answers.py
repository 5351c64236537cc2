"""Answers of the package to a few questions, as JSON: run in another process, or called in this one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import manipula as mp
from manipula import native

TAKES = {
    "mass_matrix": 1, "gravity": 1, "pose": 1, "jacobian": 1, "coriolis_matrix": 2, "bias": 2, "jacobian_rate": 2,
    "inverse_dynamics": 3, "forward_dynamics": 3, "regressor": 3, "joint_reactions": 3,
}  # fmt: skip


def work(model: mp.Model, q: np.ndarray) -> tuple[Any, Any]:
    """What a worker does with a model that was sent to it, from a module that it finds again."""
    return model.mass_matrix(q), model.kernel("gravity")(q)


def answers() -> dict[str, Any]:
    model = mp.compile(mp.load("scara-khang"))
    states = np.random.default_rng(5).uniform(-1, 1, size=(3, 6, 4))
    out: dict[str, Any] = {name: getattr(model, name)(*states[:count]).tolist() for name, count in TAKES.items()}
    out["torque slopes"] = model.inverse_dynamics_derivatives(*states[:, 0])[0].tolist()
    out["by formulas"] = mp.equations(model.robot).compile("tau")(*states).tolist()
    solved = mp.solve_ik(
        model, model.position([0.3, 0.5, -0.2, 0.1]), method="levenberg_marquardt", q0=[0.2, 0.4, -0.1, 0.0]
    )
    scenario = mp.Scenario(
        robot=mp.load("planar-2r"), q0=[0.1, 0.2], qd0=[0.0, 0.0], duration=0.02, step=2e-3, integrator="rk4"
    )
    run = mp.simulate(scenario)
    out["inverse kinematics"], out["simulation"] = np.asarray(solved.q).tolist(), run.q[-1].tolist()
    out["status"] = [str(solved.status), str(run.status)]
    out["native"] = native.compile_function(lambda x: x + 1.0, {"x": ()}).is_native
    return out


if __name__ == "__main__":
    print(json.dumps(answers()))
