"""From a Scenario to a plant, a compiled loop and the numbers that go into it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from manipula import native
from manipula.control.base import Controller
from manipula.errors import BudgetError, DescriptionError, ShapeError, unknown_name
from manipula.identity import is_untouched
from manipula.physics.mechanism import prepare
from manipula.redundancy.arm import Arm
from manipula.robot.drives.gear import geared
from manipula.simulation.checks.rehearsal import check_memories, rehearse
from manipula.simulation.loops.loop import Loop, ReferenceTable, template
from manipula.simulation.loops.stepping import periods
from manipula.simulation.plant.layout import Layout
from manipula.simulation.plant.parameters import flatten
from manipula.simulation.plant.plant import Plant
from manipula.simulation.scenario import Scenario

_LOOPS: native.Kept[Loop] = native.Kept(32)  # runs of one shape share machine code
MOST_PENDING = 4096  # numbers


@dataclass
class Run:
    """Everything a run needs: the loop, the reference's table, initial states (N, size) and parameters (N, k)."""

    scenario: Scenario
    plant: Plant
    loop: Loop
    table: ReferenceTable
    x0: np.ndarray
    p: np.ndarray

    @property
    def inputs(self) -> tuple[Any, ...]:
        return self.table.breaks, self.table.coefficients


def prepare_run(s: Scenario) -> Run:
    """Check that the parts fit together and build the loop (or find it among the last ones)."""
    plant, dimension, reference = plant_of(s)
    check_memories(plant)
    delay = periods(s.actuator.delay, s.step)
    if delay * s.robot.n > MOST_PENDING:
        raise BudgetError(
            f"A delay of {s.actuator.delay:g} s keeps {delay} commands of {s.robot.n} joints on their way; at most "
            f"{MOST_PENDING // s.robot.n} at steps of {s.step:g} s.", field="actuator.delay",
        )  # fmt: skip
    noisy = s.noise.position > 0.0 or s.noise.velocity > 0.0
    loop = _loop(s, plant, dimension, noisy, delay)
    if reference is None:
        table = ReferenceTable.of(None, dimension)
    elif isinstance(reference, tuple):
        table = ReferenceTable(*reference)
    else:
        table = ReferenceTable.of(reference, dimension)
    q, qd = initial_state(s)
    p = run_numbers(s, loop, plant, len(q))
    inputs = table.breaks, table.coefficients
    own = plant.layout.controller > 0 or any(d is not None for d in plant.drives)
    starts = [
        loop.traced(row, *inputs) if own else plant for row in p
    ]  # parts with a state start with their own numbers
    x0 = np.array([np.asarray(part.start(a, b), float) for part, a, b in zip(starts, q, qd)])
    return Run(s, plant, loop, table, x0, p)


def plant_of(s: Scenario) -> tuple[Plant, int, Any]:
    robot = s.robot
    if robot.parameters and not s.parameters:
        raise DescriptionError(
            f"Robot '{robot.name}' has free parameters ({', '.join(robot.parameters)}); "
            f"give them: parameters={{'{robot.parameters[0]}': 1.0}}.",
            field="parameters",
        )
    friction = tuple(j.friction for j in robot.joints) if s.friction is None else (s.friction or (None,) * robot.n)
    drives = tuple(j.drive for j in robot.joints) if s.drives is None else (s.drives or (None,) * robot.n)
    drives = tuple(geared(d, j, field=f"drives[{i}]") for i, (d, j) in enumerate(zip(drives, robot.joints)))
    model = s.model or robot
    if model.n != robot.n:
        raise DescriptionError(f"The controller's model has {model.n} joints, the robot {robot.n}.", field="model")
    kind = s.resolved_kind()
    controller = s.controller if kind == "dynamic" else None
    if kind == "dynamic" and controller is None:
        raise DescriptionError("A dynamic run needs a controller.", field="controller")
    reference, dimension = None, robot.n
    torques = None
    if kind == "playback":
        reference, torques = _torque_table(s), lambda t: t
    elif controller is not None:
        reference, dimension = _reference(s, controller)
        controller = _prepared(s, controller)
    states = 0 if controller is None else controller.states(robot.n)
    layout = Layout.of(robot.n, friction, drives, states)
    actuator = s.actuator
    if actuator.limit == "effort":
        efforts = [j.limits.effort for j in robot.joints]
        missing = [j.name for j, e in zip(robot.joints, efforts) if e is None]
        if missing:
            raise DescriptionError(f"No effort limit is stated for {', '.join(missing)}.", field="actuator.limit")
        actuator = replace(actuator, limit=tuple(float(e) for e in efforts))
    plant = Plant(robot, model, controller, lambda t: None, friction, drives, s.disturbances, actuator, layout, torques)  # pyright: ignore[reportArgumentType]
    return plant, dimension, reference


def _prepared(s: Scenario, controller: Controller) -> Controller:
    model = s.model or s.robot
    if not model.parameters:
        return controller.prepare(Arm(model))
    first = {name: float(np.ravel(np.asarray(value, float))[0]) for name, value in (s.parameters or {}).items()}
    return controller.prepare(Arm(model, prepare(model, first)))


def _reference(s: Scenario, controller: Any) -> tuple[Any, int]:
    space = controller.target_space if controller.name == "user" else controller.space
    dimension = 3 if space == "task" else s.robot.n
    reference = s.reference
    if space == "none" or (reference is None and getattr(controller, "goal", None) is not None):
        return None, dimension
    if reference is None:
        if controller.name == "user":
            return None, dimension
        raise DescriptionError(
            f"The controller '{controller.name}' follows a reference; none is given.", field="reference"
        )
    if reference.space != space:
        raise DescriptionError(
            f"The controller '{controller.name}' follows a {space} reference; this one is in {reference.space} space.",
            field="reference",
        )
    if space == "joint" and reference.dimension != s.robot.n:
        raise ShapeError(f"The reference has {reference.dimension} joints, robot '{s.robot.name}' has {s.robot.n}.")
    return reference, dimension


def _torque_table(s: Scenario) -> tuple[np.ndarray, np.ndarray]:
    """Linear interpolation between given torques as a table of degree 5 (padded)."""
    try:
        times, values = (np.asarray(v, float) for v in s.torques)
    except (TypeError, ValueError):
        raise DescriptionError("Torques are a pair (times (k,), values (k, n)).", field="torques") from None
    if times.ndim != 1 or values.shape != (len(times), s.robot.n) or len(times) < 2 or np.any(np.diff(times) <= 0):
        raise ShapeError(
            f"Torques need increasing times (k,) and values (k, {s.robot.n}); found {times.shape} and {values.shape}."
        )
    coefficients = np.zeros((len(times) - 1, s.robot.n, 6))
    coefficients[:, :, 0] = values[:-1]
    coefficients[:, :, 1] = np.diff(values, axis=0) / np.diff(times)[:, None]
    return times, coefficients


def _loop(s: Scenario, plant: Plant, dimension: int, noisy: bool, delay: int) -> Loop:
    """The loop for parts of this shape; one that holds somebody's code is made, and traced, for every run."""
    made = Loop(plant, dimension, s.integrator, noisy, delay)
    key = made.parts if is_untouched() else None
    found = None if key is None else _LOOPS.get(key)
    if found is not None:
        return found
    rehearse(s)  # a mistake is told in its own words, not in those of the compiler
    return made if key is None else _LOOPS.put(key, made)


def initial_state(s: Scenario) -> tuple[np.ndarray, np.ndarray]:
    """q and qd at the start, (N, n) each."""
    n, size = s.robot.n, s.batch
    q, qd = s.q0, s.qd0
    reference = cast(Any, s.reference)
    joint = getattr(reference, "space", None) == "joint"
    if q is None:
        if s.reference is not None and not joint and s.resolved_kind() in ("dynamic", "kinematic"):
            raise DescriptionError("A run with a task reference needs an initial posture.", field="q0")
        q = reference.position(0.0) if joint else np.zeros(n)
        if qd is None and joint:
            qd = reference.velocity(0.0)
    qd = np.zeros(n) if qd is None else qd
    q, qd = (np.broadcast_to(np.asarray(v, float), (size, n)).copy() for v in (q, qd))
    if s.start == "project" and reference is not None and not joint:
        from manipula.simulation.initial_posture import projected

        q = np.array([projected(s.robot, reference, row) for row in q])
    return q, qd


def run_numbers(s: Scenario, loop: Loop, plant: Plant, size: int) -> np.ndarray:
    """The parameter vectors, (N, k): the scenario's own numbers with ``vary`` and ``parameters`` laid over them."""
    own = np.array([v for _, v in flatten(template(plant))], float)
    p = np.zeros((size, max(1, len(own) + len(loop.names))))
    p[:, : len(own)] = own
    for path, value in (s.vary or {}).items():
        columns = [k for k, name in enumerate(loop.paths) if name == path or name.startswith((path + "[", path + "."))]
        if not columns:
            raise unknown_name("number of the run", path, loop.paths, field="vary")
        loop.check_varied(path)
        value = np.asarray(value, float)
        p[:, columns] = value[:, None] if value.ndim == 1 else value
    for k, name in enumerate(loop.names):
        if name not in (s.parameters or {}):
            raise unknown_name("parameter", name, s.parameters or {}, field="parameters")
        p[:, len(own) + k] = np.asarray(s.parameters[name], float)
    controller = plant.controller
    if controller is not None and type(controller).prepare is not Controller.prepare and (s.vary or s.parameters):
        for row in p:  # what is computed before a run (the gain of LQR) is computed with the numbers of that run
            parts = loop.traced(row, np.array([0.0, 1.0]), np.zeros((1, loop.dimension, 6)))
            ready = replace(parts, controller=parts.controller.prepare(parts.arm()))  # pyright: ignore[reportOptionalMemberAccess]
            row[: len(own)] = [v for _, v in flatten(template(ready))]
    return p
