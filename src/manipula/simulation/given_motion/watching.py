"""A given motion on a fine grid of times and at every known instant: what it asks of the machine between the samples that were asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from manipula.model import Model
from manipula.robot.robot import Robot
from manipula.simulation.carried_points import Carrying
from manipula.simulation.given_motion.torques import MotionTable, observed, remembered
from manipula.simulation.limit_checks import Peak, peaks_of
from manipula.simulation.loops.loop import CompiledLoop
from manipula.simulation.plant.layout import StateLayout
from manipula.simulation.plant.numbers import paths_of
from manipula.simulation.point_motion import point_rates
from manipula.simulation.scenario import Scenario
from manipula.simulation.stated_limits import stated_limits
from manipula.simulation.stepping.corners import ASIDE, Jump, changes, hard
from manipula.simulation.stepping.grid import every, margin, watch_step
from manipula.simulation.stepping.instants import tabled_marks

if TYPE_CHECKING:
    from manipula.motion.trajectory import OrientedTrajectory

INSTANTS = (".start", ".stop", ".time")
CORNER = 1e-6  # of the largest velocity: a smaller jump is rounding
ROUNDING = 1e-9  # of the largest part of a jump: less of it in a joint, a torque or at the tip is none
MOST = 20_000_000  # numbers of one run beyond which only its samples are looked at, and the verdict says so


class Seen(NamedTuple):
    """Signals of one run at times t (S,), and just before them where they may jump: (S, n) each.

    Attributes:
        torn: ±inf where a signal is infinite because the motion jumps, else NaN; "tip" (S,): the acceleration of the tip.
    """

    t: np.ndarray
    after: Mapping[str, np.ndarray]
    before: Mapping[str, np.ndarray]
    torn: Mapping[str, np.ndarray]


def looks(s: Scenario) -> np.ndarray:
    """When a motion is looked at, besides its known instants."""
    end = float(s.duration or 0.0)
    return every(watch_step(s.step, end), end)


def too_long(s: Scenario, size: int) -> bool:
    """Does a run whose state has this size ask for more looks than are taken?"""
    end = float(s.duration or 0.0)
    return end / watch_step(s.step, end) * size > MOST


def watched(
    s: Scenario,
    robot: Robot | None,
    loop: CompiledLoop,
    p: np.ndarray,
    motion: Callable[[], MotionTable],
    found: list[Jump],
) -> Seen | None:
    """The motion of one run where its samples leave something out; None where they do not, or nothing asks for it.

    Args:
        robot: of this run, with numbers in it. p: the numbers of the run, (k,). motion: gives its motion. found: where the reference jumps.
    """
    if not stated_limits(s.robot, s.limits, parameters=s.parameters) and s.actuator.limit is None:
        return None
    table = motion()
    plant, end = loop.plant, float(s.duration or 0.0)
    own = [k for k, path in enumerate(paths_of(plant)) if path.startswith("disturbances") and path.endswith(INSTANTS)]
    known = np.append(s.times, [j.t for j in found])
    if too_long(s, plant.layout.size):
        times = np.unique(known)
    else:
        instants = np.concatenate([looks(s), table.breaks, p[own], tabled_marks((plant.base_motion,))])
        times = np.unique(np.append(known, instants[(instants > 0.0) & (instants < end)]))
    if len(times) == len(s.times) and not jumping(table).size and not found:
        return None
    seen = _signals_at(s, robot, loop, p, table, found, times)
    tops = _tops(seen)
    return _signals_at(s, robot, loop, p, table, found, np.unique(np.append(times, tops))) if len(tops) else seen


def _tops(seen: Seen) -> np.ndarray:
    """Where the largest and the smallest value of every signal lie: between the looks, by the parabola through three of them."""
    found = []
    for values in seen.after.values():
        for signed in (values, -values):
            k = np.clip(np.argmax(signed, axis=0), 1, max(1, len(seen.t) - 2))
            a, b, c = (np.take_along_axis(signed, k[None] + i, 0)[0] for i in (-1, 0, 1))
            left, right = seen.t[k] - seen.t[k - 1], seen.t[k + 1] - seen.t[k]
            up, down = (b - a) / left, (b - c) / right  # slopes towards the top
            with np.errstate(divide="ignore", invalid="ignore"):
                at = seen.t[k] + 0.5 * (up * right - down * left) / (up + down)
            found.append(at[(up + down > ROUNDING * np.abs(b)) & (at > seen.t[k - 1]) & (at < seen.t[k + 1])])
    return np.concatenate(found)


def _signals_at(
    s: Scenario,
    robot: Robot | None,
    loop: CompiledLoop,
    p: np.ndarray,
    table: MotionTable,
    found: list[Jump],
    times: np.ndarray,
) -> Seen:
    """The signals of one run at some times."""
    lay = loop.plant.layout
    bristles = slice(2 * lay.n, 2 * lay.n + sum(lay.friction))
    states = remembered(loop, p, table, None, times, s.tolerance).states if sum(lay.friction) else None

    def look(t: np.ndarray, motion: np.ndarray) -> dict[str, np.ndarray]:
        x = np.zeros((1, len(t), lay.size))
        x[0, :, : lay.n], x[0, :, lay.n : 2 * lay.n] = motion[0], motion[1]
        if states is not None:
            x[0, :, bristles] = states
        seen = observed(loop, x, p[None], t, motion[2][None])
        return {"q": motion[0], "qd": motion[1], "qdd": motion[2], "tau": seen["tau"][0], "power": seen["power"][0]}

    later = times + 4.0 * margin(times)  # what ends at an instant may still act on it
    later[-1] = times[-1]
    after = look(later, moved(table, times))
    before = look(np.maximum(times - 4.0 * margin(times), 0.0), moved(table, times, left=True))
    for name, values in before.items():  # nothing was before the start
        values[0] = after[name][0]
    step = after["qd"] - before["qd"]
    step[np.abs(step) <= CORNER * max(1e-12, float(np.abs(after["qd"]).max(initial=0.0)))] = 0.0
    step[[0, -1]] = 0.0  # a motion may begin and end with speed
    shift = np.zeros_like(step)
    if found:
        at = np.searchsorted(times, np.unique([j.t for j in found]))
        shift[at], own = _joint_jumps(s, found, after["q"][at])
        step[at] = np.where(own == 0.0, step[at], own)
    pushed = [observed(loop, _state(lay, after), p[None], times, qdd[None])["tau"][0] for qdd in (step, 0.0 * step)]
    return Seen(times, after, before, _torn(robot, after, before, shift, step, pushed[0] - pushed[1]))


def _state(lay: StateLayout, motion: Mapping[str, np.ndarray]) -> np.ndarray:
    x = np.zeros((1, len(motion["q"]), lay.size))
    x[0, :, : lay.n], x[0, :, lay.n : 2 * lay.n] = motion["q"], motion["qd"]
    return x


def _joint_jumps(s: Scenario, found: list[Jump], q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""What positions and velocities of the joints change by where the reference jumps, (m, n) each; q (m, n): the postures there.

    Along a task reference :math:`\Delta\dot q = J^+(\Delta v + k\Delta x)` with the gain k of a kinematic run.
    """
    reference: OrientedTrajectory = s.reference
    t, (shift, step) = changes(reference, found)
    if reference.space == "joint":
        return shift, step
    gain = s.gain if s.resolved_kind() == "kinematic" else 0.0
    rows = np.zeros((len(t), 6))
    rows[:, : step.shape[1]] = step + gain * shift
    J = np.asarray(Model(s.robot).jacobian(q))
    if not reference.has_orientation:
        return np.zeros_like(q), (np.linalg.pinv(J[:, :3]) @ rows[:, :3, None])[:, :, 0]
    aside = ASIDE * float(reference.duration)
    turn = np.asarray(reference.angular_velocity(t + aside)) - np.asarray(reference.angular_velocity(t - aside))
    rows[:, 3:] = hard(turn[None], np.asarray(reference.angular_velocity(s.times))[None])[0]
    return np.zeros_like(q), (np.linalg.pinv(J) @ rows[:, :, None])[:, :, 0]


def _torn(
    robot: Robot | None,
    after: Mapping[str, np.ndarray],
    before: Mapping[str, np.ndarray],
    shift: np.ndarray,
    step: np.ndarray,
    impulse: np.ndarray,
) -> dict[str, np.ndarray]:
    """±inf where a jump of positions (shift) or velocities (step) makes a signal infinite, else NaN."""

    def endless(part: np.ndarray) -> np.ndarray:
        small = ROUNDING * np.abs(part).max(axis=1, keepdims=True)
        return np.where(np.abs(part) > small, np.copysign(np.inf, part), np.nan)

    moving = np.maximum(np.abs(after["qd"]), np.abs(before["qd"]))
    out = {"qd": endless(shift), "qdd": endless(np.where(step == 0.0, shift, step)), "tau": endless(impulse)}
    out["power"] = endless(np.where(moving > ROUNDING * moving.max(initial=0.0), impulse, 0.0))
    if robot is not None and robot.tip is not None:
        tip = np.linalg.norm(point_rates(robot, "tip", after["q"], step, 0.0 * step)[1], axis=-1)
        out["tip"] = np.where(tip > ROUNDING * np.abs(step).max(axis=1), np.inf, np.nan)
    return out


def moved(table: MotionTable, t: np.ndarray, left: bool = False) -> np.ndarray:
    """Positions, velocities and accelerations (3, S, n) of a table of polynomials; ``left`` of a break: those of the piece before it.

    Before and after the table the joints rest.
    """
    piece = np.searchsorted(table.breaks, t, side="left" if left else "right") - 1
    inside = (piece >= 0) & (piece < len(table.coefficients))
    at = np.clip(piece, 0, len(table.coefficients) - 1)
    c = table.coefficients[at]
    u = np.clip(t - table.breaks[at], 0.0, np.diff(table.breaks)[at])[:, None]
    out = []
    for _ in range(3):
        value = np.zeros(c.shape[:2])
        for j in range(c.shape[2] - 1, -1, -1):
            value = value * u + c[:, :, j]
        out.append(value if not out else np.where(inside[:, None] | (t == table.breaks[-1])[:, None], value, 0.0))
        c = c[:, :, 1:] * np.arange(1, c.shape[2])
    return np.array(out)


def jumping(table: MotionTable) -> np.ndarray:
    """Breaks of a table at which a velocity or an acceleration jumps."""
    inner = table.breaks[1:-1]
    after, before = moved(table, inner)[1:], moved(table, inner, left=True)[1:]
    size = np.abs(after).max(axis=(1, 2), initial=0.0)[:, None, None]
    return inner[(np.abs(after - before) > CORNER * np.maximum(1e-12, size)).any(axis=(0, 2))]


def peaks(
    s: Scenario, robot: Robot | None, seen: Seen, run: int, until: float, moved: Carrying | None = None
) -> list[Peak]:
    """The extremes of one run against its limits, until its end; where a velocity jumps, accelerations and torques are infinite."""
    there = seen.t <= until
    sides = ({name: values[there] for name, values in side.items()} for side in (seen.after, seen.before, seen.torn))
    seen = Seen(seen.t[there], *sides)
    earlier = {
        name: np.where(np.isnan(seen.torn[name]), seen.before[name], seen.torn[name])
        for name in ("qd", "qdd", "tau", "power")
    }
    if "tip" in seen.torn:
        earlier["tip"] = seen.torn["tip"]
    limits = stated_limits(s.robot, s.limits, parameters=s.parameters)
    return peaks_of(robot, limits, seen.t, seen.after, earlier, run, s.is_batch, moved)
