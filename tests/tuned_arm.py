"""One joint under PD control, far from its reference at the start: its torque is largest there, kp times the error."""

import manipula as mp

GAINS = {"controller.kp": mp.log_uniform(20, 2000), "controller.kv": mp.uniform(2, 60)}


def one_joint(**more):
    """A horizontal arm (no gravity along its motion) that is to be at 0 and starts at 0.3 rad."""
    arm = mp.planar(lengths=[0.5], masses=[2.0]).replace(gravity=(0.0, 0.0, -9.81))
    rest = mp.waypoints([0.0, 0.5], [[0.0], [0.0]])
    return mp.Scenario(arm, rest, mp.control.PDGravity(kp=100, kv=20), q0=[0.3], duration=0.5, sample=0.01, **more)
