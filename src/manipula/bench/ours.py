"""Our own times for one arm."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from manipula.bench.machine_loops import ROWS, batch_nanoseconds, scalar_nanoseconds
from manipula.bench.peers.timing import GOAL, nanoseconds, servo_gains
from manipula.model import Model
from manipula.robot.robot import Robot

FUNCTIONS = (
    "inverse_dynamics", "mass_matrix", "forward_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives",
    "forward_kinematics",
)  # fmt: skip
BATCH = 4096
CACHED = 512  # rows whose inputs and results stay in the second cache, as the states of the other libraries' loops do


def time_model(robot: Robot, functions: tuple[str, ...] = FUNCTIONS) -> dict[str, dict[str, float]]:
    """For every function: operations, trace and compile seconds, ns per state in scalar code, in a batch
    (machine code alone; and from Python with 4096 rows), and per Python call."""
    rng = np.random.default_rng(1)
    n = robot.n
    q, qd, qdd = rng.uniform(-2, 2, (BATCH, n)), rng.normal(size=(BATCH, n)), rng.normal(size=(BATCH, n))
    table: dict[str, dict[str, float]] = {}
    for name in functions:
        model = Model(robot)
        real = "pose" if name == "forward_kinematics" else name
        kernel = model.kernel(real)
        arguments = [{"q": q, "qd": qd, "qdd": qdd, "tau": qdd}[k] for k in kernel.graph.inputs]
        one = [a[0].copy() for a in arguments]
        begin = time.perf_counter()
        fast = kernel.fast
        fast(*one)
        scalar_compile = time.perf_counter() - begin
        begin = time.perf_counter()
        kernel(*arguments, threads=1)
        batch_compile = time.perf_counter() - begin
        outs = kernel(*arguments, threads=1)
        outs = list(outs) if isinstance(outs, tuple) else [outs]
        table[name] = {
            "operations": kernel.operation_count()["total"],
            "trace_seconds": kernel.trace_seconds,
            "compile_one_seconds": scalar_compile,
            "compile_batch_seconds": batch_compile,
            "one": scalar_nanoseconds(kernel, *(a[:ROWS] for a in arguments)),
            "batch": batch_nanoseconds(kernel, *(a[:CACHED] for a in arguments)),
            "batch_call": nanoseconds(
                lambda k=kernel, a=arguments, o=outs: k(*a, out=tuple(o) if len(o) > 1 else o[0], threads=1)
            )
            / BATCH,
            "call": nanoseconds(lambda f=fast, a=one: f(*a)),
        }
    return table


def time_loop(robot: Robot) -> dict[str, float]:
    """Closed loop, PD + gravity compensation, RK4 at 1 kHz, whole loop native: ns per step for one robot and in a batch."""
    from manipula.control import PDGravity
    from manipula.simulation.loops.fixed import run_fixed
    from manipula.simulation.loops.setup import prepare_run
    from manipula.simulation.scenario import Scenario

    M = Model(robot).mass_matrix(np.full(robot.n, GOAL))
    kp, kv = servo_gains(np.diag(M))  # the gains of every other library here, stable at 1 kHz
    times = {}
    for label, runs, steps in (("one", 1, 2000), ("batch", 256, 500)):
        q0 = np.random.default_rng(2).uniform(-0.5, 0.5, (runs, robot.n))
        scenario = Scenario(
            robot=robot, controller=PDGravity(kp, kv, goal=np.full(robot.n, GOAL)), q0=q0, duration=steps * 1e-3, step=1e-3,
            sample=steps * 1e-3, integrator="rk4", friction=(), verify=False,
        )  # fmt: skip
        run = prepare_run(scenario)
        if np.isfinite(run_fixed(run, threads=1).stopped).any():
            raise RuntimeError(f"The closed loop of '{robot.name}' diverges; its time would mean nothing.")
        times[label] = nanoseconds(lambda r=run: run_fixed(r, threads=1)) / (runs * steps)
    return times


def first_and_cached(name: str) -> dict[str, float]:
    """Seconds to the first inverse and forward dynamics of a catalog arm in a fresh process, after imports and the start of LLVM.

    Once with nothing stored, then from the object cache.
    """
    program = (
        "import sys, time, numpy as np, manipula as mp\n"
        "robot = mp.load(sys.argv[1]); q = np.zeros(robot.n)\n"
        "import manipula.model; mp.native.compile_function(lambda x: 2.0 * x, {'x': (3,)})(np.zeros(3))\n"
        "begin = time.perf_counter(); mp.compile(robot).inverse_dynamics(q, q, q); print(time.perf_counter() - begin)\n"
        "begin = time.perf_counter(); m = mp.compile(robot); m.forward_dynamics(q, q, q); print(time.perf_counter() - begin)\n"
    )
    import tempfile

    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o700)
        environment = {**os.environ, "MANIPULA_CACHE_DIR": folder}
        for label in ("first", "cached"):
            best = [float("inf")] * 2
            for _ in range(1 if label == "first" else 3):
                done = subprocess.run(
                    [sys.executable, "-c", program, name], env=environment, capture_output=True, text=True, check=True
                )
                best = [min(a, float(b)) for a, b in zip(best, done.stdout.split())]
            found[f"{label}_inverse_dynamics"], found[f"{label}_forward_dynamics"] = best
    return found


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    import platform

    from manipula.native.host import host
    from manipula.simulation.provenance import versions

    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        model = next(
            (
                line.split(":", 1)[1].strip()
                for line in cpuinfo.read_text().splitlines()
                if line.startswith("model name")
            ),
            "",
        )
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return {"cpu": model or platform.processor(), "llvm_cpu": host().cpu, "cores": os.cpu_count(), "system": platform.platform(terse=True),
            "load": round(load, 2), **versions()}  # fmt: skip
