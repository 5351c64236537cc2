"""The kinds of run that a Scenario describes: what happens in each, what it needs, and which settings act in it.

Settings of every run act everywhere; the others belong to some kinds and are refused elsewhere (``checks/requests.py``), never dropped.
"""

from __future__ import annotations

from typing import NamedTuple

EVERY_RUN = (
    "base_motion",
    "robot", "kind", "name", "q0", "qd0", "duration", "step", "sample", "integrator", "tolerance", "verify", "friction", "disturbances",
    "parameters", "vary", "stop_at_limits", "limits",
)  # fmt: skip


class RunKind(NamedTuple):
    """One kind of run.

    Attributes:
        what: what happens. needs: the setting without which there is no such run.
        settings: those that act in it beside the settings of every run.
    """

    what: str
    needs: str
    settings: tuple[str, ...]


ALONG = ("reference", "start", "criteria", "gain", "actuator")
RUN_KINDS = {
    "dynamic": RunKind(
        "the arm moves under its controller",
        "controller", ("controller", "reference", "start", "model", "noise", "encoder", "control_period", "switches", "actuator", "drives", "contacts"),
    ),
    "free": RunKind("the arm moves by itself", "", ("drives", "contacts")),
    "playback": RunKind("torques over time move the arm", "torques", ("torques", "actuator", "drives", "contacts")),
    "kinematic": RunKind("resolved motion rate along a task reference", "reference", (*ALONG, "tasks", "bounds")),
    "inverse_dynamics": RunKind("torques along a reference", "reference", (*ALONG, "ik_solution")),
}  # fmt: skip
NEEDED = {  # what each needed setting is
    "controller": "one of manipula.control", "torques": "times (k) and values (k rows of n)", "reference": "a trajectory",
}  # fmt: skip
ELSEWHERE = {  # why a setting does not act in a run of another kind
    "controller": "A run of this kind has no controller",
    "reference": "A {kind} run follows no reference: give a controller, or kind = 'kinematic' or 'inverse_dynamics'",
    "torques": "Torques over time act in runs of kind 'playback'",
    "model": "A controller's own model acts in runs of kind 'dynamic'",
    "noise": "Noise disturbs what a controller measures, in runs of kind 'dynamic'",
    "encoder": "Encoders are read by a controller, in runs of kind 'dynamic'",
    "switches": "Switches change what a controller does, in runs of kind 'dynamic'",
    "control_period": "A controller has a control period, in runs of kind 'dynamic'",
    "start": "Only a run that follows a reference can be started on it",
    "ik_solution": "The solution of the inverse kinematics is chosen in runs of kind 'inverse_dynamics'",
    "contacts": "Contacts act where torques move the arm, in runs of kind 'dynamic', 'free' and 'playback'",
    "drives": "A run whose motion is given has the torques that reach the links, whatever drives make them",
    "actuator": "A free run commands nothing that actuators could limit or delay",
    "criteria": "Criteria of a scenario act in kinematic and inverse-dynamics runs; task-space controllers have their own",
    "tasks": "Tasks of a scenario act in kinematic runs; under torque control the controller 'task_priorities' has its own",
    "bounds": "Bounds of a scenario act on the tasks of kinematic runs; the controller 'task_priorities' has its own",
    "gain": "The gain of a scenario acts in kinematic and inverse-dynamics runs; controllers have their own",
}


def acts(setting: str, kind: str) -> bool:
    """Does a setting act in runs of this kind?"""
    return setting in EVERY_RUN or setting in RUN_KINDS[kind].settings
