"""What a result keeps of the run it was made from, read back: its scenario, its robot, the limits it was compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.errors import DescriptionError, ManipulaError, printable
from manipula.formats.toml import from_toml
from manipula.robot.robot import Robot
from manipula.simulation.carried_points import TIPS, Carrying, carrying
from manipula.simulation.loops.loop import CompiledLoop
from manipula.simulation.loops.setup import carrying_with, run_numbers
from manipula.simulation.numeric_robot import numeric_robot
from manipula.simulation.plant_of_scenario import plant_of
from manipula.simulation.scenario import Scenario
from manipula.simulation.stated_limits import stated_limits, stored_limits

if TYPE_CHECKING:
    from manipula.simulation.programmed.scenario import ProgramScenario
    from manipula.simulation.result import Described, Result

MOST_RUNS, MOST_TIMES = 64, 2000  # of a batch, and of given torques, that are kept as text


def scenario_of(result: Result) -> Described | None:
    """The scenario of a result: the one at hand, else the one that was stored; None when neither describes this run."""
    found = _whole(result)
    if found is None or result.scenario is not None or "run" not in result.meta:
        return found
    return _member(found, int(result.meta["run"])) if isinstance(found, Scenario) else None


def _whole(result: Result) -> Described | None:
    """The scenario at hand or stored, of a run of a batch that of the whole batch."""
    if result.scenario is not None:
        return result.scenario
    from manipula.simulation.files.scenario_file import load_text  # and with it every path and time law

    text = str(result.meta.get("scenario_toml") or "")
    try:
        found = load_text(text) if text else None  # files that it names are refused: nothing but this text is read
    except ManipulaError:
        return None
    return found if found is not None and found.robot.digest == result.meta.get("robot_digest") else None


def _member(scenario: Scenario, run: int) -> Scenario | None:
    """One run of a batch that differs by its initial state alone, as a scenario of its own."""
    if any(np.ndim(v) >= 1 for group in (scenario.parameters, scenario.vary) for v in (group or {}).values()):
        return None
    changes = {name: getattr(scenario, name)[run] for name in ("q0", "qd0") if np.ndim(getattr(scenario, name)) == 2}
    return scenario.replace(**changes)


def robot_of(result: Result) -> Robot | None:
    """The robot of a result with numbers in it, from its scenario or from what was stored; None when it cannot be known."""
    robot: Robot | None = None
    if result.scenario is not None:
        robot = result.scenario.robot
    elif result.meta.get("robot_toml"):
        try:
            robot = from_toml(str(result.meta["robot_toml"]) + "\n")  # text, never the name of a file
        except ManipulaError:
            return None
    return None if robot is None else numeric_robot(robot, result.meta.get("parameters"), result.meta.get("run"))


def carrying_of(result: Result, frame: str, run: int | None = None) -> Carrying | None:
    """What carries a frame beside the joints in a run: a base that moves, and of the tip other tools; ``None`` where nothing does.

    Args:
        run: the number of the run in a batch.

    Raises:
        DescriptionError: the base or the tool moves, and the result does not carry the scenario that says how.
    """
    moves, s = "base_pose" in result.arrays, _whole(result)
    retooled = frame in TIPS and "work_payload" in result.arrays
    if not moves and not retooled:
        tools = frame in TIPS and any(getattr(d, "tool", None) is not None for d in getattr(s, "disturbances", ()))
        if not tools:
            return None
    if not isinstance(s, Scenario):
        what = (
            "The base of the robot moves" if moves else "A change of the payload may have moved the tip to another tool"
        )
        raise DescriptionError(f"{what} during the run, and the result does not carry the scenario that says how.", field="frame")  # fmt: skip
    k = int(result.meta.get("run", 0) if run is None else run)
    if not any(path.startswith(("base_motion", "disturbances")) for path in s.vary or {}):
        return carrying(s.base_motion, s.disturbances)
    plant, dimension, _ = plant_of(s)
    loop = CompiledLoop(plant, dimension, "rk4")
    return carrying_with(s, loop, run_numbers(s, loop, plant, s.batch)[k])


def limits_of(result: Result) -> dict[str, Any]:
    """The limits that a result carries; those of its robot where it was stored before results carried any."""
    if "limits" not in result.meta:
        robot = robot_of(result)
        return {} if robot is None else stated_limits(robot)
    try:
        return stored_limits(result.meta["limits"], np.shape(result.arrays["q"])[-1])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DescriptionError(
            f"The limits in this result are damaged: {printable(error, 200)}.", field="limits"
        ) from None


def scenario_text(scenario: Scenario | ProgramScenario) -> str:
    """The scenario as TOML, so that what was not recorded can be found later; nothing when no file can hold it, or a long table would."""
    torques = getattr(scenario, "torques", None)
    if getattr(scenario, "batch", 1) > MOST_RUNS or (torques is not None and len(torques[0]) > MOST_TIMES):
        return ""
    from manipula.simulation.files.scenario_file import file_text

    try:
        return file_text(scenario)
    except (ManipulaError, TypeError, ValueError):
        return ""
