r"""``compile(robot)``: the physics of one robot as machine code, callable on one state or on a million.

One equation of motion, :math:`M(q)\ddot q + C(q,\dot q)\dot q + g(q) + \tau_f = \tau + J^Tf`. Every function takes arrays of shape
``(..., n)`` whose leading axes broadcast like those of a NumPy gufunc, ``out=`` for the result and ``threads=`` for large batches.
Each function is traced and compiled when it is first used, and kept on disk for the next process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from manipula.algebra.arguments import rows_of
from manipula.errors import BudgetError, DescriptionError, unknown_name
from manipula.identity import identity
from manipula.lazy import cached_property
from manipula.native import Kernel, kernel_of
from manipula.physics.forward import check_inertia
from manipula.physics.functions import FUNCTIONS
from manipula.physics.kinematics import check_axes
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.robot.link import TIP
from manipula.robot.robot import Robot

ExpressedIn = Literal["base", "body"]
MAX_ENTRIES = 250_000  # of one result that is computed entry by entry
F = TypeVar("F")


class OfPosition(Protocol):
    """A compiled function of q."""

    def __call__(self, q: Any, *, out: Any = None, threads: int | None = None) -> Any: ...


class OfState(Protocol):
    """A compiled function of q and qd."""

    def __call__(self, q: Any, qd: Any, *, out: Any = None, threads: int | None = None) -> Any: ...


class OfMotion(Protocol):
    """A compiled function of q, qd and qdd."""

    def __call__(self, q: Any, qd: Any, qdd: Any, *, out: Any = None, threads: int | None = None) -> Any: ...


class OfTorque(Protocol):
    """A compiled function of q, qd and tau."""

    def __call__(self, q: Any, qd: Any, tau: Any, *, out: Any = None, threads: int | None = None) -> Any: ...


class compiled(cached_property[F]):
    """A function of the table as an attribute of a model: compiled when first read, from then on the machine code itself."""

    def __init__(self) -> None:
        super().__init__(self._made)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.name, self.__doc__ = name, FUNCTIONS[name].text()

    def _made(self, model: Model) -> Any:
        return model.kernel(self.name).described(FUNCTIONS[self.name].text())


def compile(robot: Robot) -> Model:
    """A callable model of ``robot``; functions are compiled when they are first used.

    Raises:
        DescriptionError: a parameter is symbolic and has no value; names them.
    """
    return Model(robot)


class Model:
    """The functions of one robot. ``q, qd, qdd, tau``: ``(..., n)``; wrenches and twists: linear part first."""

    def __init__(self, robot: Robot) -> None:
        if not isinstance(robot, Robot):
            raise DescriptionError(f"A Robot is needed, found {type(robot).__name__}; read a file with load(...).")
        robot = robot.numeric
        if robot.n == 0:
            raise DescriptionError(f"Robot '{robot.name}' has no moving joint.")
        self.robot = robot
        self.n = robot.n
        self._kernels: dict[tuple[str, ...], Kernel] = {}
        self._fast: dict[tuple[str, ...], Callable[..., Any]] = {}

    def __reduce__(self) -> Any:
        """The robot travels; functions are compiled again, or found in the cache, where they are called."""
        return type(self), (self.robot,)

    def __repr__(self) -> str:
        return f"Model('{self.robot.name}', n={self.n}, compiled: {', '.join(sorted({k[0] for k in self._kernels})) or 'nothing yet'})"

    # ---------------------------------------------------------------- kinematics
    def pose(self, q: Any, frame: str = TIP, *, out: Any = None, threads: int | None = None) -> np.ndarray:
        """Pose X_WF of a frame in the base frame, (..., 4, 4) [1, m], from q (..., n) [rad, m]."""
        return _call(self._framed("pose", frame), (q,), out, threads)

    def poses(
        self, q: Any, frames: tuple[str, ...] | None = None, *, out: Any = None, threads: int | None = None
    ) -> np.ndarray:
        """Poses of several frames (all of them by default), (..., k, 4, 4) [1, m], from q (..., n) [rad, m]."""
        names = self.robot.frame_names if frames is None else rows_of(frames, "frames")
        for name in names:
            self.robot.frame(name)
        return _call(self._kernel(("poses", *names)).fast, (q,), out, threads)

    def position(self, q: Any, frame: str = TIP, *, out: Any = None, threads: int | None = None) -> np.ndarray:
        """Origin of a frame in the base frame, (..., 3) [m], from q (..., n) [rad, m]."""
        return _call(self._framed("position", frame), (q,), out, threads)

    def jacobian(self, q: Any, frame: str = TIP, expressed_in: ExpressedIn = "base", *, out: Any = None,
                 threads: int | None = None) -> np.ndarray:  # fmt: skip
        """Geometric Jacobian J at the frame's origin, (..., 6, n) [m, 1], linear part first: twist = J qd.

        In the axes of the base or of the frame (``expressed_in="body"``); q (..., n) [rad, m].
        """
        return _call(self._framed("jacobian", frame, expressed_in), (q,), out, threads)

    def jacobian_rate(self, q: Any, qd: Any, frame: str = TIP, expressed_in: ExpressedIn = "base", *, out: Any = None,
                      threads: int | None = None) -> np.ndarray:  # fmt: skip
        """Time derivative of the Jacobian, (..., 6, n) [m/s, 1/s]: in base axes, acceleration of the frame = J qdd + Jd qd.

        With ``expressed_in="body"`` it is the derivative of the Jacobian in body axes, which turn: J qdd + Jd qd is then the rate of
        the body twist (v, ω), and the acceleration of the frame's origin in body axes is its linear part + ω × v.
        """
        return _call(self._framed("jacobian_rate", frame, expressed_in), (q, qd), out, threads)

    def pose_derivatives(self, q: Any, frame: str = TIP, *, out: Any = None, threads: int | None = None) -> np.ndarray:
        """∂X/∂q of the 4×4 pose, (..., 4, 4, n) [1, m per rad or m]."""
        return _call(self._framed("pose_derivatives", frame), (q,), out, threads)

    # ---------------------------------------------------------------- dynamics: attributes are the compiled functions themselves
    inverse_dynamics = compiled[OfMotion]()
    forward_dynamics = compiled[OfTorque]()
    mass_matrix = compiled[OfPosition]()
    inverse_mass_matrix = compiled[OfPosition]()
    coriolis_matrix = compiled[OfState]()
    bias = compiled[OfState]()
    nonlinear_effects = compiled[OfState]()
    gravity = compiled[OfPosition]()
    kinetic_energy = compiled[OfState]()
    potential_energy = compiled[OfPosition]()
    regressor = compiled[OfMotion]()
    joint_reactions = compiled[OfMotion]()
    inverse_dynamics_derivatives = compiled[OfMotion]()
    forward_dynamics_derivatives = compiled[OfTorque]()
    planar_model = compiled[OfState]()

    def external_torque(
        self, q: Any, wrench: Any, frame: str = TIP, *, out: Any = None, threads: int | None = None
    ) -> np.ndarray:
        """Jᵀ w, (..., n) [N m, N]: what a wrench (..., 6) [N, N m] on a frame (force first, base axes) adds to tau."""
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
        return self.mechanism.lean

    def kernel(self, function: str, *options: str) -> Kernel:
        """The compiled kernel behind a function: its graph, operation count, compile time, and the same function interpreted."""
        if not isinstance(function, str) or function not in FUNCTIONS:
            raise unknown_name("function", function, FUNCTIONS)
        return self._kernel((function, *(options or ((TIP,) if FUNCTIONS[function].at == "frame" else ()))))

    def _framed(self, *key: str) -> Callable[..., Any]:
        try:
            found = self._fast.get(key)
        except TypeError:  # no text: refused here
            found = None
        if found is None:
            self.robot.frame(key[1])  # raises with the known names
            check_axes(*key[2:])
            found = self._fast[key] = self._kernel(key).fast
        return found

    def _kernel(self, key: tuple[str, ...]) -> Kernel:
        found = self._kernels.get(key)
        if found is None:
            found = self._kernels[key] = self._compiled(key)
        return found

    def _compiled(self, key: tuple[str, ...]) -> Kernel:
        name, *options = key
        function = FUNCTIONS[name]
        entries = function.entries(len(self.robot.bodies))
        if entries > MAX_ENTRIES:
            raise BudgetError(
                f"{name} of '{self.robot.name}' has {entries} entries for {self.n} joints; at most {MAX_ENTRIES} are compiled."
            )
        if function.inverts:
            check_inertia(self.robot)

        def f(*values: Any) -> dict[str, Any]:
            return function.run(self.lean_mechanism if function.lean else self.mechanism, *values, *options)

        parts = identity(self.robot.bare, key, function)
        return kernel_of(f, function.shapes(self.n), f"{self.robot.name}.{name}", parts)


def model_of(robot: Robot | Model) -> Model:
    """The model itself, or the model of a robot."""
    return robot if isinstance(robot, Model) else Model(robot)


def _call(function: Callable[..., Any], arguments: tuple[Any, ...], out: Any, threads: int | None) -> Any:
    """Without options the plain call goes straight into the machine code."""
    if out is None and threads is None:
        return function(*arguments)
    return function(*arguments, out=out, threads=threads)
