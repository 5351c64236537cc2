"""Machine code of programmed motions: the loop over steps and the observer of samples."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.physics.constrained import Rows
from manipula.simulation.integrators import FIXED
from manipula.simulation.loop import within
from manipula.simulation.parameters import flatten, rebuild, shape_of
from manipula.simulation.program import Program

LARGEST = 1e8  # |q|, |qd| beyond which a motion has diverged
KEPT = 64
Part = Literal["loop", "observer", "rows", "second"]
_KERNELS: OrderedDict[Any, native.Kernel] = OrderedDict()


def numbers_of(program: Program) -> tuple[Any, ...]:
    """The parts whose numbers are inputs of the compiled loop."""
    return program.drives, program.friction, tuple(program.parameters.values()), float(program.gain)


def values_of(program: Program) -> list[float]:
    """Those numbers in the order of the vector ``p``."""
    return [v for _, v in flatten(numbers_of(program))] or [0.0]


def kernel(part: Part, program: Program, integrator: str) -> native.Kernel:
    """The loop or the observer of a program of this shape; other numbers use the same machine code."""
    key = kernel_key(part, program, integrator)
    try:
        if key in _KERNELS:
            _KERNELS.move_to_end(key)
            return _KERNELS[key]
    except TypeError:  # a function with state that cannot be hashed: compiled, not kept
        return _compiled(part, program, integrator)
    made = _compiled(part, program, integrator)
    keep(key, made)
    return made


def keep(key: tuple[Any, ...], made: native.Kernel) -> None:
    """Use ``made`` for programs with this key from now on."""
    _KERNELS[key] = made
    while len(_KERNELS) > KEPT:
        _KERNELS.popitem(last=False)


def kernel_key(part: Part, program: Program, integrator: str) -> tuple[Any, ...]:
    """What the machine code of a program depends on: its shape, not its numbers."""
    if part == "rows":  # neither friction nor drives have a say in what the program demands
        return part, program.robot, program.constraints, tuple(program.parameters)
    shape = (part, program.robot, program.constraints, shape_of(numbers_of(program)), tuple(program.parameters))
    return (*shape, program.formulation, program.independent, program.stabilisation, integrator)


def _compiled(part: Part, program: Program, integrator: str) -> native.Kernel:
    f, inputs, shared = function(part, program, integrator)
    name = f"{program.robot.name}.program_{part}"
    known = identity(part, program, integrator)
    if known is None:
        return native.compile_function(f, inputs, name=name, shared=shared)
    return native.compile_known(f, inputs, name, known, shared)


def identity(part: Part, program: Program, integrator: str) -> bytes | None:
    """The key as bytes that mean the same in every process, or None when the program holds Python functions."""
    constraints = [(c.formula, c.level, c.name) for c in program.constraints]
    if not all(isinstance(formula, str) for formula, _, _ in constraints):
        return None
    text = repr((part, program.robot.digest, constraints, *kernel_key(part, program, integrator)[3:]))
    return None if " at 0x" in text else text.encode()


def rows_at(program: Program, q: np.ndarray, qd: np.ndarray, t: float) -> Rows:
    """A, b and residuals of the program at a state."""
    values = np.array(list(program.parameters.values()) or [0.0], float)
    return Rows(*kernel("rows", program, "")(q, qd, values, t))


def _rows_function(program: Program) -> tuple[Any, dict[str, tuple[Any, ...]], tuple[str, ...]]:
    def rows(q: Any, qd: Any, p: Any, t: Any) -> dict[str, Any]:
        now = replace(program, parameters=dict(zip(program.parameters, p)))
        found = now.rows(now.chain(), q, qd, t)
        return {"A": found.A, "b": found.b, "value": found.value, "rate": found.rate}

    n = program.robot.n
    return rows, {"q": (n,), "qd": (n,), "p": (max(1, len(program.parameters)),), "t": ()}, ()


def function(part: Part, program: Program, integrator: str) -> tuple[Any, dict[str, tuple[Any, ...]], tuple[str, ...]]:
    """What is compiled: a function of traced arrays, the shapes of its inputs, and which of those a batch shares."""
    if part == "rows":
        return _rows_function(program)
    method, lay = FIXED[integrator], program.layout
    template = numbers_of(program)
    count = len(values_of(program))

    def traced(p: Any) -> Program:
        k = iter(range(count))
        drives, friction, values, gain = rebuild(template, lambda path, number: p[next(k)])
        return replace(
            program, drives=drives, friction=friction, parameters=dict(zip(program.parameters, values)), gain=gain
        )

    def loop(x: Any, p: Any, t0: Any, h: Any, smallest: Any, steps: Any, every: Any) -> Any:
        now = traced(p)

        def step(i: Any, state: Any, health: Any) -> Any:
            t = t0 + i * h
            inside = within(t, h)
            moved = method.step(lambda s, y: now.flow(inside(s), y).rate, t, state, h, lay.n)
            moved, rows = now.settled(t + h, moved)
            return moved, now.health(rows)

        def stop(i: Any, state: Any, health: Any) -> Any:
            size: Any = 0.0
            for value in state[: 2 * lay.n]:
                size = size + ops.abs(value)
            total = size
            for value in state[2 * lay.n :]:
                total = total + value
            return (health < smallest) | (size > LARGEST) | ~native.is_finite(total)

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
        return loop, {**shapes, "t0": (), "h": (), "smallest": (), "steps": (), "every": ()}, ("steps", "every")
    return observe, {**shapes, "t": ()}, ()
