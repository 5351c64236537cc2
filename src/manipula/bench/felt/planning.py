"""Planning and inverse kinematics: the same problems given to toppra, ruckig and EAIK, and targets that cannot be met."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import manipula as mp
from manipula.bench.felt.rows import FeltRow, fastest
from manipula.bench.peers import eaik_peer, ruckig_peer, toppra_peer

ACCELERATION = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])  # rad/s², of a Panda; its jerk is ten times that
SAME_DURATION = 2e-3  # relative: the grids are even in arc length (ours) and in the chord (toppra)
SAME_MOVE = 1e-9  # relative: closed forms on both sides
SAME_POSTURE = 1e-5  # rad
REACHED = 1e-7  # what EAIK's postures must reach to be counted: it also gives least-squares answers


def _limits(robot: mp.Robot) -> tuple[np.ndarray, np.ndarray]:
    found = [j.limits for j in robot.joints]
    return np.array([x.velocity for x in found]), np.array([x.effort for x in found])


def fastest_motion(points: int = 1000, with_peers: bool = True) -> list[FeltRow]:
    """``time_optimal`` along a spline through six postures of a Panda, within velocity, acceleration and torque.

    toppra imposes the limits at its grid points; so does ours when it is asked to, and by default refines the grid and slows
    down until they hold between the points too.
    """
    robot = mp.load("panda")
    model = mp.compile(robot)
    velocity, torque = _limits(robot)
    postures = np.random.default_rng(3).uniform(-1.0, 1.0, (6, robot.n))
    options: dict[str, Any] = {
        "velocity": velocity, "acceleration": ACCELERATION, "torque": torque, "inverse_dynamics": model.inverse_dynamics, "points": points,
    }  # fmt: skip
    once = {**options, "strict": False, "tolerance": 100.0}
    ours = lambda chosen: mp.time_optimal(mp.paths.joint(postures), **chosen)  # noqa: E731
    theirs = None
    if with_peers and toppra_peer.available():
        theirs = partial(
            toppra_peer.fastest_motion, postures, velocity, ACCELERATION, torque, model.inverse_dynamics, points
        )
        _agree("toppra's motion", theirs(), ours(once).duration, SAME_DURATION)
    times = fastest(partial(ours, options), partial(ours, once), *([] if theirs is None else [theirs]))
    peer = None if theirs is None else times[2]
    what = f"time_optimal, {points} points, velocity + acceleration + torque"
    return [
        FeltRow(f"{what}, limits kept between the points", times[0], 10.0, "toppra", peer),
        FeltRow(f"{what}, limits at the points", times[1], None, "toppra", peer),
    ]


def joint_moves(with_peers: bool = True) -> list[FeltRow]:
    """``joint_move`` of seven joints from rest to rest, each side from plain arrays."""
    velocity, _ = _limits(mp.load("panda"))
    start, goal = np.zeros(7), np.random.default_rng(3).uniform(-1.0, 1.0, 7)
    jerk = 10.0 * ACCELERATION
    ours = partial(mp.joint_move, start, goal, velocity=velocity, acceleration=ACCELERATION, jerk=jerk)
    looked = lambda: (move := ours()).derivatives(0.5 * move.duration, 2)  # noqa: E731
    calls: list[Callable[[], object]] = [ours, looked]
    if with_peers and ruckig_peer.available():
        theirs = partial(ruckig_peer.joint_move, start, goal, velocity, ACCELERATION, jerk)
        halfway = lambda: (move := theirs()).at_time(0.5 * move.duration)  # noqa: E731
        _agree("ruckig's move", theirs().duration, ours().duration, SAME_MOVE)
        gap = float(np.abs(np.array(halfway()[0]) - looked()[0]).max())
        if gap > SAME_POSTURE:
            raise RuntimeError(f"ruckig's move is {gap:.1e} rad from ours halfway.")
        calls += [theirs, halfway]
    times = fastest(*calls)
    peer = times[2:] or [None, None]
    return [
        FeltRow("joint_move, 7 joints", times[0], 0.5, "ruckig", peer[0]),
        FeltRow("joint_move, 7 joints, looked at halfway", times[1], None, "ruckig", peer[1]),
    ]


def all_postures(names: tuple[str, ...] = ("puma560", "ur5e"), with_peers: bool = True) -> list[FeltRow]:
    """Every posture of an arm at a pose, by closed form; EAIK knows no joint limits, so none are kept."""
    rows = []
    for name in names:
        model = mp.compile(mp.load(name))
        X = model.pose(np.array([0.3, -0.8, 1.1, 0.7, 0.9, -0.4]))
        ours = partial(mp.solve_ik, model, X, all_solutions=True, limits=False)
        theirs = None
        if with_peers and eaik_peer.available():
            theirs = eaik_peer.postures(model.robot, X)
            found = theirs()
            found = found[np.abs(model.pose(found) - X).max(axis=(1, 2)) < REACHED]
            gap = np.abs(np.angle(np.exp(1j * (found[:, None] - ours().q)))).max(axis=2).min(axis=1)
            if not len(gap) or gap.max() > SAME_POSTURE:
                raise RuntimeError(f"EAIK's postures of '{name}' are not ours: {gap} rad apart.")
        times = fastest(ours, *([] if theirs is None else [theirs]))
        rows.append(
            FeltRow(f"solve_ik, all solutions of '{name}'", times[0], 0.7, "EAIK", None if theirs is None else times[1])
        )
    return rows


def failing_ik() -> list[FeltRow]:
    """Targets of a Panda that no posture meets: beyond its reach, beyond its limits, and within reach but not turned like that."""
    model = mp.compile(mp.load("panda"))
    rows = []
    for words, place, turn in (
        ("out of reach", (2.0, 0.0, 1.0), (1.0, -1.0, -1.0)),
        ("beyond joint limits", (0.0, 0.0, 0.05), (1.0, -1.0, -1.0)),
        ("a turn that is not reached", (0.8, 0.0, 0.3), (-1.0, -1.0, 1.0)),
    ):
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = np.diag(turn), place
        call = partial(mp.solve_ik, model, X)
        if call().status == "solved":
            raise RuntimeError(f"The target '{words}' was reached.")
        rows.append(FeltRow(f"solve_ik that fails: {words}", fastest(call)[0], 3e-3))
    return rows


def _agree(what: str, theirs: float, ours: float, tolerance: float) -> None:
    if abs(theirs - ours) > tolerance * ours:
        raise RuntimeError(f"{what} takes {theirs:.6g} s, ours {ours:.6g} s.")
