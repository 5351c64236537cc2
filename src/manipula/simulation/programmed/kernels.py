"""Machine code of programmed motions: the loop over steps and the observer of samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.errors import DescriptionError, ManipulaError
from manipula.identity import identity
from manipula.physics.constrained import ConstraintRows
from manipula.simulation.integrators import FIXED
from manipula.simulation.plant.parameters import flatten, rebuild, shape_of
from manipula.simulation.programmed.equations import ProgrammedPlant
from manipula.simulation.stepping.grid import diverged, stage_times

Part = Literal["loop", "observer", "rows", "second"]


def names_of(plant: ProgrammedPlant) -> tuple[str, ...]:
    """The parameters in the order in which machine code takes them, however they were given."""
    return tuple(sorted(plant.parameters))


def numbers_of(plant: ProgrammedPlant) -> tuple[Any, ...]:
    """The parts whose numbers are inputs of the compiled loop."""
    values = tuple(plant.parameters[name] for name in names_of(plant))
    return plant.drives, plant.friction, values, float(plant.gain)


def values_of(plant: ProgrammedPlant) -> list[float]:
    """Those numbers in the order of the vector ``p``."""
    return [v for _, v in flatten(numbers_of(plant))] or [0.0]


def kernel(part: Part, plant: ProgrammedPlant, integrator: str) -> native.Kernel:
    """The loop or the observer of a programmed motion of this shape; other numbers use the same machine code.

    One that holds user code is traced once in every run.
    """
    options = part, plant.formulation, plant.independent, plant.stabilisation, integrator
    # kept below, so that their ids stay theirs
    parts = (plant.robot, plant.constraints, plant.drives, plant.friction)
    key = (*options, *map(id, parts), names_of(plant))
    found, _ = plant.traced.get(key, (None, None))
    if found is None:
        f, inputs, shared = function(part, plant, integrator)
        name, made_of = f"{plant.robot.name}.programmed_{part}", parts_of(part, plant, integrator)
        try:
            found = native.kernel_of(f, inputs, name, made_of, shared)
        except (IndexError, AttributeError, RuntimeError) as error:  # of numbers that belong to another call
            if made_of is not None or isinstance(error, ManipulaError):
                raise
            raise DescriptionError(
                f"A function given for this programmed motion cannot be compiled ({type(error).__name__}: {error}): does it keep "
                "numbers of an earlier call? It may use what it is called with, and nothing else.",
                field="constraints",
            ) from error
        plant.traced[key] = found, parts
    return found


def parts_of(part: Part, plant: ProgrammedPlant, integrator: str) -> bytes | None:
    """What the machine code of a programmed motion is made from, besides its numbers; None: also from user code."""
    demands = part, plant.robot.bare, plant.constraints, names_of(plant)
    if part == "rows":  # neither friction nor drives have a say in what the constraints demand
        return identity(*demands)
    options = plant.formulation, plant.independent, plant.stabilisation
    return identity(*demands, shape_of(numbers_of(plant)), *options, FIXED[integrator])


def rows_at(plant: ProgrammedPlant, q: np.ndarray, qd: np.ndarray, t: Any) -> ConstraintRows:
    """A, b and residuals of the constraints at a state, or at several."""
    values = np.array([plant.parameters[name] for name in names_of(plant)] or [0.0], float)
    return ConstraintRows(*kernel("rows", plant, "")(q, qd, values, t))


def _rows_function(plant: ProgrammedPlant) -> tuple[Any, dict[str, tuple[Any, ...]], tuple[str, ...]]:
    def rows(q: Any, qd: Any, p: Any, t: Any) -> dict[str, Any]:
        now = replace(plant, parameters=dict(zip(names_of(plant), p)))
        found = now.rows(now.mechanism(), q, qd, t)
        return {"A": found.A, "b": found.b, "value": found.value, "rate": found.rate}

    n = plant.robot.n
    return rows, {"q": (n,), "qd": (n,), "p": (max(1, len(plant.parameters)),), "t": ()}, ()


def function(
    part: Part, plant: ProgrammedPlant, integrator: str
) -> tuple[Any, dict[str, tuple[Any, ...]], tuple[str, ...]]:
    """What is compiled: a function of traced arrays, the shapes of its inputs, and which of those a batch shares."""
    if part == "rows":
        return _rows_function(plant)
    method, lay = FIXED[integrator], plant.layout
    template = numbers_of(plant)
    count = len(values_of(plant))

    def traced(p: Any) -> ProgrammedPlant:
        k = iter(range(count))
        drives, friction, values, gain = rebuild(template, lambda path, number: p[next(k)])
        return replace(
            plant, drives=drives, friction=friction, parameters=dict(zip(names_of(plant), values)), gain=gain
        )

    def loop(x: Any, p: Any, t0: Any, first: Any, h: Any, ratio: Any, smallest: Any, steps: Any, every: Any) -> Any:
        """Steps number ``first`` … of a stretch that begins at t0; with ratio < 1 every step h is taken in two unequal parts."""
        now = traced(p)

        def step(i: Any, state: Any, health: Any) -> Any:
            number, divided = first + i, ratio < 1.0
            whole = ops.floor(0.5 * number)
            second = number - 2.0 * whole > 0.5
            t = t0 + ops.where(divided, whole * h + ops.where(second, ratio * h, 0.0), number * h)
            part = ops.where(divided, ops.where(second, (1.0 - ratio) * h, ratio * h), h)
            inside = stage_times(t, part)
            moved = method.step(lambda s, y: now.flow(inside(s), y).rate, t, state, part, lay.n)
            moved, rows = now.settled(t + part, moved)
            return moved, now.health(rows)

        def stop(i: Any, state: Any, health: Any) -> Any:
            return (health < smallest) | diverged(state, lay.n)

        done = native.repeat(step, (x, 1e300), steps, record=lambda i, state, _: state, every=every, stop=stop)
        return {"samples": done.samples, "last": done.state[0], "stopped": done.stopped}

    def observe(x: Any, p: Any, t: Any) -> dict[str, Any]:
        now = traced(p)
        flow = now.flow(t, x)
        kinetic, potential = now.energies(t, x)
        q, qd = lay.q(x), lay.qd(x)
        required = flow.applied + flow.reaction
        return {
            "qdd": flow.qdd, "applied": flow.applied, "friction": flow.friction, "loads": flow.loads, "reaction": flow.reaction,
            "tau": required, "multipliers": flow.mu, "residual": flow.rows.value, "residual_rate": flow.rows.rate,
            "pose": now.tip(q), "kinetic": kinetic, "potential": potential, "power": required * qd,
        }  # fmt: skip

    def second(x: Any, p: Any, t: Any) -> dict[str, Any]:
        """First and second derivative of the state in time, along its own flow."""
        rate = traced(p).flow(t, x).rate
        return {"rate": rate, "second": array(native.time_derivative(rate, {t: 1.0, **dict(zip(x, rate))}))}

    shapes: dict[str, tuple[Any, ...]] = {"x": (lay.size,), "p": (count,)}
    if part == "second":
        return second, {**shapes, "t": ()}, ()
    if part == "loop":
        numbers = dict.fromkeys(("t0", "first", "h", "ratio", "smallest", "steps", "every"), ())
        return loop, {**shapes, **numbers}, ("steps", "every")
    return observe, {**shapes, "t": ()}, ()
