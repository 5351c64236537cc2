"""Random members of the families of arms that have closed forms, as lines in space, and robots made of them in three descriptions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from manipula.algebra.pose import Pose
from manipula.algebra.rotation import from_quaternion_wxyz
from manipula.formats.dh import from_dh, to_dh
from manipula.robot.build import JointDraft, LinkDraft, build_robot
from manipula.robot.robot import Robot

Line = tuple[str, np.ndarray, np.ndarray]  # "R" or "P", direction, point
DESCRIPTIONS = ("urdf", "standard", "modified")


def unit(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def away(rng: np.random.Generator, *others: np.ndarray) -> np.ndarray:
    """A direction at least 30° from the given ones."""
    while True:
        v = unit(rng)
        if all(np.linalg.norm(np.cross(v, o)) > 0.5 for o in others):
            return v


def point(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-0.6, 0.6, 3)


def across(rng: np.random.Generator, h: np.ndarray) -> np.ndarray:
    v = np.cross(h, away(rng, h))
    return v / np.linalg.norm(v)


def arm(rng: np.random.Generator, kinds: str, relation: str = "") -> list[Line]:
    """Two or three joints; ``relation``: "12" or "23" parallel ("∥") or meeting ("x") or at right angles ("+")."""
    h = [unit(rng)]
    for _ in kinds[1:]:
        h.append(away(rng, h[-1]))
    p = [point(rng) for _ in kinds]
    if relation:
        i, j = int(relation[0]) - 1, int(relation[1]) - 1
        if relation[2] == "∥":
            h[j if j == len(kinds) - 1 else i] = rng.choice([-1.0, 1.0]) * h[i if j == len(kinds) - 1 else j]
        elif relation[2] == "x":
            p[j] = p[i] + rng.uniform(-0.4, 0.4) * h[j]
        else:
            h[j] = across(rng, h[i])
    return [(k, a, b) for k, a, b in zip(kinds, h, p)]


def wrist(rng: np.random.Generator, before: np.ndarray | None = None) -> list[Line]:
    """Three axes through one point."""
    o = point(rng)
    h = [unit(rng) if before is None else away(rng, before)]
    h.append(across(rng, h[0]) if rng.random() < 0.5 else away(rng, h[0]))
    h.append(h[0] if rng.random() < 0.3 else (across(rng, h[1]) if rng.random() < 0.5 else away(rng, h[1])))
    return [("R", v, o + rng.uniform(-0.3, 0.3) * v) for v in h]


def parallel(rng: np.random.Generator, meeting: bool) -> list[Line]:
    h = unit(rng)
    first, fifth = away(rng, h), away(rng, h)
    sixth = away(rng, fifth, h)
    p5 = point(rng)
    p6 = p5 + (0.0 if meeting else 0.2) * np.cross(fifth, sixth) + 0.1 * sixth
    middle = [("R", rng.choice([-1.0, 1.0]) * h, point(rng)) for _ in range(3)]
    return [("R", first, point(rng)), *middle, ("R", fifth, p5), ("R", sixth, p6)]


def all_parallel(rng: np.random.Generator, kinds: str) -> list[Line]:
    h = unit(rng)
    return [(k, rng.choice([-1.0, 1.0]) * h, point(rng)) for k in kinds]


def shoulder_elbow_wrist(rng: np.random.Generator) -> list[Line]:
    return [*wrist(rng), ("R", unit(rng), point(rng)), *wrist(rng)]


def _arms() -> dict[str, Callable[[np.random.Generator], list[Line]]]:
    relations = {
        "RRR": ("", "12∥", "23∥", "12x", "23x"), "RRP": ("", "12∥", "23+", "12x"), "PRR": ("", "23∥", "12+", "23x"),
        "RPR": ("", "12+", "23+", "12∥"), "RPP": ("",), "PRP": ("", "12+", "23+"), "PPR": ("",), "PPP": ("",),
    }  # fmt: skip
    return {f"{k} {r}".strip(): (lambda g, k=k, r=r: arm(g, k, r)) for k, rs in relations.items() for r in rs}


WITH_WRIST = ("RRR", "RRR 23∥", "RRR 12x", "RRP", "RRP 23+", "PRR 23∥", "RPR", "RPP", "PRP", "PPR", "PPP")
WITH_SHOULDER = ("RRR", "RRR 23x", "RRP 12∥")
POSITION: dict[str, Callable[[np.random.Generator], list[Line]]] = {
    **_arms(),
    "RR ∥": lambda g: arm(g, "RR", "12∥"),
    "RR": lambda g: arm(g, "RR"),
    "RP +": lambda g: arm(g, "RP", "12+"),
    "RP": lambda g: arm(g, "RP"),
    "PR": lambda g: arm(g, "PR"),
    "PP": lambda g: arm(g, "PP"),
}
POSE: dict[str, Callable[[np.random.Generator], list[Line]]] = {
    **{f"{k} + wrist": (lambda g, f=f: [*f(g), *wrist(g)]) for k, f in _arms().items() if k in WITH_WRIST},
    **{f"shoulder + {k}": (lambda g, f=f: [*wrist(g), *f(g)]) for k, f in _arms().items() if k in WITH_SHOULDER},
    "parallel 234, 56 meet": lambda g: parallel(g, True),
    "parallel 234": lambda g: parallel(g, False),
    "parallel 345, 12 meet": lambda g: parallel(g, True)[::-1],
    "parallel 345": lambda g: parallel(g, False)[::-1],
    "planar 3R": lambda g: all_parallel(g, "RRR"),
    **{f"SCARA {k}": (lambda g, k=k: all_parallel(g, k)) for k in ("RRRP", "RRPR", "RPRR", "PRRR")},
    "spherical joint": lambda g: wrist(g),
    "SRS": shoulder_elbow_wrist,
    "shoulder + 4R": lambda g: [*wrist(g), *arm(g, "RRR", "23x"), ("R", unit(g), point(g))],
}


def rotation(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(from_quaternion_wxyz(list(rng.normal(size=4))), float)


def rigid(rng: np.random.Generator) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation(rng), rng.uniform(-0.3, 0.3, 3)
    return T


def robot_of(lines: list[Line], rng: np.random.Generator, description: str = "urdf", name: str = "arm") -> Robot:
    """A robot with these joint axes at q = 0, frames drawn at random, random base and tool."""
    base = rigid(rng)
    frames = [base]
    links, joints = [LinkDraft("base", described=False)], []
    for i, (kind, h, p) in enumerate(lines):
        X = np.eye(4)
        X[:3, :3] = rotation(rng)
        X[:3, 3] = p + rng.uniform(-0.1, 0.1) * h
        local = np.linalg.inv(frames[-1]) @ X
        kind_name = "revolute" if kind == "R" else "prismatic"
        links.append(LinkDraft(f"link{i + 1}", described=False))
        joints.append(
            JointDraft(
                f"q{i + 1}",
                kind_name,
                links[-2].name,
                links[-1].name,
                origin=Pose.from_matrix(local),
                axis=X[:3, :3].T @ h,
            )
        )
        frames.append(X)
    robot = build_robot(name, links, joints, base=base, tool=rigid(rng), tip=links[-1].name)
    if description == "urdf":
        return robot
    table = to_dh(robot, description)  # type: ignore[arg-type]
    return from_dh(table.rows, description, base=table.base, tool=table.tool, name=name)  # type: ignore[arg-type]


def postures(robot: Robot, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, n) joint positions: any angle, slides up to 0.6 m."""
    wide = np.array([np.pi if j.is_revolute else 0.6 for j in robot.joints])
    return rng.uniform(-wide, wide, (count, robot.n))


def distance(robot: Robot, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Largest difference of joint positions, angles modulo a turn."""
    d = np.asarray(a) - np.asarray(b)
    turning = np.array([j.is_revolute for j in robot.joints])
    d = np.where(turning, (d + np.pi) % (2 * np.pi) - np.pi, d)
    return np.abs(d).max(axis=-1)
