"""M, h_kij, tau and generalised forces of the SCARA in symbols, compared with print term by term [Khang & Trung]."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from manipula.model import Model
from manipula.papers.base import CheckedRow, Erratum, Formulas, PaperSection, PaperTable, Words, agreement, counted
from manipula.papers.derived import derived, largest, rate, states
from manipula.papers.printed import evaluated, in_short_names, printed, symbolic, terms
from manipula.symbolic.equations import Equations

EXACT = 1e-11  # random states of size 2, torques up to 20 N·m


def kinematics(eq: Equations, numeric: Equations) -> PaperSection:
    """T_i, ω_i, r_Ci and v_Ci, (2.1)–(2.6)."""
    tip = {"x": "a1*c1 + a2*c12 + a3*c123", "y": "a1*s1 + a2*s12 + a3*s123", "z": "d1 + d2 - q4"}
    T = eq.T()
    rows = []
    for i, (axis, text) in enumerate(tip.items()):
        found = in_short_names(T[i, 3], eq.q)
        off = sum(abs(v) for v in terms(found - symbolic(text)).values())
        rows.append(CheckedRow(f"{axis} of the tip, T_4", f"`{found}`".replace("**", "^"), float(off), 0.0, corrected=f"`{text}`",
                               remark="symbols; the paper prints no T_4"))  # fmt: skip
    turns, speeds = [], []
    for k in range(1, 5):
        A = numeric.A(k)
        W = A.T * rate(A, numeric)
        turns.append(sympy.Matrix([W[2, 1], W[0, 2], W[1, 0]]) - numeric.angular_velocity(k))
        speeds.append(rate(numeric.com(k), numeric) - numeric.com_velocity(k))
    rows.append(
        agreement("`omega_i` from `A_i^T dot{A}_i`, all links", largest(numeric, *turns), EXACT, "(2.4), random states")
    )
    rows.append(
        agreement("`v_{Ci} = dot{r}_{Ci}`, all links", largest(numeric, *speeds), EXACT, "(2.6), random states")
    )
    energy = numeric.kinetic_energy - (numeric.qd.T * numeric.M * numeric.qd)[0] / 2
    rows.append(
        agreement("`T = frac{1}{2} sum m_{ij} dot{q}_i dot{q}_j`", largest(numeric, energy), EXACT, "(2.8), links' own energies against M")
    )  # fmt: skip
    slope = sympy.Matrix([numeric.potential_energy.diff(q) for q in numeric.q]) - numeric.g
    rows.append(agreement("`g_k = partial Pi / partial q_k`", largest(numeric, slope), EXACT, "(2.9)"))
    blocks = (
        Words("The chain of Denavit–Hartenberg matrices (2.1)–(2.3) and what follows from it: angular velocities (2.4), centres of mass and their "
              "velocities (2.5), (2.6). `alpha_3 = pi` turns the last axis over, so that a positive `q_4` points down."),
        Formulas(("T_i = H_1 H_2 cdot cdot cdot H_i", "tilde{omega}_i' = A_i^T dot{A}_i", "v_{Ci} = dot{p}_i + dot{A}_i s'_{Ci}")),
        derived(eq, "T_i of all links", "poses"),
        derived(eq, "ω_i in axes of the links", "angular_velocities"),
        derived(eq, "r_Ci and v_Ci", "com,com_velocities"),
        derived(eq, "Kinetic and potential energies of the links", "energies"),
    )  # fmt: skip
    return PaperSection("Kinematics", blocks, tuple(rows))


def mass_matrix(eq: Equations) -> PaperSection:
    """Every printed entry of M, as a set of terms."""
    rows = []
    for name, text in printed("khang")["M"].items():
        i, j = int(name[1]) - 1, int(name[2]) - 1
        found, stated = terms(in_short_names(eq.M[i, j], eq.q)), terms(symbolic(text)) if text != "0" else {}
        off = sum(abs(found.get(key, 0) - stated.get(key, 0)) for key in {*found, *stated})
        here = (
            "0" if not found else f"the same {counted(len(found), 'term')}" if off == 0 else counted(len(found), "term")
        )
        rows.append(
            CheckedRow(name, here, float(off), 0.0, f"`{text}`", None,
                       "sum of the differences of all coefficients")
        )  # fmt: skip
    blocks = (Words("Printed and derived entries, expanded and compared coefficient by coefficient."), derived(eq, "M as derived here", "M"))  # fmt: skip
    return PaperSection("Mass matrix, term by term", blocks, tuple(rows))


def printed_terms(eq: Equations) -> tuple[PaperTable, list[dict[str, Any]], list[dict[str, Any]]]:
    """All terms of τ₁ … τ₄: the table of those that differ or not, and both sets per joint."""
    rows, stated_all, found_all = [], [], []
    M = {f"M{i}{j}": sympy.Symbol(f"M{i}{j}") for i in range(1, 5) for j in range(1, 5)}
    for i in range(4):
        text = printed("khang")["tau"][f"tau{i + 1}"]
        stated = terms(symbolic(text))
        named = sum(M[f"M{i + 1}{j + 1}"] * eq.qdd[j] for j in range(4))
        found = terms(named + in_short_names(eq.h[i] + eq.g[i], eq.q))
        stated_all.append(stated)
        found_all.append(found)
        for key in sorted({*stated, *found}):
            a, b = stated.get(key, 0), found.get(key, 0)
            rows.append((f"`tau{i + 1}`", f"`{key}`", str(a), str(b), "misprint" if a != b else "same"))
    rows.sort(key=lambda row: row[4] != "misprint")
    head = ("*Torque", "*Term", "Coefficient in print", "Coefficient derived here", "*Verdict")
    return (
        PaperTable(head, tuple(rows), "Every term of the four torques, those that differ first"),
        stated_all,
        found_all,
    )


def torques(eq: Equations, numeric: Equations, values: dict[str, float]) -> tuple[PaperSection, tuple[Erratum, ...]]:
    """τ as printed, corrected and derived; the misprints, each with its proof."""
    data, model = printed("khang"), Model(numeric.robot)
    q, qd, qdd = states(4)
    tau = model.inverse_dynamics(q, qd, qdd)
    known = known_values(values, model.mass_matrix(q), q, qd, qdd)
    angles = dict(zip("1234", q.T))
    listed: dict[str, list[dict[str, Any]]] = {}
    for erratum in data["errata"]:
        listed.setdefault(erratum["of"], []).append(erratum)
    rows, errata = [], []
    for i, (name, text) in enumerate(data["tau"].items()):
        larger = sum((evaluated(e["larger_by"], known, angles) for e in listed.get(name, ())), 0.0 * tau[:, i])
        corrected = evaluated(text, known, angles) - larger
        off = np.abs(corrected - tau[:, i]).max()
        count = len(terms(symbolic(text)))
        rows.append(
            agreement(
                f"{name}, its misprints corrected",
                off,
                EXACT,
                "64 random states, against Newton–Euler",
                printed=f"{counted(count, 'term')}, {counted(len(listed.get(name, ())), 'misprint')}",
            )
        )
        for e in listed.get(name, ()):
            wrong = float(np.abs(evaluated(e["larger_by"], known, angles) + 0 * tau[:, i]).max())
            errata.append(
                Erratum(name, f"`{_spaced(e['printed'])}`", f"`{_spaced(e['correct'])}`",
                        f"printed minus true is `{e['larger_by']}`; 64 random states, truth by Newton–Euler", wrong, float(off), EXACT, e.get("effect", True))
            )  # fmt: skip
    table, _, _ = printed_terms(eq)
    h = numeric.h
    M: Any = numeric.M
    paper_h = sympy.Matrix([
        sum((M[k, i].diff(numeric.q[j]) - M[i, j].diff(numeric.q[k]) / 2) * numeric.qd[i] * numeric.qd[j] for i in range(4) for j in range(4))
        for k in range(4)
    ])  # fmt: skip
    rows.append(
        agreement("`sum h_{kij} dot{q}_i dot{q}_j` with `h_{kij}` of (2.12)", largest(numeric, paper_h - h), EXACT, "against the Christoffel symbols")
    )  # fmt: skip
    symbols = numeric.compile("tau")(q, qd, qdd)
    rows.append(
        agreement("tau by symbols against Newton–Euler", symbols - tau, EXACT, "two routes that share only the description")
    )  # fmt: skip
    blocks = (
        Words("As printed (3.1), with the entries of M by name:"),
        Formulas(tuple(f"{name} = {text}" for name, text in data["tau"].items()), "Printed"),
        derived(eq, "Derived here", "tau"),
        derived(eq, "Christoffel symbols h_kij, those that are not zero", "christoffel"),
        table,
    )
    return PaperSection("Torques, term by term", blocks, tuple(rows)), tuple(errata)


def generalised_forces(numeric: Equations) -> PaperSection:
    """(2.10): Q_k = F·∂v/∂q̇_k + M·∂ω/∂q̇_k for a force and a moment at the tip, against Jᵀ."""
    force, moment = (3, -2, 5), (0.4, 0.7, -0.2)
    v, w = numeric.velocity(), numeric.angular_velocity(expressed_in="base")
    by_rates = sympy.Matrix([
        sum(f * a.diff(rate_) for f, a in zip(force, v.flat())) + sum(m * a.diff(rate_) for m, a in zip(moment, w.flat())) for rate_ in numeric.qd
    ])  # fmt: skip
    off = largest(numeric, by_rates - numeric.generalised_forces(force=force, moment=moment))
    row = agreement("`Q_k^*` of a force (3, −2, 5) N and a moment (0.4, 0.7, −0.2) N·m at the tip", off, EXACT, "(2.10) against the Jacobian")  # fmt: skip
    line = "Q_k^* = sum_{i=1}^N vec{F}_i cdot frac{partial vec{v}_i}{partial dot{q}_k}"
    lines = (line + " + sum_{j=1}^M vec{M}_j cdot frac{partial vec{omega}_j}{partial dot{q}_k}",)
    return PaperSection("Generalised forces", (Formulas(lines),), (row,))


def known_values(values: dict[str, float], M: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> dict[str, Any]:  # fmt: skip
    """What the printed torques are evaluated with: constants, entries of M by name, rates."""
    known: dict[str, Any] = dict(values)
    for i in range(4):
        known |= {f"q{i + 1}": q[:, i], f"dq{i + 1}": qd[:, i], f"ddq{i + 1}": qdd[:, i]}
        known |= {f"M{i + 1}{j + 1}": M[:, i, j] for j in range(4)}
    return known


def _spaced(text: str) -> str:
    """Words behind a formula stay words."""
    body, space, word = text.rpartition(" ")
    return f'{body} " {word}"' if space and word.isalpha() else text
