"""Model predictive control: regulation about a posture that knows its bounds before it meets them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.errors import BudgetError, DescriptionError
from manipula.parts.field import AnglePerJoint, Choice, Number, PerJoint, Whole
from manipula.physics.derivatives import forward_dynamics_derivatives
from manipula.redundancy.arm import Arm
from manipula.redundancy.quadratic_program import Minimum, minimise
from manipula.redundancy.tasks.priorities import check_bounds_act

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory

MOST_MOVES = 40  # unknowns of the quadratic program
MOST_ROWS = 400  # predicted positions and speeds that are bounded
SOFT = 1e-6  # what predicted positions and speeds give way (``quadratic_program``)
WORST_CONDITION = 1e10  # of H with ones on its diagonal: there rounding moves a torque by 1e-7 of its limit


@dataclass(frozen=True)
class ModelPredictive(Controller):
    r"""Linear model predictive control about a posture at rest [Maciejowski 2002, §2–3; Rawlings, Mayne & Diehl 2017, §1.3]:

    .. math:: \min_{u_0\dots u_{m-1}}\ \sum_{k=0}^{N-1}\bigl(x_k^TQx_k + u_k^TRu_k\bigr) + x_N^TPx_N,\qquad
        x_{k+1} = e^{AT}x_k + \int_0^Te^{As}ds\,B\,u_k,\quad x_0 = [q - q_0;\ \dot q],\qquad \tau = g(q_0) + u_0

    with A and B of the arm without friction linearised at :math:`q_0`, :math:`-\tau^+ \le g(q_0) + u_k \le \tau^+` and :math:`u_k = u_{m-1}` for k ≥ m.
    With P from the Riccati equation, m = N and no bound in the way it is the discrete regulator of the same weights, for every N. T is the step of
    the prediction; a run with ``control_period`` = T decides as often as it predicts. Predicted positions and speeds that cannot be kept within their
    bounds break them as little as possible. The signal ``mpc_optimal`` is 1 where the quadratic program was solved to rounding; a run in which it was
    not is ``inaccurate``. Near a posture from which the arm falls N steps multiply by :math:`\max|\lambda(e^{AT})|^N` what the first torque does; a
    horizon over which rounding would grow into torques is refused.
    """

    goal: Annotated[Any, AnglePerJoint("rad or m", "posture q_0 that is held")]
    position_weight: Annotated[Any, PerJoint("1", "weight of the positions in Q", least=0.0)] = 100.0
    velocity_weight: Annotated[Any, PerJoint("1", "weight of the speeds in Q", least=0.0)] = 1.0
    effort_weight: Annotated[Any, PerJoint("1", "weight R of the torques", above=0.0)] = 0.01
    period: Annotated[Any, Number("s", "step T of the prediction", above=0.0)] = 0.02
    horizon: Annotated[int, Whole("steps N of the prediction", least=1, most=200)] = 20
    moves: Annotated[int, Whole("steps m after which the torque stays; at most N", least=1, most=MOST_MOVES)] = 4
    terminal: Annotated[
        str, Choice("weight P of the end: of the Riccati equation, or Q as at every step", "riccati", "weights")
    ] = "riccati"
    bounds: Annotated[
        str,
        Choice("what is bounded: the torques, also the predicted positions and speeds", "torque", "torque and motion"),
    ] = "torque"
    effort_limit: Annotated[
        Any, PerJoint("N·m or N", "largest torque τ⁺; none: the effort limits of the joints", above=0.0)
    ] = None
    name: ClassVar[str] = "model_predictive"
    space: ClassVar[Space] = "none"
    structure: ClassVar[frozenset[str]] = frozenset({"horizon", "moves"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.moves > self.horizon:
            raise DescriptionError(
                f"{self.moves:g} moves do not fit into a horizon of {self.horizon:g} steps.", field="moves"
            )

    def facing(self, arm: Arm, reference: Trajectory) -> Controller:
        missing = [j.name for j in arm.robot.joints if not j.limits.effort]
        if self.effort_limit is None and missing:
            raise DescriptionError(
                f"No effort limit is stated for {', '.join(missing)}; give one here, or take 'lqr', which needs none.",
                field="controller.effort_limit",
            )
        if self.moves * arm.n > MOST_MOVES:
            raise BudgetError(
                f"{self.moves:g} moves of {arm.n} joints are {self.moves * arm.n:g} unknowns; at most {MOST_MOVES}: fewer moves are needed.",
                field="controller.moves",
            )
        if self.bounds != "torque":
            check_bounds_act(arm.robot, "controller.bounds")
        rows = int(self.horizon) * len(_limited(arm)) if self.bounds != "torque" else 0
        if rows > MOST_ROWS:
            raise BudgetError(
                f"{rows} predicted positions and speeds are bounded; at most {MOST_ROWS}: a shorter horizon is needed.",
                field="controller.horizon",
            )
        return self

    def prepare(self, arm: Arm) -> Controller:
        own = {f.name: getattr(self, f.name) for f in dataclasses.fields(ModelPredictive) if f.init}
        return _Condensed(**own, **_condensed(self, arm))

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        return self.prepare(arm).torque(arm, t, q, qd, target, state)


@dataclass(frozen=True)
class _Condensed(ModelPredictive):
    r"""The program with the states eliminated, in units of the largest torques: :math:`\min \tfrac12U^THU + (Fx_0)^TU`, rows :math:`GU + Ex_0` bounded."""

    hessian: Any = ()
    slope: Any = ()
    rows: Any = ()
    rows_state: Any = ()
    rows_low: Any = ()
    rows_high: Any = ()
    low: Any = ()
    high: Any = ()
    unit: Any = ()

    __post_init__ = Controller.__post_init__

    def _solved(self, arm: Arm, q: Vector, qd: Vector) -> Minimum:
        n = arm.n
        m = int(self.moves) * n
        x0 = array(np.concatenate([q - per_joint(self.goal, n), qd]))
        low, high = [list(side) * int(self.moves) for side in (self.low, self.high)]
        C = np.eye(m)
        if len(self.rows):
            free = array(array(self.rows_state) @ x0)
            low += list(array(self.rows_low) - free)
            high += list(array(self.rows_high) - free)
            C = np.concatenate([C.astype(object), array(self.rows)])
        give = [0.0] * m + [SOFT] * len(self.rows)
        return minimise(array(self.hessian), array(array(self.slope) @ x0), C, low, high, give)

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        u = self._solved(arm, q, qd).x[: arm.n]
        kept = array([ops.minimum(ops.maximum(v, a), b) for v, a, b in zip(u, self.low, self.high)])
        return array(arm.gravity(per_joint(self.goal, arm.n)) + array(self.unit) * kept)

    def signals(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> dict[str, Any]:
        """``mpc_optimal``: 1 where the quadratic program was solved."""
        return {"mpc_optimal": self._solved(arm, q, qd).optimal}


def _limited(arm: Arm) -> list[tuple[int, float, float]]:
    """Entries of x = [q; q̇] that have a limit, and it."""
    n, joints = arm.n, arm.robot.joints
    ranges = [
        (i, float(a), float(b)) for i, (a, b) in enumerate(arm.robot.position_limits) if np.isfinite([a, b]).any()
    ]
    speeds = [(n + i, -float(j.limits.velocity), float(j.limits.velocity)) for i, j in enumerate(joints) if j.limits.velocity]  # fmt: skip
    return [*ranges, *speeds]


def linearised(arm: Arm, q0: Any, period: float) -> tuple[np.ndarray, np.ndarray]:
    """The arm at rest in a posture over one period with constant torques: Φ (2n, 2n) and Γ (2n, n)."""
    from scipy.linalg import expm

    n, still = arm.n, np.zeros(arm.n)
    tau = np.asarray(arm.gravity(q0), float)
    dq, dqd, dtau = (np.asarray(d, float) for d in forward_dynamics_derivatives(arm.lean, q0, still, tau))
    flow = np.zeros((3 * n, 3 * n))
    flow[:n, n : 2 * n], flow[n : 2 * n, :n], flow[n : 2 * n, n : 2 * n], flow[n : 2 * n, 2 * n :] = np.eye(n), dq, dqd, dtau  # fmt: skip
    step = expm(flow * period)
    return step[: 2 * n, : 2 * n], step[: 2 * n, 2 * n :]


def _condensed(law: ModelPredictive, arm: Arm) -> dict[str, Any]:
    """The numbers of the condensed program [Maciejowski 2002, §3.1]."""
    n, N, m = arm.n, int(law.horizon), int(law.moves)
    q0 = np.asarray(per_joint(law.goal, n), float)
    Phi, Gamma = linearised(arm, q0, float(law.period))
    q, v, r = (
        np.asarray(per_joint(w, n), float) for w in (law.position_weight, law.velocity_weight, law.effort_weight)
    )
    Q, R = np.diag(np.concatenate([q, v])), np.diag(r)
    P = _terminal(law, Phi, Gamma, Q, R)
    given = [j.limits.effort for j in arm.robot.joints] if law.effort_limit is None else per_joint(law.effort_limit, n)
    most, holding = np.asarray(given, float), np.asarray(arm.gravity(q0), float)
    short = [j.name for j, g, t in zip(arm.robot.joints, holding, most) if abs(g) >= t]
    if short:
        raise DescriptionError(
            f"The torque that holds the goal exceeds the limit of {', '.join(short)}; no torque is left for control.",
            field="controller.goal",
        )
    limited = _limited(arm) if law.bounds != "torque" else []
    E, F = np.eye(2 * n), np.zeros((m * n, 2 * n))  # x_k = E x0 + G U, U in units of the largest torques
    weights = lambda k: [Q] * (k - 1) + [P]  # noqa: E731
    steps = lambda k: _steps(Phi, Gamma * most, k, min(k, m))  # noqa: E731
    hessian = lambda k: _hessian(steps(k), weights(k), R * most[:, None] * most[None, :])  # noqa: E731
    H = hessian(N)
    _check_condition(H, law, hessian)
    rows, rows_state, low, high = [], [], [], []
    for G, W in zip(steps(N), weights(N)):
        E = Phi @ E
        F += G.T @ W @ E
        for i, a, b in limited:
            size = max(x for x in (abs(a), abs(b)) if np.isfinite(x)) or 1.0
            centre = q0[i] if i < n else 0.0
            rows.append(G[i] / size)
            rows_state.append(E[i] / size)
            low.append((a - centre) / size)
            high.append((b - centre) / size)
    numbers = {
        "hessian": 0.5 * (H + H.T),
        "slope": F,
        "rows": rows,
        "rows_state": rows_state,
        "rows_low": low,
        "rows_high": high,
    }
    numbers |= {"low": (-most - holding) / most, "high": (most - holding) / most, "unit": most}
    return {name: _tuples(v) for name, v in numbers.items()}


def _steps(Phi: np.ndarray, Gamma: np.ndarray, N: int, m: int) -> list[np.ndarray]:
    """What m torques do to the state after 1 … N steps."""
    n = Gamma.shape[1]
    G, out = np.zeros((2 * n, m * n)), []
    for k in range(N):
        at = min(k, m - 1) * n
        G = Phi @ G
        G[:, at : at + n] += Gamma
        out.append(G)
    return out


def _hessian(steps: list[np.ndarray], weights: list[np.ndarray], R: np.ndarray) -> np.ndarray:
    """H of steps with these weights; R in units of the largest torques."""
    m = steps[0].shape[1] // len(R)
    H = np.kron(np.diag([1.0] * (m - 1) + [float(len(steps) - m + 1)]), R)
    for G, W in zip(steps, weights):
        H += G.T @ W @ G
    return H


def _check_condition(H: np.ndarray, law: ModelPredictive, shorter: Callable[[int], np.ndarray]) -> None:
    """Is the program solved to rounding where its conditions are?

    Raises:
        DescriptionError: with the longest horizon that will do, where one does; ``shorter(k)``: H of k steps.
    """
    if _condition(H) <= WORST_CONDITION:
        return
    words = f"The program has a condition number of {_condition(H):.1e}, so that its torques would be rounding"
    longest = next((k for k in range(int(law.horizon) - 1, 0, -1) if _condition(shorter(k)) <= WORST_CONDITION), 0)
    if not longest:
        raise DescriptionError(f"{words}: fewer moves, or larger weights of the torques.", field="controller.moves")
    raise DescriptionError(
        f"{words}: from this posture what a torque does grows too far within {law.horizon:g} steps of {law.period:g} s. It can look {longest} steps "
        'ahead; with terminal = "riccati" what lies behind them is weighed all the same.',
        field="controller.horizon",
    )


def _condition(H: np.ndarray) -> float:
    """Condition number with ones on the diagonal."""
    unit = 1.0 / np.sqrt(np.diag(H))
    return float(np.linalg.cond(H * np.outer(unit, unit)))


def _terminal(law: ModelPredictive, Phi: np.ndarray, Gamma: np.ndarray, Q: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The weight P of the last state."""
    from scipy.linalg import solve_discrete_are

    if law.terminal == "weights":
        return Q
    try:
        return solve_discrete_are(Phi, Gamma, Q, R)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise DescriptionError(
            f"The Riccati equation of these weights has no solution that stabilises the arm: {error}",
            field="controller",
        ) from None


def _tuples(values: Any) -> Any:
    numbers = np.asarray(values, float)
    return tuple(numbers.tolist()) if numbers.ndim < 2 else tuple(map(tuple, numbers.tolist()))
