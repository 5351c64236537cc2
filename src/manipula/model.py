r"""``compile(robot)``: the physics of one robot as machine code, callable on one state or on a million.

One equation of motion, :math:`M(q)\ddot q + C(q,\dot q)\dot q + g(q) + \tau_f = \tau + J^Tf`. Every function takes arrays of shape
``(..., n)`` whose leading axes broadcast like those of a NumPy gufunc, ``out=`` for the result and ``threads=`` for large batches.
Each function is traced and compiled when it is first used, and kept on disk for the next process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from manipula.algebra.linear import array, zeros
from manipula.errors import BudgetError, DescriptionError, unknown_name
from manipula.identity import identity
from manipula.lazy import cached_property
from manipula.native import Kernel, kernel_of
from manipula.physics import composite, coriolis, derivatives, energy, forward, kinematics, newton_euler, reactions
from manipula.physics import planar as planar_arm
from manipula.physics import regressor as regression
from manipula.physics.mechanism import Mechanism, mechanism_of, regrouped
from manipula.robot.link import TIP
from manipula.robot.robot import Robot

ExpressedIn = Literal["base", "body"]
Function = Callable[..., Any]  # takes arrays (..., n), out= and threads=; the quickest way into the machine code
MAX_ENTRIES = 250_000  # of one result that is computed entry by entry


def compile(robot: Robot) -> Model:
    """A callable model of ``robot``; functions are compiled when they are first used.

    Raises:
        DescriptionError: while parameters are symbolic; names them.
    """
    return Model(robot)


class Model:
    """The functions of one robot. ``q, qd, qdd, tau``: ``(..., n)``; wrenches and twists: linear part first."""

    def __init__(self, robot: Robot) -> None:
        if not isinstance(robot, Robot):
            raise DescriptionError(
                f"compile() takes a Robot, found {type(robot).__name__}; read a file with load(...)."
            )
        if robot.parameters:
            shown = ", ".join(robot.parameters[:12])
            raise DescriptionError(
                f"Robot '{robot.name}' still has free parameters ({shown}); "
                f"give them values: robot.with_parameters({robot.parameters[0]}=1.0, …)."
            )
        if robot.n == 0:
            raise DescriptionError(f"Robot '{robot.name}' has no moving joint.")
        self.robot = robot
        self.n = robot.n
        self._kernels: dict[tuple[str, ...], Kernel] = {}
        self._fast: dict[tuple[str, ...], Function] = {}

    def __reduce__(self) -> Any:
        """The robot travels; functions are compiled again, or found in the cache, where they are called."""
        return type(self), (self.robot,)

    def __repr__(self) -> str:
        return f"Model('{self.robot.name}', n={self.n}, compiled: {', '.join(sorted({k[0] for k in self._kernels})) or 'nothing yet'})"

    # ---------------------------------------------------------------- kinematics
    def pose(self, q: Any, frame: str = TIP, *, out: Any = None, threads: int | None = None) -> np.ndarray:
        """Pose X_WF of a frame, (..., 4, 4)."""
        return _call(self._framed("pose", frame), (q,), out, threads)

    def poses(
        self, q: Any, frames: tuple[str, ...] | None = None, *, out: Any = None, threads: int | None = None
    ) -> np.ndarray:
        """Poses of several frames (all of them by default), (..., k, 4, 4)."""
        names = self.robot.frame_names if frames is None else tuple(frames)
        return _call(self._kernel(("poses", *names)).fast, (q,), out, threads)

    def position(self, q: Any, frame: str = TIP, *, out: Any = None, threads: int | None = None) -> np.ndarray:
        """Origin of a frame, (..., 3) [m]."""
        return _call(self._framed("position", frame), (q,), out, threads)

    def jacobian(self, q: Any, frame: str = TIP, expressed_in: ExpressedIn = "base", *, out: Any = None,
                 threads: int | None = None) -> np.ndarray:  # fmt: skip
        """Geometric Jacobian at the frame's origin, (..., 6, n), in the axes of the base or of the frame ("body")."""
        return _call(self._framed("jacobian", frame, expressed_in), (q,), out, threads)

    def jacobian_rate(self, q: Any, qd: Any, frame: str = TIP, expressed_in: ExpressedIn = "base", *, out: Any = None,
                      threads: int | None = None) -> np.ndarray:  # fmt: skip
        """Time derivative of the Jacobian, (..., 6, n)."""
        return _call(self._framed("jacobian_rate", frame, expressed_in), (q, qd), out, threads)

    def pose_derivatives(self, q: Any, frame: str = TIP, *, out: Any = None, threads: int | None = None) -> np.ndarray:
        """∂X/∂q of the 4×4 pose, (..., 4, 4, n)."""
        return _call(self._framed("pose_derivatives", frame), (q,), out, threads)

    # ---------------------------------------------------------------- dynamics: attributes are the compiled kernels themselves
    @cached_property
    def inverse_dynamics(self) -> Function:
        """``inverse_dynamics(q, qd, qdd)``: tau, (..., n), without friction (Pinocchio's rnea)."""
        return self.kernel("inverse_dynamics").fast

    @cached_property
    def forward_dynamics(self) -> Function:
        """``forward_dynamics(q, qd, tau)``: qdd, (..., n), without friction (Pinocchio's aba)."""
        return self.kernel("forward_dynamics").fast

    @cached_property
    def mass_matrix(self) -> Function:
        """``mass_matrix(q)``: M, (..., n, n), rotor inertia included."""
        return self.kernel("mass_matrix").fast

    @cached_property
    def inverse_mass_matrix(self) -> Function:
        """``inverse_mass_matrix(q)``: M⁻¹, (..., n, n)."""
        return self.kernel("inverse_mass_matrix").fast

    @cached_property
    def coriolis_matrix(self) -> Function:
        """``coriolis_matrix(q, qd)``: Christoffel C, (..., n, n); Ṁ − 2C is skew."""
        return self.kernel("coriolis_matrix").fast

    @cached_property
    def bias(self) -> Function:
        """``bias(q, qd)``: h = C qd, (..., n), without gravity, without friction."""
        return self.kernel("bias").fast

    @cached_property
    def nonlinear_effects(self) -> Function:
        """``nonlinear_effects(q, qd)``: h + g, (..., n)."""
        return self.kernel("nonlinear_effects").fast

    @cached_property
    def gravity(self) -> Function:
        """``gravity(q)``: holding torques g, (..., n)."""
        return self.kernel("gravity").fast

    @cached_property
    def kinetic_energy(self) -> Function:
        """``kinetic_energy(q, qd)``: T, (...) [J]."""
        return self.kernel("kinetic_energy").fast

    @cached_property
    def potential_energy(self) -> Function:
        """``potential_energy(q)``: V, (...) [J], zero at the base frame's origin."""
        return self.kernel("potential_energy").fast

    @cached_property
    def regressor(self) -> Function:
        """``regressor(q, qd, qdd)``: Y, (..., n, 10 n), columns as in ``physics.regressor``."""
        return self.kernel("regressor").fast

    @cached_property
    def joint_reactions(self) -> Function:
        """``joint_reactions(q, qd, qdd)``: (..., n, 6), wrench of the parent on the child at every joint, force first."""
        return self.kernel("joint_reactions").fast

    @cached_property
    def inverse_dynamics_derivatives(self) -> Function:
        """``inverse_dynamics_derivatives(q, qd, qdd)``: (∂τ/∂q, ∂τ/∂qd, ∂τ/∂qdd = M), each (..., n, n)."""
        return self.kernel("inverse_dynamics_derivatives").fast

    @cached_property
    def forward_dynamics_derivatives(self) -> Function:
        """``forward_dynamics_derivatives(q, qd, tau)``: (∂q̈/∂q, ∂q̈/∂qd, ∂q̈/∂τ = M⁻¹), each (..., n, n)."""
        return self.kernel("forward_dynamics_derivatives").fast

    @cached_property
    def planar_model(self) -> Function:
        """``planar_model(q, qd)``: x, J, J̇, H, h, g of an n-R arm in the x–y plane."""
        return self.kernel("planar_model").fast

    def external_torque(
        self, q: Any, wrench: Any, frame: str = TIP, *, out: Any = None, threads: int | None = None
    ) -> np.ndarray:
        """Jᵀ w, (..., n): what a wrench (force first, base axes) on a frame adds to tau on the right-hand side."""
        return _call(self._framed("external_torque", frame), (q, wrench), out, threads)

    def linearise(self, q: Any, qd: Any, tau: Any) -> tuple[np.ndarray, np.ndarray]:
        r"""A (..., 2n, 2n) and B (..., 2n, n) of :math:`\dot x = A\,\delta x + B\,\delta\tau` with x = (q, qd) at a state."""
        dq, dqd, dtau = self.forward_dynamics_derivatives(q, qd, tau)
        n, lead = self.n, dq.shape[:-2]
        A, B = np.zeros((*lead, 2 * n, 2 * n)), np.zeros((*lead, 2 * n, n))
        A[..., :n, n:] = np.eye(n)
        A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = dq, dqd, dtau
        return A, B

    def operation_count(self, function: str) -> dict[str, int]:
        """Adds, multiplications, divisions and trigonometric calls of one evaluation of a function."""
        return self.kernel(function).operation_count()

    # ---------------------------------------------------------------- compilation
    @cached_property
    def mechanism(self) -> Mechanism:
        """The robot prepared for recursions."""
        return mechanism_of(self.robot)

    @cached_property
    def lean_mechanism(self) -> Mechanism:
        """The same with base parameters regrouped: fewer constants, the same equations of motion."""
        return regrouped(self.mechanism)

    def kernel(self, function: str, *options: str) -> Kernel:
        """The compiled kernel behind a function: its graph, operation count, compile time and interpreted twin."""
        if function not in FUNCTIONS:
            raise unknown_name("function", function, FUNCTIONS)
        return self._kernel((function, *(options or (TIP,) if function in FRAMED else options)))

    def _framed(self, *key: str) -> Function:
        found = self._fast.get(key)
        if found is None:
            self.robot.frame(key[1])  # raises with the known names
            found = self._fast[key] = self._kernel(key).fast
        return found

    def _kernel(self, key: tuple[str, ...]) -> Kernel:
        found = self._kernels.get(key)
        if found is None:
            found = self._kernels[key] = self._compiled(key)
        return found

    def _compiled(self, key: tuple[str, ...]) -> Kernel:
        function, *options = key
        inputs, size, build = FUNCTIONS[function]
        entries = size(self.n)
        if entries > MAX_ENTRIES:
            raise BudgetError(
                f"{function} of '{self.robot.name}' has {entries} entries for {self.n} joints; at most {MAX_ENTRIES} are compiled."
            )
        shapes: dict[str, tuple[int, ...]] = {name: (6,) if name == "wrench" else (self.n,) for name in inputs}
        parts = identity(self.robot.bare, key, build, inputs)
        return kernel_of(lambda *x: build(self, *options, *x), shapes, f"{self.robot.name}.{function}", parts)


def _call(function: Function, arguments: tuple[Any, ...], out: Any, threads: int | None) -> Any:
    """Without options the plain call goes straight into the machine code."""
    if out is None and threads is None:
        return function(*arguments)
    return function(*arguments, out=out, threads=threads)


def _pose_derivatives(model: Model, frame: str, q: Any) -> np.ndarray:
    r"""Columns :math:`\partial R/\partial q_i = \hat z_i R` and :math:`\partial p/\partial q_i` from the Jacobian."""
    X, J = kinematics.pose(model.mechanism, q, frame), kinematics.jacobian(model.mechanism, q, frame)
    out = zeros(4, 4, model.n)
    for i in range(model.n):
        w = J[3:, i]
        W = array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        out[:3, :3, i], out[:3, 3, i] = W @ X[:3, :3], J[:3, i]
    return out


def _jacobian_rate(model: Model, frame: str, *rest: Any) -> np.ndarray:
    *options, q, qd = rest
    return kinematics.jacobian_rate(model.mechanism, q, qd, frame, *options)


def _planar(model: Model, q: Any, qd: Any) -> dict[str, Any]:
    return planar_arm.planar_model(planar_arm.planar_arm(model.mechanism), q, qd)._asdict()


Builder = tuple[tuple[str, ...], Callable[[int], int], Callable[..., Any]]
_Q, _QV, _QVA, _QVT = ("q",), ("q", "qd"), ("q", "qd", "qdd"), ("q", "qd", "tau")

FUNCTIONS: dict[str, Builder] = {
    "pose": (_Q, lambda n: 16, lambda m, frame, q: kinematics.pose(m.mechanism, q, frame)),
    "poses": (_Q, lambda n: 16 * n, lambda m, *x: kinematics.poses(m.mechanism, x[-1], x[:-1])),
    "position": (_Q, lambda n: 3, lambda m, frame, q: kinematics.position(m.mechanism, q, frame)),
    "jacobian": (_Q, lambda n: 6 * n, lambda m, frame, *x: kinematics.jacobian(m.mechanism, x[-1], frame, *x[:-1])),
    "jacobian_rate": (_QV, lambda n: 6 * n, _jacobian_rate),
    "pose_derivatives": (_Q, lambda n: 16 * n, _pose_derivatives),
    "external_torque": (("q", "wrench"), lambda n: n, lambda m, frame, q, w: kinematics.jacobian(m.mechanism, q, frame).T @ w),
    "inverse_dynamics": (_QVA, lambda n: n, lambda m, *x: newton_euler.inverse_dynamics(m.lean_mechanism, *x)),
    "forward_dynamics": (_QVT, lambda n: n, lambda m, *x: forward.forward_dynamics(m.lean_mechanism, *x)),
    "mass_matrix": (_Q, lambda n: n * n, lambda m, q: composite.mass_matrix(m.lean_mechanism, q)),
    "inverse_mass_matrix": (_Q, lambda n: n * n, lambda m, q: composite.inverse_mass_matrix(m.lean_mechanism, q)),
    "coriolis_matrix": (_QV, lambda n: n * n, lambda m, *x: coriolis.coriolis_matrix(m.lean_mechanism, *x)),
    "bias": (_QV, lambda n: n, lambda m, *x: newton_euler.bias(m.lean_mechanism, *x)),
    "nonlinear_effects": (_QV, lambda n: n, lambda m, *x: newton_euler.nonlinear_effects(m.lean_mechanism, *x)),
    "gravity": (_Q, lambda n: n, lambda m, q: newton_euler.gravity(m.lean_mechanism, q)),
    "kinetic_energy": (_QV, lambda n: 1, lambda m, *x: energy.kinetic_energy(m.lean_mechanism, *x)),
    "potential_energy": (_Q, lambda n: 1, lambda m, q: energy.potential_energy(m.mechanism, q)),
    "regressor": (_QVA, lambda n: 10 * n * n, lambda m, *x: regression.regressor(m.mechanism, *x)),
    "joint_reactions": (_QVA, lambda n: 6 * n, lambda m, *x: reactions.joint_reactions(m.mechanism, *x)),
    "inverse_dynamics_derivatives": (
        _QVA, lambda n: 3 * n * n, lambda m, *x: derivatives.inverse_dynamics_derivatives(m.lean_mechanism, *x)._asdict()),
    "forward_dynamics_derivatives": (
        _QVT, lambda n: 3 * n * n, lambda m, *x: derivatives.forward_dynamics_derivatives(m.lean_mechanism, *x)._asdict()),
    "planar_model": (_QV, lambda n: n * n + 4 * n, _planar),
}  # fmt: skip
FRAMED = ("pose", "position", "jacobian", "jacobian_rate", "pose_derivatives", "external_torque")
