r"""Laws of mechanics that hold for every robot, each between two functions that do not know each other.

The machine code is compared with exact derivatives by Taylor numbers (``algebra/derivatives.py``) of the recursions on plain floats:

.. math::
   M = M^T > 0,\quad \tfrac12\dot q^TM\dot q = T,\quad \dot M - 2C + (\dot M - 2C)^T = 0,\quad C\dot q = h,\quad g = \partial V/\partial q,\quad
   \tfrac{d}{dt}(T + V) = \tau^T\dot q,\quad \tau = Y\pi
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from manipula.algebra.derivatives import derivatives, directional, gradient
from manipula.algebra.derivatives import jacobian as slope
from manipula.certificate.comparison import MASS, PER_CONDITION, TORQUE, error, rounding, scales
from manipula.certificate.own_routes import Certified
from manipula.physics import composite, energy, forward, kinematics, newton_euler
from manipula.physics.regressor import parameters
from manipula.robot.robot import Robot

Measured = tuple[float, float]  # disagreement, tolerance
MOST_STATES = 6  # Taylor numbers are slow


class Laws:
    """The laws of one robot at some of its states."""

    def __init__(self, case: Certified) -> None:
        self.case, self.robot, self.model = case, case.robot, case.model
        self.n = case.robot.n
        self.s = case.states.first(MOST_STATES)
        self.tau = case.reference.tau[: len(self.s)]
        self.size = scales(case.reference.answers)
        self.exact = rounding(self.n)
        self.solved = self.exact + PER_CONDITION * case.reference.condition

    def symmetric(self) -> Measured:
        """M is symmetric."""
        M = self.model.mass_matrix(self.case.states.q)
        return error(M, np.swapaxes(M, 1, 2), self.size[MASS]), self.exact

    def positive(self) -> Measured:
        """No eigenvalue of M is negative: how far the smallest is below zero, as a share of the largest."""
        values = np.linalg.eigvalsh(self.model.mass_matrix(self.case.states.q))
        return float(max(0.0, -values[:, 0].min())) / _largest(values), self.exact

    def kinetic_energy(self) -> Measured:
        """T = ½ q̇ᵀ M q̇."""
        s = self.case.states
        T, M = self.model.kinetic_energy(s.q, s.qd), self.model.mass_matrix(s.q)
        return error(0.5 * np.einsum("si,sij,sj->s", s.qd, M, s.qd), T, _largest(T)), self.exact

    def skew(self) -> Measured:
        """Ṁ − 2C is skew."""
        rate = [
            directional(lambda x: composite.mass_matrix(self.robot, x), q, qd) for q, qd in zip(self.s.q, self.s.qd)
        ]
        N = _floats(rate) - 2.0 * self.model.coriolis_matrix(self.s.q, self.s.qd)
        return error(N, -np.swapaxes(N, 1, 2), np.maximum(_largest(N), self.size[MASS])), self.exact

    def coriolis(self) -> Measured:
        """C q̇ is the bias of Newton–Euler."""
        s = self.case.states
        C = self.model.coriolis_matrix(s.q, s.qd)
        return error(np.einsum("sij,sj->si", C, s.qd), self.model.bias(s.q, s.qd), self.size[TORQUE]), self.exact

    def gravity(self) -> Measured:
        """g = ∂V/∂q."""
        found = [gradient(lambda x: energy.potential_energy(self.robot, x), q) for q in self.s.q]
        return error(self.model.gravity(self.s.q), _floats(found), self.size[TORQUE]), self.exact

    def power(self) -> Measured:
        """d(T + V)/dt = τᵀ q̇ along q + q̇ t + ½ q̈ t²."""
        rates, robot = [], self.robot
        for q, qd, qdd in zip(self.s.q, self.s.qd, self.s.qdd):

            def stored(t: Any, q: Any = q, qd: Any = qd, qdd: Any = qdd) -> Any:
                x, v = q + qd * t + 0.5 * qdd * t * t, qd + qdd * t
                return energy.kinetic_energy(robot, x, v) + energy.potential_energy(robot, x)

            rates.append(float(derivatives(stored, 0.0, 1)[1]))
        torque = self.model.inverse_dynamics(self.s.q, self.s.qd, self.s.qdd)
        share = np.abs(torque * self.s.qd).sum(axis=1).max(initial=0.0)
        return error(np.einsum("si,si->s", torque, self.s.qd), np.array(rates), share or 1.0), self.exact

    def inverse(self) -> Measured:
        """Forward dynamics of the torques of a motion is that motion."""
        s = self.case.states
        found = self.model.forward_dynamics(s.q, s.qd, self.model.inverse_dynamics(s.q, s.qd, s.qdd))
        return error(found, s.qdd, _largest(s.qdd)), self.solved

    def inverse_derivatives(self) -> Measured:
        """∂τ/∂q, ∂τ/∂q̇, ∂τ/∂q̈ against Taylor numbers."""
        f = lambda *x: newton_euler.inverse_dynamics(self.robot, *x)  # noqa: E731
        return self._slopes(self.model.inverse_dynamics_derivatives, f, (self.s.q, self.s.qd, self.s.qdd)), self.exact

    def forward_derivatives(self) -> Measured:
        """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ against Taylor numbers."""
        f = lambda *x: forward.forward_dynamics(self.robot, *x)  # noqa: E731
        return self._slopes(self.model.forward_dynamics_derivatives, f, (self.s.q, self.s.qd, self.tau)), self.solved

    def _slopes(self, ours: Callable[..., Any], f: Callable[..., Any], at: tuple[np.ndarray, ...]) -> float:
        worst = 0.0
        for k, found in enumerate(ours(*at)):
            exact = [slope(lambda y, row=row, k=k: f(*row[:k], y, *row[k + 1 :]), row[k]) for row in zip(*at)]
            worst = max(worst, error(found, _floats(exact), _largest(_floats(exact))), key=lambda x: (x != x, x))
        return worst

    def jacobian(self) -> Measured:
        """J = ∂x/∂q of the position of the frame."""
        frame = self.case.frame
        exact = _floats([slope(lambda x: kinematics.position(self.robot, x, frame), q) for q in self.s.q])
        return error(self.model.jacobian(self.s.q, frame)[:, :3], exact, max(1.0, _largest(exact))), self.exact

    def jacobian_rate(self) -> Measured:
        """J̇ = dJ/dt."""
        frame = self.case.frame
        rows = zip(self.s.q, self.s.qd)
        exact = _floats([directional(lambda x: kinematics.jacobian(self.robot, x, frame), q, qd) for q, qd in rows])
        return error(self.model.jacobian_rate(self.s.q, self.s.qd, frame), exact, max(1.0, _largest(exact))), self.exact

    def regressor(self) -> Measured:
        """τ = Y π, rotors and balances left out."""
        s = self.case.states
        Y, bare = self.model.regressor(s.q, s.qd, s.qdd), _without_rotors(self.robot)
        pi = np.asarray(parameters(self.robot), float)
        torque = _floats([newton_euler.inverse_dynamics(bare, *row) for row in zip(s.q, s.qd, s.qdd)])
        return error(Y @ pi, torque, self.size[TORQUE]), self.exact


LAWS: dict[str, tuple[Callable[[Laws], Measured], bool]] = {  # law, whether it divides by M
    "M is symmetric": (Laws.symmetric, False),
    "M has no negative eigenvalue": (Laws.positive, False),
    "T = ½ q̇ᵀ M q̇": (Laws.kinetic_energy, False),
    "Ṁ − 2C is skew": (Laws.skew, False),
    "C q̇ = bias of Newton–Euler": (Laws.coriolis, False),
    "g = ∂V/∂q": (Laws.gravity, False),
    "d(T + V)/dt = τᵀ q̇": (Laws.power, False),
    "τ = Y π (regressor)": (Laws.regressor, False),
    "J = ∂x/∂q": (Laws.jacobian, False),
    "J̇ = dJ/dt": (Laws.jacobian_rate, False),
    "∂τ/∂(q, q̇, q̈)": (Laws.inverse_derivatives, False),
    "forward ∘ inverse dynamics = 1": (Laws.inverse, True),
    "∂q̈/∂(q, q̇, τ)": (Laws.forward_derivatives, True),
}


def _without_rotors(robot: Robot) -> Robot:
    joints = tuple(replace(j, rotor_inertia=0.0) for j in robot.joints)
    links = tuple(replace(link, balance=None) for link in robot.links)
    followers = tuple(
        replace(f, joint=replace(f.joint, rotor_inertia=0.0), link=replace(f.link, balance=None))
        for f in robot.followers
    )
    return robot.replace(links=links, joints=joints, followers=followers)


def _floats(rows: Any) -> np.ndarray:
    return np.array([np.asarray(row, float) for row in rows])


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0)) or 1.0
