"""Compiled loops and observers of a run: everything that happens between the initial state and the samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, zeros
from manipula.control.base import Target
from manipula.physics import composite, kinematics
from manipula.physics.chain import regrouped
from manipula.simulation.integrators import FIXED
from manipula.simulation.parameters import flatten, rebuild
from manipula.simulation.plant import Flow, Plant

LARGEST = 1e10  # |x| beyond which a run has diverged
REFERENCE_TOLERANCE = 1e-12
BORDER = 1e-14  # of a time of size 1: about forty units in the last place


@dataclass(frozen=True)
class ReferenceTable:
    """A trajectory as run-time data of a compiled loop."""

    breaks: np.ndarray  # (pieces + 1,)
    coefficients: np.ndarray  # (pieces, dimension, degree + 1)

    @classmethod
    def of(cls, trajectory: Any, dimension: int) -> ReferenceTable:
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


def template(plant: Plant) -> tuple[Any, ...]:
    """The parts of a plant whose numbers are inputs of the compiled loop."""
    return plant.controller, plant.friction, plant.drives, plant.disturbances, plant.actuator


def within(t: Any, h: Any) -> Any:
    """Stage times of the step from t to t + h, kept off its ends by some rounding errors.

    Where a reference or a disturbance jumps on the border of two steps, each step sees its own side of the jump.
    """
    margin = BORDER * (1.0 + ops.abs(t))
    return lambda s: ops.minimum(ops.maximum(s, t + margin), t + h - margin)


def diverged(x: Any, n: int) -> Any:
    """Have positions and velocities left all bounds, or is anything not finite?"""
    size: Any = 0.0
    for value in x[: 2 * n]:
        size = size + ops.abs(value)
    rest: Any = 0.0
    for value in x[2 * n :]:
        rest = rest + value
    return ops.where((size <= LARGEST) & native.is_finite(rest), 0.0, 1.0) > 0.5


class Loop:
    """The machine code of one kind of run; gains, initial state, reference and duration are its inputs."""

    def __init__(self, plant: Plant, dimension: int, integrator: str, noisy: bool = False, delay: int = 0,
                 held: bool = False) -> None:  # fmt: skip
        self.plant, self.dimension, self.integrator = plant, dimension, integrator
        self.noisy, self.delay, self.held = noisy, delay, held  # delay: whole steps between a command and its effect
        self.template = template(plant)
        self.values = flatten(self.template)
        self.names = list(plant.robot.parameters)

    @property
    def defaults(self) -> np.ndarray:
        """The run's own numbers, in the order of the parameter vector (free parameters of the robot excluded)."""
        return np.array([number for _, number in self.values], float)

    @cached_property
    def paths(self) -> list[str]:
        """Names of the parameters, such as ``controller.kp`` and ``friction[0].damping``."""
        heads = ("controller", "friction", "drives", "disturbances", "actuator")
        named = []
        for path, _ in self.values:
            index, _, rest = path[1:].partition("]")
            named.append(heads[int(index)] + rest)
        return named

    def traced(self, p: Any, breaks: Any, coefficients: Any) -> Plant:
        """The plant with gains from the vector p and a reference read from a table, traced or on floats."""
        numbers = iter(range(len(self.values)))
        parts = rebuild(self.template, lambda path, number: p[next(numbers)])
        table = native.table(breaks, coefficients)
        first, second = table.derivative(), table.derivative(2)
        reference = lambda t: Target(table(t), first(t), second(t))  # noqa: E731
        names = {name: p[len(self.values) + k] for k, name in enumerate(self.names)}
        torques = self.plant.torques
        if torques is not None:
            torques = lambda t: table(t)  # noqa: E731
        return replace(
            self.plant, controller=parts[0], friction=parts[1], drives=parts[2], disturbances=parts[3], actuator=parts[4],
            reference=reference, robot_values=names or None, torques=torques,
        )  # fmt: skip

    @property
    def inputs(self) -> dict[str, tuple[Any, ...]]:
        count = len(self.values) + len(self.names)
        return {"x": (self.plant.layout.size,), "p": (max(count, 1),), "breaks": ("m+1",),
                "coefficients": ("m", self.dimension, 6)}  # fmt: skip

    @cached_property
    def run(self) -> native.Kernel:
        """``run(x0, p, breaks, coefficients, t0, h, steps, every, inner[, noise])`` → samples (S, size), commands, stopped."""
        n = self.plant.layout.n
        extra: dict[str, tuple[Any, ...]] = {"noise_breaks": ("k+1",), "noise": ("k", 2 * n, 1)} if self.noisy else {}
        counts = ("steps", "every", "inner") if self.sampled else ("steps", "every")

        def loop(x: Any, p: Any, breaks: Any, coefficients: Any, t0: Any, h: Any, *rest: Any) -> dict[str, Any]:
            plant = self.traced(p, breaks, coefficients)
            numbers, noise = rest[: len(counts)], rest[len(counts) :]
            return self.advance(
                plant, lambda t, y, *held: plant.flow(t, y, *held).rate, x, t0, h, *numbers, noise=noise
            )

        return native.compile_function(
            loop, {**self.inputs, "t0": (), "h": (), **dict.fromkeys(counts, ()), **extra},
            name=f"{self.plant.robot.name}.{self.integrator}", shared=("breaks", "coefficients", *counts, *extra),
        )  # fmt: skip

    @property
    def sampled(self) -> bool:
        """Is the command decided once a step and held during it, as noise and delay require?"""
        return self.noisy or self.held or self.delay > 0

    def advance(self, plant: Plant, rate: Any, x: Any, t0: Any, h: Any, steps: Any, every: Any, inner: Any = 1,
                noise: Any = ()) -> dict[str, Any]:  # fmt: skip
        """The loop itself, traced or on floats: samples of the state, of the command held (sampled loops), and the early end.

        Args:
            rate: ``rate(t, x[, noise, command])``, the state's rate.
            h: the step, which is also the period of a sampled command; ``inner``: steps of the integrator within it.
        """
        method, lay = FIXED[self.integrator], plant.layout
        n = lay.n
        shaken = native.table(*noise) if noise else None

        latest: list[Any] = [None, None]

        def decided(i: Any, state: Any) -> tuple[Any, Any]:
            """Noise and command of step i; asked for twice, decided once (a controller may remember being asked)."""
            if latest[0] is not state:
                t = t0 + i * h
                now = shaken(t + 0.5 * h) if shaken is not None else np.zeros(2 * n)
                command = plant.command(t, state, lay.q(state) + now[:n], lay.qd(state) + now[n:])
                latest[:] = state, (now, command)
            return latest[1]

        def step(i: Any, state: Any, pending: Any) -> Any:
            t = t0 + i * h
            if not self.sampled:
                inside = within(t, h)
                return method.step(lambda t, y: rate(inside(t), y), t, state, h, n), pending
            now, command = decided(i, state)
            held = pending[:n] if self.delay else command
            part = h / inner

            def move(j: Any, y: Any) -> Any:
                begin = t + j * part
                inside = within(begin, part)
                return (method.step(lambda t, z: rate(inside(t), z, now, held), begin, y, part, n),)

            (moved,) = native.repeat(move, (state,), inner).state
            return moved, np.concatenate([pending[n:], command]) if self.delay else pending

        def record(i: Any, state: Any, pending: Any) -> Any:
            if not self.sampled:
                return {"samples": state}
            return {"samples": state, "commands": pending[:n] if self.delay else decided(i, state)[1]}

        pending = np.zeros(1)
        if self.delay:
            pending = np.concatenate([plant.command(t0, x, lay.q(x), lay.qd(x))] * self.delay)
        done = native.repeat(
            step, (x, pending), steps, record=record, every=every, stop=lambda i, state, _: diverged(state, n)
        )
        return {**done.samples, "stopped": done.stopped}

    @cached_property
    def observe(self) -> native.Kernel:
        """``observe(x, p, breaks, coefficients, t)``: everything a result holds at one instant."""
        return self._given("observe", lambda plant, t, x: self._seen(plant, t, x, plant.flow(t, x)), controlled=True)

    @cached_property
    def observe_given(self) -> native.Kernel:
        """``observe_given(x, p, breaks, coefficients, t, command)``: the same under a command decided elsewhere."""
        return self._given("observe_given", lambda plant, t, x, u: self._seen(plant, t, x, plant.flow(t, x, None, u)))

    @cached_property
    def rate_given(self) -> native.Kernel:
        """``rate_given(x, p, breaks, coefficients, t, command)``: the state's rate; states of the controller rest."""
        return self._given("rate_given", lambda plant, t, x, u: plant.flow(t, x, None, u).rate)

    @cached_property
    def second(self) -> native.Kernel:
        """``second(x, p, breaks, coefficients, t)``: first and second derivative of the state in time, along its own flow."""

        def seen(plant: Plant, t: Any, x: Any) -> dict[str, Any]:
            rate = plant.flow(t, x).rate
            return {"rate": rate, "second": array(native.time_derivative(rate, {t: 1.0, **dict(zip(x, rate))}))}

        return self._given("second", seen, controlled=True)

    @cached_property
    def mass_matrix(self) -> native.Kernel:
        """``mass_matrix(x, p, breaks, coefficients, t)``: what accelerations are solved with."""
        return self._given(
            "mass_matrix", lambda plant, t, x: composite.mass_matrix(regrouped(plant.chain(t)), plant.layout.q(x)),
            controlled=True,
        )  # fmt: skip

    @cached_property
    def energy(self) -> native.Kernel:
        """``energy(x, p, breaks, coefficients, t)``: kinetic and potential energy of the arm together."""
        return self._given("energy", lambda plant, t, x: sum(plant.energies(t, x)[:2]), controlled=True)

    def _given(self, name: str, f: Any, controlled: bool = False) -> native.Kernel:
        def traced(x: Any, p: Any, breaks: Any, coefficients: Any, t: Any, *command: Any) -> Any:
            plant = self.traced(p, breaks, coefficients)
            return f(plant if controlled else replace(plant, controller=None), t, x, *command)

        extra: dict[str, tuple[Any, ...]] = {} if controlled else {"command": (self.plant.layout.n,)}
        return native.compile_function(
            traced, {**self.inputs, "t": (), **extra}, name=f"{self.plant.robot.name}.{name}",
            shared=("breaks", "coefficients"),
        )  # fmt: skip

    @staticmethod
    def _seen(plant: Plant, t: Any, x: Any, flow: Flow) -> dict[str, Any]:
        q, qd = plant.layout.q(x), plant.layout.qd(x)
        kinetic, potential, held = plant.energies(t, x)
        tip = kinematics.pose(plant.chain(t), q) if plant.robot.tip is not None else zeros(4, 4)
        target = plant.reference(t)
        return {
            "qdd": flow.qdd, "tau": flow.tau, "command": flow.command, "friction": flow.friction, "outside": flow.outside,
            "loads": flow.loads, "pose": tip, "target": target.position, "target_rate": target.velocity,
            "kinetic": kinetic, "potential": potential, "held": held, "power": array(flow.tau * qd),
        }  # fmt: skip
