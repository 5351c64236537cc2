"""The routes of this package to the same numbers: Lagrange, composite bodies, symbols, machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.certificate.comparison import ACCELERATION, BIAS, FRICTION, GRAVITY, JACOBIAN, MASS, POSE, TORQUE
from manipula.certificate.newton_euler import NewtonEuler
from manipula.certificate.states import CertifiedStates
from manipula.errors import BudgetError, CompileError
from manipula.lazy import cached_property
from manipula.model import Model
from manipula.native import compile_graph, has_compiler
from manipula.native.tracing.graph import Graph
from manipula.physics import articulated, composite
from manipula.physics.lagrange_euler import lagrange_euler
from manipula.robot.robot import Robot
from manipula.symbolic.equations import equations

LAGRANGE_JOINTS = 12  # triple sums over 4×4 products grow with the fifth power of the number of joints
FUNCTIONS = {  # of a compiled model, with what each takes
    TORQUE: ("inverse_dynamics", ("q", "qd", "qdd")), MASS: ("mass_matrix", ("q",)), BIAS: ("bias", ("q", "qd")),
    GRAVITY: ("gravity", ("q",)), ACCELERATION: ("forward_dynamics", ("q", "qd", "tau")), POSE: ("pose", ("q",)),
    JACOBIAN: ("jacobian", ("q",)),
}  # fmt: skip
Ways = Mapping[str, Callable[[], Any]]


@dataclass(frozen=True, eq=False)
class Certified:
    """One robot under examination: its states and their reference."""

    robot: Robot
    states: CertifiedStates
    reference: NewtonEuler
    frame: str
    limit: int

    @cached_property
    def inputs(self) -> dict[str, np.ndarray]:
        """Arguments of the robot's functions by name."""
        return {"q": self.states.q, "qd": self.states.qd, "qdd": self.states.qdd, "tau": self.reference.tau}

    @cached_property
    def model(self) -> Model:
        """The compiled robot."""
        return Model(self.robot)

    @cached_property
    def friction(self) -> tuple[Graph, list[np.ndarray]]:
        """The friction laws of all joints as operations, with what they take."""
        from manipula.codegen.program import robot_program

        graph = robot_program(self.robot, ["friction"], "baked", "friction", self.frame).routines[0].graph
        return graph, [self.reference.friction[name] for name in graph.inputs]


@dataclass(frozen=True)
class Route:
    """A route to the numbers: ``ways`` gives a function for each of its quantities; a failure of ours is a disagreement."""

    name: str
    quantities: tuple[str, ...]
    ways: Callable[[Certified], Ways]
    ours: bool = True


def _by_matrices(case: Certified) -> Ways:
    """M, h and g from traces of 4×4 products."""
    n = len(case.robot.bodies)
    if n > LAGRANGE_JOINTS:
        raise BudgetError(
            f"{n} bodies; the work of this route grows with their fifth power, so it is used up to {LAGRANGE_JOINTS} bodies."
        )
    found = [lagrange_euler(case.robot, q) for q in case.states.q]
    M, g = (np.array([np.asarray(f[k], float) for f in found]) for k in (0, 2))
    h = np.array([np.asarray(f.bias(qd), float) for f, qd in zip(found, case.states.qd)])
    tau = np.einsum("sij,sj->si", M, case.states.qdd) + h + g
    return {TORQUE: lambda: tau, MASS: lambda: M, BIAS: lambda: h, GRAVITY: lambda: g}


def _by_composites(case: Certified) -> Ways:
    """M by composite bodies; accelerations through its factors, and by articulated bodies where joints are not coupled."""
    robot, q = case.robot, case.states.q
    rows = list(zip(q, case.states.qd, case.reference.tau))
    return {
        MASS: lambda: [composite.mass_matrix(robot, x) for x in q],
        ACCELERATION: lambda: [composite.forward_dynamics(robot, *row) for row in rows],
    }


def _by_articulated(case: Certified) -> Ways:
    if case.robot.followers:
        raise BudgetError("With coupled joints there are no articulated bodies.")
    rows = zip(case.states.q, case.states.qd, case.reference.tau)
    return {ACCELERATION: lambda: [articulated.forward_dynamics(case.robot, *row) for row in rows]}


def _by_symbols(case: Certified) -> Ways:
    """The closed form that people read, with the robot's own angles, as machine code."""
    eq = equations(case.robot.bare, "compact", right_angles="given", limit=case.limit)
    s = case.states
    _ = eq.formulas.M  # refuses a robot that is too large
    return {
        TORQUE: lambda: eq.compile("tau")(s.q, s.qd, s.qdd),
        MASS: lambda: eq.compile("M")(s.q),
        BIAS: lambda: eq.compile("h")(s.q, s.qd),
        GRAVITY: lambda: eq.compile("g")(s.q),
    }


def _by_assignments(case: Certified) -> Ways:
    """The sequence of named assignments of level "recursive"."""
    s = case.states
    eq = equations(case.robot.bare, "recursive", right_angles="given")
    return {TORQUE: lambda: eq.compile("tau")(s.q, s.qd, s.qdd)}


def _machine(case: Certified, call: Callable[[Any, list[np.ndarray]], Any]) -> Ways:
    """Functions of the compiled model, called in one way."""

    def way(name: str, inputs: tuple[str, ...]) -> Callable[[], Any]:
        def run() -> Any:
            options = (case.frame,) if name == "pose" else (case.frame, "base") if name == "jacobian" else ()
            return call(case.model.kernel(name, *options), [case.inputs[x] for x in inputs])

        return run

    found = {quantity: way(*function) for quantity, function in FUNCTIONS.items()}

    def friction() -> Any:
        graph, arguments = case.friction
        answer = call(compile_graph(graph), arguments)
        return answer if len(graph.outputs) == 1 else answer[0]

    return {**found, FRICTION: friction}


def _compiler_needed() -> None:
    if not has_compiler():
        raise CompileError("There is no compiler here (MANIPULA_NO_LLVM is set, or llvmlite is missing).")


def _one_by_one(case: Certified) -> Ways:
    _compiler_needed()
    return _machine(case, lambda kernel, x: _stacked([kernel(*row) for row in zip(*x)]))


def _in_a_batch(case: Certified) -> Ways:
    _compiler_needed()
    return _machine(case, lambda kernel, x: kernel(*x))


def _interpreted(case: Certified) -> Ways:
    return _machine(case, lambda kernel, x: kernel.python(*x))


def _stacked(answers: list[Any]) -> Any:
    """Answers state by state as arrays."""
    return tuple(map(np.array, zip(*answers))) if isinstance(answers[0], tuple) else np.array(answers)


DYNAMICS = (TORQUE, MASS, BIAS, GRAVITY)
ALL = (*DYNAMICS, ACCELERATION, POSE, JACOBIAN, FRICTION)
OWN = (
    Route("Lagrange, 4×4 matrices", DYNAMICS, _by_matrices),
    Route("Lagrange, symbols", DYNAMICS, _by_symbols),
    Route("Newton–Euler, symbols", (TORQUE,), _by_assignments),
    Route("composite bodies", (MASS, ACCELERATION), _by_composites),
    Route("articulated bodies", (ACCELERATION,), _by_articulated),
    Route("machine code, one state", ALL, _one_by_one),
    Route("machine code, batch", ALL, _in_a_batch),
    Route("interpreter", ALL, _interpreted),
)
