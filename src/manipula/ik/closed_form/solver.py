"""What people call: a closed form bound to a robot, in machine code, every posture checked by forward kinematics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.algebra.ops import Vector
from manipula.errors import DescriptionError, ShapeError
from manipula.identity import identity
from manipula.ik.closed_form.geometry import EXACT, Lines
from manipula.ik.closed_form.positioning import PositionArm
from manipula.ik.closed_form.program import ClosedFormProgram, Kind, Row
from manipula.ik.closed_form.subproblems import NAN, CosSin
from manipula.lazy import cached_property
from manipula.physics.kinematics import pose
from manipula.physics.mechanism import mechanism_of
from manipula.robot.robot import Robot

CHECK = 1e-9  # rad and fraction of the reach: what forward kinematics may miss the target by
NEAR_FACTOR = 50.0  # a near-match of deviation ε may miss it by this many ε before the numeric polish
PARAMETERS = 16  # values of the free parameter that are tried when none is given
SLOPPY = 1e-3  # a rotation this far from orthonormal is taken as a rotation written with few digits


class PointProgram(ClosedFormProgram):
    """A positioning arm as a program for the tip."""

    kind: Kind = "position"

    def __init__(self, arm: PositionArm, tip: np.ndarray) -> None:
        self.arm, self.tip = arm, tip
        self.name, self.branches = arm.name, arm.branches

    def rows(self, target: Any) -> list[Row]:
        return self.arm.rows(self.tip, array(target))


class ClosedForm:
    """All postures of one arm for a target. Limits are not applied and angles lie in (−π, π].

    Attributes:
        name: which family of arms this is.
        kind: "pose", or "position" for arms that only carry a point (``solve`` then keeps what also meets the orientation).
        exact: whether the geometry is the family's up to rounding. If not (a calibrated arm, angles written as 1.5708), postures are
            those of the nearest ideal arm and want a numeric polish.
        deviation: largest departure from the ideal [rad, or fraction of the reach].
        branches: largest possible number of postures (for one value of the parameter).
        parameter: "arm_angle", "q7", … for redundant arms, else ``None``.
    """

    def __init__(self, robot: Robot, frame: str, lines: Lines, program: ClosedFormProgram, deviation: float) -> None:
        self.robot, self.frame, self.program = robot, frame, program
        self.name, self.kind, self.branches = program.name, program.kind, program.branches
        self.parameter = program.parameter
        self.deviation = deviation
        self.exact = deviation <= EXACT
        self._lines = lines
        self._home_inverse = np.linalg.inv(lines.home)
        allowed = CHECK if self.exact else max(CHECK, NEAR_FACTOR * deviation)
        self._allowed = (allowed * max(1.0, lines.reach), allowed)

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"within {self.deviation:.1g}"
        return f"<ClosedForm '{self.name}' of '{self.robot.name}', {self.branches} branches, {how}>"

    # ------------------------------------------------------------------ one target
    def solve(self, T: Any, parameter: float | None = None) -> np.ndarray:
        """(k, n) all postures that reach the pose T (4×4); with a free parameter for 16 values of it, or for the given one."""
        T = _target(T, (4, 4))
        if self.parameter is not None:
            return self._solve_redundant(T, parameter)
        q, count = self._pose_kernel(T)
        if count == 0.0:
            q, count = self._second_look(T, q)
        return q[: int(count)]

    def solve_position(self, p: Any) -> np.ndarray:
        """(k, n) all postures that bring the frame's origin to p (3,)."""
        p = _target(p, (3,))
        q, count = self._position_kernel(p)
        if count == 0.0:
            _check_finite(p)
        return q[: int(count)]

    # ------------------------------------------------------------------ many
    def solve_batch(self, T: Any, parameter: Any = None) -> np.ndarray:
        """(N, branches, n) postures for N poses; rows that do not exist are NaN, at the end. A free parameter defaults to 0."""
        T = _target(T, (4, 4), batch=True)
        _check_finite(T)
        T = _orthonormal(T)
        if self.parameter is None:
            return self._pose_kernel(T)[0]
        value = np.asarray(0.0 if parameter is None else parameter, float)
        return self._pose_kernel(T, value)[0]

    def solve_position_batch(self, p: Any) -> np.ndarray:
        """(N, branches, n) postures for N positions."""
        p = _target(p, (3,), batch=True)
        _check_finite(p)
        return self._position_kernel(p)[0]

    def parameter_of(self, q: Any) -> float:
        """The free parameter of a posture (arm angle, …)."""
        measure = getattr(self.program, "parameter_of", None)
        if measure is None:
            raise DescriptionError(
                f"The closed form '{self.name}' of '{self.robot.name}' has no free parameter: its arm is not redundant."
            )
        return measure(np.asarray(q, float))

    # ------------------------------------------------------------------ inside
    def _solve_redundant(self, T: np.ndarray, parameter: float | None) -> np.ndarray:
        if parameter is not None:
            parameter = float(parameter)
            q, count = self._pose_kernel(T, parameter)
            if count == 0.0:
                q, count = self._second_look(T, q, parameter)
            return q[: int(count)]
        _check_finite(T)
        T = _orthonormal(T)
        values = np.linspace(-math.pi, math.pi, PARAMETERS, endpoint=False)
        q = self._pose_kernel(np.broadcast_to(T, (PARAMETERS, 4, 4)), values)[0].reshape(-1, self.robot.n)
        return q[np.isfinite(q[:, 0])]

    def _second_look(self, T: np.ndarray, q: np.ndarray, *parameter: float) -> tuple[np.ndarray, Any]:
        """Nothing found: was the target a number at all, and its rotation a rotation?"""
        _check_finite(T)
        better = _orthonormal(T)
        return (q, 0.0) if better is T else self._pose_kernel(better, *parameter)

    @property
    def _made_of(self) -> bytes | None:
        return identity(self.robot.bare, self.frame, self.program, self._allowed)

    @cached_property
    def _pose_kernel(self) -> native.Kernel:
        inputs: dict[str, tuple] = {"T": (4, 4)}
        if self.parameter is not None:
            inputs["parameter"] = ()
        return native.kernel_of(self._checked, inputs, f"{self.robot.name}.closed_form", self._made_of)

    @cached_property
    def _position_kernel(self) -> native.Kernel:
        if self.kind != "position":
            raise ShapeError(f"The closed form '{self.name}' of '{self.robot.name}' takes poses (4, 4), not positions.")
        return native.kernel_of(self._checked, {"p": (3,)}, f"{self.robot.name}.closed_form_position", self._made_of)

    def postures(self, target: Any, *parameter: Any) -> list[np.ndarray]:
        """Every branch (n,) for a pose (4×4) or a position (3,) over any scalar; what does not exist is NaN or does not reach the target."""
        if self.kind == "position":
            given = target if np.ndim(target) == 1 else [target[i][3] for i in range(3)]
            rows = self.program.rows(array(given))
        else:
            rows = self.program.rows(array(np.asarray(target, dtype=object) @ self._home_inverse), *parameter)
        return [array([value.angle() if isinstance(value, CosSin) else value for value in row]) for row in rows]

    def reached(self, q: Vector, target: Any) -> Any:
        """Does forward kinematics confirm the branch q?"""
        X = pose(mechanism_of(self.robot), q, self.frame)
        errors: list[Any] = [0.0, 0.0]
        for i in range(3):
            for j in (3,) if np.ndim(target) == 1 else range(4):
                value = target[i] if np.ndim(target) == 1 else target[i][j]
                which = 0 if j == 3 else 1
                errors[which] = ops.maximum(errors[which], ops.abs(X[i, j] - value))
        return (errors[0] <= self._allowed[0]) & (errors[1] <= self._allowed[1])

    def _checked(self, target: Any, *parameter: Any) -> Any:
        """Postures that forward kinematics confirms come first, the rest is NaN; and how many there are."""
        rows = self.postures(target, *parameter)
        table: list[list[Any]] = [[NAN] * self.robot.n for _ in rows]
        count: Any = 0.0
        for k, q in enumerate(rows):
            ok = self.reached(q, target)
            for j in range(k + 1):
                here = ok & (count == float(j))
                table[j] = [ops.where(here, x, old) for x, old in zip(q, table[j])]
            count = ops.where(ok, count + 1.0, count)
        return {"q": array(table), "count": count}


def _target(x: Any, core: tuple[int, ...], batch: bool = False) -> np.ndarray:
    out = np.asarray(x, float, order="C")
    if (out.shape != core) if not batch else (out.ndim != len(core) + 1 or out.shape[1:] != core):
        wanted = (("N", *core)) if batch else core
        raise ShapeError(f"A target of shape {wanted} is needed, found {out.shape}.")
    return out


def _check_finite(x: np.ndarray) -> None:
    if not np.all(np.isfinite(x)):
        raise ShapeError("A target must be finite, found NaN or infinity in it.")


def _orthonormal(T: np.ndarray) -> np.ndarray:
    """The nearest poses whose rotations are rotations; the array itself when they are already (or far from it)."""
    R = T[..., :3, :3]
    error = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2))
    off = (error > 1e-14) & (error < SLOPPY)
    if not np.any(off):
        return T
    U, _, V = np.linalg.svd(R)
    out = T.copy()
    out[..., :3, :3] = np.where(off[..., None, None], U @ V, R)
    return out
