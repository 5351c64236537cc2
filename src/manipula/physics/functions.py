r"""Every function of a robot, once: what it computes, from what, in which units, and by which algorithm.

``manipula.model`` compiles the functions of this table, ``manipula.codegen`` writes them as source code. All belong to one equation,
:math:`M(q)\ddot q + C(q,\dot q)\dot q + g(q) + \tau_f = \tau + J^Tf`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from manipula.algebra.linear import array, skew, zeros
from manipula.algebra.ops import Vector
from manipula.physics import (
    articulated,
    composite,
    coriolis,
    derivatives,
    energy,
    forward,
    kinematics,
    newton_euler,
    planar,
    reactions,
)
from manipula.physics import regressor as regression
from manipula.physics.mechanism import Mechanism

INPUTS = {
    "q": "joint positions [rad, m]",
    "qd": "joint velocities [rad/s, m/s]",
    "qdd": "joint accelerations [rad/s2, m/s2]",
    "tau": "joint torques [N m, N]",
    "wrench": "force and moment on the frame, base axes, force first [N, N m]",
}
OPTIONS = {
    "frame": "name of a frame; the tip when omitted",
    "frames": "names of frames; all of them when omitted",
    "expressed_in": 'axes of the result: of the base ("base") or of the frame ("body")',
    "out": "array that receives the result (a tuple of arrays when there are several)",
    "threads": "how many threads share a large batch",
}
_CORE = {"wrench": (6,)}  # shapes of inputs; all others have one entry per joint


class Output(NamedTuple):
    """One result: shape and meaning with unit.

    A text in the shape counts: ``"n"`` joints, ``"b"`` moving bodies (as many, unless joints are coupled), ``"k"`` frames.
    """

    shape: tuple[int | str, ...]
    meaning: str


@dataclass(frozen=True)
class RobotFunction:
    """One function that every robot has.

    Attributes:
        summary: the equation, or what is computed.
        inputs: names of the arguments (``INPUTS`` says what they are).
        outputs: results by name.
        compute: ``compute(mechanism, *inputs, *options)``.
        ways: the algorithms that ``compute`` chooses among by a rule; generated source code is the one with the fewest operations.
        lean: whether inertia may be regrouped between links without changing the result.
        inverts: whether it divides by the mass matrix, which a robot without mass does not have (``forward.check_inertia``).
        at: the frames it is taken at: none, one (an option of the call) or many.
        exported: whether it is also written as source code.
    """

    summary: str
    inputs: tuple[str, ...]
    outputs: Mapping[str, Output]
    compute: Callable[..., Any]
    ways: tuple[Callable[..., Any], ...] = ()
    lean: bool = False
    inverts: bool = False
    at: Literal["none", "frame", "frames"] = "none"
    exported: bool = True

    def shapes(self, n: int) -> dict[str, tuple[int, ...]]:
        """Shape of every input for n joints."""
        return {name: _CORE.get(name, (n,)) for name in self.inputs}

    def entries(self, n: int) -> int:
        """Numbers in the result for n bodies (joints, and frames of ``poses``, are counted as bodies)."""
        return sum(math.prod(_length(d, n) for d in output.shape) for output in self.outputs.values())

    def run(self, mechanism: Mechanism, *values: Any, way: Callable[..., Any] | None = None) -> dict[str, Any]:
        """The results by name."""
        found = (way or self.compute)(mechanism, *values)
        return dict(zip(self.outputs, found if isinstance(found, tuple) else (found,)))

    def text(self) -> str:
        """The docstring: equation, arguments and results with shapes and units."""
        lines = [f"{self.summary}.", "", "Args:"]
        for name in self.inputs:
            lines.append(f"    {name}: {INPUTS[name]}, {_written(_CORE.get(name, ('n',)))}.")
        lines += [f"    {name}: {OPTIONS[name]}." for name in ("out", "threads")]
        lines += ["", "Returns:"]
        lines += [f"    {name}: {output.meaning}, {_written(output.shape)}." for name, output in self.outputs.items()]
        return "\n".join(lines)


def _length(dimension: int | str, n: int) -> int:
    if isinstance(dimension, int):
        return dimension
    return n * int(dimension.rstrip("nbk") or 1)


def _written(shape: tuple[int | str, ...]) -> str:
    return "(" + ", ".join(["...", *(str(d) for d in shape)]) + ")"


def _pose_derivatives(mechanism: Mechanism, q: Vector, frame: str) -> Any:
    r"""Columns :math:`\partial R/\partial q_i = \hat z_i R` and :math:`\partial p/\partial q_i` from the Jacobian."""
    X, J = kinematics.pose(mechanism, q, frame), kinematics.jacobian(mechanism, q, frame)
    out = zeros(4, 4, mechanism.n)
    for i in range(mechanism.n):
        out[:3, :3, i], out[:3, 3, i] = skew(J[3:, i]) @ X[:3, :3], J[:3, i]
    return array(out)


def _external_torque(mechanism: Mechanism, q: Vector, wrench: Vector, frame: str) -> Any:
    return kinematics.jacobian(mechanism, q, frame).T @ wrench


def _planar_model(mechanism: Mechanism, q: Vector, qd: Vector) -> Any:
    return planar.planar_model(planar.planar_arm(mechanism), q, qd)


def _poses(mechanism: Mechanism, q: Vector, *frames: str) -> Any:
    return kinematics.poses(mechanism, q, frames)


_Q, _QV, _QVA, _QVT = ("q",), ("q", "qd"), ("q", "qd", "qdd"), ("q", "qd", "tau")
_N, _NN = ("n",), ("n", "n")

FUNCTIONS: dict[str, RobotFunction] = {
    "pose": RobotFunction("pose of a frame in the base frame, homogeneous 4 x 4", _Q, {"T": Output((4, 4), "pose [1, m]")},
                          kinematics.pose, at="frame"),
    "poses": RobotFunction("poses of several frames in the base frame", _Q, {"T": Output(("k", 4, 4), "poses [1, m]")},
                           _poses, at="frames", exported=False),
    "position": RobotFunction("position of the origin of a frame", _Q, {"x": Output((3,), "position [m]")},
                              kinematics.position, at="frame"),
    "jacobian": RobotFunction("geometric Jacobian J at the origin of a frame, linear part first: twist = J qd", _Q,
                              {"J": Output((6, "n"), "Jacobian [m, 1]")}, kinematics.jacobian, at="frame"),
    "jacobian_rate": RobotFunction("time derivative of the Jacobian: acceleration of the frame = J qdd + Jd qd", _QV,
                                   {"Jd": Output((6, "n"), "rate of the Jacobian [m/s, 1/s]")}, kinematics.jacobian_rate,
                                   at="frame"),
    "pose_derivatives": RobotFunction("derivatives of the 4 x 4 pose by the joint positions", _Q,
                                      {"dT_dq": Output((4, 4, "n"), "d T / d q [1, m]")}, _pose_derivatives,
                                      at="frame", exported=False),
    "external_torque": RobotFunction("J^T wrench: what a wrench on a frame adds to tau", ("q", "wrench"),
                                     {"tau": Output(_N, "joint torques [N m, N]")}, _external_torque, at="frame"),
    "mass_matrix": RobotFunction("joint-space inertia M(q), rotor inertia included", _Q,
                                 {"M": Output(_NN, "mass matrix [kg m2, kg m, kg]")}, composite.mass_matrix, lean=True),
    "inverse_mass_matrix": RobotFunction("inverse of the joint-space inertia M(q)", _Q,
                                         {"W": Output(_NN, "inverse mass matrix [1/(kg m2), 1/(kg m), 1/kg]")},
                                         composite.inverse_mass_matrix, lean=True, inverts=True),
    "coriolis_matrix": RobotFunction("Christoffel matrix C(q, qd): dM/dt - 2 C is skew", _QV,
                                     {"C": Output(_NN, "Coriolis matrix [N m s, N s]")}, coriolis.coriolis_matrix, lean=True),
    "bias": RobotFunction("h = C(q, qd) qd: Coriolis and centrifugal torques, without gravity and friction", _QV,
                          {"h": Output(_N, "torques [N m, N]")}, newton_euler.bias, lean=True),
    "nonlinear_effects": RobotFunction("h + g = C(q, qd) qd + g(q), without friction", _QV,
                                       {"h": Output(_N, "torques [N m, N]")}, newton_euler.nonlinear_effects, lean=True),
    "gravity": RobotFunction("g(q): torques that hold the arm still", _Q, {"g": Output(_N, "torques [N m, N]")},
                             newton_euler.gravity, lean=True),
    "inverse_dynamics": RobotFunction("tau = M qdd + C qd + g, without friction (Newton-Euler)", _QVA,
                                      {"tau": Output(_N, "joint torques [N m, N]")}, newton_euler.inverse_dynamics, lean=True),
    "forward_dynamics": RobotFunction("qdd = M^-1 (tau - C qd - g), without friction", _QVT,
                                      {"qdd": Output(_N, "joint accelerations [rad/s2, m/s2]")}, forward.forward_dynamics,
                                      ways=(composite.forward_dynamics, articulated.forward_dynamics), lean=True,
                                      inverts=True),
    "kinetic_energy": RobotFunction("kinetic energy qd^T M qd / 2", _QV, {"T": Output((), "energy [J]")},
                                    energy.kinetic_energy, lean=True),
    "potential_energy": RobotFunction("potential energy, zero at the origin of the base", _Q, {"V": Output((), "energy [J]")},
                                      energy.potential_energy),
    "regressor": RobotFunction("Y with tau = Y pi; pi is m, m c, J about the origin of each of the b links (rotors left out)", _QVA,
                               {"Y": Output(("n", "10 b"), "regressor [N m, N per unit of pi]")}, regression.regressor),
    "joint_reactions": RobotFunction("wrench of the parent on the child at every joint, force first", _QVA,
                                     {"w": Output(("b", 6), "wrenches [N, N m]")}, reactions.joint_reactions),
    "inverse_dynamics_derivatives": RobotFunction(
        "exact derivatives of the torques by q, qd and qdd", _QVA,
        {"dtau_dq": Output(_NN, "d tau / d q [N m/rad, N/m]"), "dtau_dqd": Output(_NN, "d tau / d qd [N m s, N s]"),
         "dtau_dqdd": Output(_NN, "d tau / d qdd = M [kg m2, kg m, kg]")},
        derivatives.inverse_dynamics_derivatives, lean=True),
    "forward_dynamics_derivatives": RobotFunction(
        "exact derivatives of the accelerations by q, qd and tau", _QVT,
        {"dqdd_dq": Output(_NN, "d qdd / d q [1/s2]"), "dqdd_dqd": Output(_NN, "d qdd / d qd [1/s]"),
         "dqdd_dtau": Output(_NN, "d qdd / d tau = inverse of M [1/(kg m2), 1/(kg m), 1/kg]")},
        derivatives.forward_dynamics_derivatives, lean=True, inverts=True),
    "planar_model": RobotFunction(
        "everything about an n-R arm in the x-y plane at once", _QV,
        {"x": Output((2,), "position of the tip [m]"), "J": Output((2, "n"), "Jacobian [m]"),
         "Jd": Output((2, "n"), "rate of the Jacobian [m/s]"), "H": Output(_NN, "mass matrix [kg m2]"),
         "h": Output(_N, "Coriolis and centrifugal torques [N m]"), "g": Output(_N, "gravity torques [N m]")},
        _planar_model, exported=False),
}  # fmt: skip
"""Every function by its name."""
