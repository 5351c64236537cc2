"""What a new process is asked for: a robot, and one simulation of it.

Gains and friction are such that the runs finish; they are written out, so that nothing but the run itself is compiled.
"""

from __future__ import annotations

from dataclasses import replace

import manipula as mp

KP = (6.0, 62.0, 2.3, 16.0, 0.9, 0.8, 0.12)  # N·m/rad: 5 rad/s, critically damped
KV = (2.4, 25.0, 0.9, 6.3, 0.37, 0.32, 0.05)
KINDS = {
    "rk4": "rk4",
    "dop853": "dop853",
    "rodas": "rodas",
    "lugre": "LuGre with loads, rk4",
    "flexible": "7 flexible drives, rodas",
}


def scenario(kind: str, duration: float = 0.2) -> mp.Scenario:
    """A Panda under PD control with gravity compensation: an integrator, or a part that costs much."""
    robot, options = mp.load("panda"), {"integrator": kind, "friction": ()}
    if kind == "lugre":
        law = mp.friction.LuGre(100.0, 0.3, 0.1, v_stribeck=0.1, mu_static=0.15, mu_kinetic=0.1, diameter=0.02)
        options = {"integrator": "rk4", "friction": law, "step": 5e-4}
    if kind == "flexible":
        robot = replace(robot, joints=tuple(replace(j, rotor_inertia=1e-4, gear_ratio=100.0) for j in robot.joints))
        options = {"integrator": "rodas", "friction": (), "drives": mp.drives.Flexible(1e4, 10.0)}
    controller = mp.control.PDGravity(KP, KV, goal=(0.3,) * 7)
    return mp.Scenario(robot, controller=controller, q0=(0.0,) * 7, duration=duration, **options)


def run(kind: str) -> None:
    """The whole of it, up to a result that can be trusted."""
    mp.simulate(scenario(kind)).check()
