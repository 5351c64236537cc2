"""How fast and how reliable is inverse kinematics, beside Robotics Toolbox, EAIK and a Pinocchio loop?

Targets are poses of random configurations within the limits (joints without limits: one turn), so every one is reachable. "Solved" means
that forward kinematics confirms 1e-6 m and 1e-6 rad and that the limits are kept. Peers that are not installed are reported as missing.

Run: ``python benchmarks/bench_ik.py`` (JSON on the standard output; ``--quick`` takes 100 times fewer targets).
"""

from __future__ import annotations

import importlib
import json
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import manipula as mp
from manipula.ik.search.joint_box import start_box
from manipula.ik.tracking.track import track
from manipula.motion.trajectory import Trajectory

ARMS = ("puma560", "ur5e", "iiwa14", "panda", "zlajpah-5r", "scara-khang")
RACED = ("puma560", "ur5e", "iiwa14", "panda")
CLOSE = 1e-6
TOOLBOX = 2e-13  # its tolerance is half the squared error: 6e-7 m or rad


def targets_of(name: str, count: int, seed: int = 1) -> tuple[mp.Model, np.ndarray]:
    model = mp.compile(mp.load(name))
    box = start_box(model.robot)
    return model, model.pose(np.random.default_rng(seed).uniform(box[:, 0], box[:, 1], (count, model.n)))


def met(model: mp.Model, q: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Which postures meet their targets and their limits."""
    Y = model.pose(q)
    low, high = model.robot.position_limits.T
    turn = 2 * np.arcsin(np.minimum(1.0, np.linalg.norm(Y[:, :3, :3] - X[:, :3, :3], axis=(1, 2)) / np.sqrt(8)))
    near = (np.linalg.norm(Y[:, :3, 3] - X[:, :3, 3], axis=1) < CLOSE) & (turn < CLOSE)
    return near & np.all((q >= low - 1e-9) & (q <= high + 1e-9), axis=1)


def timed(call: Callable[[np.ndarray], Any], X: np.ndarray) -> tuple[dict[str, float], list[Any]]:
    """Microseconds of one call (wall clock and this thread's own time): median, 99 %, largest."""
    for x in X[:20]:
        call(x)
    wall, own, answers = [], [], []
    for x in X:
        a, b = time.perf_counter_ns(), time.thread_time_ns()
        answers.append(call(x))
        own.append(time.thread_time_ns() - b)
        wall.append(time.perf_counter_ns() - a)
    out = {}
    for label, times in (("wall", wall), ("cpu", own)):
        micro = np.array(times) / 1e3
        out |= {
            f"{label}_median": round(float(np.median(micro)), 2),
            f"{label}_p99": round(float(np.percentile(micro, 99)), 2),
        }
    return out, answers


def single(count: int) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for name in RACED:
        model, X = targets_of(name, count)
        here: dict[str, Any] = {}
        for method in ("auto", "levenberg_marquardt"):
            times, found = timed(lambda x, m=method, k=model: mp.solve_ik(k, x, m), X)
            q = np.array([f.q for f in found])
            here[f"manipula {method}"] = times | {"unsolved": int(np.sum(~met(model, q, X))), "of": count}
        here["Robotics Toolbox ik_LM (chan)"] = toolbox(model, X)
        here["Pinocchio loop in Python"] = pinocchio_loop(model, X[: max(20, count // 50)])
        here["EAIK"] = eaik(model, X)
        report[name] = here
    return report


def batches(count: int) -> dict[str, Any]:
    report = {}
    for name in ARMS:
        model, X = targets_of(name, count, 2)
        for method in ("auto", "levenberg_marquardt"):
            mp.solve_ik(model, X[:500], method)
            wall, own = time.perf_counter(), time.thread_time()
            found = mp.solve_ik(model, X, method)
            own, wall = time.thread_time() - own, time.perf_counter() - wall
            report[f"{name} {method}"] = {
                "targets": count, "wall_s": round(wall, 3), "cpu_s": round(own, 3), "cpu_us_each": round(own / count * 1e6, 2),
                "unsolved": int(np.sum(~met(model, found.q, X))), "claimed_but_wrong": int(np.sum((found.status == "solved") & ~met(model, found.q, X))),
            }  # fmt: skip
    return report


# ---------------------------------------------------------------------- peers
def toolbox(model: mp.Model, X: np.ndarray) -> Any:
    """The same arm as elementary transforms of Robotics Toolbox, its C solver, tolerance as above."""
    try:
        rtb = importlib.import_module("roboticstoolbox")
        SE3 = importlib.import_module("spatialmath").SE3
    except ImportError:
        return "missing: pip install roboticstoolbox-python"
    robot = model.robot
    ets = rtb.ETS([rtb.ET.SE3(SE3(robot.base.matrix().astype(float), check=False))])
    for i, joint in enumerate(robot.joints):
        from manipula.algebra.rotation import align_z

        R = np.eye(4)
        R[:3, :3] = np.asarray(align_z(np.array(joint.axis, float)), float)
        low, high = robot.position_limits[i]
        limits = (
            {"qlim": np.array([low, high])} if np.isfinite([low, high]).all() else {"qlim": np.array([-np.pi, np.pi])}
        )
        moving = rtb.ET.Rz(**limits) if joint.is_revolute else rtb.ET.tz(**limits)
        fixed = joint.placement.matrix().astype(float)
        ets = ets * rtb.ET.SE3(SE3(fixed @ R, check=False)) * moving
        ets = ets * rtb.ET.SE3(SE3(np.linalg.inv(R) @ robot.links[i].frame.matrix().astype(float), check=False))
    ets = ets * rtb.ET.SE3(SE3(robot.tip_frame.pose.matrix().astype(float), check=False))
    rng = np.random.default_rng(0)
    box = start_box(robot)
    q = rng.uniform(box[:, 0], box[:, 1])
    if np.abs(np.asarray(ets.eval(q)) - model.pose(q)).max() > 1e-9:
        return "not compared: the arm could not be rebuilt"
    times, found = timed(lambda x: ets.ik_LM(x, method="chan", joint_limits=True, tol=TOOLBOX), X)
    answers = np.array([f.q if hasattr(f, "q") else f[0] for f in found])
    return times | {"unsolved": int(np.sum(~met(model, answers, X))), "of": len(X)}


def pinocchio_loop(model: mp.Model, X: np.ndarray, starts: int = 30, iterations: int = 200) -> Any:
    """Closed-loop inverse kinematics as Pinocchio's example writes it, with random restarts inside the limits."""
    try:
        pin = importlib.import_module("pinocchio")
        sys.path.insert(0, "tests")
        judge = importlib.import_module("oracles").Judge(model.robot)
    except ImportError:
        return "missing: pip install pin"
    box = start_box(model.robot)
    low, high = model.robot.position_limits.T
    rng = np.random.default_rng(0)
    frame = judge.frame_ids["tip"]

    def solve(x: np.ndarray) -> np.ndarray:
        goal = pin.SE3(x)
        for _ in range(starts):
            q = judge.theirs(rng.uniform(box[:, 0], box[:, 1]))
            for _ in range(iterations):
                pin.computeJointJacobians(judge.model, judge.data, q)
                pin.updateFramePlacements(judge.model, judge.data)
                miss = judge.data.oMf[frame].actInv(goal)
                e = pin.log(miss).vector
                if np.linalg.norm(e) < 1e-8:
                    found = judge.ours(q)
                    if np.all((found >= low) & (found <= high)):
                        return found
                    break
                J = pin.getFrameJacobian(judge.model, judge.data, frame, pin.LOCAL)
                J = pin.Jlog6(miss.inverse()) @ J
                q = q + J.T @ np.linalg.solve(J @ J.T + 1e-6 * np.eye(6), e)
        return judge.ours(q)

    times, found = timed(solve, X)
    return times | {"unsolved": int(np.sum(~met(model, np.array(found), X))), "of": len(X)}


def eaik(model: mp.Model, X: np.ndarray) -> Any:
    """EAIK's closed forms (all branches, no limits); revolute arms of six joints only."""
    try:
        kind = importlib.import_module("eaik.IK_HP").HPRobot
    except ImportError:
        return "missing: pip install EAIK"
    if model.n != 6:
        return "not compared: seven joints"
    from manipula.physics.kinematics import place
    from manipula.physics.mechanism import mechanism_of

    where = place(mechanism_of(model.robot), np.zeros(6))
    axes = np.array([np.asarray(R, float)[:, 2] for R in where.R]).T
    origins = np.array([np.asarray(p, float) for p in where.p] + [model.position(np.zeros(6))])
    steps = np.diff(np.vstack([np.zeros(3), origins]), axis=0).T
    arm = kind(axes, steps, model.pose(np.zeros(6))[:3, :3])
    times, found = timed(arm.IK, X)
    return times | {"postures_each": float(np.mean([np.shape(f.Q)[0] for f in found]))}


# ---------------------------------------------------------------------- tracking
class Image(Trajectory):
    """The tip's motion under a joint motion within the limits: feasible by construction."""

    has_orientation = True

    def __init__(self, model: mp.Model, joints: Trajectory) -> None:
        self.model, self.joints = model, joints
        self.duration, self.dimension, self.space = joints.duration, 3, "task"

    @property
    def breaks(self) -> np.ndarray:
        return self.joints.breaks

    def pose(self, t: Any) -> np.ndarray:
        return self.model.pose(self.joints.position(t))

    def derivatives(self, t: Any, order: int = 3, side: Any = "right") -> np.ndarray:
        return self.model.position(self.joints.position(t))[None]


def tracking(count: int) -> dict[str, Any]:
    model = mp.compile(mp.load("panda"))
    ends = np.random.default_rng(3).uniform(*model.robot.position_limits.T, (count, 2, 7))
    lost, seconds = 0, []
    for pair in ends:
        path = Image(model, mp.trajectory(mp.paths.joint(pair), mp.timing.quintic(2.0)))
        begin = time.perf_counter()
        lost += not track(model, path).ok
        seconds.append(time.perf_counter() - begin)
    return {
        "paths": count,
        "lost": lost,
        "median_s": round(float(np.median(seconds)), 3),
        "largest_s": round(max(seconds), 3),
    }


def main() -> None:
    quick = "--quick" in sys.argv
    report = {
        "machine": {"python": platform.python_version(), "processor": platform.machine(), "system": platform.system()},
        "one call, microseconds": single(100 if quick else 5000),
        "batches on one thread": batches(1000 if quick else 100_000),
        "random feasible Panda paths": tracking(2 if quick else 40),
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
