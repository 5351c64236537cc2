r"""What it takes to hold the arm still at q = 0, by moments of the weights about each joint.

Joint i carries the mass m and the first moment h of its subtree. Holding it needs
:math:`\tau_i = -u_i\cdot\big((h - m\,p_i)\times g\big)` for a revolute joint with unit axis u through p, and
:math:`\tau_i = -m\,u_i\cdot g` for a prismatic one: the gravity term g(q) of the equation of motion.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from manipula.robot.doctor_rules.finding import Finding
from manipula.robot.doctor_rules.zero_posture import ZeroPosture, number, numeric
from manipula.robot.robot import Robot

NOTHING = 1e-9  # N·m or N: below this a load is called 0


def holding_torque(robot: Robot) -> np.ndarray:
    """Torques [N·m] and forces [N] that hold a numeric robot at q = 0, shape (n,); with coupled joints by virtual work."""
    if robot.followers:
        free = robot.uncoupled
        out = np.zeros(robot.n)
        np.add.at(out, list(free.coordinate), np.asarray(free.ratio, float) * holding_torque(free.robot))
        return out
    posture = ZeroPosture(robot)
    g = np.asarray(robot.gravity, float)
    out = np.zeros(robot.n)
    for i, (joint, X) in enumerate(zip(robot.joints, posture.joints)):
        u = np.asarray(X.R @ np.asarray(joint.axis, float), float)
        m, h = posture.weights[i].mass, np.asarray(posture.weights[i].first, float)
        out[i] = -u @ np.cross(h - m * np.asarray(X.p, float), g) if joint.is_revolute else -m * (u @ g)
    return out


def holding(robot: Robot) -> Iterator[Finding]:
    """The holding torque as a sentence with its sign, and joints too weak for it."""
    if not robot.is_numeric or not robot.n:
        return
    if robot.payload is None and all(link.mass == 0 for link in robot.bodies):
        return
    tau = holding_torque(robot)
    named = {name: float(t) for name, t in zip(robot.joint_names, tau)}
    parts = [
        f"{name} {_signed(t)} {'N·m' if j.is_revolute else 'N'}"
        for (name, t), j in zip(named.items(), robot.joints)
        if abs(t) > NOTHING
    ]
    if not parts:
        sentence = "At q = 0 no torque is needed to hold the arm."
    else:
        rest = "" if len(parts) == robot.n else "; the other joints need none"
        sentence = f"At q = 0 the arm is held by {', '.join(parts)}{rest} (positive pushes towards larger q)."
    yield Finding("info", "holding", robot.name, sentence, named)
    for joint, t in zip(robot.joints, tau):
        effort = joint.limits.effort
        if effort is not None and numeric(effort) and 0 < effort < abs(t):
            yield Finding(
                "warning",
                "holding.weak",
                joint.name,
                f"Joint '{joint.name}' needs {number(abs(t))} to hold the arm at q = 0 but its "
                f"effort limit is {number(effort)}.",
                float(t),
                "Check masses, units and the limit.",
            )


def gravity(robot: Robot) -> Iterator[Finding]:
    """Gravity that is absent, in odd units, or pointing up."""
    if not numeric(robot.gravity):
        return
    g = np.asarray(robot.gravity, float)
    size = float(np.linalg.norm(g))
    if size == 0:
        yield Finding("info", "gravity.none", robot.name, "There is no gravity.", 0.0)
    elif size > 100.0:
        yield Finding(
            "warning",
            "units.millimetres",
            robot.name,
            f"Gravity of {number(size)} m/s² looks like millimetres.",
            size,
            "Gravity is an acceleration in m/s², for instance [0, 0, -9.81].",
        )
    elif g[2] > 0.99 * size or g[1] > 0.99 * size:
        yield Finding(
            "warning",
            "gravity.up",
            robot.name,
            f"Gravity ({', '.join(number(v) for v in g)}) points up.",
            g.tolist(),
            "It is the acceleration of a falling body: [0, 0, -9.81].",
        )
    elif not 9.7 < size < 9.9:
        yield Finding("info", "gravity.size", robot.name, f"Gravity is {number(size)} m/s².", size)


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else '−'}{number(abs(value))}"
