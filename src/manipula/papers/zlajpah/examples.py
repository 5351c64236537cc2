"""The two simulations: a 5-R arm along a straight line by pseudoinverse control (16), a 4-R arm along a spline at constant speed [Žlajpah]."""

from __future__ import annotations

from typing import Any

import numpy as np

import manipula as mp
from manipula.papers.base import (
    ChartLine,
    CheckedRow,
    Figure,
    Formulas,
    PaperChart,
    PaperSection,
    Picture,
    RunCharts,
    Words,
    agreement,
    number,
    numbers,
    vector,
)
from manipula.papers.printed import printed
from manipula.reports.plots import PLOTS
from manipula.simulation.result import Result

JOINTS = 1e-8  # other programs' own accuracy is 5e-11, printed to ten decimals
LAW = 1e-9
STARTS = {"zero_initial_error": "start on the line", "with_initial_error": "start beside the line"}
GAINS = (100.0, 20.0)  # K_p, K_v: critically damped at 10/s


def line_scenario(q0: Any, **more: Any) -> mp.Scenario:
    """The 5-R arm along the line, 2 s of motion and 1 s of rest."""
    robot = mp.load("zlajpah-5r")
    at = mp.compile(robot).position(printed("zlajpah")["recomputed"]["line"]["zero_initial_error"]["q0"])
    reference = mp.trajectory(mp.paths.line(at, at + np.array([-0.5, 0.6, 0.0])), mp.timing.quintic(2.0))
    controller = more.pop("controller", mp.control.TaskSpaceComputedTorque(*GAINS))
    settings: dict[str, Any] = {"duration": 3.0, "step": 1e-3, "sample": 5e-3, "integrator": "rk4", "name": "5-R line"}
    return mp.Scenario(robot, reference, controller=controller, q0=q0, **(settings | more))


def line_runs() -> dict[str, Result]:
    """Both starts."""
    data = printed("zlajpah")["recomputed"]["line"]
    return {name: mp.simulate(line_scenario(data[name]["q0"])).check() for name in STARTS}


def line(runs: dict[str, Result]) -> PaperSection:
    """Figure 2 and what any implementation must find."""
    data = printed("zlajpah")["recomputed"]["line"]
    model = mp.compile(mp.load("zlajpah-5r"))
    rows: list[CheckedRow] = []
    for name, words in STARTS.items():
        result, expected = runs[name], data[name]
        law = (1 + 10 * result.t) * np.exp(-10 * result.t)
        rows.append(
            agreement(f"`e(t) = (1 + 10 t) e^{{-10 t}} e(0)`, {words} [m]", result.error - law[:, None] * result.error[0], LAW,
                      "because J J⁺ = 1, whatever the arm")
        )  # fmt: skip
        rows.append(vector(f"tip error at the start, {words} [m]", result.error[0, :2], corrected=expected["initial_error"]))  # fmt: skip
        rows.append(
            number(f"largest tip error, {words} [m]", np.linalg.norm(result.error, axis=1).max(), corrected=expected["max_error"])
        )  # fmt: skip
        for sample in expected["samples"]:
            k = int(np.argmin(np.abs(result.t - sample["t"])))
            found = {"x": result.tip[k, :2], "q": result.q[k], "qd": result.qd[k], "tau": result.tau[k]}
            for signal, value in found.items():
                rows.append(
                    vector(f"{signal}({sample['t']:g} s), {words}", value, corrected=sample[signal], tolerance=JOINTS)
                )  # fmt: skip
        rows += numbers(f"largest torque [N·m], {words}", np.abs(result.tau).max(axis=0), corrected=expected["max_torque"])  # fmt: skip
        least = np.linalg.svd(model.jacobian(result.q)[:, :2], compute_uv=False).min()
        rows.append(number(f"least singular value of J on the way, {words}", least, corrected=expected["least_singular_value"]))  # fmt: skip
        rows.append(agreement(f"energy that is unaccounted for, {words} [J]", result.audit, LAW))
    last = runs["zero_initial_error"]
    drift = float(np.abs(last.qd[-1]).max())
    rows.append(
        agreement("`J dot{q}` when the tip stands [m/s]", model.jacobian(last.q[-1])[:2] @ last.qd[-1], 1e-9,
                  f"the joints still move, at {drift:.3f} rad/s: (16) does not damp the null space", computed="in the null space")
    )  # fmt: skip
    error = tuple(
        ChartLine(words, runs[name].t, np.maximum(np.linalg.norm(runs[name].error, axis=1), 1e-16), k, k)
        for k, (name, words) in enumerate(STARTS.items())
    )
    blocks = (
        Words("The tip follows a straight line under pseudoinverse control with `dot{J} dot{q}` where the paper prints `ddot{J} dot{q}`. Two starts: on the "
              "line, and a few degrees beside it. "
              "The page computes the first run again when gains or start are moved."),
        Formulas(("tau = H J^dagger (ddot{x}_r + K_v (dot{x}_r - dot{x}) + K_p (x_r - x) - dot{J} dot{q}) + h + B dot{q} + g",), "(16), corrected"),
        Picture("Fig. 2. Pseudoinverse control of the 5-R arm: motion in the x–y plane", lambda: PLOTS["tip"](last).get_figure()),
        Words("Fig. 2, control signals over time, and the tip against its target:"),
        RunCharts(("torque", "error")),
        Figure("The law of the error, both starts", (PaperChart("Distance of the tip from its target", error, (("|e|", "m"),), log=True),)),
    )  # fmt: skip
    return PaperSection("5-R arm along a straight line", blocks, tuple(rows))


def spline() -> PaperSection:
    """Figure 3: joint trajectories for a path given by points, at constant speed."""
    data = printed("zlajpah")["recomputed"]["spline"]
    robot = mp.load("zlajpah-4r")
    path = mp.paths.spline(data["points"], ends="natural", spacing="chord")
    reference = mp.trajectory(path, mp.timing.constant_speed(0.25))
    T = reference.duration
    start = [float(x) for x in data["samples"][0]["q"]]
    scenario = mp.Scenario(robot, reference, kind="kinematic", q0=start, start="project", step=T / 4000, sample=T / 400, name="4-R spline")  # fmt: skip
    result = mp.simulate(scenario).check()
    velocity = (mp.compile(robot).jacobian(result.q)[:, :2] @ result.qd[:, :, None])[..., 0]
    rows = [
        number("length of the path [m]", T * 0.25, corrected=data["length"], tolerance=1e-11),
        number("duration [s]", T, corrected=data["duration"], tolerance=1e-11),
    ]  # fmt: skip
    fine = np.linspace(0.0, T, 100_001)
    along = reference.position(fine)[:, :2]
    ends = [0, *(int(np.argmin(np.linalg.norm(along - np.array(p), axis=1))) for p in data["points"][1:-1]), len(fine) - 1]  # fmt: skip
    rows += numbers("length of a segment [m]", np.diff(fine[ends]) * 0.25, corrected=data["segments"], tolerance=1.5 * 0.25 * T / 1e5)  # fmt: skip
    for sample in data["samples"]:
        k = int(np.argmin(np.abs(result.t - sample["t"])))
        for signal, value in (("x", result.tip[k, :2]), ("q", result.q[k]), ("qd", result.qd[k]), ("qdd", result.qdd[k])):  # fmt: skip
            rows.append(vector(f"{signal}({sample['t']:.4g} s)", value, corrected=sample[signal], tolerance=JOINTS))
    rows += [
        agreement("speed of the tip less 0.25 m/s", np.linalg.norm(velocity, axis=1) - 0.25, 1e-12, "constant path velocity, as asked for"),
        agreement("distance of the tip from the path [m]", result.error, JOINTS),
    ]  # fmt: skip
    joints = tuple(ChartLine(f"q{i + 1}", result.t, result.q[:, i], i) for i in range(4))
    speeds = tuple(ChartLine(f"dq{i + 1}", result.t, result.qd[:, i], i) for i in range(4))
    blocks = (
        Words("Joint trajectories for a path of five points with a cubic spline between them, at constant path velocity: `dot{q} = J^dagger dot{x}`. "
              "The speed does not begin or end at zero, as the paper asks for a constant one."),
        Picture("Fig. 3. Trajectory generation for the 4-R arm: motion in the x–y plane", lambda: PLOTS["tip"](result).get_figure()),
        Figure("Fig. 3. Joint "
               "trajectories", (PaperChart("Joint "
                                           "positions", joints, (("q", "rad"),), ("t", "s")), PaperChart("Joint "
                                               "velocities", speeds, (("dq", "rad/s"),), ("t", "s")))),
    )  # fmt: skip
    return PaperSection("4-R arm along a spline", blocks, tuple(rows))
