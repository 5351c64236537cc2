r"""Friction whose torque depends on the load of its joint, while that load depends on the accelerations, and those on the friction.

With the response :math:`\ddot q = \ddot q_0 - K\tau_f` of the arm (free or under constraints) the normal forces obey

.. math:: f_i = \left\|a_i - \sum_j W_{ij}\,\tau_j(f_j)\right\|,\qquad W = \frac{\partial(f_x, f_y)}{\partial\ddot q} K

Newton's method with the exact derivative solves this inside every evaluation. The loop's gain is the largest eigenvalue of
:math:`L_{ij} = \|W_{ij}\|\,|\partial\tau_j/\partial f_j|`. Below 1 there is exactly one solution; at 1 and above there are
several or none (Painlevé's paradox), and the accelerations are not numbers, so that a run stops there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.derivatives import derivatives
from manipula.algebra.linear import array, solve_dominant, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.physics import reactions
from manipula.physics.constrained import Response
from manipula.physics.mechanism import Mechanism
from manipula.robot.friction.base import FrictionLaw

LOOP_TOLERANCE = 1e-7  # of the largest load: Newton's last step, squared by the one after it
SOLVED = 1e-9  # of the largest load: what may be left of the equations
LOOP_LIMIT = 40

Laws = Sequence[FrictionLaw | None]
States = list[tuple[Scalar, ...]]


class LoadBalance(NamedTuple):
    """Accelerations, friction torques and normal forces that belong together, (n,) each."""

    qdd: np.ndarray
    friction: np.ndarray
    loads: np.ndarray


class Loads:
    """The equations of the normal forces at one state, over any scalar."""

    def __init__(
        self, laws: Laws, mechanism: Mechanism, q: Vector, qd: Vector, states: States, response: Response, relief: Any
    ):
        self.laws, self.qd, self.states = laws, qd, states
        self.joints = loaded(laws)
        others = torques(
            [None if i in self.joints else law for i, law in enumerate(laws)], qd, states, np.zeros(len(qd))
        )
        free = array(response.free - response.K @ others)
        columns = array(response.K)[:, self.joints]
        # forces across all joints, (n, 2)
        self.every = array(reactions.bearing_forces(mechanism, q, qd, free) - relief)
        # (n, 2, m)
        self.answer = array(np.array([part @ columns for part in reactions.bearing_response(mechanism, q)]))
        self.constant, self.W = self.every[self.joints], self.answer[self.joints]

    def torque(self, k: int, load: Scalar) -> Scalar:
        i = self.joints[k]
        return self.laws[i].torque(self.qd[i], self.states[i], load)  # pyright: ignore[reportOptionalMemberAccess]

    def slopes(self, loads: Vector) -> tuple[np.ndarray, np.ndarray]:
        """Torques of the joints with load, and their derivatives by it."""
        both = [derivatives(lambda f, k=k: self.torque(k, f), loads[k], 1) for k in range(len(self.joints))]
        return array([value for value, _ in both]), array([slope for _, slope in both])

    def start(self) -> np.ndarray:
        """The loads without friction in these joints."""
        return array([reactions.norm(f) for f in self.constant])

    def newton(self, loads: Vector) -> tuple[np.ndarray, Scalar, np.ndarray]:
        """The next loads, the largest residual at ``loads``, and the slopes of the torques there."""
        tau, slope = self.slopes(loads)
        m = len(self.joints)
        A, residual = zeros(m, m), zeros(m)
        largest: Scalar = 0.0
        for i in range(m):
            force = array(self.constant[i] - self.W[i] @ tau)
            length = reactions.norm(force)
            unit = force / length
            residual[i] = length - loads[i]
            largest = ops.maximum(largest, ops.abs(residual[i]))
            for j in range(m):
                A[i, j] = (1.0 if i == j else 0.0) + (unit[0] * self.W[i, 0, j] + unit[1] * self.W[i, 1, j]) * slope[j]
        return array(loads + solve_dominant(A, residual)[0]), largest, slope

    def gains(self, slope: Vector) -> np.ndarray:
        """L, (m, m): how much one load can change another through friction."""
        m = len(self.joints)
        L = zeros(m, m)
        for i in range(m):
            for j in range(m):
                L[i, j] = reactions.norm(self.W[i, :, j]) * ops.abs(slope[j])
        return array(L)


def balanced(laws: Laws, mechanism: Mechanism, q: Vector, qd: Vector, states: States, response: Response,
             relief: Any = 0.0) -> LoadBalance:  # fmt: skip
    """Accelerations with friction, and the loads behind it; NaN where the loads have no or no unique solution.

    Args:
        response: of the arm to further torques, when all but friction act.
        relief: what external forces take off the forces across the joints, (n, 2).
    """
    if not loaded(laws):
        return unloaded(laws, qd, states, lambda tau: array(response.free - response.K @ tau))
    equations = Loads(laws, mechanism, q, qd, states, response, relief)
    found, sound = _solved(equations)
    tau = array([equations.torque(k, load) for k, load in enumerate(found)])
    loads = array([reactions.norm(array(f - W @ tau)) for f, W in zip(equations.every, equations.answer)])
    for k, i in enumerate(equations.joints):
        loads[i] = ops.where(sound, found[k], float("nan"))
    friction = torques(laws, qd, states, loads)
    return LoadBalance(array(response.free - response.K @ friction), friction, loads)


def unloaded(laws: Laws, qd: Vector, states: States, accelerations: Callable[[np.ndarray], np.ndarray],
             sliding: bool = False) -> LoadBalance:  # fmt: skip
    """Accelerations with friction that depends on no load; ``accelerations(tau_f)`` gives them under friction torques.

    Args:
        sliding: no joint rests.
    """
    nothing = np.zeros(len(qd))
    friction = torques(laws, qd, states, nothing, sliding)
    return LoadBalance(accelerations(friction), friction, nothing)


def _solved(equations: Loads) -> tuple[np.ndarray, Any]:
    def step(loads: Vector, residual: Scalar) -> tuple[Vector, Scalar]:
        new, left, _ = equations.newton(loads)
        return new, left / _size(loads)

    start = equations.start()
    done = native.until(step, (start, 1.0), lambda _, left: left <= LOOP_TOLERANCE, LOOP_LIMIT, flat=True)
    before = done.state[0]
    found, left, slope = equations.newton(before)  # carries the derivatives
    L = equations.gains(slope)
    _, pivots = solve_dominant(np.eye(len(L)) - L, np.zeros(len(L)))
    sound = left <= SOLVED * _size(before)
    for pivot in pivots:
        sound = sound & (pivot > 0.0)
    return found, sound


def _size(loads: Vector) -> Scalar:
    total: Scalar = 1.0
    for f in loads:
        total = total + ops.abs(f)
    return total


def loaded(laws: Laws) -> list[int]:
    """Joints whose friction depends on their load."""
    return [i for i, law in enumerate(laws) if law is not None and law.needs_load]


def torques(laws: Laws, qd: Vector, states: States, loads: Vector, sliding: bool = False) -> np.ndarray:
    """Friction torque of every joint, (n,); ``sliding``: no joint rests."""
    tau = zeros(len(laws))
    for i, law in enumerate(laws):
        if law is not None:
            tau[i] = (law.sliding if sliding or law.slides else law.torque)(qd[i], states[i], loads[i])
    return array(tau)


def rates(laws: Laws, qd: Vector, states: States, loads: Vector) -> list[Scalar]:
    """Rates of what the laws remember, joint after joint."""
    out: list[Scalar] = []
    for i, law in enumerate(laws):
        if law is not None:
            out.extend(law.state_rate(qd[i], states[i], loads[i]))
    return out


def loop_gain(
    laws: Laws, mechanism: Mechanism, q: np.ndarray, qd: np.ndarray, states: States, response: Response
) -> tuple[float, int]:
    """On plain numbers: the gain of the loop and the joint that has the largest share in it."""
    with np.errstate(all="ignore"):
        equations = Loads(laws, mechanism, q, qd, states, response, 0.0)
        L = np.asarray(equations.gains(equations.slopes(equations.start())[1]), float)
    if not np.isfinite(L).all():
        return 0.0, equations.joints[0]
    values, vectors = np.linalg.eig(L)
    first = int(np.argmax(np.abs(values)))
    return float(np.abs(values[first])), equations.joints[int(np.argmax(np.abs(vectors[:, first])))]


def paradox(parts: Any, x: np.ndarray, ahead: np.ndarray, t: float) -> str:
    """Did a run stop at x, or on the way to x + ahead, because the loads have no or no unique solution? A sentence, or nothing.

    Args:
        parts: a plant or a programmed plant on plain numbers, with ``robot``, ``friction`` and ``friction_gain(x, t)``.
    """
    if not loaded(parts.friction) or not np.isfinite(x).all():
        return ""
    for part in (0.0, *(2.0**k for k in range(-8, 2))):
        at = x + part * ahead
        gain, joint = parts.friction_gain(at, t) if np.isfinite(at).all() else (0.0, 0)
        if gain >= 1.0:
            return (
                f"friction in joint '{parts.robot.joint_names[joint]}' depends on a load that depends on this friction with a gain of "
                f"{gain:.3g}, where the accelerations have no or no unique solution (below 1 there is exactly one); "
                f"less friction per load, or a smaller bearing, is needed"
            )
    return ""
