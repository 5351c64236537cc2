"""How long do all postures of an arm take, in closed form and in general, beside EAIK and ssik?

Targets are poses of random configurations. "call" is one target from Python, "batch" the time per target of many on one thread. EAIK and ssik get the
arm's axes and offsets; both take every joint for a revolute one, so arms with slides are not given to them. The share of targets
whose own configuration is among the answers is "recovered". Peers that are not installed are left out.

Run: ``python benchmarks/bench_closed_form.py`` (JSON on the standard output; ``--quick`` for a short run).
"""

from __future__ import annotations

import importlib.util
import json
import math
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from manipula.ik.general.continuation import solve_6r_by_continuation

import manipula as mp
from manipula.ik.closed_form import ClosedForm, find
from manipula.ik.closed_form.geometry import lines_of
from manipula.ik.general import all_postures

ARMS = ("puma560", "ur5e", "stanford", "cobra600", "iiwa14", "panda")
PEERED = ("puma560", "ur5e")
BATCH = 20_000
SAME = 1e-6


def microseconds(call: Callable[[int], Any], count: int) -> dict[str, float]:
    """One call: the least and the median of ``count``."""
    for k in range(min(count, 20)):
        call(k)
    clock, spent = time.perf_counter, []
    for k in range(count):
        begin = clock()
        call(k)
        spent.append(clock() - begin)
    return {"least": round(1e6 * min(spent), 2), "median": round(1e6 * float(np.median(spent)), 2)}


def recovered(found: Callable[[int], np.ndarray], q: np.ndarray) -> float:
    """Share of targets whose own configuration is among the answers (angles modulo a turn; slides compare alike here)."""
    hits = 0
    for k, row in enumerate(q):
        answers = np.atleast_2d(found(k))
        if answers.size:
            gap = np.abs(answers - row)
            hits += bool(np.minimum(gap, np.abs(2 * math.pi - gap)).max(axis=1).min() < SAME)
    return hits / len(q)


def ours(form: ClosedForm, T: np.ndarray, q: np.ndarray, calls: int) -> dict[str, Any]:
    parameter = np.array([form.parameter_of(row) for row in q]) if form.parameter else None
    one = (lambda k: form.solve(T[k], parameter[k])) if parameter is not None else (lambda k: form.solve(T[k]))
    form.solve_batch(T[:64], None if parameter is None else parameter[:64])
    best = math.inf
    for _ in range(5):
        begin = time.perf_counter()
        form._pose_kernel(*([T] if parameter is None else [T, parameter]), threads=1)
        best = min(best, time.perf_counter() - begin)
    return {
        "form": form.name,
        "call_us": microseconds(one, calls),
        "batch_us": round(1e6 * best / len(T), 3),
        "recovered": recovered(one, q[:calls]),
    }


def peers(name: str, T: np.ndarray, q: np.ndarray, calls: int) -> dict[str, Any]:
    """EAIK and ssik on the same axes; the tool's rotation is taken off the targets."""
    lines = lines_of(mp.load(name))
    assert lines is not None
    points = np.array([a.p for a in lines.axes] + [lines.home[:3, 3]])
    H, P = np.array([a.h for a in lines.axes]), np.diff(points, axis=0, prepend=np.zeros((1, 3)))
    X = T.copy()
    X[:, :3, :3] = T[:, :3, :3] @ lines.home[:3, :3].T
    out: dict[str, Any] = {}
    if importlib.util.find_spec("eaik") is not None:
        from eaik.IK_HP import HPRobot  # type: ignore[import-not-found]

        robot = HPRobot(H, P)
        out["eaik"] = {
            "call_us": microseconds(lambda k: robot.IK(X[k]), calls),
            "recovered": recovered(lambda k: np.asarray(robot.IK(X[k]).Q), q[:calls]),
        }
    if importlib.util.find_spec("ssik") is not None:
        import ssik  # type: ignore[import-not-found]

        arm = ssik.Manipulator.from_axes(H, P)
        answer = lambda k: np.array([s.q for s in arm.solve(X[k], respect_limits=False)])  # noqa: E731
        out["ssik"] = {
            "call_us": microseconds(lambda k: arm.solve(X[k], respect_limits=False), min(calls, 200)),
            "recovered": recovered(answer, q[: min(calls, 200)]),
        }
    return out


def general(calls: int) -> dict[str, Any]:
    """A 6R arm without special geometry."""
    rng = np.random.default_rng(5)
    rows = [dict(zip(("a", "d", "alpha", "theta"), rng.uniform(-0.5, 0.5, 4) * [1, 1, 6, 6])) for _ in range(6)]
    robot = mp.from_dh(rows, "standard")
    q = rng.uniform(-math.pi, math.pi, (calls, 6))
    T = mp.compile(robot).pose(q)
    return {
        "elimination_and_search_us": microseconds(lambda k: all_postures(robot, T[k]), calls),
        "continuation_us": microseconds(lambda k: solve_6r_by_continuation(robot, T[k]), min(calls, 40)),
        "recovered": recovered(lambda k: all_postures(robot, T[k]).q, q),
    }


def main(quick: bool) -> dict[str, Any]:
    calls, batch = (50, 500) if quick else (2000, BATCH)
    report: dict[str, Any] = {
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
    }
    for name in ARMS:
        robot = mp.load(name)
        form = find(robot)
        assert form is not None
        rng = np.random.default_rng(1)
        q = rng.uniform(-math.pi, math.pi, (batch, robot.n)) * [1.0 if j.is_revolute else 0.2 for j in robot.joints]
        T = mp.compile(robot).pose(q)
        report[name] = {"ours": ours(form, T, q, calls)}
        if name in PEERED:
            report[name] |= peers(name, T, q, calls)
    report["general 6R"] = general(min(calls, 200))
    return report


if __name__ == "__main__":
    print(json.dumps(main("--quick" in sys.argv), indent=2))
