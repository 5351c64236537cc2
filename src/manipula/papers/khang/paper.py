"""Khang & Trung from their tables to figures 4 to 7."""

from __future__ import annotations

import numpy as np

import manipula as mp
from manipula.papers.base import PaperSection, PaperTable, Reproduction, Words, agreement
from manipula.papers.derived import states
from manipula.papers.khang import dynamics, motion
from manipula.papers.printed import evaluated, paper_info, printed
from manipula.robot.robot import Robot

OPEN = (
    "Figures 4 to 7 are not part of the text that is at hand: curves cannot be compared, only formulas and numbers.",
    "Which of the two elbows was plotted is not said; both are computed.",
    "Not printed: `d_2` (0 is taken), gravity (9.81 m/s²), `l_4`, the moments of inertia about x and y (without effect), the unit of `a_1`.",
    "`z_E = sin(pi t/2)` asks for `q_4` between −0.5 m and 1.5 m and starts at 1.57 m/s: the amplitude has probably lost a factor.",
    "(2.9) uses `g` with two signs, (2.10) sums over i with index j, the number (3.1) is missing, the lower triangle of M is not listed (symmetry).",
)


def constants() -> dict[str, float]:
    """The printed values and those that were chosen, by name."""
    data = printed("khang")
    values: dict[str, float] = {}
    for name, text in data["values"].items():
        values[name] = float(evaluated(text, values))
    return values | {name: float(value) for name, value in data["chosen"].items()}


def the_robot() -> tuple[PaperSection, Robot, Robot]:
    """Tables 1 and 2 as a robot in symbols, and with the printed numbers."""
    data, values = printed("khang"), constants()
    symbols = mp.load("scara-khang", symbolic=True)
    robot = symbols.with_parameters(**{name: values[name] for name in symbols.parameters})
    q, qd, qdd = states(4)
    own, catalog = (mp.compile(r).inverse_dynamics(q, qd, qdd) for r in (robot, mp.load("scara-khang")))
    row = agreement("arm with the printed values against the catalog's 'scara-khang'", own - catalog, 1e-12, "torques at 64 random states")  # fmt: skip
    blocks = (
        Words("The input of RobotDyn: a table of Denavit–Hartenberg parameters and one of masses, read here into the same letters."),
        PaperTable(("*Link", "θ", "d", "a", "α"), tuple(tuple(f"`{c}`" for c in r) for r in data["tables"]["dh"]), "Table 1"),
        PaperTable(("*Link", "x_C", "y_C", "z_C", "Mass", "Ixx", "Iyy", "Izz"), tuple(tuple(f"`{c}`" for c in r) for r in data["tables"]["bodies"]), "Table 2"),
        PaperTable(("*Value", "*Printed", "Number"), tuple((f"`{n}`", f"`{t}`", f"{values[n]:.6g}") for n, t in data["values"].items()), "Numbers"),
    )  # fmt: skip
    return PaperSection("The robot", blocks, (row,)), symbols, robot


def reproduce(quick: bool = False) -> Reproduction:
    """Run everything that the paper shows."""
    del quick  # nothing here is only timed
    section, symbols, robot = the_robot()
    eq, numeric = mp.equations(symbols), mp.equations(robot)
    values = constants()
    forces, errata = dynamics.torques(eq, numeric, values)
    way, slip = motion.trajectory(np.linspace(0.0, 4.0, 4001))
    runs = motion.both_elbows(robot)
    sections = (
        section, dynamics.kinematics(eq, numeric), dynamics.mass_matrix(eq), forces, dynamics.generalised_forces(numeric), way,
        motion.figures(runs, robot, values),
    )  # fmt: skip
    named = tuple((f"elbow {motion.ELBOWS[e]}", r) for e, r in runs.items())
    return Reproduction(paper_info("khang"), sections, (*errata, slip), named, OPEN)
