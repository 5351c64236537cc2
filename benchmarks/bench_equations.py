"""How long does it take to derive equations of motion in symbols, and how long are they?

Three ways in one process, fresh SymPy caches before each: this package; ``sympy.physics.mechanics`` (Lagrange, not simplified); and the method of
SymPyBotics (``named_recursion.py``: code instead of formulas, C·qd instead of C), without and with the regressor that SymPyBotics always derives.

Run: ``python benchmarks/bench_equations.py`` (JSON on the standard output; ``--quick`` leaves the slow peers out).
"""

from __future__ import annotations

import json
import math
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import sympy
from named_recursion import Recursion, Row
from sympy.core.cache import clear_cache

from manipula.formats.dh import from_dh
from manipula.robot.robot import Robot
from manipula.symbolic.equations import equations

S = sympy.Symbol
RIGHT = math.pi / 2


def scara() -> Robot:
    rows = []
    for i, alpha in enumerate((0, 0, math.pi, 0), start=1):
        com = (-(S(f"a{i}") - S(f"l{i}")), 0, 0) if i < 4 else (0, 0, -S("l4"))
        inertia = [S(f"I{i}x"), S(f"I{i}y"), S(f"I{i}z"), 0, 0, 0]
        kind = "revolute" if i < 4 else "prismatic"
        row = {
            "a": S(f"a{i}") if i < 4 else 0,
            "alpha": alpha,
            "mass": S(f"m{i}"),
            "com": com,
            "inertia": inertia,
            "joint": kind,
        }
        rows.append(row)
    return from_dh(rows, "standard", gravity=(0, 0, -S("g")), name="scara")


PUMA = [(0, 0, 0), (0, -RIGHT, 0), ("a2", 0, "d3"), ("a3", -RIGHT, "d4"), (0, RIGHT, 0), (0, -RIGHT, 0)]
PANDA = [
    (0, 0, "d1"),
    (0, -RIGHT, 0),
    (0, RIGHT, "d3"),
    ("a4", RIGHT, 0),
    ("-a4", -RIGHT, "d5"),
    (0, RIGHT, 0),
    ("a7", RIGHT, 0),
]


def modified(name: str, rows: list[tuple[Any, float, Any]]) -> Robot:
    table = [{"a": a, "alpha": alpha, "d": d, "mass": 1.0} for a, alpha, d in rows]
    return from_dh(table, "modified", gravity=(0, 0, -S("g")), name=name)


def seconds(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Processor time (other programs do not count) of the fastest run, and the result."""
    best, result = math.inf, None
    for _ in range(repeats):
        clear_cache()
        begin = time.process_time()
        found = work()
        taken = time.process_time() - begin
        if taken < best:
            best, result = taken, found
    return best, result


def ours(robot: Robot, inertia: Any, repeats: int) -> dict[str, Any]:
    def derive() -> Any:
        eq = equations(robot, inertia=inertia)
        begin = time.process_time()
        eq.M, eq.g  # noqa: B018
        half = time.process_time()
        eq.C  # noqa: B018
        return eq, half - begin, time.process_time() - half

    total, (eq, m_g, c) = seconds(derive, repeats)
    d, n = eq.parts.derivation, robot.n
    terms = sum(len(d.terms(d.M[i, j])) for i in range(n) for j in range(i, n))
    return {"seconds": round(total, 4), "M and g": round(m_g, 4), "C": round(c, 4), "terms of M": terms,
            "operations of M": int(sum(sympy.count_ops(x) for x in eq.M))}  # fmt: skip


def mechanics_scara() -> tuple[sympy.Matrix, sympy.Matrix]:
    """The same SCARA by sympy.physics.mechanics: bodies, frames, Lagrange's method."""
    from sympy.physics.mechanics import (
        LagrangesMethod,
        Lagrangian,
        Point,
        ReferenceFrame,
        RigidBody,
        dynamicsymbols,
        inertia,
    )

    q = dynamicsymbols("q1:5")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    frame, joint, bodies = N, O, []
    for i in range(3):
        frame = frame.orientnew(f"A{i + 1}", "Axis", (sum(q[: i + 1]) - sum(q[:i]), frame.z))
        centre = joint.locatenew(f"C{i + 1}", S(f"l{i + 1}") * frame.x)
        centre.v2pt_theory(joint, N, frame)
        body = RigidBody(f"B{i + 1}", centre, frame, S(f"m{i + 1}"), (inertia(frame, 0, 0, S(f"I{i + 1}z")), centre))
        body.potential_energy = 0
        bodies.append(body)
        joint = joint.locatenew(f"P{i + 1}", S(f"a{i + 1}") * frame.x)
        joint.v2pt_theory(bodies[-1].masscenter, N, frame)
    tip = joint.locatenew("E", -q[3] * frame.z)
    tip.set_vel(N, joint.vel(N) - q[3].diff() * frame.z)
    last = RigidBody("B4", tip, frame, S("m4"), (inertia(frame, 0, 0, S("I4z")), tip))
    last.potential_energy = -S("m4") * S("g") * q[3]
    method = LagrangesMethod(Lagrangian(N, *bodies, last), q)
    method.form_lagranges_equations()
    return method.mass_matrix, method.forcing


def rows_of_puma() -> list[Row]:
    """Standard DH rows of the same arm."""
    right = sympy.pi / 2
    return [(0, right, 0), (S("a2"), 0, 0), (S("a3"), -right, S("d3")), (0, right, S("d4")), (0, -right, 0), (0, 0, 0)]


def main() -> None:
    quick = "--quick" in sys.argv
    report: dict[str, Any] = {
        "machine": platform.platform(),
        "python": platform.python_version(),
        "sympy": sympy.__version__,
    }
    report["scara"] = ours(scara(), "given", 5)
    eq = equations(scara())
    report["scara"]["operations of tau"] = int(sum(sympy.count_ops(x) for x in eq.tau))
    report["puma560, 60 inertial symbols"] = ours(modified("puma560", PUMA), "symbolic", 3)
    report["panda, 70 inertial symbols"] = ours(modified("panda", PANDA), "symbolic", 1)
    mechanics, (M, forcing) = seconds(mechanics_scara)
    report["scara, sympy.physics.mechanics"] = {
        "seconds": round(mechanics, 3), "operations of M and forcing": int(sympy.count_ops(M) + sympy.count_ops(forcing)),
        "times ours": round(mechanics / report["scara"]["seconds"], 1),
    }  # fmt: skip
    if not quick:
        for regressor in (False, True):
            recursion, code = seconds(lambda r=regressor: Recursion(rows_of_puma()).products(r))
            report[f"puma560, like SymPyBotics{'' if regressor else ', without regressor'}"] = {
                "seconds": round(recursion, 3), "assignments": code,
                "times ours": round(recursion / report["puma560, 60 inertial symbols"]["seconds"], 1),
            }  # fmt: skip
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
