"""Requests that a kind of run would not honour: refused before anything is computed, never dropped."""

from __future__ import annotations

import dataclasses

from manipula.errors import DescriptionError, unknown_name
from manipula.ik.targets import movable
from manipula.ik.task import Task
from manipula.simulation.checks.idle_parts import check_idle
from manipula.simulation.scenario import Scenario

TURNING = 'runs of kind "inverse_dynamics" and track() honour it'


FORWARD = ("dynamic", "free", "playback")
GIVEN = ("kinematic", "inverse_dynamics")
EVERY = (*FORWARD, *GIVEN)
ACTS: dict[str, tuple[str, ...]] = {  # in which kinds of run each field of a Scenario acts; elsewhere it is refused
    "robot": EVERY, "kind": EVERY, "duration": EVERY, "step": EVERY, "sample": EVERY, "name": EVERY, "limits": EVERY,
    "reference": ("dynamic", *GIVEN), "controller": ("dynamic",), "model": ("dynamic",), "noise": ("dynamic",),
    "torques": ("playback",), "q0": EVERY, "qd0": EVERY, "start": ("dynamic", *GIVEN), "ik_solution": ("inverse_dynamics",),
    "friction": EVERY, "drives": FORWARD, "disturbances": EVERY, "actuator": ("dynamic", "playback", *GIVEN),
    "parameters": EVERY, "vary": EVERY, "integrator": EVERY, "tolerance": EVERY, "verify": EVERY, "stop_at_limits": EVERY,
    "criteria": GIVEN, "gain": GIVEN,
}  # fmt: skip
WHY = {
    "model": "A controller's own model acts in runs of kind 'dynamic'",
    "noise": "Noise shakes what a controller measures, in runs of kind 'dynamic'",
    "start": "Only a run that follows a reference can be started on it",
    "ik_solution": "The solution of the inverse kinematics is chosen in runs of kind 'inverse_dynamics'",
    "drives": "A run whose motion is given has the torques that reach the links, whatever drives make them",
    "actuator": "A free run commands nothing that actuators could limit or delay",
}


def check_requests(s: Scenario) -> None:
    """Does the run do everything that the scenario asks for?

    Raises:
        DescriptionError: with the field that would be ignored, and where it is honoured.
    """
    kind = s.resolved_kind()
    _whole_parts(s, kind)
    _orientation(s, kind)
    _criteria(s, kind)
    _fields(s, kind)
    check_idle(s, kind)
    if kind in GIVEN and s.reference is not None:
        _along_given_motion(s, kind)


def _fields(s: Scenario, kind: str) -> None:
    """Fields that act in other kinds of run only, or only beside others."""
    for f in dataclasses.fields(s):
        if f.name in WHY and kind not in ACTS[f.name] and getattr(s, f.name) != f.default:
            raise DescriptionError(f"{WHY[f.name]}; this run is of kind '{kind}' and would ignore it.", field=f.name)
    if s.start == "project" and getattr(s.reference, "space", "") != "task":
        raise DescriptionError(
            "start = 'project' moves q0 onto the start of a task reference; this run has none and would ignore it.",
            field="start",
        )
    for name in s.parameters or {}:
        if name not in s.robot.parameters:
            raise unknown_name(
                f"free parameter of robot '{s.robot.name}'", name, s.robot.parameters, field=f"parameters.{name}"
            )


def _along_given_motion(s: Scenario, kind: str) -> None:
    """What a motion that is given leaves no room for."""
    if s.actuator.delay:
        raise DescriptionError(
            "A delay changes a motion that is controlled; the motion of this run is given.", field="actuator.delay"
        )
    if kind == "kinematic":
        return
    joints = s.reference.space == "joint"
    if s.ik_solution and (joints or s.q0 is not None):
        why = "the reference is one of joints" if joints else "q0 says where it starts"
        raise DescriptionError(f"No solution of the inverse kinematics is chosen: {why}.", field="ik_solution")
    integrated = not joints and _redundant(s)
    turned = getattr(s.reference, "has_orientation", False)
    free = "this arm has none to spare along this reference"
    if s.criteria and not integrated:
        raise DescriptionError(f"Criteria move joints that the task leaves free; {free}.", field="criteria")
    if s.gain and (not integrated or turned):
        raise DescriptionError("A gain pulls joints that are integrated along a path; none are here.", field="gain")
    if s.integrator != "auto" and (not integrated or turned):
        raise DescriptionError(
            "The torques along this reference need no integrator (what friction remembers is integrated by 'rodas'); leave it 'auto'.",
            field="integrator",
        )


def integrates(s: Scenario) -> bool:
    """Is anything integrated? Along a reference that decides every joint nothing is, and no integrator acts."""
    if s.resolved_kind() != "inverse_dynamics":
        return True
    return s.reference.space != "joint" and not getattr(s.reference, "has_orientation", False) and _redundant(s)


def _redundant(s: Scenario) -> bool:
    robot = s.robot.with_parameters(**dict.fromkeys(s.robot.parameters, 1.0)) if s.robot.parameters else s.robot
    task = movable(robot, Task.of("pose" if getattr(s.reference, "has_orientation", False) else "position"))
    return task is not None and robot.n > len(task.parts[0][1])


def _whole_parts(s: Scenario, kind: str) -> None:
    """Controllers, torques and references that this kind of run would not look at."""
    needed = {"kinematic": s.reference, "inverse_dynamics": s.reference, "playback": s.torques}
    if kind in needed and needed[kind] is None:
        return  # refused for what is missing, which says more than what is too much
    controller = s.controller
    if controller is not None and kind != "dynamic":
        raise DescriptionError(
            f"A run of kind '{kind}'{' (torques are given)' * (kind == 'playback')} asks no controller; the one given "
            f"('{controller.name}') would be ignored.",
            field="controller",
        )
    if s.torques is not None and kind != "playback":
        raise DescriptionError(
            f"Torques over time act in runs of kind 'playback'; a {kind} run would ignore them.", field="torques"
        )
    if s.reference is None:
        return
    if kind in ("free", "playback"):
        raise DescriptionError(
            f"A {kind} run follows no reference: give a controller, or kind = 'kinematic' or 'inverse_dynamics'.",
            field="reference",
        )
    if controller is not None and getattr(controller, "goal", None) is not None:
        raise DescriptionError(
            f"The controller '{controller.name}' has a goal of its own and would ignore the reference; give one of them.",
            field="reference",
        )
    if controller is not None and controller.space == "none":
        raise DescriptionError(
            f"The controller '{controller.name}' follows no reference and would ignore the one given.",
            field="reference",
        )


def _orientation(s: Scenario, kind: str) -> None:
    if kind == "inverse_dynamics" or not getattr(s.reference, "has_orientation", False):
        return
    who = "A kinematic run" if kind == "kinematic" else f"A {kind} run"
    if s.controller is not None and kind == "dynamic":
        who = f"The controller '{s.controller.name}'"
    raise DescriptionError(
        f"The reference says how the tool is turned. {who} follows positions only and would ignore that: give the path "
        f"without an orientation; {TURNING}.",
        field="reference.orientation",
    )


def _criteria(s: Scenario, kind: str) -> None:
    for criterion in s.acting_criteria:
        why = criterion.idle(s.robot)
        if why:
            raise DescriptionError(f"The criterion '{criterion.name}' has nothing to do: {why}.", field="criteria")
        if getattr(criterion, "gain", 1.0) == 0.0 and not s.vary:
            raise DescriptionError(
                f"The criterion '{criterion.name}' has a gain of 0 and moves nothing.", field="criteria"
            )
    if kind in ("kinematic", "inverse_dynamics"):
        return
    for name, given in (("criteria", bool(s.criteria)), ("gain", bool(s.gain))):
        if given:
            raise DescriptionError(
                f"'{name}' of a scenario belongs to kinematic runs; a {kind} run would ignore it. "
                "Task-space controllers have criteria and gains of their own.",
                field=name,
            )
