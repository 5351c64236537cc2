"""The arms of the catalog: against Pinocchio, against what others publish for them, and through DH tables and back."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from manipula.formats.catalog import catalog_names, load_catalog
from manipula.formats.dh import to_dh
from manipula.physics.composite import forward_dynamics, mass_matrix
from manipula.physics.coriolis import coriolis_matrix
from manipula.physics.kinematics import jacobian, jacobian_rate, pose
from manipula.physics.newton_euler import gravity, inverse_dynamics
from manipula.physics.reactions import joint_reactions
from manipula.robot.robot import Robot
from strategies import random_state

ROUNDOFF = 1e-13  # scaled by the largest entry
FOUR_DIGITS = 5e-4  # relative; the source prints four significant digits
PAPER = 1e-11  # states computed by independent programs

NUMERIC = [n for n in catalog_names() if load_catalog(n).is_numeric and not load_catalog(n).followers]
DATA = Path(__file__).parent.parent / "data"


def close(value: np.ndarray, reference: np.ndarray, tolerance: float = ROUNDOFF) -> bool:
    return bool(np.max(np.abs(value - reference)) <= tolerance * max(1.0, np.max(np.abs(reference))))


@pytest.mark.parametrize("name", NUMERIC)
def test_against_pinocchio(name: str) -> None:
    pytest.importorskip("pinocchio")
    from oracles import Judge

    robot = load_catalog(name)
    judge = Judge(robot)
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, qd, qdd = random_state(rng, robot.n)
        tau = judge.inverse_dynamics(q, qd, qdd)
        assert close(inverse_dynamics(robot, q, qd, qdd), tau)
        assert close(mass_matrix(robot, q), judge.mass_matrix(q))
        assert close(coriolis_matrix(robot, q, qd), judge.coriolis_matrix(q, qd))
        assert close(gravity(robot, q), judge.gravity(q))
        assert close(joint_reactions(robot, q, qd, qdd), judge.joint_reactions(q, qd, qdd))
        assert close(pose(robot, q), judge.pose(q))
        assert close(jacobian(robot, q), judge.jacobian(q))
        assert close(jacobian_rate(robot, q, qd), judge.jacobian_rate(q, qd))
        if all(link.mass > 0 for link in robot.links):
            left_over = judge.inverse_dynamics(q, qd, forward_dynamics(robot, q, qd, tau)) - tau
            assert np.max(np.abs(left_over)) <= ROUNDOFF * max(
                1.0, np.max(np.abs(judge.mass_matrix(q) * qdd)), np.max(np.abs(tau))
            )


@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_as_a_dh_table(name: str, convention: str) -> None:
    robot = load_catalog(name)
    back = to_dh(robot, convention).to_robot()  # pyright: ignore[reportArgumentType]
    q, qd, qdd = random_state(np.random.default_rng(2), robot.n)
    assert close(inverse_dynamics(back, q, qd, qdd), inverse_dynamics(robot, q, qd, qdd), 10 * ROUNDOFF)
    assert close(pose(back, q), pose(robot, q), 10 * ROUNDOFF)


def test_puma_as_the_robotics_toolbox_prints_it() -> None:
    """Gravity load and positive entries of the mass matrix in the pose qn, from the toolbox's notebook on dynamics."""
    robot = load_catalog("puma560")
    qn = np.array([0.0, math.pi / 4, math.pi, 0.0, math.pi / 4, 0.0])
    g, M = gravity(robot, qn), mass_matrix(robot, qn)
    for k, printed in {1: 31.64, 2: 6.035, 4: 0.02825}.items():
        assert abs(g[k] - printed) <= FOUR_DIGITS * printed
    printed_entries = {
        (0, 0): 3.659, (0, 2): 0.1006, (1, 1): 4.414, (1, 2): 0.3509, (1, 4): 0.00236, (2, 2): 0.9378, (2, 4): 0.00148,
        (3, 3): 0.1925, (3, 5): 2.828e-05, (4, 4): 0.1713, (5, 5): 0.1941,
    }  # fmt: skip
    for entry, printed in printed_entries.items():
        assert abs(M[entry] - printed) <= FOUR_DIGITS * printed


@pytest.mark.parametrize(
    ("name", "file", "states"),
    [
        ("arora-5r", "arora5", "random_states"),
        ("scara-khang", "scara", "random_states"),
        ("jarzebowska-4", "gpme4", "states"),
    ],
)
def test_arms_of_the_papers(name: str, file: str, states: str) -> None:
    robot: Robot = load_catalog(name)
    for state in json.loads((DATA / f"{file}.json").read_text(encoding="utf-8"))[states]:
        q = np.array(state["q"])
        assert close(mass_matrix(robot, q), np.array(state["M"]), PAPER)
        assert close(gravity(robot, q), np.array(state.get("g", state.get("g_gravity_minus_y"))), PAPER)
