"""Controllers: one file per family, one line in the registry gives each its name in files.

=====================  ==============================================================
``joint_pd``           PD, and PD with gravity compensation
``pid``                PID whose integral does not wind up
``computed_torque``    computed torque in joint space
``cascade``            position loop around a speed loop, at two rates
``feedforward``        torques along the reference, with PD around them
``torque_table``       torques known in advance, with feedback around them
``momentum_observer``  PD with an observer of external torques
``flexible_joint``     elastic joints: PD on the motor side, feedback linearisation
``admittance``         a position loop that gives way to the force at the tip
``hybrid``             force in some directions of the tip, motion in the others
``task_space``         resolved acceleration, operational space, impedance
``task_priorities``    tasks in strict order, within hard bounds
``adaptive``           Slotine–Li, of links and of a load at the tip
``sliding_mode``       sliding mode with a boundary layer
``lqr``                linear-quadratic regulation about a posture
``simple``             gravity compensation, functions of a user
``pose_task``          errors of position and orientation, which the task space shares
``memory``             controllers that remember something between calls
``base``               what a controller is
=====================  ==============================================================
"""

from __future__ import annotations

from manipula.control.adaptive import AdaptivePayload, SlotineLi
from manipula.control.admittance import Admittance
from manipula.control.base import Controller, Target
from manipula.control.cascade import Cascade
from manipula.control.computed_torque import ComputedTorque
from manipula.control.feedforward import FeedforwardPD
from manipula.control.flexible_joint import FlexibleComputedTorque, MotorPD
from manipula.control.hybrid import HybridForcePosition
from manipula.control.joint_pd import PD, PDGravity
from manipula.control.lqr import LQR
from manipula.control.momentum_observer import MomentumObserver
from manipula.control.pid import PID
from manipula.control.simple import GravityCompensation, UserFunction
from manipula.control.sliding_mode import SlidingMode
from manipula.control.task_priorities import TaskPriorities
from manipula.control.task_space import Impedance, OperationalSpace, TaskSpaceComputedTorque
from manipula.control.torque_table import TorqueTable
from manipula.parts.registry import PartKind
from manipula.redundancy.arm import Arm
from manipula.redundancy.null_space import JointLimits, Manipulability, MinimumTorque, ObstacleDistance, Posture
from manipula.redundancy.tasks import (
    CentreOfMass,
    FrameOrientation,
    FramePose,
    FramePosition,
    JointPosture,
    LeastTorque,
)

CONTROLLERS = (
    PD, PDGravity, PID, ComputedTorque, TaskSpaceComputedTorque, OperationalSpace, Impedance, TaskPriorities, SlotineLi, AdaptivePayload, SlidingMode, LQR,
    Admittance, HybridForcePosition, GravityCompensation, Cascade, FeedforwardPD, TorqueTable, MomentumObserver, MotorPD, FlexibleComputedTorque, UserFunction,
)  # fmt: skip
REGISTRY: dict[str, type[Controller]] = {c.name: c for c in CONTROLLERS}
KIND = PartKind("controller", "law", REGISTRY, "manipula.control.REGISTRY", python_only=(UserFunction.name,))

__all__ = [
    "KIND",
    "LQR",
    "PD",
    "PID",
    "REGISTRY",
    "AdaptivePayload",
    "Admittance",
    "Arm",
    "Cascade",
    "CentreOfMass",
    "ComputedTorque",
    "Controller",
    "FeedforwardPD",
    "FlexibleComputedTorque",
    "FrameOrientation",
    "FramePose",
    "FramePosition",
    "GravityCompensation",
    "HybridForcePosition",
    "Impedance",
    "JointLimits",
    "JointPosture",
    "LeastTorque",
    "Manipulability",
    "MinimumTorque",
    "MomentumObserver",
    "MotorPD",
    "ObstacleDistance",
    "OperationalSpace",
    "PDGravity",
    "Posture",
    "SlidingMode",
    "SlotineLi",
    "Target",
    "TaskPriorities",
    "TaskSpaceComputedTorque",
    "TorqueTable",
    "UserFunction",
]
