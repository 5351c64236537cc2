"""A scenario as the text of its file."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import Any

from manipula.errors import DescriptionError, unknown_name
from manipula.simulation.files.parts import CONTROLLERS, each_table, part_table
from manipula.simulation.files.reference import reference_table
from manipula.simulation.files.robot import robot_text
from manipula.simulation.files.text import toml_text
from manipula.simulation.integrators import ADAPTIVE, FIXED
from manipula.simulation.plant.base_motion import BaseMotion
from manipula.simulation.plant.switch import Switch
from manipula.simulation.scenario import Scenario

PLAIN = ("kind", "q0", "qd0", "duration", "step", "sample", "integrator", "tolerance", "stop_at_limits", "verify", "ik_solution",
         "gain", "start", "control_period")  # fmt: skip


def plain_fields(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Fields that are numbers, texts or lists and differ from their defaults."""
    defaults = {f.name: f.default for f in dataclasses.fields(value)}
    return {k: getattr(value, k) for k in names if getattr(value, k) is not None and getattr(value, k) != defaults[k]}


def scenario_text(s: Scenario) -> str:
    """TOML that reads back as an equal scenario.

    Raises:
        DescriptionError: when a part is a Python function or object that no file can hold.
    """
    if s.controller is not None and s.controller.name in CONTROLLERS.python_only:
        raise DescriptionError(
            "A controller that is a Python function cannot be written to a file.", field="controller"
        )
    known = ("auto", *FIXED, *ADAPTIVE)
    if s.integrator not in known:
        raise unknown_name("integrator", s.integrator, known, field="integrator")
    content: dict[str, Any] = {"name": s.name, **plain_fields(s, PLAIN)}
    content["friction"] = each_table(s.friction, "friction")
    content["drives"] = each_table(s.drives, "drives")
    content["disturbances"] = [part_table(d, "disturbances") for d in s.disturbances] or None
    content["contacts"] = [part_table(c, "contacts") for c in s.contacts] or None
    content["criteria"] = [part_table(c, "criteria") for c in s.criteria] or None
    content["tasks"] = [part_table(c, "tasks") for c in s.tasks] or None
    content["reference"] = reference_table(s.reference)
    content["controller"] = None if s.controller is None else part_table(s.controller, "controller")
    content["noise"] = part_table(s.noise) or None
    content["switches"] = [_switch_table(e) for e in s.switches] or None
    content["encoder"] = part_table(s.encoder) or None
    content["actuator"] = part_table(s.actuator) or None
    content["base_motion"] = None if s.base_motion is None else _base_table(s.base_motion) or None
    for name in ("parameters", "vary", "limits"):
        content[name] = getattr(s, name) or None  # an empty table would say nothing, and is refused
    if s.torques is not None:
        content["torques"] = {"times": s.torques[0], "values": s.torques[1]}
    return with_robots(content, {"robot": s.robot, "model": s.model})


def _switch_table(switch: Switch) -> dict[str, Any]:
    law = None if switch.controller is None else part_table(switch.controller, "controller")
    parts = {"controller": law, "reference": reference_table(switch.reference)}
    return {**plain_fields(switch, ("time", "when", "direction")), **{k: v for k, v in parts.items() if v is not None}}


def _base_table(base: BaseMotion) -> dict[str, Any]:
    try:
        motion = reference_table(base.motion)
    except DescriptionError as error:
        raise DescriptionError(error.problem, field="base_motion.motion") from None
    return {**part_table(replace(base, motion=None)), **({} if motion is None else {"motion": motion})}


def with_robots(content: dict[str, Any], robots: dict[str, Any]) -> str:
    """The text of a file: the robot's name first, its description (when it is none of the catalog's) last."""
    lines, tail = ["format = 1"], ""
    for key, robot in robots.items():
        if robot is not None:
            line, tables = robot_text(robot, key)
            lines += [] if line is None else [line]
            tail += tables
    return "\n".join(lines) + "\n" + toml_text(content) + tail
