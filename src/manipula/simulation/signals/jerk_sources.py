r"""Where the exact jerk of a result comes from: the flow of its run, differentiated once more, or the reference it was laid along.

Along a task reference the joints obey :math:`J\dddot q = \ddot v - \ddot J\dot q - 2\dot J\ddot q` with the tip's twist v.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra.jet import Jet
from manipula.algebra.linear import array
from manipula.errors import ManipulaError, printable
from manipula.identity import identity, is_own
from manipula.ik.targets import movable
from manipula.ik.task import Task
from manipula.motion.oriented import has_orientation
from manipula.physics import kinematics
from manipula.physics.mechanism import mechanism_of
from manipula.redundancy.arm import Arm
from manipula.simulation.given_motion.kinematic import law, table_of, task_rows
from manipula.simulation.loops.following import followed
from manipula.simulation.loops.interpreted import python_rate
from manipula.simulation.loops.setup import prepare_run
from manipula.simulation.plant_of_scenario import turn_of
from manipula.simulation.programmed.equations import ProgrammedPlant
from manipula.simulation.programmed.kernels import kernel, values_of
from manipula.simulation.programmed.scenario import ProgramScenario
from manipula.simulation.recorded import scenario_of
from manipula.simulation.scenario import Scenario

if TYPE_CHECKING:
    from manipula.motion.trajectory import OrientedTrajectory, Trajectory
    from manipula.simulation.plant.layout import StateLayout
    from manipula.simulation.plant.switch import Switch
    from manipula.simulation.result import Result

NUDGE = 1e-5  # s: how far a controller in Python is asked along the flow, on both sides
AGREED = 1e-2  # part of two such difference quotients by which they may differ where nothing jumps
ROUGH = 1e-5  # the same as a part of the largest rate
PARTS = (
    "robot",
    "reference",
    "controller",
    "friction",
    "drives",
    "disturbances",
    "contacts",
    "base_motion",
    "criteria",
    "tasks",
    "torques",
)
HELD = (
    "The command is decided once a step and held: the acceleration jumps every {:g} s, and the jerk is infinite there."
)


@dataclass(frozen=True)
class JerkSource:
    """States of every run (N, S, size), positions first, and what is known at states and times of run k.

    Attributes:
        exact: else ``error`` says how far it may be off. held: a sentence when the acceleration jumps all the time.
        following: of run k, where its own loop can be followed: the states at times, the first of which is that of a state.
    """

    states: np.ndarray
    looking: Callable[[int], Looking]
    exact: bool = True
    error: float = 0.0
    remark: str = ""
    held: str = ""
    following: Callable[[int], Following] | None = None


def source_of(result: Result) -> JerkSource | str:
    """How the jerk of a result is found exactly; or why it is not."""
    s = scenario_of(result)
    try:
        source = _of(result, s)
        _check_unchanged(result, s, source)
        return source
    except _Unknown as why:
        return str(why)
    except ManipulaError as error:  # a part that runs but cannot be differentiated
        return f"the flow of the run could not be differentiated ({printable(error, 200)})"


def _of(result: Result, s: Any) -> JerkSource:
    if isinstance(s, ProgramScenario):
        fixed = {"stabilisation": s.stabilisation, "gain": float(s.gain)}
        return _programmed(result, replace(s.motion.plant, **fixed), s.integrator)
    if isinstance(s, ProgrammedPlant):
        return _programmed(result, s, str(result.meta.get("integrator", "rk4")))
    if not isinstance(s, Scenario):
        raise _Unknown("the result does not carry the scenario it was made from")
    kind = s.resolved_kind()
    if kind == "kinematic":
        return _kinematic(result, s)
    return _along_reference(result, s) if kind == "inverse_dynamics" else _dynamic(result, s)


class _Unknown(Exception):
    """The record does not hold what the jerk needs."""


def _runs(values: np.ndarray) -> np.ndarray:
    return values if values.ndim == 3 else values[None]


def _states(result: Result, layout: StateLayout, switches: tuple[Switch, ...] = ()) -> np.ndarray:
    """The states of a run from its record (N, S, size); works, which nothing depends on, are left zero."""
    by_state = [i for i, s in enumerate(switches) if s.when is not None]  # those that happen at a time have no state
    q = _runs(np.asarray(result.arrays["q"], float))
    parts = [q, _runs(np.asarray(result.arrays["qd"], float))]
    for name, count in (("bristles", sum(layout.friction)), ("motors", sum(layout.drives)), ("controller_states", layout.controller),
                        ("switched", layout.switches)):  # fmt: skip
        if count:
            if name not in result.arrays:
                raise _Unknown(f"the record has no signal '{name}'")
            values = _runs(np.asarray(result.arrays[name], float))
            parts.append(values if values.shape[-1] == count else values[..., by_state])
    x = np.concatenate([*parts, np.zeros((*q.shape[:2], layout.size - sum(p.shape[-1] for p in parts)))], axis=-1)
    x[~np.isfinite(q).all(axis=-1)] = np.nan
    return x


def _dynamic(result: Result, s: Scenario) -> JerkSource:
    run = prepare_run(s)
    n = s.robot.n
    states = _states(result, run.plant.layout, run.plant.switches)
    calls = result.meta.get("controller_calls", "compiled")
    if run.loop.sampled or calls == "once_a_step":
        return JerkSource(states, lambda k: _none, held=HELD.format(s.period))
    if calls == "compiled":
        kernel = run.loop.second

        def looking(k: int) -> Looking:
            def look(x: np.ndarray, t: np.ndarray) -> Look:
                rate, second = kernel(x, run.p[k], *run.inputs, t)
                return Look(rate, second, rate[:, n : 2 * n], second[:, n : 2 * n])

            return look

        return JerkSource(states, looking, following=lambda k: lambda x, times: followed(run, k, x, times))
    remark = "The controller runs in Python, so the jerk is a difference quotient along the flow."
    return JerkSource(states, lambda k: _differences(python_rate(run, k)[1], n), exact=False, error=1e-6, remark=remark)


def _check_unchanged(result: Result, s: Any, source: JerkSource) -> None:
    """User code may have changed since the run: it must still give the accelerations of the record, of every run at every sample."""
    if source.held or is_own(*(getattr(s, name, None) for name in PARTS)):
        return
    for k, (x, record) in enumerate(zip(source.states, _runs(np.asarray(result.arrays["qdd"], float)))):
        sound = np.isfinite(x).all(axis=1) & np.isfinite(record).all(axis=1)
        if not sound.any():
            continue
        now = np.asarray(source.looking(k)(x[sound], result.t[sound]).acceleration, float)
        if not np.allclose(now, record[sound], rtol=1e-6, atol=1e-6 * max(1.0, float(np.abs(record[sound]).max()))):
            raise _Unknown("user code in it gives other accelerations now than in the run")


def _none(x: np.ndarray, t: np.ndarray) -> Look:
    raise AssertionError


def _differences(f: Callable[..., Any], n: int) -> Looking:
    """Differences along the flow with Richardson's extrapolation; nothing depends on the record.

    Central ones, and where two of different widths disagree (the rate jumps between the places) those of the side on which it bends less.
    """

    def one(x: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        rate = np.asarray(f(t, x), float)
        beside = {k: np.asarray(f(t + k * NUDGE, x + k * NUDGE * rate), float) for k in (-2, -1, 1, 2)}
        wide, narrow = ((beside[k] - beside[-k]) / (2 * k * NUDGE) for k in (2, 1))
        smooth = np.abs(wide - narrow) <= AGREED * np.maximum(np.abs(wide), np.abs(narrow)) + ROUGH * np.abs(rate).max(
            initial=1.0
        )
        if smooth.all():
            return rate, (4 * narrow - wide) / 3
        bends = [np.abs(rate - 2 * beside[side] + beside[2 * side]).max() for side in (-1, 1)]
        side = -1 if bends[0] < bends[1] else 1
        return rate, side * (4 * beside[side] - 3 * rate - beside[2 * side]) / (2 * NUDGE)

    def look(x: np.ndarray, t: np.ndarray) -> Look:
        rows = [one(a, float(b)) for a, b in zip(x, t)]
        rate, second = (np.array(column) for column in zip(*rows))
        return Look(rate, second, rate[:, n : 2 * n], second[:, n : 2 * n])

    return look


def _programmed(result: Result, plant: ProgrammedPlant, integrator: str) -> JerkSource:
    plant = replace(plant, formulation="multipliers", independent=(), traced={})
    found = kernel("second", plant, integrator)
    p, n = np.array(values_of(plant)), plant.robot.n

    def look(x: np.ndarray, t: np.ndarray) -> Look:
        rate, second = found(x, p, t)
        return Look(rate, second, rate[:, n : 2 * n], second[:, n : 2 * n])

    return JerkSource(_states(result, plant.layout), lambda k: look)


def _kinematic(result: Result, s: Scenario) -> JerkSource:
    """Resolved rates differentiated twice along their own motion."""
    if s.tasks:
        raise _Unknown("a list of tasks is differentiated once only")
    arm, n = Arm(s.robot).facing(turn_of(s)), s.robot.n
    rows, reference = task_rows(arm), table_of(s.reference)

    def traced(q: Any, breaks: Any, coefficients: Any, t: Any) -> Any:
        table = native.table(breaks, coefficients)
        first = table.derivative()
        qd = law(s, arm, q, table(t)[rows], first(t)[rows])
        rates = {t: 1.0, **dict(zip(q, qd))}
        qdd = native.time_derivative(qd, rates)
        return {"qd": qd, "qdd": array(qdd), "jerk": array(native.time_derivative(qdd, rates))}

    shapes: dict[str, tuple[Any, ...]] = {
        "q": (n,),
        "breaks": ("m+1",),
        "coefficients": ("m", reference.coefficients.shape[1], 6),
        "t": (),
    }
    name = f"{s.robot.name}.kinematic_jerk"
    parts = identity(s.robot, s.criteria, s.gain, Arm, arm.turn)
    kernel = native.kernel_of(traced, shapes, name, parts, ("breaks", "coefficients"))

    def look(x: np.ndarray, t: np.ndarray) -> Look:
        qd, qdd, jerk = kernel(x, reference.breaks, reference.coefficients, t)
        return Look(qd, qdd, qdd, jerk)

    return JerkSource(_runs(np.asarray(result.arrays["q"], float)), lambda k: look)


def _along_reference(result: Result, s: Scenario) -> JerkSource:
    q = _runs(np.asarray(result.arrays["q"], float))
    reference: Trajectory = s.reference
    if reference.space == "joint":
        return JerkSource(q, lambda k: timed(reference))
    turned = has_orientation(reference)
    task = movable(s.robot, Task.of("pose" if turned else "position"))
    rows = [] if task is None else list(task.parts[0][1])
    if s.robot.n > len(rows):
        if turned:
            raise _Unknown("a redundant arm that keeps an orientation follows no law of its own")
        return _kinematic(result, s)
    return JerkSource(q, lambda k: _by_jacobian(s, rows, turned))


def timed(reference: Trajectory) -> Looking:
    """A joint trajectory: everything follows from the time."""

    def look(x: np.ndarray, t: np.ndarray) -> Look:
        _, qd, qdd, jerk = np.asarray(reference.derivatives(t, 3))
        return Look(qd, qdd, qdd, jerk)

    return look


def _by_jacobian(s: Scenario, rows: list[int], turned: bool) -> Looking:
    reference: OrientedTrajectory = s.reference
    mechanism = mechanism_of(s.robot)

    def jacobian(*motion: np.ndarray) -> list[np.ndarray]:
        """J and its derivatives in time, (M, rows, n) each, from q, qd, …"""
        factor = (1.0, 1.0, 0.5)
        joints = np.empty(s.robot.n, object)
        for i in range(s.robot.n):
            joints[i] = Jet([part[:, i] * f for part, f in zip(motion, factor)], 1)
        J = kinematics.jacobian(mechanism, joints)[rows]
        out = [np.zeros((len(motion[0]), *J.shape)) for _ in motion]
        for index, entry in np.ndenumerate(J):
            for k in range(len(motion)):
                if isinstance(entry, Jet):
                    out[k][(slice(None), *index)] = entry.coefficients[k] / factor[k]
                elif k == 0:
                    out[0][(slice(None), *index)] = float(entry)
        return out

    def solved(J: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (np.linalg.pinv(J) @ b[:, :, None])[:, :, 0]

    times = lambda A, v: (A @ v[:, :, None])[:, :, 0]  # noqa: E731

    def look(x: np.ndarray, t: np.ndarray) -> Look:
        d = np.asarray(reference.derivatives(t, 3))
        v, a, j = (np.zeros((len(t), 6)) for _ in range(3))
        v[:, :3], a[:, :3], j[:, :3] = d[1][:, :3], d[2][:, :3], d[3][:, :3]
        if turned:
            v[:, 3:], a[:, 3:] = reference.angular_velocity(t), reference.angular_acceleration(t)
            inside = np.clip(t, 2 * NUDGE, float(reference.duration) - 2 * NUDGE)
            turn = lambda e: (reference.angular_acceleration(inside + e) - reference.angular_acceleration(inside - e)) / (2 * e)  # noqa: E731  # fmt: skip
            j[:, 3:] = (4 * turn(NUDGE) - turn(2 * NUDGE)) / 3
        (J,) = jacobian(x)
        qd = solved(J, v[:, rows])
        J, Jd = jacobian(x, qd)
        qdd = solved(J, a[:, rows] - times(Jd, qd))
        J, Jd, Jdd = jacobian(x, qd, qdd)
        return Look(qd, qdd, qdd, solved(J, j[:, rows] - times(Jdd, qd) - 2 * times(Jd, qdd)))

    return look


class Look(NamedTuple):
    """What is known at states (M, size) and times (M,): first and second derivative of the state, acceleration, jerk (M, n)."""

    rate: np.ndarray
    second: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray


Following = Callable[[np.ndarray, np.ndarray], np.ndarray]
Looking = Callable[[np.ndarray, np.ndarray], Look]
