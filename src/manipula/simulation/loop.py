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
from manipula.physics import kinematics
from manipula.simulation.integrators import FIXED
from manipula.simulation.parameters import flatten, rebuild
from manipula.simulation.plant import Plant

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


class Loop:
    """The machine code of one kind of run; gains, initial state, reference and duration are its inputs."""

    def __init__(self, plant: Plant, dimension: int, integrator: str, noisy: bool = False, delay: int = 0) -> None:
        self.plant, self.dimension, self.integrator = plant, dimension, integrator
        self.noisy, self.delay = noisy, delay  # delay: whole steps between a command and its effect
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
        """The plant with traced gains and a reference read from a table."""
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
        """``run(x0, p, breaks, coefficients, t0, h, steps, every[, noise])`` → samples (S, size), last state, stopped."""
        method = FIXED[self.integrator]
        n = self.plant.layout.n

        def loop(x: Any, p: Any, breaks: Any, coefficients: Any, t0: Any, h: Any, steps: Any, every: Any,
                 *noise: Any) -> Any:  # fmt: skip
            plant = self.traced(p, breaks, coefficients)
            shaken = native.table(*noise) if noise else None

            def step(i: Any, state: Any, pending: Any) -> Any:
                t = t0 + i * h
                inside = within(t, h)
                if shaken is None and not self.delay:
                    return method.step(lambda t, y: plant.flow(inside(t), y).rate, t, state, h, n), pending
                lay = plant.layout
                now = shaken(t + 0.5 * h) if shaken is not None else np.zeros(2 * n)
                command = plant.command(t, state, lay.q(state) + now[:n], lay.qd(state) + now[n:])
                held = pending[:n] if self.delay else command
                moved = method.step(lambda t, y: plant.flow(inside(t), y, now, held).rate, t, state, h, n)
                return moved, np.concatenate([pending[n:], command]) if self.delay else pending

            def stop(i: Any, state: Any) -> Any:
                bad = ops.abs(state[0]) > LARGEST
                for value in state[1 : 2 * n]:
                    bad = bad | (ops.abs(value) > LARGEST)
                total = state[0]
                for value in state[1:]:
                    total = total + value
                return bad | ~native.is_finite(total)

            pending = (
                np.concatenate([plant.command(t0, x, plant.layout.q(x), plant.layout.qd(x))] * self.delay)
                if self.delay
                else np.zeros(1)
            )
            done = native.repeat(
                step,
                (x, pending),
                steps,
                record=lambda i, state, _: state,
                every=every,
                stop=lambda i, state, _: stop(i, state),
            )
            return {"samples": done.samples, "last": done.state[0], "stopped": done.stopped}

        extra: dict[str, tuple[Any, ...]] = {"noise_breaks": ("k+1",), "noise": ("k", 2 * n, 1)} if self.noisy else {}
        return native.compile_function(
            loop, {**self.inputs, "t0": (), "h": (), "steps": (), "every": (), **extra}, name=f"{self.plant.robot.name}.{self.integrator}",
            shared=("breaks", "coefficients", "steps", "every", *extra),
        )  # fmt: skip

    @cached_property
    def observe(self) -> native.Kernel:
        """``observe(x, p, breaks, coefficients, t)``: everything a result holds at one instant."""

        def f(x: Any, p: Any, breaks: Any, coefficients: Any, t: Any) -> dict[str, Any]:
            plant = self.traced(p, breaks, coefficients)
            flow = plant.flow(t, x)
            lay = plant.layout
            q, qd = lay.q(x), lay.qd(x)
            kinetic, potential, held = plant.energies(t, x)
            chain = plant.chain(t)
            tip = kinematics.pose(chain, q) if plant.robot.tip is not None else zeros(4, 4)
            target = plant.reference(t)
            return {
                "qdd": flow.qdd, "tau": flow.tau, "command": flow.command, "friction": flow.friction, "outside": flow.outside,
                "loads": flow.loads, "pose": tip, "target": target.position, "target_rate": target.velocity,
                "kinetic": kinetic, "potential": potential, "held": held, "power": array(flow.tau * qd),
            }  # fmt: skip

        return native.compile_function(
            f, {**self.inputs, "t": ()}, name=f"{self.plant.robot.name}.observe", shared=("breaks", "coefficients")
        )
