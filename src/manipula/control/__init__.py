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
``model_predictive``   the same within bounds that are foreseen
``simple``             gravity compensation, functions of a user
``pose_task``          errors of position and orientation, which the task space shares
``memory``             controllers that remember something between calls
``base``               what a controller is
=====================  ==============================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manipula.control.base import Controller, Target
from manipula.parts.registry import PartKind, PartRegistry

REGISTRY: PartRegistry[type[Controller]] = PartRegistry(
    __name__,
    pd="joint_pd:PD",
    pd_gravity="joint_pd:PDGravity",
    pid="pid:PID",
    computed_torque="computed_torque:ComputedTorque",
    task_space_computed_torque="task_space:TaskSpaceComputedTorque",
    operational_space="task_space:OperationalSpace",
    impedance="task_space:Impedance",
    task_priorities="task_priorities:TaskPriorities",
    slotine_li="adaptive:SlotineLi",
    adaptive_payload="adaptive:AdaptivePayload",
    sliding_mode="sliding_mode:SlidingMode",
    lqr="lqr:LQR",
    model_predictive="model_predictive:ModelPredictive",
    admittance="admittance:Admittance",
    hybrid_force_position="hybrid:HybridForcePosition",
    gravity="simple:GravityCompensation",
    cascade="cascade:Cascade",
    feedforward_pd="feedforward:FeedforwardPD",
    torque_table="torque_table:TorqueTable",
    momentum_observer="momentum_observer:MomentumObserver",
    motor_pd="flexible_joint:MotorPD",
    flexible_computed_torque="flexible_joint:FlexibleComputedTorque",
    user="simple:UserFunction",
)
KIND = PartKind("controller", "law", REGISTRY, "manipula.control.REGISTRY", python_only=("user",), public="mp.control")

if TYPE_CHECKING:
    from manipula.control.adaptive import AdaptivePayload, SlotineLi
    from manipula.control.admittance import Admittance
    from manipula.control.cascade import Cascade
    from manipula.control.computed_torque import ComputedTorque
    from manipula.control.feedforward import FeedforwardPD
    from manipula.control.flexible_joint import FlexibleComputedTorque, MotorPD
    from manipula.control.hybrid import HybridForcePosition
    from manipula.control.joint_pd import PD, PDGravity
    from manipula.control.lqr import LQR
    from manipula.control.model_predictive import ModelPredictive
    from manipula.control.momentum_observer import MomentumObserver
    from manipula.control.pid import PID
    from manipula.control.simple import GravityCompensation, UserFunction
    from manipula.control.sliding_mode import SlidingMode
    from manipula.control.task_priorities import TaskPriorities
    from manipula.control.task_space import Impedance, OperationalSpace, TaskSpaceComputedTorque
    from manipula.control.torque_table import TorqueTable
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
__getattr__ = REGISTRY.names(
    {
        "manipula.redundancy.arm": ("Arm",),
        "manipula.redundancy.null_space": ("JointLimits", "Manipulability", "MinimumTorque", "ObstacleDistance", "Posture"),
        "manipula.redundancy.tasks": ("CentreOfMass", "FrameOrientation", "FramePose", "FramePosition", "JointPosture", "LeastTorque"),
    }
)  # fmt: skip

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
    "ModelPredictive",
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

__dir__ = REGISTRY.listed(__all__)
