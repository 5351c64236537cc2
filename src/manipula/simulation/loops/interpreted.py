"""Runs whose controller cannot be compiled: it is called from Python, everything around it is machine code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula.algebra.scattered import Scattered
from manipula.control.base import Target, checked_states, unwritable
from manipula.control.memory import resetter, snapshot
from manipula.errors import DescriptionError, ManipulaError
from manipula.identity import is_own
from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.plant import Plant
from manipula.simulation.plant.switch import acting_controller

if TYPE_CHECKING:
    from manipula.control.base import Controller

REMEMBERS = "it keeps a memory between calls"
TRACED_OTHERWISE = "compiled it gives other torques than in Python (does it catch exceptions, or look at types?)"
SAME = 1e-7  # of a torque and 1: rounding of one that divides by small differences
PROBES = 5  # states at which a controller is asked before the run
ALONG = 200  # samples of a run at which it is asked again afterwards
Probe = tuple[float, np.ndarray]


class ControllerCalls(NamedTuple):
    """How the controller of a run is called: in machine code, or in Python, there perhaps once a step; and the note that says so."""

    python: bool = False
    once_a_step: bool = False
    note: str = ""


COMPILED = ControllerCalls()


def keeps_a_memory(run: Run) -> bool:
    """Must the controller not be compiled although it could be, because it remembers something between calls?

    Raises:
        DescriptionError: when it remembers something and can neither be reset nor copied.
    """
    controller = run.plant.controller
    if controller is None or run.loop.parts is not None or is_own(controller):
        return False
    return remembers(run, _probes(run))


def remembers(run: Run, probes: list[Probe], member: int = 0) -> bool:
    """Do the torques, or what the controller holds, depend on having been asked before?

    It is asked at the same states forwards, forwards again and backwards, and a fresh one backwards: a controller without a memory
    gives the same torques each time and holds the same things after the second round (the first may fill caches).
    """
    given = run.plant.controller
    before = snapshot(given)
    plant, backwards = python_plant(run, member), probes[::-1]
    first = _asked(plant, probes)
    if first[0] is None:
        return False  # it fails by itself at the start; the run will say how
    held = snapshot(plant.controller)
    second, third = _asked(plant, probes), _asked(plant, backwards)
    changed = snapshot(plant.controller) != held
    fresh = _asked(python_plant(run, member), backwards)
    if not changed and _same(first, second) and _same(first, third[::-1]) and _same(first, fresh[::-1]):
        return False
    again = _asked(python_plant(run, member), probes)
    renew(run)
    if not _same(first, again) or (resetter(given) is None and snapshot(given) != before):
        raise DescriptionError(_cannot_begin_anew(given), field="controller")
    return True


def compiled_otherwise(run: Run) -> str:
    """Why a user's controller must not run compiled: traced, it is not the function that it is on numbers. Empty if it is.

    Code that catches exceptions or looks at types may take another way while it is traced, without anybody noticing.

    Raises:
        DescriptionError: when that is true of a friction law or a drive, which have no other way to run.
    """
    if run.own:
        return ""
    kernel, plant, p = run.loop.observe, python_plant(run, 0), run.p[0]
    for t, x in _probes(run):
        seen = dict(zip(kernel.graph.outputs, kernel(x, p, *run.inputs, t)))
        try:
            with np.errstate(all="ignore"):
                flow = plant.flow(float(t), x)
            wanted = {
                name: np.asarray(getattr(flow, name), float) for name in ("command", "friction", "tau", "external")
            }
        except (ManipulaError, TypeError, ValueError, ArithmeticError):
            continue  # it fails by itself there; the run will say how
        for name, field in (
            ("command", "controller"),
            ("friction", "friction"),
            ("tau", "drives"),
            ("external", "disturbances"),
        ):
            found, own = np.asarray(seen[name], float), wanted[name]
            off = np.abs(found - own) > SAME * (1.0 + np.abs(own))
            if np.any(off & np.isfinite(own)):
                if name == "command":
                    return TRACED_OTHERWISE
                joint = run.scenario.robot.joint_names[int(np.argmax(off))]
                raise DescriptionError(
                    f"At joint '{joint}' {TRACED_OTHERWISE}; write it with manipula.algebra.ops.", field=field
                )
    return ""


def remembered_along(run: Run, t: np.ndarray, x: np.ndarray) -> bool:
    """The same question, asked at the samples (N, S, size) of a run that took the controller for one without a memory."""
    controller = run.plant.controller
    if controller is None or is_own(controller):
        return False
    finite = np.isfinite(x[0]).all(axis=1)
    chosen = np.unique(np.linspace(0, int(finite.sum()) - 1, min(int(finite.sum()), ALONG)).astype(int))
    return remembers(run, [(float(t[i]), x[0, i]) for i in chosen])


def renew(run: Run) -> None:
    """Leave the controller as it was before anybody asked it, where it can be reset."""
    reset = resetter(run.plant.controller)
    if reset is not None:
        reset()


def _cannot_begin_anew(controller: Controller | None) -> str:
    if resetter(controller) is not None:
        return "The controller keeps a memory, and after its reset() it gives other torques than before: every run would begin differently."
    return (
        "The controller keeps a memory (or draws from something) that cannot be copied, such as a global variable, a class "
        "attribute or a generator, so that a second run would not begin like the first. Give it a method reset() that "
        "brings it back to its start, or keep the memory in an object of its own."
    )


def _probes(run: Run) -> list[Probe]:
    """The initial state, and states around it at other times."""
    s, n, x0 = run.scenario, run.plant.layout.n, run.x0[0]
    T = float(s.duration or 0.0)
    rng = Scattered(0)
    times = [0.0, min(s.step, T), *np.linspace(0.0, T, PROBES - 1)[1:]]
    states = [x0]
    for size in (1e-3, 0.1, 0.3, 0.3):
        x = x0.copy()
        x[:n] += size * rng.uniform(-1.0, 1.0, n)
        x[n : 2 * n] += 3.0 * size * rng.uniform(-1.0, 1.0, n)
        states.append(x)
    return list(zip(times, states))


def _asked(plant: Plant, probes: list[Probe]) -> list[np.ndarray | None]:
    """Torques at the probes; None where the controller fails."""
    out: list[np.ndarray | None] = []
    for t, x in probes:
        own = x.copy()
        try:
            out.append(np.array(plant.command(t, own, plant.layout.q(own), plant.layout.qd(own)), float))
        except (
            Exception
        ):  # a user's function at a state that it may never see; what matters is reported by the run itself
            out.append(None)
    return out


def _same(a: list[np.ndarray | None], b: list[np.ndarray | None]) -> bool:
    pairs = list(zip(a, b))
    if any((x is None) != (y is None) for x, y in pairs):
        return False
    return all(np.array_equal(x, y, equal_nan=True) for x, y in pairs if x is not None and y is not None)


def python_plant(run: Run, member: int) -> Plant:
    """The plant of one run with its own numbers, as plain floats."""
    plant = run.loop.traced([float(v) for v in run.p[member]], *run.inputs)
    if run.plant.torques is None and not np.any(run.inputs[1]):  # no reference, or one that rests at zero
        nothing = unwritable(np.zeros(run.loop.dimension))
        plant = replace(plant, reference=lambda t: Target(nothing, nothing, nothing))
    return replace(plant, prepared=plant.arm())


def python_rate(run: Run, member: int) -> tuple[Plant, Callable[..., np.ndarray]]:
    """The plant of one run and ``rate(t, x[, noise, command])`` with the controller in Python and the rest compiled."""
    plant = python_plant(run, member)
    lay, p = plant.layout, run.p[member]
    start = 2 * lay.n + sum(lay.friction) + sum(lay.drives)

    def rate(t: Any, x: Any, noise: Any = None, command: Any = None) -> np.ndarray:
        x = np.asarray(x, float)
        now = np.zeros(2 * lay.n) if noise is None else noise
        seen_q, seen_qd = lay.q(x) + now[: lay.n], lay.qd(x) + now[lay.n :]
        u = plant.command(t, x, seen_q, seen_qd) if command is None else command
        out = np.array(run.loop.rate_given(x, p, *run.inputs, t, np.asarray(u, float)))
        if plant.controller is not None and lay.controller and not run.loop.discrete:
            target, own = plant.target(t, x), lay.controller_states(x)
            controller: Any = acting_controller(plant, t, x)
            arm = plant.seen_by(controller, t, x, seen_q, seen_qd)
            own = controller.state_rate(arm, t, seen_q, seen_qd, target, own)
            out[start : start + lay.controller] = checked_states(own, lay.controller, plant.controller, "state_rate")
        return out

    return plant, rate


def step_under_command(run: Run, member: int) -> Callable[..., np.ndarray] | None:
    """``hold(t, x, command, h)`` in machine code for a sampled run; None when states of the controller move in between."""
    if not run.loop.sampled or (run.plant.layout.controller and not run.loop.discrete):
        return None
    kernel, p = run.loop.hold, run.p[member]
    return lambda t, x, command, h: np.asarray(kernel(x, p, *run.inputs, t, np.asarray(command, float), h))


def python_commands(run: Run, t: np.ndarray, x: np.ndarray, first: int = 0) -> np.ndarray:
    """What the controller commands at samples x (N, S, size) of the runs number ``first`` …, (N, S, n)."""
    out = np.full((*x.shape[:2], run.plant.layout.n), np.nan)
    for k, row in enumerate(x):
        plant = python_plant(run, first + k)
        for i, state in enumerate(row):
            if np.isfinite(state).all():
                out[k, i] = plant.command(float(t[i]), state, plant.layout.q(state), plant.layout.qd(state))
    return out
