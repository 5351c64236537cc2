"""How long does it take to derive equations of motion in symbols, and how long are they?

Three ways in one process, fresh SymPy caches before each: this package; ``sympy.physics.mechanics`` (Lagrange, not simplified); and a recursive
Newton–Euler over SymPy that names every operation and splits off what sums and products share, the way SymPyBotics works: n times for the columns of
M, once each for C·qd, g and tau (it gives code, not formulas, and no matrix C), then with the regressor that SymPyBotics always derives.

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
        result = work()
        best = min(best, time.process_time() - begin)
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


def recursion_with_names(robot: Robot, regressor: bool) -> int:
    """Newton–Euler over SymPy, every operation named: columns of M, h, g, tau. Returns the number of names."""
    n = robot.n

    names: dict[Any, sympy.Symbol] = {}
    seen: dict[Any, list[set]] = {sympy.Add: [], sympy.Mul: []}

    def symbol(x: Any) -> Any:
        if x not in names:
            names[x] = S(f"t{len(names) + 1}")
        return names[x]

    def name(x: Any) -> Any:
        """Every operation becomes a symbol; what a sum or product shares with an earlier one is split off first."""
        if x.is_Atom:
            return x
        x = x.func(*[name(a) for a in x.args])
        if x.is_Atom or x in names:
            return names.get(x, x)
        kind = x.func
        if kind in seen:
            parts = set(x.args)
            for k, earlier in enumerate(seen[kind]):
                common = parts & earlier
                if len(common) > 1 and common != parts:
                    part = symbol(kind(*common))
                    parts = (parts - common) | {part}
                    seen[kind][k] = (earlier - common) | {part}
            seen[kind].append(parts)
            x = kind(*parts)
        return symbol(x)

    def named(v: sympy.Matrix) -> sympy.Matrix:
        return sympy.Matrix(3, 1, [name(x) for x in v])

    rotations, shifts = [], []
    for i, joint in enumerate(robot.joints):
        q = S(f"q{i + 1}")
        spin = sympy.Matrix([[sympy.cos(q), -sympy.sin(q), 0], [sympy.sin(q), sympy.cos(q), 0], [0, 0, 1]])
        fixed = sympy.Matrix(3, 3, [sympy.nsimplify(x) for x in joint.placement.R.flat])
        rotations.append(fixed * spin)
        shifts.append(sympy.Matrix([sympy.nsimplify(x) for x in joint.placement.p]))

    def forward(qd: list[Any], qdd: list[Any], gravity: Any) -> list[Any]:
        w, dw, a, z = sympy.zeros(3, 1), sympy.zeros(3, 1), sympy.Matrix([0, 0, gravity]), sympy.Matrix([0, 0, 1])
        motions = []
        for i in range(n):
            R = rotations[i].T
            a = named(R * (a + dw.cross(shifts[i]) + w.cross(w.cross(shifts[i]))))
            up = R * w
            dw = named(R * dw + up.cross(z) * qd[i] + z * qdd[i])
            w = named(up + z * qd[i])
            motions.append((w, dw, a))
        return motions

    def backward(motions: list[Any], value: Callable[[str], Any]) -> None:
        f, t = sympy.zeros(3, 1), sympy.zeros(3, 1)
        for i in range(n - 1, -1, -1):
            w, dw, a = motions[i]
            m, h = value(f"m{i + 1}"), sympy.Matrix([value(f"m{c}{i + 1}") for c in "xyz"])
            J = sympy.Matrix(3, 3, lambda r, c, i=i: value(f"I{''.join(sorted('xyz'[r] + 'xyz'[c]))}{i + 1}"))
            if i + 1 < n:
                f = rotations[i + 1] * f
                t = rotations[i + 1] * t + shifts[i + 1].cross(f)
            f = named(f + m * a + dw.cross(h) + w.cross(w.cross(h)))
            t = named(t + J * dw + w.cross(J * w) + h.cross(a))

    def torques(qd: list[Any], qdd: list[Any], gravity: Any) -> None:
        backward(forward(qd, qdd, gravity), S)

    zeros = [0] * n
    for k in range(n):
        torques(zeros, [int(i == k) for i in range(n)], 0)
    rates, accelerations = [S(f"dq{i + 1}") for i in range(n)], [S(f"ddq{i + 1}") for i in range(n)]
    torques(rates, zeros, 0)
    torques(zeros, zeros, S("g"))
    motions = forward(rates, accelerations, S("g"))
    backward(motions, S)
    if regressor:
        for k in range(n):
            for one in (f"{kind}{k + 1}" for kind in ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")):
                backward(motions, lambda parameter, one=one: sympy.Integer(parameter == one))
    return len(names)


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
            recursion, names = seconds(lambda r=regressor: recursion_with_names(modified("puma560", PUMA), r))
            report[f"puma560, recursion with names{', regressor' if regressor else ''}"] = {
                "seconds": round(recursion, 3), "names": names,
                "times ours": round(recursion / report["puma560, 60 inertial symbols"]["seconds"], 1),
            }  # fmt: skip
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
