"""Robotics Toolbox for Python: kinematics and inverse kinematics of the arm, and its C inverse dynamics of a Puma 560.

Its fast ``rne`` exists for Denavit–Hartenberg models only; for an arm from a URDF file it runs in Python. Both are timed:
``inverse_dynamics`` is the arm, ``puma560_inverse_dynamics`` and ``…_batch`` the C code on the Puma of the toolbox.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .timing import missing, nanoseconds, states

ROWS = 200


def reason() -> str:
    """Why it cannot be timed here; empty if it can."""
    return missing("roboticstoolbox")


def available() -> bool:
    """Is the toolbox installed?"""
    return not reason()


def time_functions(urdf_path: str | Path) -> dict[str, float]:
    """Nanoseconds per evaluation of each function, for the arm in a URDF file and for the Puma 560."""
    import roboticstoolbox as rtb

    times: dict[str, float] = {}
    arm = rtb.Robot.URDF(str(Path(urdf_path).resolve()))
    (q,), (v,), (a,) = states(arm.n)
    target = arm.fkine(np.full(arm.n, 0.4))
    start = np.full(arm.n, 0.1)
    times["forward_kinematics"] = nanoseconds(lambda: arm.fkine(q))
    times["jacobian"] = nanoseconds(lambda: arm.jacob0(q))
    times["inverse_dynamics"] = nanoseconds(lambda: arm.rne(q, v, a), window=20e-3)
    times["inverse_kinematics"] = nanoseconds(lambda: arm.ik_LM(target, q0=start), window=20e-3)
    puma = rtb.models.DH.Puma560()
    (q,), (v,), (a,) = states(6)
    many = states(6, ROWS)
    times["puma560_inverse_dynamics"] = nanoseconds(lambda: puma.rne(q, v, a))
    times["puma560_inverse_dynamics_batch"] = nanoseconds(lambda: puma.rne(*many), window=20e-3) / ROWS
    return times
