"""Compiled loops and observers of a run: everything that happens between the initial state and the samples."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, ldl, zeros
from manipula.algebra.rotation_vector import rotation_vector
from manipula.control.base import Controller, shown_by, target_of
from manipula.control.memory import renewed
from manipula.identity import identity, is_own
from manipula.lazy import cached_property
from manipula.physics import composite, kinematics
from manipula.redundancy.arm import Arm
from manipula.simulation.integrators import ADAPTIVE, FIXED
from manipula.simulation.loops.digital import DigitalControl
from manipula.simulation.loops.events import decide_contacts, following, in_parts, located
from manipula.simulation.plant.disturbances import IDEAL
from manipula.simulation.plant.encoder import PERFECT
from manipula.simulation.plant.events import contact_sides, nothing_touches
from manipula.simulation.plant.numbers import template
from manipula.simulation.plant.parameters import flatten, rebuild, shape_of
from manipula.simulation.plant.plant import Flow, Plant
from manipula.simulation.plant.sticking import sticky
from manipula.simulation.plant.switch import acting_controller
from manipula.simulation.stepping.grid import FAR, MOST_PARTS, Grid, halved, inputs_of, margin, must_end, stage_times

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory

REFERENCE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class ReferenceTable:
    """A trajectory as run-time data of a compiled loop."""

    breaks: np.ndarray  # (pieces + 1,)
    coefficients: np.ndarray  # (pieces, dimension, degree + 1)

    @classmethod
    def of(cls, trajectory: Trajectory | None, dimension: int) -> ReferenceTable:
        if trajectory is None:
            return cls(np.array([0.0, 1.0]), np.zeros((1, dimension, 6)))
        table = trajectory.to_piecewise(REFERENCE_TOLERANCE)
        coefficients = np.moveaxis(table.coefficients, 1, 2)
        pad = 6 - coefficients.shape[2]
        if pad > 0:
            coefficients = np.pad(coefficients, ((0, 0), (0, 0), (0, pad)))
        if coefficients.shape[1] < dimension:  # a path in the plane for a tip in space
            coefficients = np.pad(coefficients, ((0, 0), (0, dimension - coefficients.shape[1]), (0, 0)))
        return cls(np.asarray(table.breaks, float), np.ascontiguousarray(coefficients))


def _derivatives(reference: Trajectory, dimension: int) -> Any:
    """The derivatives of a reference that a switch brings, as tables."""
    given = ReferenceTable.of(reference, dimension)
    table = native.table(given.breaks, given.coefficients)
    return functools.cache(lambda k: table.derivative(k) if k else table)


def _chosen(condition: Any, new: Any, old: Any) -> Any:
    """``new()`` where the condition holds, else ``old``; a controller in Python is asked only where it has to decide."""
    if isinstance(condition, (bool, np.bool_)):
        return new() if condition else old
    return array([ops.where(condition, a, b) for a, b in zip(new(), old)])


class CompiledLoop:
    """The machine code of one kind of run; gains, initial state, reference and duration are its inputs."""

    def __init__(self, plant: Plant, dimension: int, integrator: str, noisy: bool = False, delay: int = 0,
                 holds_command: bool = False, periodic: bool = False) -> None:  # fmt: skip
        """``delay``: periods between a command and its effect, begun ones too. ``periodic``: the control period is stated, and not the step."""
        self.plant, self.dimension, self.integrator = plant, dimension, integrator
        self.noisy, self.delay, self.holds_command, self.periodic = noisy, delay, holds_command, periodic
        self.template = template(plant)
        self.names = list(plant.robot.parameters)
        self.adaptive: dict[str, native.Kernel] = {}  # by the name of the method; made by ``adaptive.py``

    @cached_property
    def values(self) -> list[tuple[str, float]]:
        """Every number of the parts with its path, in the order of the vector p."""
        return flatten(self.template)

    @cached_property
    def parts(self) -> bytes | None:
        """What the loop's machine code is made from, besides the numbers that are its inputs; None: also from user code."""
        options = self.dimension, self.integrator, self.noisy, self.delay, self.holds_command, self.periodic, tuple(self.names)  # fmt: skip
        rest = replace(
            self.plant, controller=None, friction=(), drives=(), disturbances=(), actuator=IDEAL, reference=None,  # pyright: ignore[reportArgumentType]
            torques=None, contacts=(), base_motion=None, encoder=PERFECT, switches=(),
        )  # fmt: skip
        method = {**FIXED, **ADAPTIVE}.get(self.integrator)
        return identity(shape_of(self.template), rest, self.plant.torques is not None, options, method, Arm)

    @cached_property
    def own_controller(self) -> bool:
        """Is the controller (if any) made of nothing but this package's own parts?"""
        return is_own(self.template[0])

    def traced(self, p: Any, breaks: Any, coefficients: Any) -> Plant:
        """The plant with gains from the vector p and a reference read from a table, traced or on floats.

        A user's controller is one that nobody has asked yet, so that neither tracing nor another run leaves anything in it.
        """
        numbers = iter(range(len(self.values)))
        parts = rebuild(self.template, lambda path, number: p[next(numbers)])
        controller = parts[0] if self.own_controller else renewed(parts[0])
        table = native.table(breaks, coefficients)
        derived = functools.cache(lambda k: table.derivative(k) if k else table)
        turned = self.plant.turned
        reference = lambda t: target_of(lambda k: derived(k)(t), turned)  # noqa: E731
        switched = tuple(None if s.reference is None else _derivatives(s.reference, self.dimension) for s in parts[8])
        names = {name: p[len(self.values) + k] for k, name in enumerate(self.names)}
        torques = self.plant.torques
        if torques is not None:
            torques = lambda t: table(t)  # noqa: E731
        return replace(
            self.plant, controller=controller, friction=parts[1], drives=parts[2], disturbances=parts[3], actuator=parts[4],
            contacts=parts[5], base_motion=parts[6], encoder=parts[7], switches=parts[8], switched_references=switched,
            reference=reference, robot_values=names or None, torques=torques,
        )  # fmt: skip

    @property
    def inputs(self) -> dict[str, tuple[Any, ...]]:
        count = len(self.values) + len(self.names)
        return {"x": (self.plant.layout.size,), "p": (max(count, 1),), "breaks": ("m+1",),
                "coefficients": ("m", self.dimension, 6)}  # fmt: skip

    @cached_property
    def run(self) -> native.Kernel:
        """``run(x0, p, breaks, coefficients, *grid, samples, t0, h, ratio[, lag][, every][, noise, first])`` → what ``advance`` gives."""
        n = self.plant.layout.n
        shared = inputs_of(n)
        extra: dict[str, tuple[Any, ...]] = {"lag": ()} if self.delay else {}
        if self.periodic:
            extra |= {"every": ()}
        if self.noisy:
            extra |= {"noise": ("w", 4 * n if self.plant.measures_motors else 2 * n), "first": ()}

        def loop(x: Any, p: Any, breaks: Any, coefficients: Any, *rest: Any) -> dict[str, Any]:
            plant = self.traced(p, breaks, coefficients)
            grid, numbers, more = Grid(*rest[:5]), rest[5:9], rest[9:]
            acting = replace(plant, controller=None) if self.discrete else plant
            rate = lambda t, y, *held: acting.flow(t, y, *held).rate  # noqa: E731
            alone = replace(acting, apart=True)
            known = plant.may_rest_or_touch and is_own(self.plant.contacts)  # somebody's may act at a distance
            apart_rate = (lambda t, y, *held: alone.flow(t, y, *held).rate) if known else None
            lag, more = (more[0], more[1:]) if self.delay else (0.0, more)
            every, noise = (more[0], more[1:]) if self.periodic else (1.0, more)
            return self.advance(
                plant, rate, x, grid, *numbers, lag=lag, every=every, noise=noise, apart_rate=apart_rate
            )

        return native.kernel_of(
            loop, {**self.inputs, **shared, "t0": (), "h": (), "ratio": (), **extra},
            f"{self.plant.robot.name}.{self.integrator}", self.parts, ("breaks", "coefficients", *shared, *(name for name in extra if name != "first")),
        )  # fmt: skip

    @property
    def sampled(self) -> bool:
        """Is the command decided at instants and held in between, as noise and delay require?"""
        return self.noisy or self.holds_command or self.delay > 0 or self.discrete

    @property
    def discrete(self) -> bool:
        """Is the controller a digital one, whose states change at the instants too?"""
        return self.periodic or self.plant.encoder.acts

    def advance(self, plant: Plant, rate: Any, x: Any, grid: Grid, samples: Any, t0: Any, h: Any, ratio: Any,
                lag: Any = 0.0, every: Any = 1.0, noise: Any = (), hold: Any = None, apart_rate: Any = None) -> dict[str, Any]:  # fmt: skip
        """The loop itself, traced or on floats: samples of the state, of the command held (sampled loops), and the early end.

        Steps end at multiples of h; one that a sample or a known instant divides is taken in parts. In a sampled loop ``queue`` holds
        the commands on their way, the memory of the encoders, and the number of the step in its period.

        Args:
            rate: ``rate(t, x[, noise, command])``, the state's rate.
            t0: the time of the first sample, 0 unless the step is longer than the run. h: the step. every: steps in a period of a sampled command.
            ratio: below 1, every part is taken in two, which meet at this fraction of it (a verification).
            noise: measurement errors of q and qd, a row per period, and which row is the first of this run.
            lag: when, after the beginning of a period, a command of ``delay`` periods ago gives way to the next one.
            hold: ``hold(t, x, command, h)``, the state after a part of a step, where that is compiled by itself.
            apart_rate: ``rate`` where nothing touches and no joint rests, at a lower cost.
        """
        lay, n = plant.layout, plant.layout.n
        after = following(plant, grid)
        period = every * h if self.periodic else h
        digital = DigitalControl(plant, period, self.discrete, noise)
        pending = (self.delay + 1) * n

        def decided(i: Any, t: Any, y: Any, queue: Any) -> Any:
            """Where the controller moves its own states the state, and the queue, after the decision that period i begins with."""
            memory = queue[pending : len(queue) - 1] if self.periodic else queue[pending:]
            y, command, memory = digital.next(i, t, y, memory)
            counted = [np.zeros(1)] if self.periodic else []
            return np.concatenate([*([y] if digital.moves_states else []), queue[n:pending], command, memory, *counted])

        def acting(t: Any, i: Any, queue: Any) -> Any:
            """The command in force just after t."""
            if not self.delay:
                return queue[:n]
            late = t < i * period + lag - margin(t)
            return array([ops.where(late, old, new) for old, new in zip(queue[:n], queue[n : 2 * n])])

        def part(goal: Any, t: Any, y: Any, i: Any, half: Any, queue: Any, *fresh: Any) -> Any:
            inner = queue[-1] if self.periodic else 0.0
            border = (i * every + inner + 1.0) * h if self.periodic else (i + 1.0) * h
            end = ops.minimum(ops.minimum(goal, border), after(t, y))
            if self.delay:
                change = i * period + lag
                end = ops.minimum(end, ops.where(change > t + margin(t), change, FAR))
            stop, half = halved(t, end, half, ratio)
            held: Any = (digital.shake(i)[: 2 * n], acting(t, i, queue)) if self.sampled else ()
            if fresh:
                y = decide_contacts(plant, t, y, fresh[0], *held)
                begun, sides = y, contact_sides(plant, t, y)
                by = lambda f: lambda s, z, h: self.moved(lambda s, z: f(s, z, *held), s, z, h)  # noqa: E731
                moves = [by(f) for f in (apart_rate, rate) if f is not None]
                step = in_parts(moves, nothing_touches(plant, sides, y), t, begun, fresh[0], ratio)
                length, y, happened = located(plant, step, t, begun, stop - t, sides, *held)
                end = ops.where(happened > 0.5, t + length, end)
                stop, fresh = ops.where(happened > 0.5, t + length, stop), (happened,)
            elif hold is not None:
                y = hold(t, y, held[1], stop - t)
            else:
                y = self.moved(lambda s, z: rate(s, z, *held), t, y, stop - t)
            arrived = (half < 0.5) & (end >= border - margin(border))
            if self.periodic:
                inner = ops.where(arrived, inner + 1.0, inner)
                queue = np.concatenate([queue[:-1], array([inner])])
                arrived = inner > every - 0.5
            i = ops.where(arrived, i + 1.0, i)
            if self.sampled:
                both = np.concatenate([y, queue]) if digital.moves_states else queue
                both = _chosen(arrived, lambda: decided(i, stop, y, queue), both)
                y, queue = (both[: lay.size], both[lay.size :]) if digital.moves_states else (y, both)
            return stop, y, i, half, queue, *fresh

        def step(k: Any, *state: Any) -> Any:
            goal = native.lookup(grid.times, k + 1.0)
            there = lambda t, y, *_: (t >= goal - margin(goal)) | must_end(y, n, grid)  # noqa: E731
            return native.until(lambda *s: part(goal, *s), state, there, MOST_PARTS).state

        def record(k: Any, t: Any, y: Any, i: Any, half: Any, queue: Any, *_: Any) -> Any:
            return {"samples": y, "commands": acting(t, i, queue)} if self.sampled else {"samples": y}

        queue = np.zeros(1)
        if self.sampled:
            x, command, memory = digital.first(t0, x)
            counted = [np.zeros(1)] if self.periodic else []
            queue = np.concatenate([*[command] * (self.delay + 1), memory, *counted])
        start = (t0, x, 0.0, 0.0, queue, *((1.0,) if plant.has_events else ()))
        done = native.repeat(step, start, samples, record=record, stop=lambda k, t, y, *_: must_end(y, n, grid))
        return {**done.samples, "stopped": done.stopped, "reached": done.state[0], "last": done.state[1]}

    def moved(self, rate: Any, t: Any, state: Any, h: Any) -> Any:
        """The state after one step of the integrator; traced or on floats."""
        inside, moving, method = stage_times(t, h), self._moving, FIXED[self.integrator]
        if len(moving) == len(state):
            return method.step(lambda s, z: rate(inside(s), z), t, state, h, self.plant.layout.n)
        whole = lambda z: array([z[moving.index(k)] if k in moving else state[k] for k in range(len(state))])  # noqa: E731
        slope = lambda s, z: rate(inside(s), whole(z))[moving]  # noqa: E731
        return whole(method.step(slope, t, array(state)[moving], h, self.plant.layout.n))

    @cached_property
    def _moving(self) -> list[int]:
        """The states that change within a step: not directions of sliding and instants of switches, which change between steps."""
        lay, laws = self.plant.layout, self.plant.friction
        first = lay.size - len(lay.works) - lay.switches
        still = {lay.friction_start(i) for i in sticky(laws) if is_own(laws[i])} | {*range(first, first + lay.switches)}
        return [k for k in range(lay.size) if k not in still]

    @cached_property
    def hold(self) -> native.Kernel:
        """``hold(x, p, breaks, coefficients, t, command, h)``: the state a step later under a command decided elsewhere."""

        def traced(x: Any, p: Any, breaks: Any, coefficients: Any, t: Any, command: Any, h: Any) -> Any:
            plant = replace(self.traced(p, breaks, coefficients), controller=None)
            return self.moved(lambda t, z: plant.flow(t, z, None, command).rate, t, x, h)

        return native.kernel_of(
            traced, {**self.inputs, "t": (), "command": (self.plant.layout.n,), "h": ()},
            f"{self.plant.robot.name}.hold", self.parts, ("breaks", "coefficients"),
        )  # fmt: skip

    @cached_property
    def observe(self) -> native.Kernel:
        """``observe(x, p, breaks, coefficients, t)``: everything a result holds at one instant."""
        return self._compiled("observe", self.observed, controlled=True)

    def observed(self, plant: Plant, t: Any, x: Any) -> dict[str, Any]:
        """Everything a result holds at one instant, traced or on floats."""
        return self._signals(plant, t, x, plant.flow(t, x))

    @cached_property
    def observe_given(self) -> native.Kernel:
        """``observe_given(x, p, breaks, coefficients, t, command)``: the same under a command decided elsewhere."""

        def seen(plant: Plant, t: Any, x: Any, u: Any) -> dict[str, Any]:
            return self._signals(plant, t, x, replace(plant, controller=None).flow(t, x, None, u))

        return self._compiled("observe_given", seen, self.own_controller, given=True)

    @cached_property
    def rate_given(self) -> native.Kernel:
        """``rate_given(x, p, breaks, coefficients, t, command)``: the state's rate; states of the controller rest."""
        return self._compiled("rate_given", lambda plant, t, x, u: plant.flow(t, x, None, u).rate)

    @cached_property
    def second(self) -> native.Kernel:
        """``second(x, p, breaks, coefficients, t)``: first and second derivative of the state in time, along its own flow."""

        def seen(plant: Plant, t: Any, x: Any) -> dict[str, Any]:
            rate = plant.flow(t, x).rate
            return {"rate": rate, "second": array(native.time_derivative(rate, {t: 1.0, **dict(zip(x, rate))}))}

        return self._compiled("second", seen, controlled=True)

    @cached_property
    def mass_matrix(self) -> native.Kernel:
        """``mass_matrix(x, p, breaks, coefficients, t)``: M, and its determinant once it is scaled to unit diagonal."""

        def judged(plant: Plant, t: Any, x: Any) -> dict[str, Any]:
            M = composite.mass_matrix(plant.mechanism(t).lean, plant.layout.q(x))
            scaled: Any = 1.0
            for pivot, diagonal in zip(ldl(M)[1], np.diagonal(M)):
                scaled = scaled * (pivot / diagonal)
            return {"M": M, "determinant": scaled}

        return self._compiled("mass_matrix", judged, controlled=True)

    @cached_property
    def energy(self) -> native.Kernel:
        """``energy(x, p, breaks, coefficients, t)``: kinetic and potential energy of the arm together, and what the springs of contacts hold, (2,)."""

        def held(plant: Plant, t: Any, x: Any) -> np.ndarray:
            around = plant.surroundings(t, x)
            springs: Any = sum((contact.touch(around).energy for contact in plant.contacts), 0.0)
            return array([sum(plant.energies(t, x)[:2]), springs])

        return self._compiled("energy", held, controlled=True)

    def _compiled(
        self, name: str, f: Callable[..., Any], controlled: bool = False, given: bool | None = None
    ) -> native.Kernel:
        """``controlled``: with its controller. given: with a command decided elsewhere; where there is no controller, unless it is said."""
        given = not controlled if given is None else given

        def traced(x: Any, p: Any, breaks: Any, coefficients: Any, t: Any, *command: Any) -> Any:
            plant = self.traced(p, breaks, coefficients)
            return f(plant if controlled else replace(plant, controller=None), t, x, *command)

        extra: dict[str, tuple[Any, ...]] = {"command": (self.plant.layout.n,)} if given else {}
        return native.kernel_of(
            traced, {**self.inputs, "t": (), **extra}, f"{self.plant.robot.name}.{name}", self.parts,
            ("breaks", "coefficients"),
        )  # fmt: skip

    @staticmethod
    def _signals(plant: Plant, t: Any, x: Any, flow: Flow) -> dict[str, Any]:
        q, qd = plant.layout.q(x), plant.layout.qd(x)
        kinetic, potential, drive_energy = plant.energies(t, x)
        tip = kinematics.pose(plant.mechanism(t), q) if plant.robot.tip is not None else zeros(4, 4)
        target = plant.target(t, x)
        more: dict[str, Any] = {}
        if flow.touches:
            more = {
                "contact_force": array([c.normal for c in flow.touches]), "penetration": array([c.depth for c in flow.touches]),
                "contact_wrench": array([c.wrench for c in flow.touches]), "contact_energy": sum((c.energy for c in flow.touches), 0.0),
                "contact_torque": array(sum((c.torque for c in flow.touches), np.zeros(plant.layout.n))),
            }  # fmt: skip
        if target.turn is not None:  # in axes of the base, as the reference is
            more["orientation_error"] = rotation_vector(array(target.turn.R @ tip[:3, :3].T))
        if plant.base_motion is not None:
            more["base_pose"] = base = plant.base_motion.at(t).matrix()
            tip = array(base @ tip)
        controller = acting_controller(plant, t, x)
        if controller is not None and "wrench" in controller.measures:
            more["measured_wrench"] = plant.measured_wrench(t, x)
        found = {
            "qdd": flow.qdd, "tau": flow.tau, "command": flow.command, "friction": flow.friction, "external": flow.external,
            "loads": flow.loads, "pose": tip, "target": target.position, "target_rate": target.velocity,
            "kinetic": kinetic, "potential": potential, "drive_energy": drive_energy, "power": array(flow.tau * qd),
            **more,
        }  # fmt: skip
        if controller is not None and type(controller).signals is not Controller.signals:
            arm = plant.seen_by(controller, t, x, q, qd)
            found |= shown_by(
                controller, controller.signals(arm, q, qd, target, plant.layout.controller_states(x)), found
            )
        return found
