"""The square of section 4 at constant speed, within the joint limits of Table 5.1 or not [Arora]."""

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
    PaperTable,
    Picture,
    Words,
    agreement,
    number,
    numbers,
    vector,
)
from manipula.papers.printed import printed
from manipula.reports.plots import PLOTS
from manipula.robot.robot import Robot
from manipula.simulation.result import Result

JOINTS = 1e-8


def corners(side: float, clockwise: bool) -> list[list[float]]:
    """From (2, 2) inwards, or (4 m) around the base."""
    low = 2.0 - side
    points = [[2.0, 2.0], [low, 2.0], [low, low], [2.0, low]]
    return [points[0], *points[:0:-1]] if clockwise else points


def run(robot: Robot, side: float, clockwise: bool, **more: Any) -> Result:
    """q̇ = J⁺v around a square in 60 s; the start of the table, 0.27 mm beside the corner, is moved onto it."""
    path = mp.paths.polyline(corners(side, clockwise), closed=True)
    reference = mp.trajectory(path, mp.timing.constant_speed(side / 15.0))
    q0 = np.radians([float(x) for x in printed("arora")["table_5_1"]["angle"]])
    settings: dict[str, Any] = {"step": 5e-3, "sample": 0.05, "name": f"square of {side:g} m"}
    return mp.simulate(mp.Scenario(robot, reference, kind="kinematic", q0=q0, start="project", **(settings | more)))


def square(robot: Robot) -> tuple[PaperSection, Result]:
    """The chosen square: numbers, limits, and that it does not close in the joints."""
    data = printed("arora")["recomputed"]["square"]
    result = run(robot, 1.0, False).check()
    limits = np.array([float(x) for x in printed("arora")["table_5_1"]["limit"]])
    largest = np.degrees(np.abs(result.q).max(axis=0))
    verdict = mp.feasibility(result, robot)
    rows: list[CheckedRow] = [
        number("duration [s]", result.t[-1], printed("arora")["square"]["duration"], tolerance=1e-9),
        vector("tip at the start and at the end [m]", [*result.tip[0, :2], *result.tip[-1, :2]], ["2", "2", "2", "2"], tolerance=JOINTS),
        vector("q at the start, moved onto the corner", result.q[0], corrected=data["q_start"], tolerance=JOINTS),
        vector("q at the end", result.q[-1], corrected=data["q_end"], tolerance=JOINTS),
        *numbers("largest angle [deg]", largest, corrected=data["max_angle"]),
        *numbers("q(60 s) − q(0) [deg]: the motion is not cyclic", np.degrees(result.q[-1] - result.q[0]), corrected=data["not_closed"]),
        CheckedRow("joint limits of Table 5.1 are "
                   "kept", "kept" if verdict.feasible else "broken", float(not verdict.feasible), 0.0, corrected="kept", remark="mp.feasibility, also between "
                       "samples"),
        agreement("distance of the tip from the square [m]", result.error, JOINTS),
    ]  # fmt: skip
    at = [int(np.argmin(np.abs(result.t - t))) for t in data["times"]]
    still = mp.compile(robot.replace(gravity=(0.0, 0.0, 0.0))).inverse_dynamics(result.q[at], result.qd[at], result.qdd[at])  # fmt: skip
    rows += numbers("largest torque at the stored instants, gravity along −y "
                    "[N·m]", np.abs(result.tau[at]).max(axis=0), corrected=data["max_torque"])  # fmt: skip
    rows += numbers("largest torque at the stored instants, without gravity "
                    "[N·m]", np.abs(still).max(axis=0), corrected=data["max_torque_without_gravity"])  # fmt: skip
    for sample in data["samples"]:
        k = int(np.argmin(np.abs(result.t - sample["t"])))
        for name in ("q", "qd", "qdd", "tau"):
            tolerance = JOINTS * (1e3 if name == "tau" else 1.0)
            rows.append(vector(f"{name}({sample['t']:g} s)", result.arrays[name][k], corrected=sample[name], tolerance=tolerance))  # fmt: skip
    angles = tuple(ChartLine(f"theta{i + 1}", result.t, np.degrees(result.q[:, i]), i) for i in range(5))
    rates = tuple(ChartLine(f"dtheta{i + 1}", result.t, np.degrees(result.qd[:, i]) * 60.0, i) for i in range(5))
    torques = tuple(ChartLine(f"tau{i + 1}", result.t, result.tau[:, i], i) for i in range(5))
    cells = tuple((str(i + 1), f"{a:.2f}", f"{b:g}", f"{b - a:.2f}") for i, (a, b) in enumerate(zip(largest, limits)))
    blocks = (
        Words("From (2, 2) around a square and back within one minute at constant speed. The corner lies at 2.83 of 3.02 m of reach, so the square must run "
              "inwards; 1 m, anticlockwise, is chosen. "
              "The redundancy is resolved by the pseudoinverse. The velocity turns at the corners, where torques would be impulses."),
        Formulas(("dot{q} = J^dagger v", "ddot{q} = frac{d J^dagger}{d t} v")),
        Picture("Fig. 3. 5-DOF manipulator following a square trajectory", lambda: PLOTS["tip"](result).get_figure()),
        Figure("Along the square", (PaperChart("Joint angles", angles, (("theta", "deg"),)), PaperChart("Joint rates", rates, (("dtheta", "deg/min"),)),
                                    PaperChart("Torques, gravity along −y", torques, (("tau", "N·m"),))), small=True),
        PaperTable(("Joint", "Largest angle [deg]", "Limit [deg]", "Room [deg]"), cells, "Joint limits along the square"),
    )  # fmt: skip
    return PaperSection("The square", blocks, tuple(rows)), result


def other_squares(robot: Robot) -> PaperSection:
    """Which squares from this corner keep the limits; what the joints say about it."""
    limits = np.array([float(x) for x in printed("arora")["table_5_1"]["limit"]])
    rows, cells = [], []
    for case in printed("arora")["recomputed"]["squares"]:
        result = run(robot, case["side"], case["clockwise"], step=1e-2, verify=False)
        largest = np.degrees(np.abs(result.q).max(axis=0))
        kept = bool((largest <= limits).all())
        words = f"{case['side']:g} m, {'clockwise' if case['clockwise'] else 'anticlockwise'}{' around the base' if case['side'] > 2 else ''}"  # fmt: skip
        told = {True: "kept", False: "broken"}
        rows.append(CheckedRow(f"limits, square of {words}", told[kept], float(kept != case["kept"]), 0.0, corrected=told[case["kept"]]))  # fmt: skip
        if "worst" in case:
            j = case["worst"]["joint"]
            rows.append(number(f"largest angle of joint {j}, square of {words} [deg]", largest[j - 1], corrected=case["worst"]["angle"]))  # fmt: skip
        cells.append((words, *(f"{x:.1f}" for x in largest), told[kept]))
    head = ("*Square", *(f"θ{i + 1} [deg]" for i in range(5)), "*Limits")
    blocks = (
        Words("Other squares from the same corner: the pseudoinverse knows no limits, and whether they are kept is luck."),
        PaperTable(head, (*cells, ("limit", *(f"{x:g}" for x in limits), "–")), "Largest angles"),
    )  # fmt: skip
    return PaperSection("Other squares and joint limits", blocks, tuple(rows))
