"""Small motions: derivatives of the torques by central differences, and the pendulum everybody knows."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from manipula.errors import ShapeError
from manipula.formats.planar import planar
from manipula.physics import newton_euler
from manipula.symbolic.equations import equations
from symbolic.arms import S, numbers, random_dh, random_state

DIFFERENCES = 1e-7  # central differences with step 1e-5, torques of size 10


def test_matrices_are_the_derivatives_of_the_torques() -> None:
    robot = random_dh(np.random.default_rng(21), 3, False, "standard")
    eq, state = equations(robot), random_state(np.random.default_rng(1), 3)
    lin = eq.linearise()
    K, D = numbers(eq, lin.K, state), numbers(eq, lin.D, state)
    step = 1e-5
    for k in range(3):
        e = np.eye(3)[k] * step
        q, qd, qdd = state
        by_q = newton_euler.inverse_dynamics(robot, q + e, qd, qdd) - newton_euler.inverse_dynamics(
            robot, q - e, qd, qdd
        )
        by_qd = newton_euler.inverse_dynamics(robot, q, qd + e, qdd) - newton_euler.inverse_dynamics(
            robot, q, qd - e, qdd
        )
        assert np.allclose(K[:, k], by_q / (2 * step), atol=DIFFERENCES)
        assert np.allclose(D[:, k], by_qd / (2 * step), atol=DIFFERENCES)


def test_pendulum_hanging_and_standing() -> None:
    m, l, b, g = S("m"), S("l"), S("b"), S("g")
    eq = equations(planar([l], [0], com=[l], inertia=[0], payload=m, damping=b, gravity=(0, -g, 0)))
    rest = eq.linearise(at_rest=True)
    down = rest.at([-sympy.pi / 2])
    assert sympy.simplify(down.K[0, 0] - m * g * l) == 0
    assert down.D[0, 0] == b
    A, B = rest.at([sympy.pi / 2], parameters={"b": 0}).state_space()
    assert sympy.simplify(A - sympy.Matrix([[0, 1], [g / l, 0]])) == sympy.zeros(2)
    assert sympy.simplify(B - sympy.Matrix([0, 1 / (m * l**2)])) == sympy.zeros(2, 1)


def test_a_state_needs_an_entry_for_every_joint() -> None:
    with pytest.raises(ShapeError, match="qd needs 2 entries, found 1"):
        equations(planar([1, 1], [1, 1])).linearise(at_rest=True).at([0, 0], [0])
