"""Base parameters: counts from theory, literature and Pinocchio's regressor; the regrouping keeps every torque."""

from __future__ import annotations

import numpy as np
import pytest

from manipula.analysis.identification.base_parameters import base_parameters
from manipula.errors import UnknownNameError
from manipula.formats.load import load
from manipula.formats.planar import planar
from manipula.model import Model
from oracles import Judge
from strategies import random_robot

EXACT = 1e-9  # of the largest torque: regrouping factors come from least squares of full rank


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("puma560", 36),  # Khalil & Dombre, Modeling, identification and control of robots: 36 without rotor inertia
        ("panda", 43),  # Gaz et al., Dynamic identification of the Franka Emika Panda, RA-L 2019
    ],
)
def test_counts_of_the_literature(name, count):
    assert base_parameters(load(name)).count == count


@pytest.mark.parametrize("n", [1, 2, 3])
def test_planar_arms_by_theory(n):
    """In the vertical plane Jzz, mx, my of every link matter; in the horizontal one the first link turns by Jzz alone."""
    arm = planar([0.7] * n, [1.0] * n)
    assert base_parameters(arm).count == 3 * n
    assert base_parameters(arm.replace(gravity=(0.0, 0.0, -9.81))).count == 3 * n - 2


@pytest.mark.parametrize("seed", range(4))
def test_rank_of_pinocchios_regressor_is_the_same(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 4, tree=seed % 2 == 1, prismatic=True)
    judge = Judge(robot)
    states = rng.uniform(-2.0, 2.0, (60, 3, 4))
    W = np.vstack([judge.regressor(*s) for s in states])
    assert base_parameters(robot).count == np.linalg.matrix_rank(W / np.max(np.abs(W)), tol=1e-9 * len(W) ** 0.5)


@pytest.mark.parametrize("extras", [(), ("viscous", "coulomb", "offset", "armature")])
def test_regrouped_parameters_give_the_same_torques(extras):
    """For any parameters, physical or not, W π = W_1 K π at states that were not used to find K."""
    rng = np.random.default_rng(8)
    model = Model(random_robot(rng, 4, tree=True, prismatic=True, oblique=True))
    base = base_parameters(model, extras)
    q, qd, qdd = rng.uniform(-3.0, 3.0, (3, 50, 4))
    pi = rng.normal(size=base.columns.size)
    full = base.columns(q, qd, qdd) @ pi
    assert np.max(np.abs(base.regressor(q, qd, qdd) @ base.values(pi) - full)) < EXACT * np.max(np.abs(full))
    assert base.gap[0] > 1e4 * max(base.gap[1], 1e-15)


def test_columns_of_the_robots_own_parameters_give_its_torques():
    rng = np.random.default_rng(9)
    robot = random_robot(rng, 3, drives=True)
    model = Model(robot)
    base = base_parameters(model, ("armature", "viscous"))
    from manipula.physics.regressor import parameters

    damping = np.array([0.3, 0.2, 0.1])
    pi = np.concatenate([parameters(robot), [j.armature for j in robot.joints], damping])
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, 20, 3))
    wanted = model.inverse_dynamics(q, qd, qdd) + damping * qd
    assert np.max(np.abs(base.regressor(q, qd, qdd) @ base.values(pi) - wanted)) < EXACT * np.max(np.abs(wanted))


def test_the_rotor_of_the_first_joint_hides_behind_its_link():
    """Ir1·qdd1 has the column of Jzz about the first axis, so it is regrouped; further rotors are visible."""
    base = base_parameters(planar([0.5, 0.5], [1.0, 1.0]), "armature")
    assert "Ir1" not in base.names
    assert "Ir2" in base.names
    assert any("+ Ir1" in d for d in base.definitions())


def test_the_text_names_count_and_definitions():
    text = base_parameters(planar([1.0], [1.0])).text()
    assert text.startswith("3 base parameters of 10")
    assert "Jzz1" in text


def test_unknown_columns_are_refused():
    with pytest.raises(UnknownNameError, match="coulomb"):
        base_parameters(planar([1.0], [1.0]), "colomb")
