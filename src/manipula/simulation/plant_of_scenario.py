"""From a Scenario to a plant on plain numbers: its parts, what it follows, and its initial state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from manipula.control.base import Controller, prepared, state_count
from manipula.control.simple import UserFunction
from manipula.errors import DescriptionError, ShapeError
from manipula.motion.oriented import has_orientation
from manipula.physics.mechanism import prepare
from manipula.redundancy.arm import Arm
from manipula.redundancy.orientation import resolved_turn
from manipula.robot.drives.base import Drive
from manipula.robot.drives.gear import geared
from manipula.robot.friction.base import FrictionLaw
from manipula.simulation.initial_posture import projected
from manipula.simulation.plant.free_parameters import runs_of, with_numbers
from manipula.simulation.plant.layout import WORKS, StateLayout
from manipula.simulation.plant.plant import Plant
from manipula.simulation.plant.switch import check_alike, check_same_kind, conditional
from manipula.simulation.scenario import Scenario

SAME = 1e-9  # s, of a time of size 1: an instant but for rounding


def plant_of(s: Scenario) -> tuple[Plant, int, Any]:
    """The plant of a scenario, the dimension of its reference and the reference it follows."""
    robot = s.robot
    if robot.parameters and not s.parameters:
        raise DescriptionError(
            f"Robot '{robot.name}' has free parameters ({', '.join(robot.parameters)}); "
            f"give them: parameters={{'{robot.parameters[0]}': 1.0}}.",
            field="parameters",
        )
    friction = tuple(j.friction for j in robot.joints) if s.friction is None else (s.friction or (None,) * robot.n)
    drives = tuple(j.drive for j in robot.joints) if s.drives is None else (s.drives or (None,) * robot.n)
    if s.parameters:
        first = runs_of(s.parameters)[0]  # the other runs of a batch lay their numbers over these
        friction = tuple(with_numbers(law, first, f"friction[{i}]") for i, law in enumerate(friction))
        drives = tuple(with_numbers(drive, first, f"drives[{i}]") for i, drive in enumerate(drives))
    drives = tuple(geared(d, j, field=f"drives[{i}]") for i, (d, j) in enumerate(zip(drives, robot.joints)))
    if s.model is not None and s.model.n != robot.n:
        raise DescriptionError(f"The controller's model has {s.model.n} joints, the robot {robot.n}.", field="model")
    if s.model is not None and s.model.parameters:
        raise DescriptionError(
            f"The controller's model has free parameters ({', '.join(s.model.parameters)}); give them values: "
            f"model.with_parameters({s.model.parameters[0]}=1.0). Without a model the controller uses that of the plant, with the numbers of each run.",
            field="model",
        )
    kind = s.resolved_kind()
    controller = s.controller if kind == "dynamic" else None
    reference, dimension = None, robot.n
    torques, turned = None, False
    followed: Any = None
    if kind == "playback":
        reference, torques = _torque_table(s), lambda t: t
    elif controller is not None:
        reference, dimension = _reference(s, controller)
        followed = reference
        controller = _prepared(s, controller.facing(Arm(s.model or robot), followed), friction, drives)
        if controller.follows_orientation and has_orientation(reference):
            from manipula.motion.pose_motion import COORDINATES, PoseMotion  # and with it every path and time law

            reference, dimension, turned = PoseMotion(reference), COORDINATES, True
    states = 0 if controller is None else state_count(controller, robot.n)
    works = (*WORKS, *(("contact",) if s.contacts else ()), *(("base",) if s.base_motion is not None else ()))
    switches = s.switches if controller is not None else ()
    for i, switch in enumerate(switches):
        if switch.reference is not None and (turned or has_orientation(switch.reference)):
            raise DescriptionError("A switch changes references of positions only.", field=f"switches[{i}].reference")
        if switch.controller is not None:
            where = f"switches[{i}].controller"
            check_same_kind(controller, switch.controller, where)
            try:
                ready = switch.controller.facing(Arm(s.model or robot), followed)
            except DescriptionError as error:  # it names the controller of the run
                own = str(error.field or "")
                place = f"switches[{i}].{own}" if own.startswith("controller") else where
                raise DescriptionError(error.problem, field=place) from None
            ready = _prepared(s, ready, friction, drives)
            check_alike(ready, controller, where)
            switches = (*switches[:i], replace(switch, controller=ready), *switches[i + 1 :])
    layout = StateLayout.of(robot.n, friction, drives, states, works, len(conditional(switches)))
    actuator = s.actuator
    if actuator.limit == "effort":
        efforts = [j.limits.effort for j in robot.joints]
        missing = [j.name for j, e in zip(robot.joints, efforts) if e is None]
        if missing:
            raise DescriptionError(f"No effort limit is stated for {', '.join(missing)}.", field="actuator.limit")
        volts = [j.name for j, d in zip(robot.joints, drives) if getattr(d, "command", "") == "voltage"]
        if volts:
            raise DescriptionError(
                f"The command of {', '.join(volts)} is a voltage, and 'effort' means limits of torque. Give the limits as numbers, in volts.",
                field="actuator.limit",
            )
        actuator = replace(actuator, limit=tuple(float(e) for e in efforts))
    no_target: Any = lambda t: None  # noqa: E731
    contacts = tuple(c.fitted(robot) for c in s.contacts)
    plant = Plant(
        robot,
        s.model,
        controller,
        no_target,
        friction,
        drives,
        s.disturbances,
        actuator,
        layout,
        contacts,
        None if s.base_motion is None else s.base_motion.tabled(),
        torques,
        turned=turned,
        encoder=s.encoder,
        switches=switches,
    )
    return plant, dimension, reference


def _prepared(
    s: Scenario, controller: Controller, friction: tuple[FrictionLaw | None, ...], drives: tuple[Drive | None, ...]
) -> Controller:
    """The controller made ready with what it believes: its own model, else the plant with the friction that acts."""
    model = s.model or s.robot
    mechanism = prepare(model, runs_of(s.parameters)[0]) if model.parameters else None
    own: dict[str, Any] = {"friction": friction, "drives": drives} if s.model is None else {}
    return prepared(controller, Arm(model, mechanism, **own))


def _reference(s: Scenario, controller: Controller) -> tuple[Any, int]:
    space = controller.target_space if isinstance(controller, UserFunction) else controller.space
    dimension = 3 if space == "task" else s.robot.n
    reference = s.reference
    if space == "none" or (reference is None and getattr(controller, "goal", None) is not None):
        return None, dimension
    if reference is None:
        if isinstance(controller, UserFunction):
            return None, dimension
        raise DescriptionError(
            f"The controller '{controller.name}' follows a reference; none is given.", field="reference"
        )
    if reference.space != space:
        raise DescriptionError(
            f"The controller '{controller.name}' follows a {space} reference; this one is in {reference.space} space.",
            field="reference",
        )
    return reference, dimension


def _torque_table(s: Scenario) -> tuple[np.ndarray, np.ndarray]:
    """Linear interpolation between given torques, which act later by the delay, as a table of degree 5 (padded)."""
    try:
        times, values = (np.asarray(v, float) for v in s.torques)
    except (TypeError, ValueError):
        raise DescriptionError("Torques are a pair (times (k,), values (k, n)).", field="torques") from None
    for name, numbers in (("times", times), ("values", values)):
        if not np.isfinite(numbers).all():
            where = "".join(f"[{i}]" for i in np.argwhere(~np.isfinite(numbers))[0])
            raise DescriptionError("Every number must be finite.", field=f"torques.{name}{where}")
    if times.ndim != 1 or len(times) < 2 or values.shape != (len(times), s.robot.n):
        raise ShapeError(
            f"The torques need increasing times (k,) and values (k, {s.robot.n}); found {times.shape} and {values.shape}."
        )
    falls = np.flatnonzero(np.diff(times) <= 0)
    if len(falls):
        k, first = int(falls[0]) + 1, f"{times[falls[0]]:g} s"
        raise DescriptionError(f"Times must increase; {times[k]:g} s follows {first}.", field=f"torques.times[{k}]")
    end = float(s.duration or 0.0)
    if times[0] > SAME or times[-1] < end - SAME * (1.0 + end):
        raise DescriptionError(
            f"The torques are given from {times[0]:g} to {times[-1]:g} s, the run lasts from 0 to {end:g} s: no torque is defined "
            "outside the given times. Give torques (for example zeros) for the whole run, or another duration.",
            field="torques.times",
        )
    coefficients = np.zeros((len(times) - 1, s.robot.n, 6))
    coefficients[:, :, 0] = values[:-1]
    coefficients[:, :, 1] = np.diff(values, axis=0) / np.diff(times)[:, None]
    if not s.actuator.delay:
        return times, coefficients
    held = np.zeros_like(coefficients[:1])  # until the first one arrives
    held[:, :, 0] = values[0]
    breaks, pieces = np.append(times[0], times + s.actuator.delay), np.concatenate([held, coefficients])
    lasting = np.diff(breaks) > 0.0
    return np.append(breaks[:-1][lasting], breaks[-1]), pieces[lasting]


def initial_state(s: Scenario) -> tuple[np.ndarray, np.ndarray]:
    """q and qd at the start, (N, n) each."""
    n, size = s.robot.n, s.batch
    q, qd = s.q0, s.qd0
    reference = s.reference
    joint = getattr(reference, "space", None) == "joint"
    if q is None:
        if s.reference is not None and not joint and s.resolved_kind() in ("dynamic", "kinematic"):
            raise DescriptionError("A run with a task reference needs an initial posture.", field="q0")
        q = reference.position(0.0) if joint else np.zeros(n)
        if qd is None and joint:
            qd = reference.velocity(0.0)
    qd = np.zeros(n) if qd is None else qd
    q, qd = (np.broadcast_to(np.asarray(v, float), (size, n)).copy() for v in (q, qd))
    if s.start == "project" and reference is not None and not joint:
        turn = turn_of(s)
        q = np.array([projected(s.robot, reference, row, turn) for row in q])
    return q, qd


def turn_of(s: Scenario) -> str:
    """How much of the orientation that the reference of a run says is followed; "free" where it says none."""
    if not has_orientation(s.reference) or s.reference.space != "task" or s.tasks:
        return "free"
    if s.controller is not None and s.resolved_kind() == "dynamic":
        return getattr(s.controller.facing(Arm(s.model or s.robot), s.reference), "orientation", "free")
    return resolved_turn("auto", Arm(s.robot), f"A run of kind '{s.resolved_kind()}'")
