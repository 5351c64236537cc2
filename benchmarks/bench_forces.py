"""What do contacts, end stops, stiction and a moving base cost where nothing touches and no joint rests?

Time of a step of a PD loop with gravity compensation (RK4, 1 kHz) beside the same loop without the part, one run and 32 side by side, one thread;
the loops take turns, the fastest of many counts. Every joint moves all the time. Of a long and a short run of every loop the difference counts, so
that the start of a run (a thread, the samples) is no part of a step.

Run: ``python benchmarks/bench_forces.py`` (a table on the standard output).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import manipula as mp
from manipula.simulation.loops.fixed import grid_of, lag, steps_of
from manipula.simulation.loops.setup import prepare_run
from manipula.simulation.stepping.grid import WHOLE

ARMS = ("puma560", "panda")
RUNS = (1, 32)
DURATIONS, STEP = {1: (0.05, 0.45), 32: (0.02, 0.17)}, 1e-3  # s, by the number of runs
ROUNDS = 400
PLAIN = "nothing else"


def parts(n: int) -> dict[str, dict[str, Any]]:
    """What is measured: settings of a scenario by what they are called in the table."""
    below: Any = {"stiffness": 2e4, "point": (0.0, 0.0, -3.0)}
    law = {"static": 0.04, "kinetic": 0.03, "v_stribeck": 0.05}
    line = mp.trajectory(mp.paths.line([0, 0, 0], [0.5, 0, 0]), mp.timing.quintic(1.0))
    return {
        PLAIN: {},
        "a wall": {"contacts": (mp.contact.PlaneContact(**below),)},
        "a wall with friction": {"contacts": (mp.contact.PlaneContact(**below, friction=0.3),)},
        "end stops at all joints": {"contacts": (mp.contact.EndStop(stiffness=500.0, low=[-20.0] * n, high=[20.0] * n),)},
        "a base along a line": {"base_motion": mp.BaseMotion(motion=line)},
        "a base that is shaken and turned by formulas": {
            "base_motion": mp.BaseMotion(position=("0.05*sin(20*t)", 0, 0), rotation=(0, "0.1*sin(3*t)", 0))
        },
        "a wrench": {"disturbances": (mp.Wrench([0, 0, -20, 0, 0, 0]),)},
        "smoothed Coulomb friction in all joints": {"friction": [mp.friction.Coulomb(0.03)] * n},
        "Stribeck friction in all joints": {"friction": [mp.friction.Stribeck(**law)] * n},
        "stiction in all joints": {"friction": [mp.friction.Stiction(**law)] * n},
        "a control period of two steps": {"control_period": 2 * STEP},
        "encoders, differences behind a filter": {"encoder": mp.Encoder(resolution=1e-5, velocity="difference", filter_time=2 * STEP)},
        "a delay of a step and a half": {"actuator": mp.Actuator(delay=1.5 * STEP)},
        "other gains at an event": {"switches": (mp.Switch(when="q1 - 30", controller=_law(n, 0.06)),)},
        "stiction in all joints, slower than 6 v_s": {"friction": [mp.friction.Stiction(**{**law, "v_stribeck": 0.5})] * n},
    }  # fmt: skip


def loop(name: str, runs: int, duration: float, settings: dict[str, Any]) -> Callable[[], object]:
    """The compiled loop of a run (or of several), ready to be called."""
    robot = mp.load(name)
    n = robot.n
    q0 = 0.001 * np.arange(runs)[:, None] * np.ones(n)
    law = _law(n, 0.03)
    common = {"duration": duration, "sample": duration, "step": STEP, "integrator": "rk4", "verify": False}
    free = {"friction": [None] * n} if "friction" not in settings else {}
    scenario = mp.Scenario(robot, controller=law, q0=q0, qd0=np.full((runs, n), 0.5), **common, **free, **settings)
    run = prepare_run(scenario)
    kernel, (grid, _) = run.loop.run, grid_of(run, STEP)
    every = (steps_of(run)[1],) if run.loop.periodic else ()
    numbers = (*run.inputs, *grid, grid.intervals, 0.0, STEP, WHOLE, *lag(run), *every)
    ends = kernel(run.x0, run.p, *numbers, threads=1)[0]
    if not np.isfinite(ends).all():
        raise RuntimeError(
            f"{name} with {', '.join(settings) or PLAIN}: the run ends early, so its time is none of {duration:g} s."
        )
    return lambda: kernel(run.x0, run.p, *numbers, threads=1)


def _law(n: int, kp: float) -> Any:
    """Gains with which a command may be held and come late: the lightest wrists have 5e-4 kg·m²."""
    return mp.control.PDGravity(kp=kp, kv=0.1, goal=np.full(n, 4.0))


def measured(name: str, runs: int) -> dict[str, float]:
    """Nanoseconds per step and run."""
    short, long = DURATIONS[runs]
    settings = parts(mp.load(name).n)
    calls = {(what, d): loop(name, runs, d, given) for what, given in settings.items() for d in (short, long)}
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for what, call in calls.items():
            begin = time.perf_counter()
            call()
            best[what] = min(best[what], time.perf_counter() - begin)
    steps = (long - short) / STEP
    return {what: (best[what, long] - best[what, short]) / steps / runs * 1e9 for what in settings}


def main() -> int:
    columns = {(name, runs): measured(name, runs) for name in ARMS for runs in RUNS}
    print("| | " + " | ".join(f"{name}, {'one run' if runs == 1 else f'{runs} runs'}" for name, runs in columns) + " |")
    print("|" + "---|" * (1 + len(columns)))
    for what in parts(6):
        plain = what == PLAIN
        cells = (f"{c[what]:.0f} ns" if plain else f"{c[what] / c[PLAIN]:.2f}" for c in columns.values())
        print(f"| {what} | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
