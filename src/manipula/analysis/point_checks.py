"""Limits of points other than the tip, compared with a motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.analysis.infinite import Torn
from manipula.errors import DescriptionError
from manipula.robot.robot import Robot
from manipula.simulation.carried_points import rates_of
from manipula.simulation.limit_checks import SAMPLES_ONLY, TIP, Check, only_samples, strained, worst
from manipula.simulation.point_motion import ORIGIN, Point, point_name
from manipula.simulation.recorded import carrying_of
from manipula.simulation.signals.jerk import jerk_along
from manipula.simulation.verdicts.limits import could_not


def point_checks(
    motion: Any, robot: Robot | None, signals: Mapping[str, np.ndarray], where: Point, wanted: Mapping[str, float], torn: Torn, unchecked: list[str],
    stated: int = 0,
) -> tuple[str, tuple[Check, ...]]:  # fmt: skip
    """Name and checks of one point; what samples or jumps leave open is added to ``unchecked``.

    Args:
        stated: the number, from 1, of the point among those that the run itself had limits of and was watched for; 0 for any other.
    """
    if robot is None:
        raise DescriptionError("Limits of points need a robot.", field="points")
    robot.frame(where[0])
    checks, recorded, name = [], hasattr(motion, "arrays"), point_name(where)
    try:
        moved = carrying_of(motion, where[0]) if recorded else None
    except DescriptionError as error:
        unchecked.append(could_not(f"'{name}'", error.problem))
        return name, ()
    rates = rates_of(moved, robot, where, signals["t"], *(signals[key] for key in ("q", "qd", "qdd")))
    for quantity, limit in wanted.items():
        if quantity == "jerk":
            frame, point = (where[0], None) if where[1] == ORIGIN else (None, where)
            found = motion.jerk(frame, point) if recorded else jerk_along(motion, signals["t"], robot, where)
            times, values = found.signal()
        else:
            times, values = signals["t"], np.linalg.norm(rates[1 if quantity == "velocity" else 2], axis=-1)
            if recorded and (only_samples(motion, "points") if stated else only_samples(motion, quantity, True)):
                unchecked.append(could_not(f"{quantity} of '{name}'", SAMPLES_ONLY))
            if torn.get(quantity) is not None:
                unchecked.append(could_not(f"{quantity} of '{name}'", "the trajectory jumps."))
        check = worst(quantity, values, times, limit)
        checks.append(strained(check, motion, TIP - stated) if recorded and stated else check)
    return name, tuple(checks)
