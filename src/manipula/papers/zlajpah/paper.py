"""Žlajpah from kinmodel and dynmodel to figures 2 and 3, and beyond them what his package is for."""

from __future__ import annotations

import numpy as np

from manipula.compat.zlajpah import dynmodel, kinmodel
from manipula.formats.planar import planar
from manipula.papers.base import (
    CheckedRow,
    Erratum,
    Formulas,
    PaperSection,
    PaperTable,
    Reproduction,
    Words,
    agreement,
    number,
    vector,
)
from manipula.papers.printed import paper_info, printed
from manipula.papers.zlajpah import as_printed, examples, redundant
from manipula.papers.zlajpah.table_1 import table_1
from manipula.physics.newton_euler import inverse_dynamics

MODEL = 1e-11  # Lagrange by automatic differentiation, Pinocchio and the corrected formulas agree to 2e-13
SIZES = range(2, 11)
PER_SIZE = 4
OPEN = (
    ("Figures 1 to 3 are not part of the text that is at hand: no curve can be compared, and the paper prints no parameters, gains, line or points of its two "
    "examples. All of them are chosen."),
    ("Figure 1 is the window of the package: 'manipula studio' is its counterpart here (settings of arm, task and control, start and stop, the arm moving "
    "during the run)."),
    "The execution times of Table 1 are of a Pentium at 90 MHz; they are shown, and judge nothing.",
    ("`ml` is an argument of dynmodel and not explained; it is read as a point mass at the tip. `B` is an argument and in none of the results: `h` is taken "
    "without `B dot{q}`."),
    "The counts of operations of Table 1 are MATLAB's own, of vectorised code; ours are of a scalar formulation. That `2 n^2` is the least is not proven.",
    "Performance criteria and torque minimisation are in the paper's reference 5, not in its text: nothing printed to compare with.",
)  # fmt: skip


def the_model() -> PaperSection:
    """kinmodel and dynmodel against the paper's formulas, Newton–Euler and recomputed arms."""
    data = printed("zlajpah")
    rows: list[CheckedRow] = []
    for arm in data["recomputed"]["arms"]:
        n = arm["n"]
        found = dynmodel(arm["q"], arm["qd"], n, arm["L"], arm["Lc"], arm["m"], arm["ml"], arm["I"], arm["B"])
        words = f"{n}-R arm with a load"
        for name in ("x", "h", "g"):
            rows.append(vector(f"{name}, {words}", getattr(found, name), corrected=arm[name], tolerance=MODEL))
        for name in ("J", "Jd", "H"):
            flat = [text for line in arm[name] for text in line]
            rows.append(vector(f"{name}, {words}", getattr(found, name), corrected=flat, tolerance=MODEL))
        rows.append(
            vector(f"`tau = H ddot{{q}} + h + B dot{{q}} + g`, {words}", found.torque(arm["qdd"]), corrected=arm["tau_with_B"], tolerance=MODEL)
        )  # fmt: skip
        apart = max(float(np.abs(a - b).max()) for a, b in zip(kinmodel(arm["q"], arm["L"], arm["qd"]), found))
        rows.append(agreement(f"kinmodel against dynmodel, {words}", apart, 0.0))
    rng = np.random.default_rng(1)
    off: dict[str, float] = dict.fromkeys(("x", "J", "Jd", "H", "h", "g", "tau"), 0.0)
    for n in SIZES:
        for _ in range(PER_SIZE):
            arm, (q, qd, qdd) = as_printed.random_arm(rng, n), rng.normal(size=(3, n))
            own = dynmodel(q, qd, n, arm.L, arm.Lc, arm.m, 0.0, arm.I, np.zeros(n))
            p = as_printed.partials(arm, q)
            H, h = as_printed.inertia_and_bias(arm, p, qd)
            tau = inverse_dynamics(planar(arm.L, arm.m, arm.Lc, arm.I), q, qd, qdd)
            theirs = {
                "x": [p.x[0], p.y[0]], "J": [-p.y, p.x], "Jd": as_printed.jacobian_rate(p, qd, corrected=True), "H": H, "h": h,
                "g": as_printed.gravity(arm, p, corrected=True),
            }  # fmt: skip
            for name, value in theirs.items():
                off[name] = max(off[name], float(np.abs(getattr(own, name) - np.asarray(value)).max()))
            off["tau"] = max(off["tau"], float(np.abs(own.torque(qdd) - tau).max()))
    for name, value in off.items():
        against = "Newton–Euler" if name == "tau" else "the paper's corrected formulas"
        rows.append(agreement(f"{name} of 36 random arms, n = 2 … 10, against {against}", value, MODEL))
    equations = data["equations"]
    blocks = (
        Words("The kernel of the package is two functions, [x, J, Jd] = kinmodel(q, L, qd) and [x, J, Jd, H, h, g] = dynmodel(q, qd, nj, L, Lc, m, ml, I, B); "
              "both are in manipula.compat.zlajpah "
              "with these arguments. `(x_i, y_i)` runs from joint i to the tip."),
        Formulas(tuple(f'"{key}  " {text}' for key, text in equations.items()), "As printed; (6), (15) and (16) are misprinted"),
        Formulas((
            '"(6)  " frac{partial^2 x_i}{partial q_j partial q_k} = -x_r, frac{partial^2 y_i}{partial q_j partial q_k} = -y_r, r = max(i, j, k)',
            '"(15)  " g_i = g_{i+1} + 9.81 (m_i l_{c,i} cos(phi_i) + sum_{k=i+1}^n m_k l_i cos(phi_i))',
            '"(16)  " tau = H J^dagger (ddot{x}_r + K_v (dot{x}_r - dot{x}) + K_p (x_r - x) - dot{J} dot{q}) + h + B dot{q} + g',
        ), "Corrected"),
    )  # fmt: skip
    return PaperSection("kinmodel and dynmodel", blocks, tuple(rows))


def errata() -> tuple[tuple[Erratum, ...], PaperSection]:
    """(6), (15) and (16), each evaluated as printed and corrected."""
    rng = np.random.default_rng(2)
    n = 4
    arm, (q, qd, qdd) = as_printed.random_arm(rng, n), rng.normal(size=(3, n))
    p = as_printed.partials(arm, q)
    true = _second_differences(arm, q)
    off = {
        corrected: np.array([
            [[np.abs(as_printed.second_derivative(p, i, j, k, corrected=corrected) - true[i, j, k]).max() for k in range(n)] for j in range(n)]
            for i in range(n)
        ]) for corrected in (False, True)
    }  # fmt: skip
    right = int((off[False] < 1e-6).sum())
    rate = dynmodel(q, qd, n, arm.L, arm.Lc, arm.m, 0.0, arm.I, np.zeros(n))
    wrong_rate, right_rate = (
        np.abs(as_printed.jacobian_rate(p, qd, corrected=c) - rate.Jd).max() for c in (False, True)
    )
    holding = inverse_dynamics(planar(arm.L, arm.m, arm.Lc, arm.I), q, np.zeros(n), np.zeros(n))
    wrong_g, right_g = (np.abs(as_printed.gravity(arm, p, corrected=c) - holding).max() for c in (False, True))
    more = 9.81 * np.array([(arm.m[i : n - 1] * arm.L[i : n - 1] * np.cos(p.phi[i : n - 1])).sum() for i in range(n)])
    excess = as_printed.gravity(arm, p, corrected=False) - as_printed.gravity(arm, p, corrected=True) - more
    J, wanted = rate.J, np.array([0.7, -0.4])  # what stands in the brackets of (16) beside the last term
    left = {}
    for name, matrix in (("printed", as_printed.jacobian_curvature(arm, p, qd, qdd)), ("corrected", rate.Jd)):
        acceleration = np.linalg.pinv(J) @ (wanted - matrix @ qd)
        left[name] = float(np.abs(J @ acceleration + rate.Jd @ qd - wanted).max())
    listed = (
        Erratum("(6)", "`-x_r` for `j <= i` and `k <= i`, otherwise 0, `r = max(j, "
                       "k)`", "`-x_r` and `-y_r` always, `r = max(i, j, k)`; the zero case belongs to (14)",
                "`dot{J}` of a random 4-R arm by both, against dynmodel", float(wrong_rate), float(right_rate), MODEL),
        Erratum("(15)", "the sum of masses begins at `k = i`", "it begins at `k = i + 1`", "torques of holding a random 4-R arm by both, against Newton–Euler",
                float(wrong_g), float(right_g), MODEL),
        Erratum("(16)", "`ddot{J} "
                        "dot{q}`", "`dot{J} "
                                   "dot{q}`", "acceleration of the tip by both, less the one that was asked for, at a random "
                                              "state", left["printed"], left["corrected"], MODEL),
    )  # fmt: skip
    rows = (
        number("index triples (i, j, k) of 64 at which (6) holds as printed, n = "
               "4", right, corrected=printed("zlajpah")["recomputed"]["counts"]["right_triples"], tolerance=0.0),
        agreement("second derivatives by the corrected (6), 64 triples", off[True].max(), 1e-6, "against central differences"),
        agreement("excess of the printed g is `9.81 sum_{k=i}^{n-1} m_k l_k cos(phi_k)` [N·m]", excess, MODEL),
    )  # fmt: skip
    head = ("*i", "Right as printed", "Right corrected")
    table = tuple((str(i + 1), f"{int((off[False][i] < 1e-6).sum())} of 16", f"{int((off[True][i] < 1e-6).sum())} of 16") for i in range(n))  # fmt: skip
    blocks = (
        Words("Three of the sixteen equations cannot stand as they are printed. (6) is evaluated for all indices of a 4-R arm and compared with differences:"),
        PaperTable(head, table, "Second derivatives of (x_i, y_i) by q_j and q_k, 16 pairs (j, k) each"),
    )  # fmt: skip
    return listed, PaperSection("Equations that are misprinted", blocks, rows)


def _second_differences(arm: as_printed.PlanarArm, q: np.ndarray) -> np.ndarray:
    """∂²(x_i, y_i)/∂q_j∂q_k by central differences, (n, n, n, 2)."""
    n, step = len(q), 1e-4
    at = lambda z: np.stack(as_printed.partials(arm, z)[1:], axis=1)  # noqa: E731
    out = np.zeros((n, n, n, 2))
    for j in range(n):
        for k in range(n):
            a, b = step * np.eye(n)[j], step * np.eye(n)[k]
            out[:, j, k] = (at(q + a + b) - at(q + a - b) - at(q - a + b) + at(q - a - b)) / (4 * step**2)
    return out


def reproduce(quick: bool = False) -> Reproduction:
    """Run everything that the paper shows."""
    listed, misprints = errata()
    costs, slip = table_1(quick)
    runs = examples.line_runs()
    way = examples.spline()
    sections = (the_model(), misprints, costs, examples.line(runs), way, redundant.performance(runs), redundant.least_torque())  # fmt: skip
    line = examples.STARTS["with_initial_error"]
    live = ("controller.kp", "controller.kv", "q0[0]", "q0[4]")
    return Reproduction(
        paper_info("zlajpah"),
        sections,
        (*listed, slip),
        ((f"5-R line, {line}", runs["zero_initial_error"]),),
        OPEN,
        live,
    )
