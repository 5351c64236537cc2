"""The time law, the trajectory of the tip and both elbows: inverse kinematics and torques along it, figures 4 to 7 [Khang & Trung]."""

from __future__ import annotations

import math

import numpy as np

import manipula as mp
from manipula.papers.base import (
    ChartLine,
    CheckedRow,
    Erratum,
    Figure,
    Formulas,
    PaperChart,
    PaperSection,
    RunCharts,
    Words,
    agreement,
    number,
    numbers,
    vector,
)
from manipula.papers.khang.dynamics import known_values
from manipula.papers.printed import evaluated, printed
from manipula.robot.robot import Robot
from manipula.simulation.result import Result

SIGNALS = (
    ("q", "Position", ("rad", "m")),
    ("qd", "Velocity", ("rad/s", "m/s")),
    ("qdd", "Acceleration", ("rad/s²", "m/s²")),
    ("tau", "Driving moment", ("N·m", "N")),
)
ELBOWS = {"positive": "q2 > 0", "negative": "q2 < 0"}
ROUNDING = 1e-12
DIGITS = 2e-8  # nine printed decimals; rates of 5000 rad/s³ over a rounding of the sample times


def law(t: np.ndarray, third: str) -> np.ndarray:
    """φ(t) by its three printed branches, with this third one."""
    data = printed("khang")["trajectory"]
    constants = {"a": evaluated(data["a"], {}), "T": float(data["T"])}
    branches = [evaluated(text, {**constants, "t": t}) for text in (*data["phi"][:2], third)]
    T = constants["T"]
    return np.where(t <= T / 4, branches[0], np.where(t <= 3 * T / 4, branches[1], branches[2]))


def trajectory(t: np.ndarray) -> tuple[PaperSection, Erratum]:
    """φ(t), its misprint, and the room that the motion takes."""
    data = printed("khang")
    printed_third, third = data["trajectory"]["phi"][2], data["trajectory"]["phi_third_corrected"]
    a, T = evaluated(data["trajectory"]["a"], {}), float(data["trajectory"]["T"])
    phi, wrong = law(t, third), law(t, printed_third)
    at = np.array([3.0])
    known = {"a": a, "T": T, "t": at}
    second = evaluated(data["trajectory"]["phi"][1], known)
    jump, none = (float((evaluated(text, known) - second)[0]) for text in (printed_third, third))
    x, y = 0.3 + 0.15 * np.cos(phi), 0.2 + 0.15 * np.sin(phi)
    wrist = np.hypot(x - 0.1, y)
    recomputed = data["recomputed"]
    # the same law as a part of this package
    own = mp.trajectory(mp.paths.circle((0.3, 0.2), 0.15, turns=1.0), mp.timing.piecewise_jerk(T))
    stroke = 0.5 - np.sin(np.pi * t / 2)
    rows = [
        number("a", a, f"{math.pi:.15f}", tolerance=ROUNDING, remark="printed as 32·2π/64 = π"),
        number("`phi(T)`, one turn", phi[-1], corrected=f"{2 * math.pi:.12f}", tolerance=1e-11, remark="a T³/32 = 2π"),
        agreement("tip along the circle against timing.piecewise_jerk(T)", np.stack([x, y], 1) - own.position(t)[:, :2], 1e-11, "4001 instants"),
        *(number(f"wrist from joint 1, {what} [m]", value, corrected=text, remark="annulus of the two links 0.10 … 0.60 m: never singular")
          for what, value, text in zip(("least", "largest"), (wrist.min(), wrist.max()), recomputed["wrist"])),
        *(number(f"q4, {what} [m]", value, corrected=text, tolerance=1e-6, remark="a stroke of 2 m: solvable, hardly built")
          for what, value, text in zip(("least", "largest"), (stroke.min(), stroke.max()), recomputed["stroke"])),
    ]  # fmt: skip
    erratum = Erratum(
        "(3.3), third branch", f"`{printed_third}`", f"`{third}`",
        "jump of `phi` at `3 T/4`, which is 24 whole turns (the plots hide it); the corrected law is continuous", abs(jump), abs(none), 1e-10,
    )  # fmt: skip
    lines = (ChartLine("corrected", t, phi), ChartLine("printed", t, wrong, 1, 1))
    figure = Figure("Angle on the circle", (PaperChart("φ(t), printed and corrected", lines, (("φ", "rad"),)),))
    blocks = (
        Words("The tip runs once around a circle while its height swings; the angle follows a law of constant jerk `±a` in three phases."),
        Formulas(("x_E = 0.3 + 0.15 cos phi", "y_E = 0.2 + 0.15 sin phi", "z_E = sin(frac{pi t}{2})", "theta = q_1 + q_2 + q_3 = 0")),
        figure,
    )  # fmt: skip
    return PaperSection("Trajectory of the tip", blocks, tuple(rows)), erratum


def both_elbows(robot: Robot) -> dict[str, Result]:
    """Inverse dynamics along the trajectory, both solutions of the inverse kinematics."""
    cube = "(t^3 - 2*max(t - 1, 0)^3 + 2*max(t - 3, 0)^3)*pi/6"
    motion = mp.formula_motion(
        [f"0.3 + 0.15*cos({cube})", f"0.2 + 0.15*sin({cube})", "sin(pi/2*t)"], 4.0, breaks=(1.0, 3.0), orientation=("pi", "0", "0"),
    )  # fmt: skip
    found = {}
    for k in (0, 1):
        scenario = mp.Scenario(robot, motion, kind="inverse_dynamics", duration=4.0, step=1e-3, sample=1e-3, ik_solution=k, name="SCARA circle")  # fmt: skip
        result = mp.simulate(scenario).check()
        found["positive" if result.q[0, 1] > 0 else "negative"] = result
    return {key: found[key] for key in ELBOWS}


def figures(runs: dict[str, Result], robot: Robot, values: dict[str, float]) -> PaperSection:
    """Figures 4 to 7: position, velocity, acceleration and torque of one joint in one figure, both elbows."""
    data = printed("khang")["recomputed"]
    blocks: list[Words | Figure | RunCharts] = [
        Words("Figures 4 to 7 of the paper show position, velocity, acceleration and driving moment of one joint each. Its curves are lost; these are computed "
              "along the corrected trajectory. Which elbow was drawn is not said: `q_2 > 0` is solid, `q_2 < 0` dashed.")
    ]  # fmt: skip
    for j in range(4):
        charts = []
        for signal, title, units in SIGNALS:
            kind = "Force" if signal == "tau" and j == 3 else title
            lines = tuple(
                ChartLine(ELBOWS[e], r.t, r.arrays[signal][:, j], j, k) for k, (e, r) in enumerate(runs.items())
            )
            label = {"qd": "dq", "qdd": "ddq"}.get(signal, signal)
            charts.append(PaperChart(f"{kind} of joint {j + 1}", lines, ((f"{label}{j + 1}", units[int(j == 3)]),)))
        words = "force" if j == 3 else "driving moment"
        blocks.append(Figure(f"Fig. {j + 4}. Position, velocity, acceleration and {words} of joint {j + 1}", tuple(charts), small=True))  # fmt: skip
    rows: list[CheckedRow] = []
    for elbow, result in runs.items():
        for sample in data[elbow]:
            k = int(np.argmin(np.abs(result.t - sample["t"])))
            for signal, _, _ in SIGNALS:
                rows.append(
                    vector(
                        f"{signal}({sample['t']:g} s), {ELBOWS[elbow]}",
                        result.arrays[signal][k],
                        corrected=sample[signal],
                        tolerance=DIGITS,
                    )
                )
    for elbow, result in runs.items():
        for j, ends in enumerate(data["extremes"][elbow]):
            found = result.tau[:, j].min(), result.tau[:, j].max()
            rows += numbers(f"least and largest tau{j + 1}, {ELBOWS[elbow]}", found, corrected=ends)
    rows += _misprinted(runs, robot, values)
    return PaperSection("Inverse dynamics along the trajectory", tuple(blocks), tuple(rows))


def _misprinted(runs: dict[str, Result], robot: Robot, values: dict[str, float]) -> list[CheckedRow]:
    """How wrong the printed torques are along the trajectory."""
    model, data, rows = mp.compile(robot), printed("khang"), []
    for elbow, result in runs.items():
        known = known_values(values, model.mass_matrix(result.q), result.q, result.qd, result.qdd)
        angles = dict(zip("1234", result.q.T))
        for j, text in enumerate(data["recomputed"]["misprinted_off"][elbow]):
            off = np.abs(evaluated(data["tau"][f"tau{j + 1}"], known, angles) - result.tau[:, j]).max()
            rows.append(number(f"largest error of the printed tau{j + 1}, {ELBOWS[elbow]} [N·m]", off, corrected=text))
    return rows
