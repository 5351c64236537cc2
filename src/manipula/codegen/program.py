"""From a robot, or from graphs, to a program with stored test numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from manipula.algebra.arguments import rows_of
from manipula.codegen.base import PARAMETERS, ParameterField, Routine, RoutineVariable, Sample, SourceProgram
from manipula.codegen.functions import Traced, check_function, default_functions, takes_frame, traced
from manipula.codegen.names import LONGEST_PREFIX, Identifiers, comment, identifier
from manipula.codegen.parameters import Parametrised, parametrised, sample_values
from manipula.errors import BudgetError, DescriptionError, printable
from manipula.native.tracing.graph import Graph, core_size
from manipula.robot.link import TIP
from manipula.robot.robot import Robot

SAMPLES = 2
SEED = 20240229
MAX_OPERATIONS = 500_000
_TRIES = 64


def robot_program(
    robot: Robot, functions: Sequence[str] | None, parameters: str, prefix: str | None, frame: str
) -> SourceProgram:
    """The program of some functions of a robot."""
    if not isinstance(robot, Robot):
        raise DescriptionError(f"export() takes a Robot, found {type(robot).__name__}; read a file with load(...).")
    if robot.n == 0:
        raise DescriptionError(f"Robot '{comment(robot.name)}' has no moving joint.")
    given = parametrised(robot, parameters)
    if isinstance(functions, str):
        functions = (functions,)
    wanted = default_functions(robot) if functions is None else rows_of(functions, "functions")
    for name in wanted:
        check_function(robot, name)
    wanted = list(dict.fromkeys(wanted))
    if not wanted:
        raise DescriptionError("Name at least one function to export.", field="functions")
    if not isinstance(frame, str):
        raise DescriptionError(f"A frame is named by a text; found {printable(repr(frame), 40)}.", field="frame")
    if frame not in (TIP, "tip") and not any(takes_frame(name) for name in wanted):
        raise DescriptionError(
            f"None of {', '.join(wanted)} is taken at a frame: this one would change nothing. Name a function that is, such as 'pose'.",
            field="frame",
        )
    parts = [traced(given, name, frame) for name in wanted]
    kinds = [f"{k} {comment(j.name, 24)} ({j.kind})" for k, j in enumerate(robot.joints, start=1)]
    header = (
        f"Robot: {comment(robot.name)} with {robot.n} joints.",
        "Order of q:",
        *["  " + ", ".join(kinds[k : k + 4]) for k in range(0, robot.n, 4)],
        *[
            f"Coupled: {comment(f.name, 24)} = {comment(f.formula(f'q_{f.leader + 1}').replace('*', ' '))}"
            for f in robot.followers
        ],
        _parameter_line(given),
        "Units: SI and radians. Gravity is an acceleration vector in the base frame. Matrices are listed row by row.",
    )
    return _program(robot.name if prefix is None else prefix, header, parts, given.fields, "robot")


def graph_program(graphs: Iterable[Graph], prefix: str | None, meanings: Mapping[str, str]) -> SourceProgram:
    """The program of functions that were traced by the user."""
    parts = [Traced(graph, f"function {comment(graph.name, 60)}", meanings) for graph in graphs]
    if not parts:
        raise DescriptionError("Name at least one graph to export.", field="graph")
    names = ", ".join(comment(p.graph.name, 40) for p in parts)
    header = (f"Functions: {names}.", "Matrices are listed row by row.")
    return _program(prefix if prefix is not None else parts[0].graph.name, header, parts, (), "function")


def _parameter_line(given: Parametrised) -> str:
    if not given.fields:
        return "Parameters: numbers of the robot, baked in."
    free = given.fields[0].value is None
    return f"Parameters: {len(given.fields)} {'free ones' if free else 'inertial ones'}, in a struct; geometry is baked in."


def _program(
    prefix: str, header: tuple[str, ...], parts: list[Traced], fields: tuple[ParameterField, ...], fallback: str
) -> SourceProgram:
    rng = np.random.default_rng(SEED)
    values = sample_values(fields, rng)
    names = Identifiers()
    routines = tuple(_routine(part, names.unique(part.graph.name, "f"), values, rng) for part in parts)
    return SourceProgram(identifier(prefix, fallback, LONGEST_PREFIX), header, fields, values, routines)


def _routine(part: Traced, name: str, parameters: np.ndarray, rng: np.random.Generator) -> Routine:
    graph = part.graph
    size = len(graph.operations)
    if size > MAX_OPERATIONS:
        raise BudgetError(
            f"'{comment(graph.name)}' has {size} operations; at most {MAX_OPERATIONS} are written as source."
        )
    if graph.sampled or any(isinstance(d, str) for shape in graph.inputs.values() for d in shape):
        raise DescriptionError(
            f"'{comment(graph.name)}' has arrays whose length is known only at run time; source code needs fixed shapes."
        )
    names = Identifiers(("p", "batch", "out", "parameters"))
    own = PARAMETERS in graph.inputs and len(parameters) > 0

    def value(key: str, shape: tuple, kind: str) -> RoutineVariable:
        return RoutineVariable(key, names.unique(key, kind), tuple(shape), comment(part.meanings.get(key, "")))

    arguments = tuple(value(k, s, "x") for k, s in graph.inputs.items() if not (own and k == PARAMETERS))
    results = tuple(value(k, s, "y") for k, s in graph.outputs.items())
    samples = tuple(s for _ in range(SAMPLES) if (s := _sample(graph, parameters if own else None, rng)) is not None)
    return Routine(name, comment(part.summary, 140), graph, arguments, results, samples, own)


def _sample(graph: Graph, parameters: np.ndarray | None, rng: np.random.Generator) -> Sample | None:
    """Inputs in [-1, 1] and their outputs; drawn again while an output is not finite, which a user's function may be."""
    for _ in range(_TRIES):
        inputs = {k: rng.uniform(-1.0, 1.0, core_size(s)).round(6) for k, s in graph.inputs.items()}
        if parameters is not None:
            inputs[PARAMETERS] = parameters
        arrays = {k: v.reshape(graph.inputs[k]) for k, v in inputs.items()}
        found = graph.evaluate(**arrays)
        found = found if isinstance(found, tuple) else (found,)
        outputs = {k: np.asarray(v, float).ravel() for k, v in zip(graph.outputs, found)}
        if all(np.all(np.isfinite(v)) for v in outputs.values()):
            return Sample(inputs, outputs)
    return None
