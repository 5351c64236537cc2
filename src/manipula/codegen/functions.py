"""The functions of a robot that can be written as source code, each as an operation list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.codegen.base import PARAMETERS
from manipula.codegen.parameters import Parametrised, on_scalars
from manipula.errors import DescriptionError, unknown_name
from manipula.native import Graph, trace
from manipula.physics import articulated, composite, coriolis, derivatives, energy, kinematics, newton_euler, reactions
from manipula.physics import regressor as regressors
from manipula.physics.mechanism import Mechanism, prepare, regrouped
from manipula.robot.robot import Robot

_INPUTS = {
    "q": "joint positions [rad, m]",
    "qd": "joint velocities [rad/s, m/s]",
    "qdd": "joint accelerations [rad/s2, m/s2]",
    "tau": "joint torques [N m, N]",
    "state": "internal states of the friction laws",
    "load": "normal forces in the joints [N]",
}


@dataclass(frozen=True)
class Kind:
    """A function that every robot has.

    Attributes:
        inputs: names of its arguments, each (n,).
        outputs: name and meaning of each result.
        compute: ways to the same result, each ``compute(mechanism, frame, *inputs)``; the one with fewest operations is written.
        regroup: whether parameters may be regrouped between links without changing the result.
        at_frame: whether it needs a frame.
    """

    summary: str
    inputs: tuple[str, ...]
    outputs: Mapping[str, str]
    compute: tuple[Callable[..., Any], ...]
    regroup: bool = False
    at_frame: bool = False


def _whole(*functions: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Functions of the mechanism and the inputs alone."""
    return tuple(lambda mechanism, frame, *x, f=f: f(mechanism, *x) for f in functions)


def _at_frame(function: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """A function that takes the frame last."""
    return (lambda mechanism, frame, *x: function(mechanism, *x, frame),)


_Q, _QV, _QVA, _QVT = ("q",), ("q", "qd"), ("q", "qd", "qdd"), ("q", "qd", "tau")
KINDS: dict[str, Kind] = {
    "pose": Kind("pose of the frame, homogeneous 4 x 4", _Q, {"T": "pose [1, m]"},
                 _at_frame(kinematics.pose), at_frame=True),
    "position": Kind("position of the origin of the frame", _Q, {"x": "position [m]"},
                     _at_frame(kinematics.position), at_frame=True),
    "jacobian": Kind("geometric Jacobian at the origin of the frame, base axes, linear part first", _Q,
                     {"J": "Jacobian [m, 1]"}, _at_frame(kinematics.jacobian), at_frame=True),
    "jacobian_rate": Kind("time derivative of the Jacobian", _QV, {"Jd": "rate of the Jacobian [m/s, 1/s]"},
                          _at_frame(kinematics.jacobian_rate), at_frame=True),
    "mass_matrix": Kind("joint-space inertia M(q)", _Q, {"M": "mass matrix [kg m2, kg m, kg]"},
                        _whole(composite.mass_matrix), regroup=True),
    "coriolis_matrix": Kind("Christoffel matrix C(q, qd)", _QV, {"C": "Coriolis matrix [N m s, N s]"},
                            _whole(coriolis.coriolis_matrix), regroup=True),
    "bias": Kind("Coriolis and centrifugal torques C qd, without gravity and friction", _QV,
                 {"h": "torques [N m, N]"}, _whole(newton_euler.bias), regroup=True),
    "gravity": Kind("torques that hold the arm still", _Q, {"g": "torques [N m, N]"},
                    _whole(newton_euler.gravity), regroup=True),
    "inverse_dynamics": Kind("tau = M qdd + C qd + g, without friction", _QVA, {"tau": "joint torques [N m, N]"},
                             _whole(newton_euler.inverse_dynamics), regroup=True),
    "forward_dynamics": Kind("accelerations from torques, without friction", _QVT,
                             {"qdd": "joint accelerations [rad/s2, m/s2]"},
                             _whole(composite.forward_dynamics, articulated.forward_dynamics), regroup=True),
    "kinetic_energy": Kind("kinetic energy", _QV, {"T": "energy [J]"}, _whole(energy.kinetic_energy), regroup=True),
    "potential_energy": Kind("potential energy, zero at the origin of the base", _Q, {"V": "energy [J]"},
                             _whole(energy.potential_energy)),
    "regressor": Kind("Y with tau = Y pi; pi is m, m c, J about the origin of every link (rotors left out)",
                      _QVA, {"Y": "regressor"}, _whole(regressors.regressor)),
    "joint_reactions": Kind("wrench across every joint, force first", _QVA, {"w": "wrenches [N, N m]"},
                            _whole(reactions.joint_reactions)),
    "inverse_dynamics_derivatives": Kind(
        "exact derivatives of the torques", _QVA,
        {"dtau_dq": "d tau / d q", "dtau_dqd": "d tau / d qd", "dtau_dqdd": "d tau / d qdd = M"},
        _whole(derivatives.inverse_dynamics_derivatives), regroup=True),
    "forward_dynamics_derivatives": Kind(
        "exact derivatives of the accelerations", _QVT,
        {"dqdd_dq": "d qdd / d q", "dqdd_dqd": "d qdd / d qd", "dqdd_dtau": "d qdd / d tau = inverse of M"},
        _whole(derivatives.forward_dynamics_derivatives), regroup=True),
}  # fmt: skip
"""Every function by its name; ``friction`` comes beside these."""

NAMES = (*KINDS, "friction")
DEFAULT = ("pose", "jacobian", "mass_matrix", "bias", "gravity", "inverse_dynamics", "forward_dynamics")


@dataclass(frozen=True, eq=False)
class Traced:
    """A function as an operation list, with the words for its comments."""

    graph: Graph
    summary: str
    meanings: Mapping[str, str]


def default_functions(robot: Robot) -> tuple[str, ...]:
    """The usual ones; those at the tip only when the robot has one."""
    return tuple(f for f in DEFAULT if robot.tip is not None or not KINDS[f].at_frame)


def traced(given: Parametrised, name: str, frame: str) -> Traced:
    """One function of the robot; the cheaper of its two parametrisations where both give the same numbers."""
    if name == "friction":
        return _friction(given)
    if name not in KINDS:
        raise unknown_name("function to export", name, NAMES, field="functions")
    kind, n = KINDS[name], given.robot.n
    if kind.at_frame:
        given.robot.frame(frame)  # refuses an unknown frame, or a tip that nobody named
    inputs = _with_parameters(given, dict.fromkeys(kind.inputs, (n,)))

    def run(compute: Callable[..., Any], regroup: bool) -> Graph:
        def f(*arguments: Any) -> Any:
            mechanism, rest = _mechanism(given, arguments)
            result = compute(regrouped(mechanism) if regroup else mechanism, frame, *rest)
            return dict(zip(kind.outputs, result if isinstance(result, tuple) else (result,)))

        return trace(f, inputs, name)

    ways = [(c, r) for c in kind.compute for r in ((False, True) if kind.regroup else (False,))]
    best = min((run(*way) for way in ways), key=lambda g: g.operation_count()["total"])
    where = f" (frame {frame or 'tip'})" if kind.at_frame else ""
    return Traced(best, kind.summary + where, {**_INPUTS, **kind.outputs})


def _with_parameters(given: Parametrised, inputs: dict[str, tuple]) -> dict[str, tuple]:
    return {PARAMETERS: (len(given.symbols),), **inputs} if given.symbols else inputs


def _mechanism(given: Parametrised, arguments: tuple[Any, ...]) -> tuple[Mechanism, tuple[Any, ...]]:
    if not given.symbols:
        return prepare(given.robot), arguments
    return prepare(given.robot, dict(zip(given.symbols, arguments[0]))), arguments[1:]


def _friction(given: Parametrised) -> Traced:
    """tau_f of every joint's law; laws with states take them and give their rates, laws that need a load take it."""
    joints = given.robot.joints
    if all(j.friction is None for j in joints):
        raise DescriptionError("No joint of this robot has friction; leave the function out.", field="functions")
    states = sum(j.friction.states for j in joints if j.friction is not None)
    inputs = {"qd": (len(joints),), **({"state": (states,)} if states else {}), "load": (len(joints),)}

    def f(*arguments: Any) -> dict[str, Any]:
        values = dict(zip(given.symbols, arguments[0])) if given.symbols else {}
        rest = list(arguments[1:] if given.symbols else arguments)
        qd, load, state = rest[0], rest[-1], (list(rest[1]) if states else [])
        tau: list[Any] = []
        rates: list[Any] = []
        for i, joint in enumerate(joints):
            if joint.friction is None:
                tau.append(0.0)
                continue
            law = on_scalars(joint.friction, values)
            own, state = tuple(state[: law.states]), state[law.states :]
            tau.append(law.torque(qd[i], own, load[i]))
            rates += law.state_rate(qd[i], own, load[i])
        return {"tau_f": np.array(tau, object), **({"state_rate": np.array(rates, object)} if states else {})}

    graph = trace(f, _with_parameters(given, inputs), "friction")
    if not any(op.code == "input" and op.data[0] == "load" for op in graph.operations):
        del graph.inputs["load"]
    meanings = {
        **_INPUTS,
        "tau_f": "friction torques, with the sign of qd [N m, N]",
        "state_rate": "rates of the states",
    }
    return Traced(graph, "friction torques (on the left of the equation of motion)", meanings)
