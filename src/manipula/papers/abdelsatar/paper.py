"""Abdelsatar: the data file as printed, τ as text and equal, and the same program on arms with sliding joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from scipy.integrate import solve_ivp

import manipula as mp
from manipula.formats.matlab_list import split_fields
from manipula.papers.abdelsatar.algorithm import LagrangeSteps, lagrange
from manipula.papers.base import (
    CheckedRow,
    Erratum,
    Formulas,
    PaperSection,
    PaperTable,
    Reproduction,
    RunCharts,
    Words,
    agreement,
    number,
    numbers,
)
from manipula.papers.derived import derived
from manipula.papers.printed import evaluated, paper_info, printed, symbolic
from manipula.robot.robot import Robot
from manipula.simulation.result import Result
from manipula.symbolic.equations import Equations

EXACT = 1e-12
STATES = 32
SWING = {"q0": (0.4, 0.9), "duration": 3.0}
OPEN = (
    "The flow chart is a separate file that is not at hand; the steps are run in the order of the paper's equations.",
    "Columns 2 and 3 (alpha, d) are both 0 in the example, so their order is inferred.",
    "The flag of a prismatic joint (0) and the place of its variable (column d) are assumed, because the example has none.",
    "The paper prints tau only; M, V and G are compared with what SymPy found from the energies.",
    "`C = B - frac{1}{2} B^T` gives the right `V`, but `dot{M} - 2 C` is not skew-symmetric: for control by passivity take the Christoffel matrix.",
)


def _value(text: str) -> float:
    return float(evaluated(text, {}))


def equal_in_symbols(quantity: str, found: Any, text: str, *, in_print: bool, shown: bool = True) -> CheckedRow:
    """A row of a formula: the difference, expanded in single sines and cosines, must vanish term by term."""
    difference = sympy.expand(sympy.expand_trig(sympy.expand(found - symbolic(text))))
    squares = difference.replace(lambda x: x.is_Pow and isinstance(x.base, sympy.sin) and x.exp == 2, lambda x: 1 - sympy.cos(x.base.args[0]) ** 2)  # fmt: skip
    rest = sympy.expand(squares)
    off = 0.0 if rest == 0 else float(sum(abs(term.as_coeff_Mul()[0]) for term in sympy.Add.make_args(rest)))
    own = f"`{sympy.sstr(found).replace('**', '^')}`" if shown else "the same in symbols" if off == 0 else "differs"
    texts = {"printed": f"`{text}`"} if in_print else {"corrected": f"`{text}`"}
    return CheckedRow(quantity, own, off, 0.0, remark="difference in symbols", **texts)


def data_file() -> tuple[PaperSection, Robot]:
    """The 13 columns as they are read."""
    data = printed("abdelsatar")["data"]
    robot = mp.from_table(data["text"].strip(), name="abdelsatar-2r")
    lines = [split_fields(line) for line in data["text"].strip().splitlines()]
    rows = tuple((name, *(line[k].strip() for line in lines)) for k, name in enumerate(data["columns"]))
    catalog = mp.load("abdelsatar-2r")
    checks = [
        number("joints", robot.n, "2", tolerance=0.0, remark="column 13 of the first line"),
        CheckedRow(
            "names of the parameters",
            ", ".join(robot.parameters),
            float(robot.parameters != ("a1", "a2", "gc", "m1", "m2")),
            0.0,
            "a1, a2, gc, m1, m2",
        ),
        CheckedRow(
            "names of the joints",
            ", ".join(robot.joint_names),
            float(robot.joint_names != ("th1", "th2")),
            0.0,
            "th1, th2",
        ),
        CheckedRow(
            "the same robot as the catalog's 'abdelsatar-2r'",
            "equal",
            float(mp.equations(robot).M != mp.equations(catalog).M),
            0.0,
            remark="mass matrices in symbols",
        ),
    ]
    blocks = (
        Words("The input of the program: one line per link, thirteen fields between commas, numbers or symbols, matrices in MATLAB's brackets. "
              "It is read as it stands in print."),
        PaperTable(("*Column", "*Line 1", "*Line 2"), rows, "data.txt"),
    )  # fmt: skip
    return PaperSection("The data file", blocks, tuple(checks)), robot


def torques(eq: Equations) -> PaperSection:
    """τ as printed and as derived."""
    data = printed("abdelsatar")
    rows = [equal_in_symbols(name, eq.tau[i], text, in_print=True) for i, (name, text) in enumerate(data["tau"].items())]  # fmt: skip
    point = data["recomputed"]["point"]
    state = [np.array([_value(x) for x in point[k]]) for k in ("q", "qd", "qdd")]
    model = mp.compile(eq.robot.with_parameters(**point["values"]))
    rows += numbers("tau at the check point", model.inverse_dynamics(*state), corrected=point["tau"], tolerance=1e-13)
    known = {"th1": state[0][0], "th2": state[0][1], "th1d": state[1][0], "th2d": state[1][1], "th1dd": state[2][0], "th2dd": state[2][1]}  # fmt: skip
    text = [evaluated(formula, {**known, **point["values"]}) for formula in data["tau"].values()]
    rows.append(
        agreement("the printed text, evaluated at the check point", np.array(text) - model.inverse_dynamics(*state), 1e-13, "against machine code")
    )  # fmt: skip
    blocks = (
        Words("The program's output, and the same torques derived here. The difference is zero, symbol by symbol."),
        Formulas(tuple(f"{name} = {text}" for name, text in data["tau"].items()), "Printed"),
        Words("The same as text of this package:"),
        *(Words(line) for line in eq.text("tau").splitlines() if line.startswith(("tau1 = ", "tau2 = "))),
        derived(eq, "Derived here", "M,tau"),
    )
    return PaperSection("Torques", blocks, tuple(rows))


def steps(eq: Equations, found: LagrangeSteps) -> PaperSection:
    """M, B, C, V and G of the paper's algorithm, each compared with the package or a recomputation."""
    data = printed("abdelsatar")["recomputed"]
    rows = []
    for name, text in data.items():
        if name != "point":
            part = getattr(found, name[0])
            entry = part[int(name[1]) - 1, int(name[2]) - 1] if len(name) == 3 else part[int(name[1]) - 1]
            rows.append(equal_in_symbols(f"{name}, the paper's algorithm", entry, text, in_print=False, shown=False))
    for name, own in (("M", eq.M), ("V", eq.h), ("G", eq.g)):
        rows.append(
            agreement(
                f"{name}: the paper's algorithm against equations(robot)", largest(getattr(found, name) - own), EXACT
            )
        )
    skew = found.M_rate - 2 * found.C
    quadratic = (found.qd.T * skew * found.qd)[0]
    own = found.M_rate - 2 * eq.C
    rows += [
        agreement("`dot{q}^T (dot{M} - 2 C) dot{q} = 0` with the paper's C", largest(sympy.Matrix([quadratic])), EXACT),
        agreement("`dot{M} - 2 C` is skew with the Christoffel matrix", largest(own + own.T), EXACT),
    ]  # fmt: skip
    symmetric = largest(skew + skew.T)
    rows.append(
        CheckedRow(
            "`dot{M} - 2 C` of the paper is not skew: largest entry of its symmetric part",
            f"{symmetric:.4g}",
            float(not symmetric > 0.1),
            0.0,
        )
    )
    point = data["point"]
    model = mp.compile(eq.robot.with_parameters(**point["values"]))
    q, qd = (np.array([_value(x) for x in point[k]]) for k in ("q", "qd"))
    for name, value in (("M", model.mass_matrix(q)), ("V", model.bias(q, qd)), ("G", model.gravity(q))):
        rows += numbers(f"{name} at the check point", value, corrected=point[name], tolerance=1e-13)
    lines = (
        "J_{vi}^j = z_{j-1} times p_{ci}^* \" (revolute), \" z_{j-1} \" (prismatic); \" J_{omega i}^j = z_{j-1} \" or \" 0",
        "M = sum_{i=1}^n (J_{vi}^T m_i J_{vi} + J_{omega i}^T I_i J_{omega i})",
        "B_{ij} = sum_{k=1}^n frac{partial M_{ik}}{partial q_j} dot{q}_k",
        "C = B - frac{1}{2} B^T",
        "V = C dot{q}",
        "G_i = -sum_{j=1}^n m_j g^T J_{vj}^i",
        "tau = M ddot{q} + V + G",
    )  # fmt: skip
    blocks = (Words("Every step of the paper's algorithm is run as it is printed, in symbols, beside the equations that this package derives another way."),
              Formulas(lines))  # fmt: skip
    return PaperSection("The algorithm, step by step", blocks, tuple(rows))


def largest(vanishing: Any) -> float:
    """The largest entry at random states and parameters of a matrix that should vanish."""
    symbols = sorted(vanishing.free_symbols, key=str)
    if not symbols:
        return float(np.abs(np.array(vanishing, float)).max())
    values = np.random.default_rng(0).uniform(0.5, 1.5, (len(symbols), STATES))
    numeric = sympy.lambdify(symbols, list(vanishing), "numpy")(*values)
    return float(max(np.abs(np.asarray(entry, float)).max() for entry in numeric))


def errata(found: LagrangeSteps) -> tuple[Erratum, ...]:
    """Two sentences that must not be taken as they stand."""
    text = printed("abdelsatar")["data"]["text"]
    robot = mp.from_table(text.strip(), name="2r")
    eq: Any = mp.equations(robot)
    true = eq.M
    names = dict(zip(eq.q, found.q))
    true = true.xreplace(names)
    right = largest(found.M - true)
    beyond, about = lagrange(text, beyond=True), lagrange(text, about_base=True)
    return (
        Erratum("Link Jacobians", "columns for every joint j", "columns are zero for `j > i`: a joint behind the link does not move it",
                "mass matrix at 32 random states with the columns `j > i` filled and without", largest(beyond.M - true), right, EXACT),
        Erratum("Inertia matrix", "`R_i I_i R_i^T` is for the momentum \"about the origin of the manipulator\"".replace('"', ""),
                "it only turns the axes; the inertia stays about the centre of mass",
                "mass matrix at 32 random states with the inertia moved to the base and without", largest(about.M - true), right, EXACT),
    )  # fmt: skip


def sliding(key: str, title: str, words: str) -> PaperSection:
    """The same program on an arm with a prismatic joint."""
    data = printed("abdelsatar")[key]
    robot = mp.from_table(data["text"].strip(), name=key)
    eq: Any = mp.equations(robot, names="joints")
    found = lagrange(data["text"])
    rows = [agreement(f"tau{i + 1}: the paper's algorithm against equations(robot)", largest(sympy.Matrix([found.tau[i] - eq.tau[i]])), EXACT)
            for i in range(robot.n)]  # fmt: skip
    if "tau1" in data:
        rows += [
            equal_in_symbols(f"tau{i + 1}", eq.tau[i], data[f"tau{i + 1}"], in_print=False) for i in range(robot.n)
        ]
        state = [np.array([_value(x) for x in data[k]]) for k in ("q", "qd", "qdd")]
        tau = mp.compile(robot.with_parameters(**data["values"])).inverse_dynamics(*state)
        rows += numbers("tau at a check point", tau, corrected=data["tau"], tolerance=1e-13)
    kinds = "-".join("R" if joint.is_revolute else "P" for joint in robot.joints)
    wanted = "R-P" if robot.n == 2 else "R-P-R"
    rows.append(CheckedRow("joints as they are read", kinds, float(kinds != wanted), 0.0, corrected=wanted))
    lines = tuple((str(i + 1), line) for i, line in enumerate(data["text"].strip().splitlines()))
    blocks = (Words(words), PaperTable(("*Line", "*Text"), lines), derived(eq, "Torques", "tau"))
    return PaperSection(title, blocks, tuple(rows))


def swing(robot: Robot) -> tuple[PaperSection, Result]:
    """The arm let go: our run against SciPy's integration of the printed torques, M q̈ = −(τ at q̈ = 0)."""
    data = printed("abdelsatar")
    values = data["recomputed"]["point"]["values"]
    numeric = robot.with_parameters(**values)
    result = mp.simulate(mp.Scenario(numeric, sample=0.01, step=1e-3, integrator="rk4", name="2R arm let go", **SWING)).check()  # fmt: skip

    def torque(q: np.ndarray, qd: np.ndarray, qdd: tuple[float, float]) -> np.ndarray:
        known = {"th1": q[0], "th2": q[1], "th1d": qd[0], "th2d": qd[1], "th1dd": qdd[0], "th2dd": qdd[1], **values}
        return np.array([evaluated(text, known) for text in data["tau"].values()])

    def flow(t: float, x: np.ndarray) -> np.ndarray:
        bias = torque(x[:2], x[2:], (0.0, 0.0))
        M = np.stack([torque(x[:2], x[2:], e) - bias for e in ((1.0, 0.0), (0.0, 1.0))], axis=1)
        return np.concatenate([x[2:], np.linalg.solve(M, -bias)])

    times = np.linspace(0.0, SWING["duration"], 16)
    other = solve_ivp(flow, (0.0, SWING["duration"]), [*SWING["q0"], 0.0, 0.0], "DOP853", times, rtol=1e-9, atol=1e-10).y[:2].T  # fmt: skip
    own = result.q[np.searchsorted(result.t, times - 1e-9)]
    rows = [
        agreement("q(t) of the free arm against SciPy on the printed torques", own - other, 1e-7, "16 instants over 3 s"),
        agreement("energy that is unaccounted for [J]", result.audit, 1e-6, "of 20 J that swing to and fro"),
    ]  # fmt: skip
    blocks = (
        Words(
            "With a = m = 1 and g = 9.81 the printed torques are equations of motion: the arm is let go from rest. "
            "The page computes the run again when the start or a load at the tip is moved."
        ),
        RunCharts(("position", "velocity", "energy")),
    )
    return PaperSection("The arm let go", blocks, tuple(rows)), result


def reproduce(quick: bool = False) -> Reproduction:
    """Run everything that the paper shows."""
    del quick  # nothing here is only timed
    first, robot = data_file()
    eq = mp.equations(robot, names="joints")
    found = lagrange(printed("abdelsatar")["data"]["text"])
    motion, result = swing(robot)
    sections = (
        first, torques(eq), steps(eq, found),
        sliding("slider", "An arm that slides: R-P", "The paper's program takes prismatic joints, and shows none. An R-P arm in the same format:"),
        sliding("three", "Three joints: R-P-R", "Every branch of the algorithm at once: a sliding joint between two that turn."), motion,
    )  # fmt: skip
    return Reproduction(paper_info("abdelsatar"), sections, errata(found), (("2R arm let go", result),), OPEN, ("q0[0]", "q0[1]", "payload.mass"))  # fmt: skip
