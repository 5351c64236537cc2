"""Random legal robots and states, for every test that needs many of them.

``random_robot`` is a plain seeded generator (thousands of cases in a loop); ``robots`` and ``states`` are Hypothesis
strategies over it that shrink towards few joints and few features. All bodies are physical: inertias are made from
clouds of point masses, so they are positive definite and obey the triangle rule.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from manipula.algebra.pose import IDENTITY, Pose
from manipula.robot import Limits, Payload, Robot
from manipula.robot.build import FrameDraft, JointDraft, LinkDraft, build_robot
from manipula.robot.friction import Coulomb, FrictionLaw, Viscous


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """Uniform over all rotations."""
    w, x, y, z = rng.normal(size=4)
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return np.array(
        [
            [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)],
        ]
    )


def random_pose(rng: np.random.Generator, reach: float = 0.5) -> Pose:
    """An oblique rotation and a translation within a cube of half side ``reach``."""
    return Pose.of(random_rotation(rng), rng.uniform(-reach, reach, 3))


def random_body(rng: np.random.Generator, heavy: float = 3.0) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it, of six random point masses."""
    masses = rng.uniform(0.05, heavy / 3, 6)
    points = rng.uniform(-0.3, 0.3, (6, 3))
    mass = float(masses.sum())
    com = masses @ points / mass
    r = points - com
    inertia = np.sum([m * (v @ v * np.eye(3) - np.outer(v, v)) for m, v in zip(masses, r)], axis=0)
    return mass, com, (inertia + inertia.T) / 2


def random_robot(
    rng: np.random.Generator,
    n: int,
    tree: bool = False,
    prismatic: bool = True,
    *,
    fixed: bool = False,
    oblique: bool = False,
    limits: bool = False,
    drives: bool = False,
    friction: bool = False,
    base: bool = False,
    tool: bool = False,
    payload: bool = False,
    gravity: bool = False,
    massless: bool = False,
    name: str = "random",
) -> Robot:
    """A legal robot of ``n`` moving joints; every feature beyond the tree itself is asked for by name.

    Args:
        tree: links hang on any earlier link, else each on the one before.
        prismatic: about a third of the joints slide.
        fixed: extra links on fixed joints, between the others and at the ends, and named frames.
        oblique: link frames that do not sit in the joint (X_JL ≠ 1), as in standard DH.
        limits: position, velocity, acceleration, jerk and effort limits, each on some joints.
        drives: rotor inertia and gear ratio.
        friction: viscous or dry friction on some joints.
        base, tool, payload, gravity: a base pose, a tool pose, a carried body, gravity in any direction.
        massless: some links (never the last of a branch) have no mass.
    """
    links = [LinkDraft("base", *random_body(rng)) if fixed else LinkDraft("base", described=False)]
    joints: list[JointDraft] = []
    frames: list[FrameDraft] = []
    attach = ["base"]
    for i in range(n):
        parent = attach[int(rng.integers(len(attach)))] if tree else attach[-1]
        if fixed and rng.random() < 0.3:
            links.append(LinkDraft(f"bracket{i + 1}", *random_body(rng)))
            joints.append(JointDraft(f"weld{i + 1}", "fixed", parent, f"bracket{i + 1}", random_pose(rng)))
            parent = f"bracket{i + 1}"
        slides = prismatic and rng.random() < 0.33
        bare = massless and i < n - 1 and not tree and rng.random() < 0.3
        links.append(
            LinkDraft(f"link{i + 1}", described=False) if bare else LinkDraft(f"link{i + 1}", *random_body(rng))
        )
        axis = rng.normal(size=3) if rng.random() < 0.6 else np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        joints.append(
            JointDraft(
                f"joint{i + 1}",
                "prismatic" if slides else "revolute",
                parent,
                f"link{i + 1}",
                origin=random_pose(rng),
                axis=axis / np.linalg.norm(axis),
                frame=random_pose(rng) if oblique and rng.random() < 0.7 else IDENTITY,
                limits=_random_limits(rng) if limits else Limits(),
                rotor_inertia=float(rng.uniform(1e-5, 1e-3)) if drives else 0.0,
                gear_ratio=float(rng.uniform(20, 160)) * float(rng.choice([-1.0, 1.0])) if drives else 1.0,
                friction=_random_friction(rng) if friction else None,
            )
        )
        attach.append(f"link{i + 1}")
    if fixed:
        links.append(LinkDraft("flange", described=False))
        joints.append(JointDraft("flange_weld", "fixed", attach[-1], "flange", random_pose(rng)))
        frames.append(FrameDraft("camera", attach[int(rng.integers(len(attach)))], random_pose(rng)))
    carried = None
    if payload:
        mass, com, inertia = random_body(rng, heavy=1.0)
        carried = Payload(mass, tuple(float(v) for v in com), tuple(tuple(float(v) for v in row) for row in inertia))  # pyright: ignore[reportArgumentType]
    return build_robot(
        name,
        links,
        joints,
        frames=frames,
        gravity=9.81 * rng.normal(size=3) / math.sqrt(3) if gravity else (0.0, 0.0, -9.81),
        base=random_pose(rng) if base else IDENTITY,
        tool=random_pose(rng) if tool else IDENTITY,
        tip="flange" if fixed else attach[-1],
        payload=carried,
    )


def _random_limits(rng: np.random.Generator) -> Limits:
    def sometimes(value: float) -> float | None:
        return float(value) if rng.random() < 0.8 else None

    lower, upper = sorted(rng.uniform(-3.0, 3.0, 2))
    return Limits(*(sometimes(v) for v in (lower, upper, *rng.uniform(0.5, 100.0, 4))))


def _random_friction(rng: np.random.Generator) -> FrictionLaw | None:
    draw = rng.random()
    if draw < 0.3:
        return None
    if draw < 0.7:
        return Viscous(float(rng.uniform(0.01, 2.0)))
    return Coulomb(
        float(rng.uniform(0.1, 3.0)), width=float(rng.choice([1e-3, 0.02])), damping=float(rng.choice([0.0, 0.4]))
    )


def random_state(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and accelerations of order one."""
    return rng.uniform(-3.0, 3.0, n), rng.uniform(-2.0, 2.0, n), rng.uniform(-4.0, 4.0, n)


FEATURES = ("fixed", "oblique", "limits", "drives", "friction", "base", "tool", "payload", "gravity", "massless")


@st.composite
def robots(
    draw: Any, min_joints: int = 1, max_joints: int = 7, tree: bool | None = None, prismatic: bool | None = None,
    **features: bool,
) -> Robot:  # fmt: skip
    """Legal robots; features that are not given (True or False) are drawn."""
    n = draw(st.integers(min_joints, max_joints))
    branched = draw(st.booleans()) if tree is None else tree
    slides = draw(st.booleans()) if prismatic is None else prismatic
    chosen: dict[str, Any] = {f: features[f] if f in features else draw(st.booleans()) for f in FEATURES}
    seed = draw(st.integers(0, 2**32 - 1))
    return random_robot(np.random.default_rng(seed), n, branched, slides, **chosen)


@st.composite
def states(draw: Any, robot: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``q, qd, qdd`` for a robot."""
    return random_state(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), robot.n)
