"""The papers' own equations, symbol by symbol."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sympy

from manipula.algebra.expression import parse
from manipula.formats.planar import planar
from manipula.formats.table import from_table
from manipula.symbolic.equations import equations
from symbolic.arms import S, scara

DATA = Path(__file__).parent.parent / "data"
PRINTED = 5e-5  # four decimals
EXACT = 1e-9  # ten digits are stored, values up to 400


def _is_zero(expression: sympy.Expr) -> bool:
    single = sympy.expand(sympy.expand_trig(sympy.expand(expression)))
    return sympy.expand(single.replace(sympy.sin(sympy.Wild("x")) ** 2, 1 - sympy.cos(sympy.Wild("x")) ** 2)) == 0


def _short(text: str, n: int) -> sympy.Expr:
    """A formula in the papers' notation: c23, s123, dq1, ddq1."""
    expression = parse(text).to_sympy()
    table = {}
    for symbol in expression.free_symbols:
        name = symbol.name
        if name[0] in "cs" and name[1:].isdigit() and len(name) <= n + 1:
            angle = sum(S(f"q{d}") for d in name[1:])
            table[symbol] = sympy.cos(angle) if name[0] == "c" else sympy.sin(angle)
    return expression.xreplace(table)


@pytest.mark.parametrize("level", ["raw", "compact", "lumped", "base"])
def test_abdelsatar_tau_from_the_printed_data_file(level: str) -> None:
    paper = json.loads((DATA / "twoR.json").read_text())
    eq = equations(from_table(paper["data_txt"], name="2R"), level)
    names = {"th1": eq.q[0], "th2": eq.q[1], "th1d": eq.qd[0], "th2d": eq.qd[1], "th1dd": eq.qdd[0], "th2dd": eq.qdd[1]}
    constants = {S(name): value for name, value in eq.definitions.items()}
    for i, key in enumerate(("tau1", "tau2")):
        published = parse(paper[key]).to_sympy().xreplace({S(a): b for a, b in names.items()})
        assert _is_zero(eq.tau[i].xreplace(constants) - published)


SCARA_M = {
    "M11": "I1z + m1*l1^2 + I2z + m2*a1^2 + 2*m2*a1*l2*c2 + m2*l2^2 + I3z + m3*a2^2 + 2*m3*a2*a1*c2 + 2*m3*a2*l3*c3 + m3*a1^2"
    " + 2*m3*a1*l3*c23 + m3*l3^2 + I4z + m4*a3^2 + 2*m4*a3*a2*c3 + 2*m4*a3*a1*c23 + m4*a2^2 + 2*m4*a2*a1*c2 + m4*a1^2",
    "M12": "I2z + m2*a1*l2*c2 + m2*l2^2 + I3z + m3*a2^2 + m3*a2*a1*c2 + 2*m3*a2*l3*c3 + m3*a1*l3*c23 + m3*l3^2 + I4z + m4*a3^2"
    " + 2*m4*a3*a2*c3 + m4*a3*a1*c23 + m4*a2^2 + m4*a2*a1*c2",
    "M13": "I3z + m3*a2*l3*c3 + m3*a1*l3*c23 + m3*l3^2 + I4z + m4*a3^2 + m4*a3*a2*c3 + m4*a3*a1*c23",
    "M22": "I2z + m2*l2^2 + I3z + m3*a2^2 + 2*m3*a2*l3*c3 + m3*l3^2 + I4z + m4*a3^2 + 2*m4*a3*a2*c3 + m4*a2^2",
    "M23": "I3z + m3*a2*l3*c3 + m3*l3^2 + I4z + m4*a3^2 + m4*a3*a2*c3",
    "M33": "I3z + m3*l3^2 + I4z + m4*a3^2",
    "M44": "m4",
}  # fmt: skip

# The paper's velocity terms with its four misprints corrected (dq3² for dq2² and dq1² for ddq1², one term once, one sign).
SCARA_H = [
    ("-2*dq2*a1*dq1*l3*m3*s23 - 2*dq3*a1*s23*dq2*a3*m4 - 2*dq3*a1*s23*dq2*l3*m3 - dq3^2*a1*s23*a3*m4 - dq3^2*a1*s23*l3*m3"
    " - dq3^2*s3*a2*l3*m3 - dq2^2*a1*s2*a2*m4 - dq2^2*a1*l3*m3*s23 - dq2^2*a1*a3*m4*s23 - dq2^2*a1*s2*m2*l2"
    " - dq2^2*a1*s2*a2*m3 - dq3^2*s3*a2*a3*m4 - 2*dq3*s3*a2*dq1*a3*m4 - 2*dq3*s3*a2*dq2*l3*m3 - 2*dq3*s3*a2*dq2*a3*m4"
    " - 2*dq3*a1*s23*dq1*l3*m3 - 2*dq3*a1*s23*dq1*a3*m4 - 2*dq2*a1*dq1*s2*a2*m4 - 2*dq2*a1*dq1*s2*a2*m3"
    " - 2*dq2*a1*dq1*a3*m4*s23 - 2*dq3*s3*a2*dq1*l3*m3 - 2*dq2*a1*dq1*s2*m2*l2"),
    ("-dq3^2*s3*a2*a3*m4 - dq3^2*s3*a2*l3*m3 - 2*dq3*s3*a2*dq2*a3*m4 - 2*dq3*s3*a2*dq2*l3*m3 - 2*dq3*s3*a2*dq1*a3*m4"
    " - 2*dq3*s3*a2*dq1*l3*m3 + dq1^2*a1*a3*m4*s23 + dq1^2*a1*l3*m3*s23 + dq1^2*a1*s2*a2*m3 + dq1^2*a1*s2*a2*m4"
    " + dq1^2*a1*s2*m2*l2"),
    ("a3*m4*dq1^2*s3*a2 + dq1^2*a1*a3*m4*s23 + 2*a3*m4*s3*dq2*a2*dq1 + a3*m4*a2*dq2^2*s3 + l3*m3*dq1^2*s3*a2"
    " + dq1^2*a1*l3*m3*s23 + 2*l3*m3*s3*dq2*a2*dq1 + l3*m3*a2*dq2^2*s3"),
    None,
]  # fmt: skip


def test_khang_trung_mass_matrix_is_the_printed_one() -> None:
    M = equations(scara()).M
    for i in range(4):
        for j in range(i, 4):
            printed = SCARA_M.get(f"M{i + 1}{j + 1}")
            assert _is_zero(M[i, j] - (_short(printed, 4) if printed else 0)), (i, j)


def test_khang_trung_torques_are_the_printed_ones_with_the_misprints_corrected() -> None:
    eq = equations(scara())
    for i in range(4):
        velocity = _short(SCARA_H[i], 4) if SCARA_H[i] else 0
        gravity = -S("m4") * S("g") if i == 3 else 0
        acceleration = sum(eq.M[i, j] * eq.qdd[j] for j in range(4))
        assert _is_zero(eq.tau[i] - acceleration - velocity - gravity)
        assert _is_zero(eq.h[i] - velocity)
        assert _is_zero(eq.g[i] - gravity)


def test_khang_trung_tip_points_down() -> None:
    T = equations(scara()).T()
    q = [S(f"q{i}") for i in range(1, 5)]
    reach = sum(S(f"a{i}") * sympy.cos(sum(q[:i])) for i in (1, 2, 3))
    assert _is_zero(T[0, 3] - reach)
    assert _is_zero(T[2, 3] - (S("d1") + S("d2") - q[3]))
    assert T[2, 2] == -1


def test_scara_torques_are_short() -> None:
    """A trial gave 340 operations; sympy.physics.mechanics needs 1015 after simplification."""
    assert sum(sympy.count_ops(t) for t in equations(scara()).tau) <= 340


def test_arora_mass_matrix_from_symbolic_rods() -> None:
    lengths, masses = [S(f"l{i}") for i in range(1, 6)], [S(f"m{i}") for i in range(1, 6)]
    eq = equations(planar(lengths, masses, gravity=(0, 0, 0)))
    values = dict(zip(lengths, (0.8, 0.7, 0.7, 0.52, 0.3))) | dict(zip(masses, (40, 20, 30, 20, 20)))
    angles = [sympy.rad(a).evalf() for a in (70, -30, 15, -40, 2.5)]
    M = eq.M.subs(values | dict(zip(eq.names.q, angles))).evalf()
    paper = json.loads((DATA / "arora5.json").read_text())
    for i in range(5):
        for j in range(5):
            assert float(M[i, j]) == pytest.approx(paper["published"]["M"][i][j], abs=PRINTED)
            assert float(M[i, j]) == pytest.approx(paper["expected"]["M"][i][j], abs=EXACT)
