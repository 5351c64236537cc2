"""How many digits the recursions lose: against fifty-digit mechanics, beside Pinocchio on the same robots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import precise

pytest.importorskip("pinocchio")

from manipula.physics import articulated, composite
from manipula.physics.mechanism import mechanism_of, regrouped
from manipula.physics.newton_euler import inverse_dynamics
from oracles import Judge
from strategies import random_robot, random_state

ROUNDOFF = 1e-14  # inverse dynamics of up to 7 joints, scaled: 45 units in the last place
TYPICAL = 2.0  # geometric mean of our error over Pinocchio's: both are the luck of rounding, twice would be bad method
WORST = 3.0  # the same for the largest error in the sample


def error(value: Any, reference: np.ndarray) -> float:
    """Largest error against fifty digits, scaled by the largest entry, never less than a tenth of the last place."""
    size = max(1.0, float(max(abs(x) for x in reference)))
    return max(2e-17, float(max(abs(precise.exact(value) - reference))) / size)


@pytest.fixture(scope="module")
def errors() -> dict[str, np.ndarray]:
    """Per function and program one error a robot."""
    rng = np.random.default_rng(51)
    found: dict[str, list[float]] = {}
    for k in range(30):
        n = 2 + k % 6
        robot = random_robot(rng, n, tree=k % 3 == 0, oblique=True, drives=k % 2 == 0, payload=k % 4 == 0, gravity=True)
        lean = regrouped(mechanism_of(robot))
        judge = Judge(robot)
        q, qd, qdd = random_state(rng, n)
        torque = precise.inverse_dynamics(robot, q, qd, qdd)
        tau = torque.astype(float)
        acceleration = precise.forward_dynamics(robot, q, qd, tau)
        answers = {
            "inverse": (inverse_dynamics(robot, q, qd, qdd), torque),
            "inverse, regrouped": (inverse_dynamics(lean, q, qd, qdd), torque),
            "inverse, Pinocchio": (judge.inverse_dynamics(q, qd, qdd), torque),
            "forward, composite": (composite.forward_dynamics(robot, q, qd, tau), acceleration),
            "forward, articulated": (articulated.forward_dynamics(robot, q, qd, tau), acceleration),
            "forward, composite, regrouped": (composite.forward_dynamics(lean, q, qd, tau), acceleration),
            "forward, articulated, regrouped": (articulated.forward_dynamics(lean, q, qd, tau), acceleration),
            "forward, Pinocchio": (judge.forward_dynamics(q, qd, tau), acceleration),
        }
        for name, (value, reference) in answers.items():
            found.setdefault(name, []).append(error(value, reference))
    return {name: np.array(values) for name, values in found.items()}


@pytest.mark.parametrize("route", ["inverse", "inverse, regrouped"])
def test_inverse_dynamics(errors: dict[str, np.ndarray], route: str) -> None:
    assert errors[route].max() <= ROUNDOFF
    assert errors["inverse, Pinocchio"].max() <= ROUNDOFF  # else the reference, not the recursion, would be wrong


@pytest.mark.parametrize("route", ["composite", "articulated", "composite, regrouped", "articulated, regrouped"])
def test_forward_dynamics_is_no_worse_than_pinocchios(errors: dict[str, np.ndarray], route: str) -> None:
    ours, theirs = errors[f"forward, {route}"], errors["forward, Pinocchio"]
    assert np.exp(np.mean(np.log(ours / theirs))) <= TYPICAL
    assert ours.max() <= WORST * theirs.max()
