"""``run_file``: a scenario of any kind, from a file or at hand, simulated."""

from __future__ import annotations

import dataclasses
import os

from manipula.simulation.files.scenario_file import load_file
from manipula.simulation.programmed.scenario import ProgramScenario
from manipula.simulation.recorded import scenario_text
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.simulate import simulate


def run(scenario: Scenario | ProgramScenario, threads: int | None = None) -> Result:
    """Simulate a scenario of any kind."""
    return simulate(scenario, threads=threads) if isinstance(scenario, Scenario) else scenario.run()


def run_file(path: str | os.PathLike[str], threads: int | None = None) -> Result:
    """Read a scenario of any kind and simulate it."""
    return run(load_file(path), threads)


def run_programmed_scenario(s: ProgramScenario, friction: bool = True) -> Result:
    """``ProgramScenario.run``: the motion, and in its result everything that describes it."""
    result = s.motion.run(
        s.q0, s.qd0, s.duration, s.step, s.formulation,  # pyright: ignore[reportArgumentType]
        stabilisation=s.stabilisation, gain=s.gain, start=s.start, sample=s.sample, friction=friction,  # pyright: ignore[reportArgumentType]
        integrator=s.integrator, tolerance=s.tolerance, verify=s.verify, limits=s.limits,
    )  # fmt: skip
    acted = s if friction else s.replace(friction=())
    carried = {"name": s.name, "scenario_toml": scenario_text(acted)}
    return dataclasses.replace(result, scenario=acted, meta={**result.meta, **carried})
