r"""Torques behind a joint motion that is given.

.. math:: \tau = M(q)\,\ddot q + C\dot q + g + \tau_f(\dot q, z, f_n) - \sum J^T w

Normal forces :math:`f_n` follow from the motion directly, so that no loop has to be solved. What friction remembers is an ordinary
differential equation in time along the motion, :math:`\dot z = Z(\dot q(t), z, f_n(t))`; it is stiff, and integrated by an implicit
method whose step follows the error.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.physics import kinematics, newton_euler, reactions
from manipula.physics.mechanism import Mechanism
from manipula.simulation.integrators import ADAPTIVE
from manipula.simulation.loops.adaptive import FIRST, TIGHTEST, advance
from manipula.simulation.loops.loop import CompiledLoop
from manipula.simulation.plant.base_motion import carried, inertial_torques
from manipula.simulation.plant.friction_loads import loaded, rates, torques
from manipula.simulation.plant.plant import Plant
from manipula.simulation.plant.surroundings import Surroundings
from manipula.simulation.stepping.grid import FAR, Grid, diverged, first_after, margin, switching
from manipula.simulation.stepping.instants import table_marks, tabled_marks

METHOD = ADAPTIVE["rodas"]
ACCURACY = 1e-3  # of the tolerance of the run, for what a bristle may be wrong against its own size
TIGHTER = 30.0  # by which a verification is stricter


class MotionTable(NamedTuple):
    """A joint motion as pieces of polynomials: breaks (k + 1,), coefficients (k, n, 6)."""

    breaks: np.ndarray
    coefficients: np.ndarray


class Memory(NamedTuple):
    """What friction remembers at the samples, (S, states), and the relative error found by integrating again (NaN: not done)."""

    states: np.ndarray
    error: float


def loads_along(plant: Plant, mechanism: Mechanism, t: Scalar, q: Vector, qd: Vector, qdd: Vector) -> np.ndarray:
    """Normal forces of the motion, (n,); zero where no friction law asks for them."""
    if not loaded(plant.friction):
        return np.zeros(plant.layout.n)
    base = None if plant.base_motion is None else plant.base_motion.at(t)
    moving = mechanism if base is None else carried(mechanism, base)
    relief = plant.relief(Surroundings(mechanism, q, qd, base), t)
    forces = array(reactions.bearing_forces(moving, q, qd, qdd) - relief)
    return array([reactions.norm(f) for f in forces])


def signals_along(plant: Plant, t: Scalar, x: Vector, qdd: Vector) -> dict[str, Any]:
    """Everything that a result holds at one instant of the motion; x carries q, qd and what friction remembers."""
    lay = plant.layout
    q, qd = lay.q(x), lay.qd(x)
    mechanism = plant.mechanism(t)
    loads = loads_along(plant, mechanism, t, q, qd, qdd)
    friction = torques(plant.friction, qd, lay.friction_states(x), loads)
    base = None if plant.base_motion is None else plant.base_motion.at(t)
    external, _ = plant.external_torques(Surroundings(mechanism, q, qd, base), t)
    tau = array(newton_euler.inverse_dynamics(mechanism.lean, q, qd, qdd) + friction - external)
    if base is not None:
        tau = array(tau + inertial_torques(mechanism, base, q, qd))
    kinetic, potential, _ = replace(plant, drives=(None,) * lay.n).energies(t, x)
    pose = kinematics.pose(mechanism, q) if plant.robot.tip is not None else zeros(4, 4)
    return {
        "tau": tau, "friction": friction, "external": external, "loads": loads, "power": array(tau * qd), "pose": pose,
        "kinetic": kinetic, "potential": potential, **({} if base is None else {"base_pose": base.matrix()}),
    }  # fmt: skip


def observed(loop: CompiledLoop, x: np.ndarray, p: np.ndarray, t: np.ndarray, qdd: np.ndarray) -> dict[str, np.ndarray]:
    """``signals_along`` at all samples of all runs: x (N, S, size), p (N, k), t (S,), qdd (N, S, n)."""

    def look(x: Any, p: Any, breaks: Any, coefficients: Any, t: Any, qdd: Any) -> dict[str, Any]:
        return signals_along(loop.traced(p, breaks, coefficients), t, x, qdd)

    kernel = native.kernel_of(
        look, {**loop.inputs, "t": (), "qdd": (loop.plant.layout.n,)}, f"{loop.plant.robot.name}.given", loop.parts,
        ("breaks", "coefficients"),
    )  # fmt: skip
    still = np.array([0.0, 1.0]), np.zeros((1, loop.dimension, 6))  # the motion is in x: no table is read
    return dict(zip(kernel.graph.outputs, map(np.asarray, kernel(x, p[:, None], *still, t, qdd))))


def remembered(
    loop: CompiledLoop, p: np.ndarray, table: MotionTable, finer: MotionTable | None, t: np.ndarray, tolerance: float
) -> Memory:
    """Bristles along one motion from their rest, at the times t; integrated again along ``finer`` when that is given.

    The tolerance of the integrator follows the size the bristles have, because it is measured against 1.
    """
    count = sum(loop.plant.layout.friction)
    kernel, free = _memory(loop, count), np.zeros(loop.plant.layout.n)

    def run(along: MotionTable, accuracy: float) -> np.ndarray:
        corners = np.concatenate([table_marks(*along), tabled_marks((loop.plant.base_motion,))])
        grid = Grid.of(t, corners, free, free)
        numbers = grid.marks, grid.ends, grid.intervals, max(accuracy, TIGHTEST)
        return np.asarray(kernel(np.zeros(count), p, *along, t, *numbers)[0])

    first = run(table, 1e-6 * tolerance)
    size = np.abs(first[np.isfinite(first).all(axis=1)]).max(axis=0, initial=0.0)
    smallest = float(np.min(size[size > 0.0], initial=1.0))
    accuracy = ACCURACY * tolerance * min(1.0, smallest)
    states = run(table, accuracy) if accuracy < 1e-6 * tolerance else first
    if finer is None:
        return Memory(states, float("nan"))
    again = run(finer, accuracy / TIGHTER)
    if not (np.isfinite(states).all() and np.isfinite(again).all()):
        return Memory(states, float("inf"))
    scale = np.where(size > 0.0, size, 1.0)
    return Memory(states, float((np.abs(states - again) / scale).max(initial=0.0)))


def _memory(loop: CompiledLoop, count: int) -> native.Kernel:
    def run(z: Any, p: Any, breaks: Any, coefficients: Any, times: Any, marks: Any, ends: Any, samples: Any,
            tolerance: Any) -> Any:  # fmt: skip
        plant = loop.traced(p, breaks, coefficients)
        lay = plant.layout

        def rate(t: Scalar, z: Vector) -> np.ndarray:
            q, qd, qdd = plant.reference(t)[:3]
            loads = loads_along(plant, plant.mechanism(t), t, q, qd, qdd)
            x = lay.join(q, qd, z, np.zeros(lay.size - 2 * lay.n - count))
            return array(rates(plant.friction, qd, lay.friction_states(x), loads))

        known, over = first_after(marks, ends, switching(plant.disturbances)), lambda z: diverged(z, 0)
        after = lambda t, z: known(t)  # noqa: E731

        def step(k: Any, t: Any, z: Any, h: Any, rejected: Any, good: Any) -> Any:
            goal = native.lookup(times, k + 1.0)
            state = advance(METHOD, rate, after, over, (t, z, h, rejected), goal, tolerance, FAR)
            return *state, ops.where(state[0] >= goal - margin(goal), 1.0, 0.0)

        stop = lambda k, t, z, h, rejected, good: good < 0.5  # noqa: E731
        first = (0.0, z, FIRST, 0.0, 1.0)
        done = native.repeat(step, first, samples, record=lambda k, t, z, *_: z, stop=stop)
        return {"samples": done.samples, "stopped": done.stopped}

    grid: dict[str, tuple[Any, ...]] = {"times": ("s",), "marks": ("k+1",), "ends": ("k", 1), "samples": ()}
    shapes = {**loop.inputs, "x": (count,), **grid, "tolerance": ()}
    shared = ("breaks", "coefficients", *grid)
    return native.kernel_of(run, shapes, f"{loop.plant.robot.name}.memory", loop.parts, shared)
