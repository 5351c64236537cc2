"""From a Scenario to a plant, a compiled loop and the numbers that go into it."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

import numpy as np

from manipula.algebra.symbols import evaluate
from manipula.bounded_cache import BoundedCache
from manipula.control.base import Controller
from manipula.errors import BudgetError, DescriptionError, unknown_name
from manipula.identity import KeptAnswers, is_own, is_untouched
from manipula.lazy import cached_property
from manipula.simulation.carried_points import Carrying, carrying
from manipula.simulation.checks.rehearsal import check_memories, rehearse
from manipula.simulation.checks.varied import check_runs, check_together
from manipula.simulation.integrators import ADAPTIVE, FIXED
from manipula.simulation.loops.loop import CompiledLoop, ReferenceTable
from manipula.simulation.plant.events import state_after_event
from manipula.simulation.plant.free_parameters import runs_of, symbolic_fields
from manipula.simulation.plant.numbers import HEADS, columns_of, paths_of, template, varied
from manipula.simulation.plant.parameters import Unkeyed, numbers_in, plain_structure
from manipula.simulation.plant.plant import Plant
from manipula.simulation.plant.sticking import sticky
from manipula.simulation.plant_of_scenario import initial_state, plant_of
from manipula.simulation.scenario import Scenario
from manipula.simulation.stepping.grid import periods

_LOOPS: BoundedCache[CompiledLoop] = BoundedCache(32)  # runs of one shape share machine code
# the same loops by robot and plain structure of the parts
_OF_ROBOT: KeptAnswers[BoundedCache[CompiledLoop]] = KeptAnswers(16)
MOST_PENDING = 4096  # numbers


@dataclass
class Run:
    """Everything a run needs: the loop, the reference's table, initial states (N, size) and parameters (N, k).

    Attributes:
        noise_seeds: of every run its own, as if it were alone with it; empty: one seed for all of them.
    """

    scenario: Scenario
    plant: Plant
    loop: CompiledLoop
    table: ReferenceTable
    x0: np.ndarray
    p: np.ndarray
    noise_seeds: tuple[int, ...] = ()
    grids: dict[float | None, Any] = field(default_factory=dict, init=False)  # by the step; see ``fixed.grid_of``

    @cached_property
    def own(self) -> bool:
        """Are controller, friction, drives, disturbances and contacts made of nothing but this package's own parts?"""
        plant = self.plant
        return is_own(plant.controller, plant.friction, plant.drives, plant.disturbances, plant.contacts)

    @property
    def inputs(self) -> tuple[Any, ...]:
        return self.table.breaks, self.table.coefficients


def prepare_run(s: Scenario, start: tuple[np.ndarray, np.ndarray] | None = None) -> Run:
    """Check that the parts fit together and build the loop (or find it among the last ones); ``start``: q and qd, where known."""
    plant, dimension, reference = plant_of(s)
    check_memories(plant)
    # played torques are late in their table
    delay = periods(s.actuator.delay, s.period) if plant.torques is None else 0
    if delay * s.robot.n > MOST_PENDING:
        raise BudgetError(
            f"A delay of {s.actuator.delay:g} s keeps {delay} commands of {s.robot.n} joints on their way; at most "
            f"{MOST_PENDING // s.robot.n} at periods of {s.period:g} s.", field="actuator.delay",
        )  # fmt: skip
    noisy = s.noise.position > 0.0 or s.noise.velocity > 0.0
    loop, plain = _loop(s, plant, dimension, s.integrator, noisy, delay, False, s.control_period is not None)
    if reference is None:
        table = ReferenceTable.of(None, dimension)
    elif isinstance(reference, tuple):
        table = ReferenceTable(*reference)
    else:
        table = ReferenceTable.of(reference, dimension)
    q, qd = initial_state(s) if start is None else start
    p = run_numbers(s, loop, plant, len(q))
    inputs = table.breaks, table.coefficients
    if plant.layout.controller or any(d is not None for d in plant.drives):  # they start with their own numbers
        starts = [loop.traced(row, *inputs).start(a, b) for row, a, b in zip(p, q, qd)]
        x0 = np.array([np.asarray(x, float) for x in starts])
    else:
        n = plant.layout.n
        x0 = np.tile(np.asarray(plant.start(q[0], qd[0]), float), (len(q), 1))
        x0[:, :n], x0[:, n : 2 * n] = q, qd
    if sticky(plant.friction):
        for i in sticky(plant.friction):
            x0[:, plant.layout.friction_start(i)] = np.sign(qd[:, i])
        x0 = np.array(
            [np.asarray(state_after_event(loop.traced(row, *inputs), 0.0, x), float) for row, x in zip(p, x0)]
        )
    for numbers in (x0, p):
        numbers.flags.writeable = False  # one run may be asked for several times
    run = Run(s, plant, loop, table, x0, p)
    if plain:
        run.__dict__["own"] = True
    return run


def carrying_in(run: Run, k: int) -> Carrying | None:
    """What carries points in run k of a batch: its base and its tools, with the numbers of this run."""
    return carrying_with(run.scenario, run.loop, run.p[k])


def carrying_with(s: Scenario, loop: CompiledLoop, p: np.ndarray) -> Carrying | None:
    """The same from the numbers of a run, (k,)."""
    if s.base_motion is None and not any(getattr(d, "tool", None) is not None for d in s.disturbances):
        return None
    plant = loop.traced(p, np.array([0.0, 1.0]), np.zeros((1, loop.dimension, 6)))
    base = plant.base_motion
    if base is not None and s.base_motion is not None:
        base = replace(base, motion=s.base_motion.motion)  # itself, not a table of it
    return carrying(base, plant.disturbances)


def _loop(s: Scenario, plant: Plant, *options: Any) -> tuple[CompiledLoop, bool]:
    """The loop for parts of this shape; one that holds user code is made, and traced, for every run.

    And whether it was found by the plain structure of its parts, which are this package's own then.

    Args:
        options: of a CompiledLoop, behind its plant.
    """
    known = _OF_ROBOT.get(plant.robot)
    short = _plain_key(s, plant, options)
    found = None if known is None or short is None else known.get(short)
    if found is not None:
        return found, True
    made = CompiledLoop(plant, *options)
    key = made.parts if is_untouched() else None
    found = None if key is None else _LOOPS.get(key)
    if found is None:
        rehearse(s)  # a mistake is reported in its own words, not in those of the compiler
        if key is None:
            return made, False
        found = _LOOPS.put(key, made)
    if short is not None:
        if known is None:
            _OF_ROBOT.put(plant.robot, known := BoundedCache(8))
        known.put(short, found)
    return found, False


def _plain_key(s: Scenario, plant: Plant, options: tuple[Any, ...]) -> Any:
    """What decides the loop of a run beside its robot, where that is plain: no model of the controller, no played torques, no free parameters."""
    if plant.robot.parameters or any(getattr(plant, name) is not usual for name, usual in _SELDOM):
        return None
    method = FIXED.get(s.integrator) or ADAPTIVE.get(s.integrator)
    try:
        parts = plain_structure(template(plant))
    except Unkeyed:
        return None
    if type(method).__hash__ is not object.__hash__:
        return None
    return parts, plant.layout, method, options


_SELDOM = [  # what else a plant holds, and what it is as a rule
    (f.name, None if f.default is MISSING else f.default)
    for f in fields(Plant)
    if f.name not in (*HEADS, "robot", "layout", "reference")
]


def run_numbers(s: Scenario, loop: CompiledLoop, plant: Plant, size: int) -> np.ndarray:
    """The parameter vectors, (N, k): the scenario's own numbers with ``vary`` and ``parameters`` laid over them."""
    own = np.array(numbers_in(template(plant)), float)
    p = np.zeros((size, max(1, len(own) + len(loop.names))))
    p[:, : len(own)] = own
    for head, given, of_robot in (("friction", s.friction, "friction"), ("drives", s.drives, "drive")):
        parts = tuple(getattr(j, of_robot) for j in s.robot.joints) if given is None else given
        for path, expression in symbolic_fields(parts, head):
            numbers = [float(evaluate(expression, row)) for row in runs_of(s.parameters)]
            p[:, columns_of(plant, path)] = np.array(numbers)[:, None]
    for path, value in (s.vary or {}).items():
        columns, values = varied(plant, path, value)
        p[:, columns] = values
    for k, name in enumerate(loop.names):
        if name not in (s.parameters or {}):
            raise unknown_name("parameter", name, s.parameters or {}, field="parameters")
        p[:, len(own) + k] = np.asarray(s.parameters[name], float)
    if s.vary:
        paths = paths_of(plant)
        check_together(dict(zip(HEADS, template(plant))), tuple(s.vary), paths, p)
        check_runs(s, paths, p)
    controller = plant.controller
    if controller is not None and type(controller).prepare is not Controller.prepare and (s.vary or s.parameters):
        _check_computed(s, loop, plant, own, p)
        for row in p:  # what is computed before a run (the gain of LQR) is computed with the numbers of that run
            row[: len(own)] = _made_ready(loop, row)
    return p


def _made_ready(loop: CompiledLoop, row: np.ndarray) -> list[float]:
    """The numbers of the parts after the controller was prepared with those of one run."""
    parts = loop.traced(row, np.array([0.0, 1.0]), np.zeros((1, loop.dimension, 6)))
    arm = parts.arm()
    switches = tuple(
        s if s.controller is None else replace(s, controller=s.controller.prepare(arm)) for s in parts.switches
    )
    ready = replace(parts, controller=parts.controller.prepare(arm), switches=switches)  # pyright: ignore[reportOptionalMemberAccess]
    return numbers_in(template(ready))


def _check_computed(s: Scenario, loop: CompiledLoop, plant: Plant, own: np.ndarray, p: np.ndarray) -> None:
    """Is a varied number of the controller one that it computes itself, so that it would never act?

    Raises:
        DescriptionError: with its path.
    """
    for path in s.vary or {}:
        columns = columns_of(plant, path)
        others = np.flatnonzero((p[:, columns] != own[columns]).any(axis=1))
        if not path.startswith("controller") or not len(others):
            continue
        row = p[others[0]].copy()
        row[columns] = own[columns]
        usual, asked = (np.array(_made_ready(loop, numbers))[columns] for numbers in (row, p[others[0]]))
        if np.array_equal(usual, asked):
            raise DescriptionError(
                f"'{path}' is computed from other numbers of the controller before every run, so a value given for it would never act; "
                "vary those, or give it itself.",
                field=f"vary.{path}",
            )
