"""Arms for the tests of symbols: the papers' own, textbook arms, and random ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy

from manipula.algebra.pose import Pose
from manipula.algebra.rotation import from_rpy
from manipula.formats.dh import from_dh
from manipula.robot.build import JointDraft, LinkDraft, build_robot
from manipula.robot.robot import Robot

RIGHT = math.pi / 2
S = sympy.Symbol


def scara() -> Robot:
    """The arm of Khang and Trung, tables 1 and 2, gravity along -z."""
    rows = []
    for i, (alpha, d) in enumerate([(0, S("d1")), (0, S("d2")), (math.pi, 0), (0, 0)], start=1):
        com = (-(S(f"a{i}") - S(f"l{i}")), 0, 0) if i < 4 else (0, 0, -S("l4"))
        rows.append({
            "a": S(f"a{i}") if i < 4 else 0, "alpha": alpha, "d": d, "mass": S(f"m{i}"), "com": com,
            "inertia": [S(f"I{i}x"), S(f"I{i}y"), S(f"I{i}z"), 0, 0, 0], "joint": "revolute" if i < 4 else "prismatic",
        })  # fmt: skip
    return from_dh(rows, "standard", gravity=(0, 0, -S("g")), name="scara")


def two_link() -> Robot:
    """The 2R arm of Abdelsatar with uniform rods, gravity along -y."""
    rows = []
    for i in (1, 2):
        a, m = S(f"a{i}"), S(f"m{i}")
        rod = m * a**2 / 12
        rows.append({"a": a, "mass": m, "com": (-a / 2, 0, 0), "inertia": [0, rod, rod, 0, 0, 0]})
    return from_dh(rows, "standard", gravity=(0, -S("gc"), 0), name="2R")


def puma560(symbolic: bool = True) -> Robot:
    """Modified DH of the Puma 560 [Armstrong, Khatib & Burdick 1986]."""
    lengths = (0.4318, 0.0203, 0.15005, 0.4318)
    a2, a3, d3, d4 = (S(n) for n in ("a2", "a3", "d3", "d4")) if symbolic else lengths
    rows = [(0, 0, 0), (0, -RIGHT, 0), (a2, 0, d3), (a3, -RIGHT, d4), (0, RIGHT, 0), (0, -RIGHT, 0)]
    return from_dh(
        [{"a": a, "alpha": alpha, "d": d, "mass": 1.0} for a, alpha, d in rows],
        "modified", gravity=(0, 0, -S("g")) if symbolic else None, name="puma560",
    )  # fmt: skip


def panda_like() -> Robot:
    """Modified DH of a 7R arm with the Panda's geometry in symbols."""
    d1, d3, d5, a4, a7 = (S(n) for n in ("d1", "d3", "d5", "a4", "a7"))
    rows = [
        (0, 0, d1),
        (0, -RIGHT, 0),
        (0, RIGHT, d3),
        (a4, RIGHT, 0),
        (-a4, -RIGHT, d5),
        (0, RIGHT, 0),
        (a7, RIGHT, 0),
    ]
    return from_dh(
        [{"a": a, "alpha": alpha, "d": d, "mass": 1.0} for a, alpha, d in rows],
        "modified", gravity=(0, 0, -S("g")), name="seven-joints",
    )  # fmt: skip


def random_body(rng: np.random.Generator) -> dict[str, Any]:
    """Mass, centre of mass and a physical inertia, with a few decimals as people write them."""
    points = rng.normal(size=(4, 3)) * 0.2
    inertia = sum(0.5 * (p @ p * np.eye(3) - np.outer(p, p)) for p in points)
    return {
        "mass": round(float(rng.uniform(0.5, 3)), 3),
        "com": np.round(rng.normal(size=3) * 0.2, 3),
        "inertia": np.round(inertia, 5),
    }


def random_dh(rng: np.random.Generator, n: int, oblique: bool, convention: Any) -> Robot:
    """Revolute and prismatic joints mixed; right angles, or any."""
    rows = []
    for i in range(n):
        alpha = float(rng.uniform(-3, 3)) if oblique else float(rng.integers(-1, 3)) * RIGHT
        theta = float(rng.uniform(-3, 3)) if oblique and i % 2 else 0.0
        rows.append({
            "a": round(float(rng.uniform(-0.5, 0.5)), 3), "alpha": alpha, "d": round(float(rng.uniform(-0.5, 0.5)), 3),
            "theta": theta, "joint": "prismatic" if rng.random() < 0.3 else "revolute", **random_body(rng),
            "rotor_inertia": 0.001, "gear_ratio": 50.0,
        })  # fmt: skip
    gravity = np.round(rng.normal(size=3) * 5, 2)
    return from_dh(rows, convention, gravity=gravity, payload=0.7, name="random")


def random_tree(rng: np.random.Generator, n: int, oblique: bool) -> Robot:
    """Branches anywhere; axes x, y, z or oblique; origins turned by right angles or by any."""
    links, joints = [LinkDraft("base", described=False)], []
    axes = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (0, -1, 0)]
    for i in range(n):
        parent = int(rng.integers(max(0, i - 2), i + 1))
        if oblique:
            axis, R = rng.normal(size=3), from_rpy(*rng.uniform(-2, 2, size=3))
        else:
            axis, R = axes[rng.integers(5)], from_rpy(*(RIGHT * rng.integers(-1, 3, size=3)))
        links.append(LinkDraft(f"link{i + 1}", **random_body(rng)))
        joints.append(JointDraft(
            f"joint{i + 1}", "prismatic" if rng.random() < 0.25 else "revolute", links[parent].name, f"link{i + 1}",
            origin=Pose.of(R, np.round(rng.normal(size=3) * 0.3, 3)), axis=axis,
        ))  # fmt: skip
    return build_robot("tree", links, joints, gravity=(0.3, -0.4, -9.81), tip=f"link{n}")


def random_state(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return rng.uniform(-2, 2, size=n), rng.uniform(-2, 2, size=n), rng.uniform(-3, 3, size=n)


def numbers(
    eq: Any, expression: Any, state: tuple[np.ndarray, ...], parameters: Mapping[str, float] | None = None
) -> np.ndarray:
    """SymPy expression or matrix of ``eq`` at a state."""
    symbols = [*eq.names.q, *eq.names.qd, *eq.names.qdd]
    values = [float(v) for part in state for v in part]
    table = dict(parameters or {})
    shape = getattr(expression, "shape", ())
    flat = list(expression) if shape else [expression]
    extra = sorted({s for e in flat for s in sympy.sympify(e).free_symbols} - set(symbols), key=str)
    function: Callable = sympy.lambdify([*symbols, *extra], flat, modules="math", cse=True)
    out = np.array(function(*values, *(table[str(s)] for s in extra)), dtype=float)
    return out.reshape(shape) if shape else out[0]
