"""How fast does a closed loop run? Seven joints, PD with gravity compensation, RK4 with steps of 1 ms.

Ours (plant, controller, energy audit and divergence check in one compiled loop) against ``mujoco.rollout`` of the same arm with the same gains,
and against Pinocchio's articulated-body algorithm in an RK4 loop in Python; all in one process, one thread, taking turns, the fastest
window of each counts. Before anything is timed all three must arrive at the same posture.

Run: ``python benchmarks/bench_simulation.py`` (JSON on the standard output).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import manipula as mp
from manipula.bench.ours import machine
from manipula.bench.peers import mujoco_peer
from manipula.bench.peers.timing import GOAL, servo_gains
from manipula.control import ComputedTorque, PDGravity
from manipula.simulation.loops.setup import prepare_run
from manipula.simulation.stepping.grid import WHOLE, Grid

ARM = "panda"
STEP = 1e-3
ONE_STEPS, BATCH, BATCH_STEPS = 2000, 256, 100
PEER_STEPS, PEER_BATCH = 100, 16
ROUNDS, WINDOW = 40, 0.03  # s
SAME = 1e-6  # rad, after 200 steps
GOALS = {"one": 12.0, "batch": 35.0}


def take_turns(calls: dict[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """Nanoseconds per step: every call in turn, again and again; the fastest window of each."""
    best = dict.fromkeys(calls, float("inf"))
    for call, _ in calls.values():
        call()
    for _ in range(ROUNDS):
        for name, (call, steps) in calls.items():
            begin, count = time.perf_counter(), 0
            while time.perf_counter() - begin < WINDOW or count == 0:
                start = time.perf_counter()
                call()
                best[name] = min(best[name], (time.perf_counter() - start) * 1e9 / steps)
                count += 1
    return best


def steps_of(run: Any, steps: int) -> tuple[Any, ...]:
    """Inputs of the compiled loop behind state and parameters: so many steps, the last one recorded."""
    free = np.full(run.scenario.robot.n, np.inf)
    grid = Grid.of(np.array([0.0, steps * STEP]), np.zeros(0), -free, free)
    return *run.inputs, *grid, grid.count, 0.0, STEP, WHOLE


def ours(robot: mp.Robot, controller: Any, reference: Any = None) -> tuple[Any, Any, dict[str, float]]:
    """The compiled loop, its run, and how long compiling took."""
    scenario = mp.Scenario(
        robot=robot, controller=controller, reference=reference, q0=np.zeros(robot.n), duration=1.0, step=STEP, integrator="rk4",
        friction=(), drives=(), verify=False,
    )  # fmt: skip
    begin = time.perf_counter()
    run = prepare_run(scenario)
    kernel = run.loop.run
    traced = time.perf_counter()
    kernel(run.x0[0], run.p[0], *steps_of(run, 1))
    scalar = time.perf_counter()
    kernel(np.repeat(run.x0, 8, 0), np.repeat(run.p, 8, 0), *steps_of(run, 1), threads=1)
    done = time.perf_counter()
    return run, kernel, {"trace_s": traced - begin, "compile_one_s": scalar - traced, "compile_batch_s": done - scalar}


def loops(run: Any, kernel: Any) -> dict[str, tuple[Callable[[], object], int]]:
    x, p = np.repeat(run.x0, BATCH, 0), np.repeat(run.p, BATCH, 0)
    many, few = steps_of(run, ONE_STEPS), steps_of(run, BATCH_STEPS)
    return {
        "one": (lambda: kernel(run.x0[0], run.p[0], *many), ONE_STEPS),
        "batch": (
            lambda: kernel(x, p, *few, threads=1),
            BATCH * BATCH_STEPS,
        ),
    }


def mujoco_loops(path: Path) -> tuple[dict[str, tuple[Callable[[], object], int]], np.ndarray]:
    """MuJoCo's rollouts, and its posture after 200 steps."""
    import mujoco
    from mujoco import rollout

    model = mujoco_peer.closed_loop_model(path)
    data = mujoco.MjData(model)
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start, starts = np.zeros((1, size)), np.zeros((PEER_BATCH, size))
    goal, goals = np.full((1, PEER_STEPS, model.nu), GOAL), np.full((PEER_BATCH, PEER_STEPS, model.nu), GOAL)
    posture = rollout.rollout(model, data, start, np.full((1, 200, model.nu), GOAL))[0][0, -1, 1 : 1 + model.nq]
    calls: dict[str, tuple[Callable[[], object], int]] = {
        "mujoco one": (lambda: rollout.rollout(model, data, start, goal), PEER_STEPS),
        "mujoco batch": (lambda: rollout.rollout(model, data, starts, goals), PEER_STEPS * PEER_BATCH),
    }
    return calls, posture


def pinocchio_loop(path: Path) -> tuple[dict[str, tuple[Callable[[], object], int]], np.ndarray]:
    """Pinocchio in Python, and its posture after 200 steps."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    n, goal = model.nv, np.full(model.nv, GOAL)
    kp, kv = servo_gains(np.diag(pin.crba(model, data, goal)).copy())

    def rate(x: np.ndarray) -> np.ndarray:
        q, v = x[:n], x[n:]
        tau = kp * (goal - q) - kv * v + pin.computeGeneralizedGravity(model, data, q)
        return np.concatenate([v, pin.aba(model, data, q, v, tau)])

    def run(steps: int) -> np.ndarray:
        x = np.zeros(2 * n)
        for _ in range(steps):
            k1 = rate(x)
            k2 = rate(x + 0.5 * STEP * k1)
            k3 = rate(x + 0.5 * STEP * k2)
            k4 = rate(x + STEP * k3)
            x = x + STEP / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return x

    return {"pinocchio one": (lambda: run(20), 20)}, run(200)[:n]


def peers(robot: mp.Robot, path: Path, expected: np.ndarray) -> dict[str, tuple[Callable[[], object], int]]:
    """The loops of every peer that is installed and arrives where we do."""
    mp.save(robot, path)
    found: dict[str, tuple[Callable[[], object], int]] = {}
    for make in (mujoco_loops, pinocchio_loop):
        try:
            calls, posture = make(path)
        except ImportError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        if np.abs(posture - expected).max() > SAME:
            raise SystemExit(f"{make.__name__} arrives at {posture}, not at {expected}.")
        found |= calls
    return found


def main() -> None:
    robot = mp.load(ARM)
    goal = np.full(robot.n, GOAL)
    kp, kv = servo_gains(np.diag(mp.compile(robot).mass_matrix(goal)))
    run, kernel, compiling = ours(robot, PDGravity(kp, kv, goal=goal))
    samples = kernel(run.x0[0], run.p[0], *steps_of(run, 200))[0]
    expected = np.asarray(samples)[-1, : robot.n]
    reference = mp.trajectory(mp.paths.joint([[0.0] * robot.n, goal]), mp.timing.quintic(1.0))
    tracking, tracking_kernel, _ = ours(robot, ComputedTorque(100.0, 20.0), reference)
    with tempfile.TemporaryDirectory() as folder:
        calls = loops(run, kernel) | peers(robot, Path(folder) / f"{ARM}.urdf", expected)
        calls |= {f"computed torque {name}": call for name, call in loops(tracking, tracking_kernel).items()}
        times = take_turns(calls)
    ratios = {}
    for name, wanted in GOALS.items():
        for peer in ("mujoco", "pinocchio"):
            own = times.get(f"{peer} {name}", times.get(f"{peer} one"))
            if own is not None:
                ratios[f"{name} vs {peer}"] = {
                    "ratio": round(own / times[name], 1),
                    "goal": wanted if peer == "mujoco" else None,
                }
    if "mujoco one" in times:  # a batch of theirs may be slower a run than one alone: the sterner comparison
        ratios["batch vs mujoco one"] = {
            "ratio": round(times["mujoco one"] / times["batch"], 1),
            "goal": GOALS["batch"],
        }
    report = {
        "arm": ARM, "loop": "PD + gravity compensation, RK4, 1 ms", "ns_per_step": {k: round(v, 1) for k, v in times.items()},
        "steps_per_second": {k: round(1e9 / v) for k, v in times.items()}, "ratios": ratios, "compiling": compiling, "machine": machine(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }  # fmt: skip
    print(json.dumps(report, indent=2, default=str))


if __name__ == "__main__":
    main()
