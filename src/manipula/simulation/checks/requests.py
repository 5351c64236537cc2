"""Requests that a kind of run would not honour: refused before anything is computed, never dropped."""

from __future__ import annotations

import dataclasses

from manipula.control.base import is_digital
from manipula.errors import DescriptionError, ShapeError, unknown_name
from manipula.redundancy.arm import Arm
from manipula.redundancy.criterion import check_criteria_act, checked_criteria
from manipula.redundancy.orientation import check_reachable
from manipula.simulation.checks.idle_parts import check_idle
from manipula.simulation.plant.disturbances import Wrench
from manipula.simulation.plant.free_parameters import check_every_run
from manipula.simulation.plant.wrenches import acting
from manipula.simulation.plant_of_scenario import turn_of
from manipula.simulation.run_kinds import ELSEWHERE, NEEDED, RUN_KINDS, acts
from manipula.simulation.scenario import Scenario

TURNING = 'controllers of the task space, runs of kind "kinematic" and "inverse_dynamics", and track() honour it'


def check_requests(s: Scenario) -> None:
    """Does the run do everything that the scenario asks for?

    Raises:
        DescriptionError: with the field that would be ignored, and where it is honoured.
    """
    kind = s.resolved_kind()
    _settings(s, kind)
    _reference(s)
    _orientation(s, kind)
    _criteria(s)
    _tasks(s)
    check_idle(s, kind)
    _check_wrenches(s)
    if kind in ("kinematic", "inverse_dynamics"):
        _along_given_motion(s, kind)


def _settings(s: Scenario, kind: str) -> None:
    """The setting that this kind of run needs is there; those that act in other kinds only, or only beside others, are not."""
    needed = RUN_KINDS[kind].needs
    if needed and getattr(s, needed) is None:
        raise DescriptionError(
            f"A run of kind '{kind}' needs '{needed}' ({NEEDED[needed]}); none is given.", field=needed
        )
    if kind == "dynamic" and s.controller is not None and is_digital(s.controller, s.robot.n) and not s.control_period:
        raise DescriptionError(
            f"The controller '{s.controller.name}' changes its states at the instants of a control period; give one: control_period = 0.001.",
            field="control_period",
        )
    for f in dataclasses.fields(s):
        if not acts(f.name, kind) and getattr(s, f.name) != f.default:
            why = ELSEWHERE[f.name].format(kind=kind)
            given = " (torques are given)" if kind == "playback" else ""
            raise DescriptionError(f"{why}; this run is of kind '{kind}'{given} and would ignore it.", field=f.name)
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
    missing = [name for name in s.robot.parameters if name not in (s.parameters or {})]
    if s.parameters and missing:
        raise DescriptionError(
            f"Robot '{s.robot.name}' has the free parameter{'s' * (len(missing) > 1)} {', '.join(missing)} without a value; "
            f"give {'it' if len(missing) == 1 else 'them'} beside the others: parameters={{'{missing[0]}': 1.0, …}}.",
            field=f"parameters.{missing[0]}",
        )
    if s.parameters:
        check_every_run(s.robot, s.friction, s.drives, s.parameters)


def _along_given_motion(s: Scenario, kind: str) -> None:
    """What a motion that is given leaves no room for."""
    if s.actuator.delay:
        raise DescriptionError(
            "A delay acts under a controller; the motion of this run is given.", field="actuator.delay"
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
        raise DescriptionError(
            "A gain acts where joints are integrated along a task path; in this run none are.", field="gain"
        )
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
    from manipula.ik.targets import movable
    from manipula.ik.task import Task

    robot = s.robot.with_parameters(**dict.fromkeys(s.robot.parameters, 1.0)) if s.robot.parameters else s.robot
    task = movable(robot, Task.of("pose" if getattr(s.reference, "has_orientation", False) else "position"))
    return task is not None and robot.n > len(task.parts[0][1])


def _reference(s: Scenario) -> None:
    """A reference that the controller would not look at, or one of another robot."""
    controller = s.controller
    if s.reference is None:
        return
    if s.reference.space == "joint" and s.reference.dimension != s.robot.n:
        raise ShapeError(f"The reference has {s.reference.dimension} joints, robot '{s.robot.name}' has {s.robot.n}.")
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
    """An orientation that nobody would follow, or that this arm cannot."""
    if kind == "inverse_dynamics" or not getattr(s.reference, "has_orientation", False) or s.reference.space != "task":
        return
    if kind == "dynamic" and s.controller is not None and not s.controller.follows_orientation:
        raise DescriptionError(
            f"The reference says how the tool is turned. The controller '{s.controller.name}' follows positions only and would ignore "
            f"that: give the path without an orientation; {TURNING}.",
            field="reference.orientation",
        )
    if s.tasks:
        return
    robot = s.robot.with_parameters(**dict.fromkeys(s.robot.parameters, 1.0)) if s.robot.parameters else s.robot
    check_reachable(turn_of(s), Arm(robot), s.reference)


def _criteria(s: Scenario) -> None:
    criteria = checked_criteria(s.acting_criteria)
    check_criteria_act(criteria, s.robot, remembers=not s.criteria)
    for criterion in criteria:
        if getattr(criterion, "gain", 1.0) == 0.0 and not s.vary:
            raise DescriptionError(
                f"The criterion '{criterion.name}' has a gain of 0 and moves nothing.", field="criteria"
            )


def _tasks(s: Scenario) -> None:
    """Tasks of a kinematic run and what acts beside them."""
    if not s.tasks:
        if s.bounds != "none":
            raise DescriptionError("Bounds act on a list of tasks; there is none.", field="bounds")
        return
    from manipula.redundancy.tasks.priorities import check_bounds_act, check_followed, check_shared, checked_tasks
    from manipula.redundancy.tasks.whole_arm import LeastTorque

    checked_tasks(s.tasks)
    check_followed(s.tasks, s.reference)
    check_shared(s.tasks)
    if s.gain:
        raise DescriptionError("Every task has a gain of its own; this one would never act.", field="gain")
    if s.bounds == "motion":
        check_bounds_act(s.robot, "bounds")
    for i, task in enumerate(s.tasks):
        if isinstance(task, LeastTorque):
            raise DescriptionError(
                "The task 'least_torque' needs accelerations: it acts under torque control only.", field=f"tasks[{i}]"
            )


def _check_wrenches(s: Scenario) -> None:
    """Every formula of a wrench is a number when it begins to act."""
    for i, d in enumerate(s.disturbances):
        if not isinstance(d, Wrench) or callable(d.wrench):
            continue
        begins = max(d.start, 0.0)
        for k, component in enumerate(d.wrench):
            alone = dataclasses.replace(d, wrench=(component,) * 6, axes="base")
            if alone.needs_state:
                continue  # a number where the frame is, which the rehearsal asks
            try:
                acting(alone, begins)
            except DescriptionError as error:  # it knows its text, not whose it is
                raise DescriptionError(
                    f"{error.field}: {error.problem} The wrench begins to act at t = {begins:g} s.",
                    field=f"disturbances[{i}].wrench[{k}]",
                ) from None
