"""Compiled loops of programmed motions, the change of independent coordinates, and the verdict on a run."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.errors import DescriptionError
from manipula.physics.programmed import choose_independent
from manipula.simulation import judge
from manipula.simulation.integrators import FIXED
from manipula.simulation.parameters import flatten, rebuild, shape_of
from manipula.simulation.program import Program
from manipula.simulation.progress import phase
from manipula.simulation.provenance import program_settings, robot_text
from manipula.simulation.result import Result
from manipula.simulation.simulate import versions

CONSISTENT = 1e-9  # residual of the program below which an initial state counts as obeying it
SMALL_PIVOT = 1e-2  # of A_d, against the size of A, below which the coordinates are split anew
DEPENDENT = 1e-10  # singular values of A below this fraction of the largest make constraints redundant
LARGEST = 1e8
RESIDUAL = 1e-6  # of the program, above which a run counts as having left it
MAX_SPLITS = 1000

Part = Literal["loop", "observer"]
_KERNELS: OrderedDict[Any, native.Kernel] = OrderedDict()
_KEPT = 64


def numbers_of(program: Program) -> tuple[Any, ...]:
    """The parts whose numbers are inputs of the compiled loop."""
    return program.drives, program.friction, tuple(program.parameters.values()), float(program.gain)


def kernel(part: Part, program: Program, integrator: str) -> native.Kernel:
    """The loop or the observer of a program of this shape; other numbers use the same machine code."""
    key = kernel_key(part, program, integrator)
    try:
        if key in _KERNELS:
            _KERNELS.move_to_end(key)
            return _KERNELS[key]
        _KERNELS[key] = made = _compiled(part, program, integrator)
        while len(_KERNELS) > _KEPT:
            _KERNELS.popitem(last=False)
        return made
    except TypeError:  # a function with state that cannot be hashed: compiled, not kept
        return _compiled(part, program, integrator)


def kernel_key(part: Part, program: Program, integrator: str) -> tuple[Any, ...]:
    """What the machine code of a program depends on: its shape, not its numbers."""
    shape = (part, program.robot, program.constraints, shape_of(numbers_of(program)), tuple(program.parameters))
    return (*shape, program.formulation, program.independent, program.stabilisation, integrator)


def _compiled(part: Part, program: Program, integrator: str) -> native.Kernel:
    """A kernel that stored code may stand for (see ``code_store``), or one that is traced now."""
    name = f"{program.robot.name}.program" if part == "loop" else f"{program.robot.name}.program_observer"
    f, inputs, shared = _function(part, program, integrator)
    return native.compile_function(f, inputs, name=name, shared=shared)


def _function(part: Part, program: Program, integrator: str) -> tuple[Any, dict[str, tuple[Any, ...]], tuple[str, ...]]:
    """What is compiled: a function of traced arrays, the shapes of its inputs, and which of those a batch shares."""
    method, lay = FIXED[integrator], program.layout
    template = numbers_of(program)
    count = max(1, len(flatten(template)))

    def traced(p: Any) -> Program:
        k = iter(range(count))
        drives, friction, values, gain = rebuild(template, lambda path, number: p[next(k)])
        return replace(
            program, drives=drives, friction=friction, parameters=dict(zip(program.parameters, values)), gain=gain
        )

    def loop(x: Any, p: Any, t0: Any, h: Any, smallest: Any, steps: Any, every: Any) -> Any:
        now = traced(p)

        def step(i: Any, state: Any, pivot: Any) -> Any:
            t = t0 + i * h
            first = now.flow(t, state)
            moved = method.step(lambda s, y: first.rate if s is t else now.flow(s, y).rate, t, state, h, lay.n)
            if now.stabilisation == "projection":
                moved = now.projected(t + h, moved)
            return moved, first.pivot + 0.0 * h

        def stop(i: Any, state: Any, pivot: Any) -> Any:
            bad = pivot < smallest
            total = state[0]
            for value in state[1:]:
                total = total + value
            for value in state[: 2 * lay.n]:
                bad = bad | (ops.abs(value) > LARGEST)
            return bad | ~native.is_finite(total)

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

    shapes: dict[str, tuple[Any, ...]] = {"x": (lay.size,), "p": (count,)}
    if part == "loop":
        return loop, {**shapes, "t0": (), "h": (), "smallest": (), "steps": (), "every": ()}, ("steps", "every")
    return observe, {**shapes, "t": ()}, ()


def run_program(program: Program, independent: tuple[int, ...] | None, q: np.ndarray, qd: np.ndarray, duration: float, h: float,
                start: str, sample: float | None, integrator: str, tolerance: float, verify: bool) -> Result:  # fmt: skip
    """Check the start, integrate (splitting the coordinates anew where needed), and judge."""
    x = consistent_start(program, q, qd, start)
    steps = max(1, round(duration / h))
    every = 1 if sample is None else max(1, round(sample / h))
    h = duration / steps
    t, samples, ending, splits = integrate(program, independent, x, h, steps, every, integrator)
    estimate = float("nan")
    if verify and ending is None:
        _, fine, ended, _ = integrate(program, independent, x, h / 2, 2 * steps, 2 * every, integrator)
        n = program.robot.n
        estimate = (
            judge.compare(samples[:, : 2 * n], fine[:, : 2 * n], FIXED[integrator].order)
            if ended is None
            else float("inf")
        )
    return _result(program, t, samples, ending, splits, estimate, tolerance, h, integrator)


def consistent_start(program: Program, q: np.ndarray, qd: np.ndarray, start: str) -> np.ndarray:
    """The initial state on the program, or an error that names what is wrong with it."""
    x = np.asarray(program.start(q, qd), float)
    chain = program.chain()
    lay = program.layout

    def residual(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = program.rows(chain, lay.q(x), lay.qd(x), 0.0)
        return np.asarray(rows.value, float), np.asarray(rows.rate, float)

    value, rate = residual(x)
    off = np.maximum(np.abs(value), np.abs(rate))
    if off.max() > CONSISTENT:
        worst = int(np.argmax(off))
        said = f"The initial state breaks '{program.constraints[worst].name}' by {off[worst]:.3g}"
        if start == "refuse":
            raise DescriptionError(f"{said}; start='project' moves it onto the program.", field="q0")
        for _ in range(60):
            x = np.asarray(program.projected(0.0, x), float)
            value, rate = residual(x)
            off = np.maximum(np.abs(value), np.abs(rate))
            if not np.isfinite(x).all() or off.max() < 1e-14:
                break
        if not np.isfinite(x).all() or off.max() > CONSISTENT:
            worst = int(np.nanargmax(off)) if np.isfinite(off).any() else 0
            raise DescriptionError(
                f"{said}, and no nearby posture obeys the program: '{program.constraints[worst].name}' may be out of reach.",
                field="q0",
            )
    rows = program.rows(chain, lay.q(x), lay.qd(x), 0.0)
    check_independent(program, np.asarray(rows.A, float), np.asarray(rows.b, float))
    return x


def check_independent(program: Program, A: np.ndarray, b: np.ndarray) -> None:
    """Redundant or contradictory constraints are named."""
    scale = np.abs(A).max(axis=1, initial=0.0)
    for k, size in enumerate(scale):
        if size < 1e-12:
            raise DescriptionError(
                f"'{program.constraints[k].name}' does not restrict the joints at the start (its gradient is zero).",
                field="constraints",
            )
    unit = A / scale[:, None]
    U, sigma, _ = np.linalg.svd(unit, full_matrices=True)
    if len(sigma) and sigma[-1] < DEPENDENT * sigma[0]:
        weight = np.abs(U[:, -1])
        involved = [program.constraints[k].name for k in np.flatnonzero(weight > 0.1 * weight.max())]
        contradiction = abs(float(U[:, -1] @ (b / scale)))
        kind = "contradict each other" if contradiction > 1e-6 * (1.0 + np.abs(b / scale).max()) else "say the same"
        raise DescriptionError(
            f"The constraints {', '.join(repr(n) for n in involved)} {kind} at the start.", field="constraints"
        )


def integrate(program: Program, independent: tuple[int, ...] | None, x: np.ndarray, h: float, steps: int, every: int,
              integrator: str) -> tuple[np.ndarray, np.ndarray, float | None, int]:  # fmt: skip
    """Samples (S, size); the time of an early end or None; how often the coordinates were split anew."""
    lay = program.layout
    out = np.full((steps // every + 1, lay.size), np.nan)
    done, splits = 0, 0
    chain = program.chain()
    while True:
        A = np.asarray(program.rows(chain, lay.q(x), lay.qd(x), done * h).A, float)
        split = independent if independent is not None else choose_independent(A)
        now = replace(program, independent=split if program.formulation == "gpme" else ())
        smallest = SMALL_PIVOT * np.abs(A).max() if program.formulation == "gpme" and independent is None else 1e-12
        phase("compiling")
        run = kernel("loop", now, integrator)
        phase("integrating")
        p = np.array([v for _, v in flatten(numbers_of(now))] or [0.0])
        align = done % every  # samples stay on the common grid: record from the next grid point on
        lead = (every - align) % every
        if lead:
            block, x, stopped = run(x, p, done * h, h, smallest, min(lead, steps - done), 1)
            if stopped < 0:
                done += min(lead, steps - done)
                continue_from = done
            else:
                continue_from = None
        else:
            block, x, stopped = run(x, p, done * h, h, smallest, steps - done, every)
            rows = np.asarray(block)
            count = len(rows) if stopped < 0 else int(stopped) // every + 1
            out[done // every : done // every + count] = rows[:count]
            continue_from = None if stopped >= 0 else steps
        if continue_from is not None:
            done = continue_from
            if done >= steps:
                if steps % every == 0:
                    out[-1] = x
                return np.arange(len(out)) * every * h, out, None, splits
            continue
        at = done + int(stopped)
        healthy = np.isfinite(x).all() and np.abs(x[: 2 * lay.n]).max() <= LARGEST
        if (
            not healthy
            or independent is not None
            or program.formulation != "gpme"
            or (int(stopped) <= 1 and splits)
            or splits >= MAX_SPLITS
        ):
            return np.arange(len(out)) * every * h, out, at * h, splits
        done, splits = at, splits + 1


def _result(program: Program, t: np.ndarray, x: np.ndarray, ending: float | None, splits: int, estimate: float, tolerance: float,
            h: float, integrator: str) -> Result:  # fmt: skip
    lay = program.layout
    now = program
    if program.formulation == "gpme":  # multipliers need no partition: the observer is the same for every split
        now = replace(program, formulation="multipliers", independent=())
    phase("evaluating")
    look = kernel("observer", now, integrator)
    p = np.array([v for _, v in flatten(numbers_of(now))] or [0.0])
    seen = dict(zip(look.graph.outputs, look(x, p, t)))
    arrays = {"q": lay.q(x).copy(), "qd": lay.qd(x).copy(), **seen}
    arrays["tip"] = seen["pose"][..., :3, 3]
    arrays["energy"] = seen["kinetic"] + seen["potential"]
    audit = lay.audit(x)
    arrays["work_drives"], arrays["work_friction"], arrays["work_program"] = audit
    arrays["audit"] = audit.drives - audit.friction + audit.outside - (arrays["energy"] - arrays["energy"][0])
    if sum(lay.friction):
        arrays["bristles"] = x[:, 2 * lay.n : 2 * lay.n + sum(lay.friction)].copy()
    status, reason = _verdict(program, t, arrays, ending, estimate, tolerance)
    meta = {
        "robot": program.robot.name, "robot_digest": program.robot.digest, "joint_names": program.robot.joint_names,
        "joint_kinds": tuple(j.kind for j in program.robot.joints), "kind": "programmed", "formulation": program.formulation,
        "constraints": tuple(c.name for c in program.constraints), "splits": splits, "stabilisation": program.stabilisation, "step": h,
        "duration": float(t[-1]), "integrator": integrator, "versions": versions(), "name": "programmed motion",
        "robot_toml": robot_text(program.robot), "settings": program_settings(program),
    }  # fmt: skip
    notes = (f"The independent coordinates were chosen anew {splits} times.",) if splits else ()
    return Result(t, arrays, status, reason, (status,), (reason,), estimate, meta, notes, None)


def _verdict(program: Program, t: np.ndarray, arrays: dict[str, np.ndarray], ending: float | None, estimate: float,
             tolerance: float) -> tuple[str, str]:  # fmt: skip
    names = [c.name for c in program.constraints]
    value = np.abs(arrays["residual"])
    if ending is not None:
        known = np.flatnonzero(np.isfinite(arrays["q"]).all(axis=1))
        q, qd = arrays["q"][known[-1]], arrays["qd"][known[-1]]
        A = np.asarray(program.rows(program.chain(), q, qd, t[known[-1]]).A, float)
        U, sigma, _ = np.linalg.svd(A / np.abs(A).max(axis=1, keepdims=True))
        worst = names[int(np.argmax(np.abs(U[:, -1])))]
        if program.formulation == "gpme" and program.independent == () and sigma[-1] > 1e-3 * sigma[0]:
            return (
                "singular",
                f"The chosen independent joints become singular at t = {ending:.6g} s; leave independent open.",
            )
        return (
            "singular",
            f"The program cannot be continued at t = {ending:.6g} s: '{worst}' asks for a motion the arm cannot make there.",
        )
    if np.nanmax(value) > RESIDUAL:
        sample, k = np.unravel_index(int(np.nanargmax(value)), value.shape)
        return (
            "inaccurate",
            f"The motion leaves '{names[k]}' by {value[sample, k]:.1e} at t = {t[sample]:.6g} s; use stabilisation or a smaller step.",
        )
    if np.isfinite(estimate) and estimate > tolerance:
        return "inaccurate", f"Halving the step changed the answer by {estimate:.1e} (allowed {tolerance:.1e})."
    return "finished", f"{t[-1]:g} s on the program; largest residual {np.nanmax(value):.1e}."
