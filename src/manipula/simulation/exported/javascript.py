"""A scenario as an ES module that computes its run by itself: equations, steps and numbers in one file, and a test of stored samples."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path

import numpy as np

from manipula.algebra.arguments import flag
from manipula.codegen.files import write_files
from manipula.codegen.javascript import JavaScript
from manipula.codegen.names import LONGEST_PREFIX, comment, identifier
from manipula.errors import DescriptionError
from manipula.simulation.exported.loop import ExportedLoop, exported_loop
from manipula.simulation.exported.numbers import MOST_PARAMETERS
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.simulate import simulate

STORED = 25  # samples of the recorded run that the test holds
AGREEMENT = 1e-9  # of positions, relative where they are large
_SIMULATE = """
/**
 * Compute the run, with other numbers where `changes` has some: simulate({ "controller.kp": 80 }).
 * Gives { status, reached, t, ...signals }: signals by name, each a list of columns over t (run.q[1][k] is joint 2 at t[k]).
 * status is "finished" when the end was reached, else "limit", "diverged", "not_finite" or "step_too_small"; nothing is verified here.
 */
export function simulate(changes = {}) {
    const p = Float64Array.from(P), x0 = Float64Array.from(X0);
    for (const [path, value] of Object.entries(changes)) change(parameters, path, value, p, x0);
    const { status, reached, count, columns } = observedRun({ loop: { flow, observe }, info: STEPPING, times: TIMES, x0, p }, signals, null);
    const cut = Object.entries(columns).map(([name, list]) => [name, list.map((column) => column.subarray(0, count))]);
    return { status, reached, t: TIMES.slice(0, count), ...Object.fromEntries(cut) };
}
"""


def export_scenario(
    scenario: Scenario,
    language: str,
    directory: str | os.PathLike[str],
    prefix: str | None = None,
    *,
    force: bool = False,
) -> list[Path]:
    """Write a scenario as an ES module and its test; gives the files. The scenario is run once, for the samples of the test.

    Raises:
        DescriptionError, CompileError: the language has no form for scenarios, or this run cannot leave Python; says why.
    """
    if not isinstance(scenario, Scenario):
        kind = "A programmed motion" if type(scenario).__name__ == "ProgramScenario" else f"A {type(scenario).__name__}"
        raise DescriptionError(f"{kind} cannot be exported: export() takes a Robot or a Scenario.")
    if language != "javascript":
        raise DescriptionError(
            f"A whole scenario is written as javascript, not as '{language}'; functions of its robot are: export(scenario.robot, ...).",
            field="language",
        )
    return write_files(directory, scenario_texts(scenario, prefix), flag(force, "force"))


def scenario_texts(scenario: Scenario, prefix: str | None = None) -> dict[str, str]:
    """The text of every file that :func:`export_scenario` writes, by file name."""
    result = simulate(scenario)
    loop = exported_loop(result, most=MOST_PARAMETERS)
    name = identifier(prefix or scenario.name or scenario.robot.name, "scenario", LONGEST_PREFIX)
    return {f"{name}.mjs": _module(loop, name), f"{name}_test.mjs": _test(result, name)}


def _module(loop: ExportedLoop, name: str) -> str:
    scenario = loop.scenario
    joints = [f"{k} {comment(j.name, 24)} ({j.kind})" for k, j in enumerate(scenario.robot.joints, start=1)]
    header = (
        f"Scenario: {comment(scenario.name or name, 60)}. Robot: {comment(scenario.robot.name)}.",
        f"A run of {float(scenario.duration or 0.0):g} s by {scenario.integrator}. simulate() computes it.",
        "Order of joints:", *["  " + ", ".join(joints[k : k + 4]) for k in range(0, len(joints), 4)],
        "Units: SI and radians.",
    )  # fmt: skip
    language = JavaScript()
    steps = files("manipula.simulation.integrators").joinpath("stepping.mjs").read_text(encoding="utf-8")
    told = {"STEPPING": loop.stepping, "signals": loop.signals, "parameters": [x.told() for x in loop.numbers]}
    numbers = [
        f"{'export ' if key.islower() else ''}const {key} = {json.dumps(value, allow_nan=False, indent=1)};"
        for key, value in told.items()
    ]
    numbers += [f"const {key} = {language.array(values)};" for key, values in (("P", loop.p), ("X0", loop.x0))]
    parts = (
        language.module(loop.program(name, header)),
        "// ---- steps",
        steps,
        "// ---- numbers",
        "\n".join([*numbers, _times(language, loop.times)]),
    )
    return "\n".join(parts) + _SIMULATE


def _times(language: JavaScript, times: np.ndarray) -> str:
    """The samples: by a rule where they are multiples of one time, to the bit."""
    width = float(times[1]) if len(times) > 1 else 0.0
    if np.array_equal(times, np.arange(len(times)) * width):
        return f"const TIMES = Float64Array.from({{ length: {len(times)} }}, (_, k) => k * {language.literal(width)});"
    return f"const TIMES = {language.array(times)};"


def _test(result: Result, name: str) -> str:
    """Compares the run of the module with samples of the recorded one."""
    q = np.asarray(result.arrays["q"], float)
    known = np.flatnonzero(np.isfinite(q).all(axis=1))
    index = known[np.unique(np.linspace(0, len(known) - 1, STORED).round().astype(int))]
    stored = json.dumps([[int(k), *row] for k, row in zip(index, q[index].tolist())])
    return f"""// Compares {name} with samples of a recorded run: node {name}_test.mjs
import {{ simulate }} from "./{name}.mjs";

const stored = {stored}; // number of the sample, positions
const run = simulate();
let worst = 0;
for (const [k, ...q] of stored) q.forEach((value, i) => {{
    const gap = Math.abs(run.q[i][k] - value) / Math.max(1, Math.abs(value));
    worst = gap <= worst ? worst : gap; // what is no number stays
}});
if (!(worst <= {AGREEMENT})) throw new Error("positions differ by " + worst);
console.log("all agree");
"""
