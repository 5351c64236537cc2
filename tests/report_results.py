"""A handful of small results of every kind, made once a process, for the tests of plots and reports."""

from __future__ import annotations

from functools import cache

import numpy as np

import manipula as mp
from manipula import control
from manipula.simulation.result import Result

HOSTILE = "<img src=x onerror=alert(1)>\"'</script>&$\\frac{1}\x07"


@cache
def planar() -> Result:
    """A planar arm follows a line with its tip; friction in every joint."""
    arm = mp.planar(lengths=[0.5, 0.4, 0.3], masses=[4, 3, 2], damping=[0.5, 0.5, 0.5])
    line = mp.trajectory(mp.paths.line([0.9, 0.3, 0], [0.5, 0.7, 0]), mp.timing.quintic(1.0))
    controller = mp.control.TaskSpaceComputedTorque(kp=100, kv=20)
    return mp.simulate(mp.Scenario(robot=arm, reference=line, controller=controller, q0=(0.4, -0.6, 1.2), step=2e-3, sample=1e-2,
                                   name="Line in the plane", verify=False))  # fmt: skip


@cache
def scara() -> Result:
    """Torques along a joint move; a revolute and a prismatic kind together."""
    move = mp.joint_move([0, 0.5, 0, 0.1], [1.2, -0.8, 1.0, 0.25], velocity=1.5, acceleration=4, jerk=30)
    return mp.simulate(mp.Scenario(robot=mp.load("scara-khang"), reference=move, kind="inverse_dynamics", step=1e-2))


@cache
def seven() -> Result:
    """Free motion of a spatial arm with seven joints."""
    q0 = (0.1, 0.2, 0.3, -1.2, 0.1, 1.1, 0.2)
    return mp.simulate(
        mp.Scenario(robot=mp.load("panda"), q0=q0, duration=0.3, step=1e-3, integrator="rk4", sample=5e-3, verify=False)
    )


@cache
def programmed(friction: bool = True) -> Result:
    """A tip on an ellipse in a level plane."""
    motion = mp.programmed_motion(mp.load("jarzebowska-4"), ["(x/0.5)**2 + (y/0.4)**2 - 1", "z - 0.1"], drives={0: 20.0},
                                  friction=[mp.friction.Dahl(1e3, 1.0) if i == 0 else mp.friction.Viscous(1.0) for i in range(4)])  # fmt: skip
    return motion.run([0.0, 1.5 * np.pi, 0.0, 0.3], duration=0.4, step=1e-3, sample=4e-3, friction=friction)


@cache
def batch() -> Result:
    """Thirty starts of one closed loop."""
    arm = mp.planar(lengths=[0.5, 0.4], masses=[4, 3], damping=[1.0, 1.0])
    starts = np.random.default_rng(5).uniform(-1, 1, (30, 2))
    return mp.simulate(mp.Scenario(robot=arm, controller=mp.control.PDGravity(kp=60, kv=12, goal=[0.4, 0.6]), q0=starts, duration=0.4,
                                   step=2e-3, sample=1e-2, verify=False))  # fmt: skip


@cache
def touching() -> Result:
    """An arm falls on the ground and on its stops."""
    arm = mp.planar(lengths=[0.5, 0.4], masses=[4, 3], damping=[1.0, 1.0])
    ground = mp.contact.PlaneContact(1e4, point=(0, -0.3, 0), normal=(0, 1, 0), damping=0.5)
    stops = mp.contact.EndStop(1e3, low=-1.0, high=1.0, joints=(1,))
    return mp.simulate(
        mp.Scenario(robot=arm, q0=(0.2, 0.3), duration=0.5, sample=1e-2, contacts=(ground, stops), verify=False)
    )


@cache
def observing() -> Result:
    """An observer sees a push."""
    push = mp.Wrench((3.0, 0.0, 0.0, 0.0, 0.0, 0.0), start=0.05)
    law = control.MomentumObserver(60.0, 12.0, 30.0, goal=0.2)
    return mp.simulate(
        mp.Scenario(mp.load("planar-2r"), controller=law, duration=0.2, sample=1e-2, disturbances=(push,), verify=False)
    )


@cache
def yielding() -> Result:
    """The tip gives way to a push."""
    arm, q0 = mp.load("planar-2r"), (0.4, 0.9)
    tip = mp.compile(arm).position(np.array(q0))
    line = mp.trajectory(mp.paths.line(tip, tip + np.array([0.02, 0.0, 0.0])), mp.timing.quintic(0.2))
    push = mp.Wrench((6.0, -4.0, 0.0, 0.0, 0.0, 0.0))
    law = control.Admittance(2.0, 25.0, 150.0)
    return mp.simulate(mp.Scenario(arm, line, law, q0=q0, sample=1e-2, disturbances=(push,), verify=False))


RESULTS = {
    "planar": planar,
    "scara": scara,
    "seven": seven,
    "programmed": programmed,
    "batch": batch,
    "touching": touching,
    "observing": observing,
    "yielding": yielding,
}


def renamed(result: Result, name: str) -> Result:
    """The same samples of a robot whose every name is ``name`` (joints numbered)."""
    meta = {
        **result.meta,
        "robot": name,
        "name": name,
        "joint_names": tuple(f"{name}{i}" for i in range(result.arrays["q"].shape[-1])),
    }
    return Result(
        result.t,
        result.arrays,
        result.status,
        name,
        result.statuses,
        result.reasons,
        result.error_estimate,
        meta,
        (name,),
        None,
    )
