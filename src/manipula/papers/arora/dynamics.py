"""T05 and M by the 4×4 route beside print, U_ij and Q_j shown, and what the printed M says about the links [Arora]."""

from __future__ import annotations

import numpy as np

import manipula as mp
from manipula.papers.arora.four_by_four import Q_SLIDE, FiveLinks, Q, body, rod
from manipula.papers.base import (
    CheckedRow,
    Formulas,
    PaperSection,
    PaperTable,
    Words,
    agreement,
    matrix,
    number,
    numbers,
    vector,
)
from manipula.papers.printed import printed
from manipula.physics.lagrange_euler import lagrange_euler
from manipula.robot.robot import Robot

EXACT = 1e-10  # torques of 2 kN·m; other programs agree to 5e-13


def links() -> FiveLinks:
    """The arm of Table 3.1, links as uniform rods."""
    table = printed("arora")["table_3_1"]
    a, m = (np.array([float(x) for x in table[key]]) for key in ("length", "mass"))
    return FiveLinks(a, m, np.stack([rod(mass, length) for mass, length in zip(m, a)]))


def state() -> tuple[np.ndarray, np.ndarray]:
    """Angles and rates of Table 3.1 [rad, rad/s]."""
    table = printed("arora")["table_3_1"]
    return np.radians([float(x) for x in table["angle"]]), np.radians([float(x) for x in table["rate"]]) / 60.0


def the_robot() -> tuple[PaperSection, Robot]:
    """Tables 3.1 and 5.1, which agree."""
    first, second = printed("arora")["table_3_1"], printed("arora")["table_5_1"]
    robot = mp.load("arora-5r")
    rows = []
    for key, words in (("length", "lengths"), ("mass", "masses"), ("angle", "angles")):
        off = max(abs(float(a) - float(b)) for a, b in zip(first[key], second[key]))
        rows.append(agreement(f"{words} of Table 5.1 against Table 3.1", off, 0.0))
    arm = links()
    rng = np.random.default_rng(0)
    q = rng.normal(size=(8, 5))
    off = max(float(np.abs(arm.M(x) - mp.compile(robot).mass_matrix(x)).max()) for x in q)
    rows.append(agreement("M of the catalog's 'arora-5r' against the 4×4 route, 8 random postures", off, EXACT))
    limits = [float(np.degrees(joint.limits.upper)) for joint in robot.joints]
    rows.append(vector("joint limits of 'arora-5r' [deg]", limits, second["limit"], tolerance=1e-9))
    head = ("Link", "Mass [kg]", "θ [deg]", "a [m]", "d [m]", "α [deg]", "dθ [deg/min]", "Limit [deg]")
    cells = zip(first["mass"], first["angle"], first["length"], first["offset"], first["twist"], first["rate"], second["limit"])  # fmt: skip
    blocks = (
        Words("Five revolute joints with parallel axes; masses, lengths, angles and rates of Table 3.1, joint limits of Table 5.1."),
        PaperTable(head, tuple((str(i + 1), *row) for i, row in enumerate(cells)), "Tables 3.1 and 5.1"),
    )  # fmt: skip
    return PaperSection("The robot", blocks, tuple(rows)), robot


def _shown(name: str, A: np.ndarray) -> str:
    """A matrix as a formula."""
    rows = "; ".join(", ".join(f"{x:.4f}" if x % 1 else f"{x:.0f}" for x in row) for row in A)
    return f"{name} = matrix{{{rows}}}".replace("-0,", "0,")


def kinematics(robot: Robot) -> PaperSection:
    """T05 and U_ij."""
    data, arm = printed("arora"), links()
    q, _ = state()
    T = arm.product(q, 0, 5)
    rows = [
        number(f"T05[{i + 1},{j + 1}]", T[i, j], text, tolerance=1e-12 if text == "0" else None, remark="(3.51)")
        for i, line in enumerate(data["results"]["T05"])
        for j, text in enumerate(line)
    ]
    rows += numbers("T05: c, s, x, y, unrounded", [T[0, 0], T[1, 0], T[0, 3], T[1, 3]], corrected=data["recomputed"]["T05"])  # fmt: skip
    rows.append(agreement("T05 against model.pose(q)", T - mp.compile(robot).pose(q), 1e-14))
    step = 1e-6
    slope = max(
        float(np.abs(arm.U(q, i, j) - (arm.product(q + step * e, 0, i) - arm.product(q - step * e, 0, i)) / (2 * step)).max())
        for i in range(1, 6) for j, e in enumerate(np.eye(5), 1)
    )  # fmt: skip
    rows.append(agreement("all `U_{ij}` against differences of `T_i^0`", slope, 1e-8, "25 pairs"))
    blocks = (
        Words("The derivative of a pose inserts one constant matrix per joint. The paper's text has lost both: turning, and sliding:"),
        Formulas((("frac{partial T_i^{i-1}}{partial q_i} = Q_i "
                  "T_i^{i-1}"), "U_{ij} = frac{partial T_i^0}{partial q_j} = T_{j-1}^0 Q_j T_i^{j-1} \" for \" j <= i, 0 \" for \" j > i")),
        Formulas((f'{_shown("Q", Q)} " (turning), " {_shown("Q", Q_SLIDE)} " (sliding)"',), "(3.12) and (3.13)"),
        Formulas((_shown("T_5^0", T),), "At the angles of Table 3.1"),
        Formulas(tuple(f'{_shown(f"U_{{5{j}}}", arm.U(q, 5, j))}' for j in range(1, 6)), "Derivatives of T05 by every joint"),
    )  # fmt: skip
    return PaperSection("Kinematics by 4×4 matrices", blocks, tuple(rows))


def dynamics(robot: Robot) -> PaperSection:
    """M by traces; h and G beside what other programs found."""
    data, arm, model = printed("arora"), links(), mp.compile(robot)
    q, qd = state()
    M = arm.M(q)
    rows = matrix("M", M, data["results"]["M"], remark="(3.64)")
    rows += [
        vector(f"row {i + 1} of M, unrounded", M[i], corrected=line, tolerance=EXACT) for i, line in enumerate(data["recomputed"]["M"])
    ]  # fmt: skip
    rows += [
        vector("h at 1 deg/min in every joint [N·m]", arm.h(q, qd), corrected=data["recomputed"]["h"], tolerance=1e-14, remark="not printed"),
        vector("G, gravity along −y [N·m]", arm.G(q), corrected=data["recomputed"]["G"], tolerance=EXACT, remark="not printed"),
        agreement("G, gravity along z [N·m]", FiveLinks(arm.a, arm.m, arm.inertias, (0.0, 0.0, -9.81)).G(q), 0.0),
    ]  # fmt: skip
    traces, fast = lagrange_euler(robot, q), 60 * qd
    others = (M - traces.M, arm.h(q, fast) - traces.bias(fast), arm.G(q) - traces.g)
    rows += [
        agreement("M by traces against composite bodies", M - model.mass_matrix(q), EXACT),
        agreement("h by traces against Newton–Euler, at 1 deg/s", arm.h(q, fast) - model.bias(q, fast), EXACT),
        agreement(
            "M, h and G against lagrange_euler of this package", max(float(np.abs(x).max()) for x in others), EXACT
        ),
    ]
    for k, case in enumerate(data["recomputed"]["states"], 1):
        x, v, w = (np.array(case[key]) for key in ("q", "qd", "qdd"))
        tau = arm.M(x) @ w + arm.h(x, v) + arm.G(x)
        flat = [text for line in case["M"] for text in line]
        for name, value, expected in (
            ("M", arm.M(x), flat),
            ("h", arm.h(x, v), case["h"]),
            ("G", arm.G(x), case["G"]),
            ("tau", tau, case["tau"]),
        ):
            rows.append(vector(f"{name} at random state {k}", value, corrected=expected, tolerance=EXACT))
        rows.append(agreement(f"tau at random state {k} against machine code", tau - model.inverse_dynamics(x, v, w), EXACT))  # fmt: skip
    lines = (
        "M_{ij} = sum_{p=max(i,j)}^n Trace(U_{pj} I_p U_{p i}^T)",
        "h_{ijk} = sum_{p=max(i,j,k)}^n Trace(frac{partial U_{pj}}{partial q_k} I_p U_{p i}^T)",
        "G_i = -sum_{p=i}^n m_p g^T U_{p i} bar{r}_p^p",
        "tau_i = sum_j M_{ij} ddot{q}_j + sum_{jk} h_{ijk} dot{q}_j dot{q}_k + G_i",
    )
    blocks = (
        Words("All by traces of 4×4 products, as the paper does it, with its slips corrected; every number is found once more by recursions that share only "
              "the description."),
        Formulas(lines, "(3.34)–(3.37), corrected"),
        Formulas((_shown("M", M),), "At the angles of Table 3.1"),
    )  # fmt: skip
    return PaperSection("Dynamics by traces", blocks, tuple(rows))


def mass_distribution() -> PaperSection:
    """The printed M fixes the links: only uniform rods reproduce it."""
    data, arm = printed("arora"), links()
    q, _ = state()
    stated = np.array([[float(x) for x in line] for line in data["results"]["M"]])
    off = {}
    for name, place in (("middle", 0.5), ("tip", 0.0)):
        points = np.stack([body(m, -m * place * a, m * (place * a) ** 2) for m, a in zip(arm.m, arm.a)])
        off[name] = float(np.abs(FiveLinks(arm.a, arm.m, points).M(q) - stated).max())
    columns, unknown = [], [(k, part) for part in ("second", "first") for k in range(5)]
    bare = FiveLinks(arm.a, arm.m, np.stack([body(m, 0.0, 0.0) for m in arm.m])).M(q)
    for k, part in unknown:
        inertias = [body(0.0, 0.0, 0.0) for _ in range(5)]
        m, a = arm.m[k], arm.a[k]
        inertias[k] = body(0.0, 0.0, m * a * a) if part == "second" else body(0.0, -m * a, 0.0)
        columns.append(FiveLinks(arm.a, arm.m, np.stack(inertias)).M(q)[np.triu_indices(5)])
    columns = np.stack(columns, axis=1)
    keep = [c for c in range(10) if unknown[c] != (0, "first")]
    fitted = np.linalg.lstsq(columns[:, keep], (stated - bare)[np.triu_indices(5)], rcond=None)[0]
    rows: list[CheckedRow] = []
    for (k, part), value in zip([unknown[c] for c in keep], fitted):
        text = data["recomputed"][f"{part}_moments"]
        power = "m a²" if part == "second" else "m a"
        # all that M sees of it: ∫(x + a)² dm, where ∫dm a² is in the fit already
        about = " about its joint" if k == 0 else ""
        value = value + 1.0 if k == 0 else value
        rows.append(number(f"{part} moment of link {k + 1}{about}, in "
                           f"{power}", value, corrected=text, tolerance=2e-3 if part == "first" else 2e-4))  # fmt: skip
    for name, text in data["recomputed"]["point_masses"].items():
        rows.append(number(f"largest error of M with point masses at the {name} of the links", off[name], corrected=text))  # fmt: skip
    blocks = (
        Words("The paper does not say how the masses are spread. A least-squares fit of first and second moments to the 25 printed entries gives one half and "
              "one third: uniform slender rods. "
              "(Of link 1, M sees the moment about its joint only.)"),
    )  # fmt: skip
    return PaperSection("What the printed M says about the links", blocks, tuple(rows))
