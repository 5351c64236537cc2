"""The functions of a robot that can be written as source code, each as an operation list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.codegen.base import PARAMETERS
from manipula.codegen.parameters import Parametrised, on_scalars
from manipula.errors import DescriptionError, UnphysicalError, unknown_name
from manipula.native import Graph, trace
from manipula.physics.forward import check_inertia
from manipula.physics.functions import FUNCTIONS, INPUTS
from manipula.physics.mechanism import Mechanism, mechanism_of, prepare, regrouped
from manipula.robot.robot import Robot

_FRICTION = {"state": "internal states of the friction laws", "load": "normal forces in the joints [N]"}
EXPORTED = {name: function for name, function in FUNCTIONS.items() if function.exported}
NAMES = (*EXPORTED, "friction")
DEFAULT = ("pose", "jacobian", "mass_matrix", "bias", "gravity", "inverse_dynamics", "forward_dynamics")


@dataclass(frozen=True, eq=False)
class Traced:
    """A function as an operation list, with the words for its comments."""

    graph: Graph
    summary: str
    meanings: Mapping[str, str]


def default_functions(robot: Robot) -> tuple[str, ...]:
    """The usual ones; those at the tip only when the robot has one, forward dynamics only when it has mass."""
    try:
        check_function(robot, "forward_dynamics")
        usual = DEFAULT
    except UnphysicalError:
        usual = DEFAULT[:-1]
    return tuple(f for f in usual if robot.tip is not None or FUNCTIONS[f].at == "none")


def check_function(robot: Robot, name: object) -> None:
    """Refuse what is not the name of a function that can be written for this robot."""
    if not isinstance(name, str) or name not in NAMES:
        raise unknown_name("function to export", name, NAMES, field="functions")
    if name in EXPORTED and EXPORTED[name].inverts and not robot.parameters:
        check_inertia(robot)


def takes_frame(name: str) -> bool:
    """Is a function taken at a frame of the robot?"""
    return name in EXPORTED and EXPORTED[name].at == "frame"


def traced(given: Parametrised, name: str, frame: str) -> Traced:
    """One function of the robot; the cheaper of its two parametrisations where both give the same numbers."""
    if name == "friction":
        return _friction(given)
    function = EXPORTED[name]
    options = (frame,) if function.at == "frame" else ()
    if options:
        given.robot.frame(frame)  # refuses an unknown frame, or a tip that nobody named
    inputs = _with_parameters(given, function.shapes(given.robot.n))

    def run(way: Callable[..., Any], lean: bool) -> Graph:
        def f(*arguments: Any) -> Any:
            mechanism, rest = _mechanism(given, arguments)
            return function.run(regrouped(mechanism) if lean else mechanism, *rest, *options, way=way)

        return trace(f, inputs, name)

    ways = [
        (way, lean)
        for way in function.ways or (function.compute,)
        for lean in ((False, True) if function.lean else (False,))
    ]
    best = min((run(*way) for way in ways), key=lambda g: g.operation_count()["total"])
    where = f" (frame {frame or 'tip'})" if options else ""
    return Traced(best, function.summary + where, {**INPUTS, **{k: v.meaning for k, v in function.outputs.items()}})


def _with_parameters(given: Parametrised, inputs: dict[str, tuple]) -> dict[str, tuple]:
    return {PARAMETERS: (len(given.symbols),), **inputs} if given.symbols else inputs


def _mechanism(given: Parametrised, arguments: tuple[Any, ...]) -> tuple[Mechanism, tuple[Any, ...]]:
    if not given.symbols:
        return mechanism_of(given.robot), arguments
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
        **INPUTS,
        **_FRICTION,
        "tau_f": "friction torques, with the sign of qd [N m, N]",
        "state_rate": "rates of the states",
    }
    return Traced(graph, "friction torques (on the left of the equation of motion)", meanings)
