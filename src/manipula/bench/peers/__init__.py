"""Other libraries, timed in the same way: nanoseconds per evaluation, one process, one thread, minimum of short windows.

====================  ========================================
``pinocchio_cpp``     Pinocchio in a C++ loop
``pinocchio_python``  Pinocchio called from Python
``mujoco_peer``       MuJoCo, and its rollout of a closed loop
``toolbox``           Robotics Toolbox for Python
``casadi_peer``       CasADi, evaluated and compiled
``numba_peer``        a generic recursion compiled by numba
``toppra_peer``       the fastest motion along a path
``ruckig_peer``       jerk-limited moves
``eaik_peer``         closed-form inverse kinematics
``timing``            how every peer is timed from Python
====================  ========================================

Every module here has ``available() -> bool`` and ``reason() -> str`` (why not, empty when available). Those in ``NAMES`` have
``time_functions(urdf_path) -> dict[str, float]`` for one arm; the others solve one problem, timed by its caller. Functions of the same meaning
have the same name in all of them:

    inverse_dynamics, mass_matrix, forward_dynamics, inverse_dynamics_derivatives, forward_dynamics_derivatives,
    forward_kinematics, inverse_kinematics, closed_loop_step

A suffix ``_batch`` marks the time per state inside a batch.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

NAMES = ("pinocchio_cpp", "pinocchio_python", "mujoco_peer", "toolbox", "casadi_peer", "numba_peer")


def peers() -> dict[str, ModuleType]:
    """All peer modules by name; importing them imports none of the libraries."""
    return {name: import_module(f"{__name__}.{name}") for name in NAMES}
