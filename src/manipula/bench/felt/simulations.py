"""``mp.simulate`` of a Panda: one run and many beside MuJoCo's rollout, what a call costs at least, and large batches."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import manipula as mp
from manipula.bench.felt.rows import FeltRow, fastest
from manipula.bench.peers import mujoco_peer
from manipula.bench.peers.timing import GOAL, servo_gains

AGREEMENT = 1e-9  # rad; both integrate by RK4 with the same steps, so only rounding differs
VERIFIED = 1e-4  # relative; RK4 at 1 kHz is right to 3e-5 in these motions
PEER = "MuJoCo rollout"


def servo_scenario(q0: Any, duration: float, **options: Any) -> mp.Scenario:
    """A Panda under PD control with gravity compensation, from ``q0`` to the goal of every benchmark; RK4 at 1 kHz."""
    robot = mp.load("panda")
    kp, kv = servo_gains(np.diag(mp.compile(robot).mass_matrix(np.full(robot.n, GOAL))))
    controller = mp.control.PDGravity(kp, kv, goal=np.full(robot.n, GOAL))
    chosen = {"step": 1e-3, "integrator": "rk4", "friction": (), "verify": False, **options}
    return mp.Scenario(robot, controller=controller, q0=q0, duration=duration, **chosen)


def starts(runs: int) -> np.ndarray:
    """Where the runs begin (runs, 7), or (7,) for a single one."""
    q0 = np.random.default_rng(2).uniform(-0.5, 0.5, (runs, 7))
    return q0 if runs > 1 else q0[0]


def beside_rollout(
    runs: int, duration: float, goal: float, verified_goal: float | None, with_peers: bool = True
) -> list[FeltRow]:
    """The same motion by ``mp.simulate`` and by MuJoCo, on one thread and on all; its signals looked at or not; verified or not."""
    scenario = servo_scenario(starts(runs), duration)
    verified = scenario.replace(verify=True, tolerance=VERIFIED)
    result = mp.simulate(scenario).check()
    mp.simulate(verified).check()
    calls: dict[str, Callable[[], object]] = {
        "": partial(mp.simulate, scenario, threads=1),
        ", every signal looked at": partial(_looked_at, scenario),
        ", verify=True": partial(mp.simulate, verified, threads=1),
        ", verify=True, every signal looked at": partial(_looked_at, verified),
    }
    goals = [goal, None, verified_goal, None]
    if runs > 1:
        calls[", all threads"] = partial(mp.simulate, scenario)
        goals.append(None)
    rollout = _rollout(scenario, result) if with_peers and mujoco_peer.available() else None
    times = fastest(*calls.values(), *([] if rollout is None else [rollout]))
    theirs = None if rollout is None else times[len(calls)]
    name = f"simulate: a Panda, {duration:g} s" if runs == 1 else f"simulate: {runs} Pandas, {duration:g} s each"
    return [FeltRow(name + label, t, wanted, PEER, theirs) for label, t, wanted in zip(calls, times, goals)]


def _looked_at(scenario: mp.Scenario) -> dict[str, np.ndarray]:
    """Derived signals are computed when they are looked at: all of them here."""
    return dict(mp.simulate(scenario, threads=1).arrays)


def _rollout(scenario: mp.Scenario, result: mp.Result) -> Callable[[], np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.urdf"
        mp.save(scenario.robot, str(path))
        rollout = mujoco_peer.rollout_of(path, np.atleast_2d(scenario.q0), scenario.steps)
    theirs = rollout()
    ours = result.q.reshape(len(theirs), -1, scenario.robot.n)[:, 1:]
    gap = float(np.abs(ours - theirs).max())
    if gap > AGREEMENT:
        raise RuntimeError(f"MuJoCo's motion differs from ours by {gap:.1e} rad.")
    return rollout


def fixed_cost(steps: int = 10) -> list[FeltRow]:
    """What a call costs that has hardly anything to do, for a scenario met before and for one with other gains every time."""
    scenario = servo_scenario(starts(1), steps * 1e-3)
    controllers = [mp.control.PDGravity(50.0 + i, 5.0, goal=(GOAL,) * 7) for i in range(7)]
    turn = iter(range(10**9))
    calls = (
        lambda: mp.simulate(scenario),
        lambda: mp.simulate(scenario.replace(controller=controllers[next(turn) % len(controllers)])),
        lambda: mp.simulate(scenario.replace(verify=True)),
    )
    labels = ("", ", other gains every time", ", verify=True")
    return [
        FeltRow(f"simulate: {steps} steps, warm{label}", seconds, 0.6e-3 if not label else None)
        for label, seconds in zip(labels, fastest(*calls))
    ]


def large_batches(runs: int = 10_000, loaded_runs: int = 200, duration: float = 1.0) -> list[FeltRow]:
    """Batches on all threads: with noise, and with LuGre friction under the loads of the joints."""
    law = mp.friction.LuGre(100.0, 0.3, 0.1, v_stribeck=0.1, mu_static=0.15, mu_kinetic=0.1, diameter=0.02)
    noisy = servo_scenario(starts(runs), duration, noise=mp.Noise(1e-4, 1e-3), sample=duration / 10)
    loaded = servo_scenario(starts(loaded_runs), duration, friction=law, step=5e-4, sample=duration / 100)
    rows = []
    for what, scenario, goal in (
        (f"{runs} × {duration:g} s with noise, 11 samples", noisy, 6.0),
        (f"{loaded_runs} × {duration:g} s, LuGre with loads, 101 samples", loaded, 3.0),
    ):
        mp.simulate(scenario).check()
        rows.append(FeltRow(f"simulate: {what}", fastest(partial(mp.simulate, scenario))[0], goal))
    return rows
