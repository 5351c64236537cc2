"""What a motion is judged by: its signals, with torques from the robot where none were recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.analysis.slowing_down import friction_at
from manipula.errors import DescriptionError, ShapeError
from manipula.model import Model
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot
from manipula.simulation.plant.free_parameters import runs_of, with_numbers
from manipula.simulation.recorded import robot_of, scenario_of

MOST_PIECES = 20_000  # of a trajectory that are looked at one by one


def laws_of(motion: Any, robot: Robot | None) -> tuple[FrictionLaw | None, ...]:
    """The friction law of every joint: of the run's scenario, else of the robot."""
    scenario = scenario_of(motion) if hasattr(motion, "arrays") else None
    if scenario is not None and scenario.friction is not None:
        laws = tuple(scenario.friction)
        if not scenario.parameters:
            return laws
        return tuple(with_numbers(law, runs_of(scenario.parameters)[0], f"friction[{i}]") for i, law in enumerate(laws))
    return () if robot is None else tuple(j.friction for j in robot.joints)


def signals_of(motion: Any, robot: Robot | None, samples: int) -> tuple[dict[str, np.ndarray], Robot | None]:
    """Signals of a motion by their names, and the robot that moves."""
    if hasattr(motion, "arrays"):
        return _from_result(motion, robot)
    if getattr(motion, "space", None) == "joint":
        t = _places(motion, samples)
        q, qd, qdd = np.asarray(motion.derivatives(t, 2))[:3]
        if robot is not None and robot.n != q.shape[1]:
            raise ShapeError(f"The trajectory has {q.shape[1]} joints, robot '{robot.name}' has {robot.n}.")
        data = {"t": t, "q": q, "qd": qd, "qdd": qdd}
        if robot is not None and not robot.parameters:
            data["friction"] = friction_at(laws_of(motion, robot), qd)
        return _complete(data, robot), robot
    raise DescriptionError(
        "Feasibility judges a Result or a joint trajectory; bring a task trajectory to the joints first (ik.track)."
    )


def _places(motion: Any, samples: int) -> np.ndarray:
    """Times at which a trajectory is looked at: evenly, on both sides of every break, and within every piece."""
    end = float(motion.duration)
    even, breaks = np.linspace(0.0, end, samples), np.asarray(getattr(motion, "breaks", ()), float)
    if hasattr(motion, "looks"):
        even = np.union1d(even, motion.looks().places)
    if len(breaks) < 2 or len(breaks) > MOST_PIECES:
        return even
    inside = breaks[:-1, None] + np.diff(breaks)[:, None] * np.array([1e-9, 0.25, 0.5, 0.75, 1.0 - 1e-9])
    times = np.unique(np.concatenate([even, inside.ravel(), breaks]))
    return times[(times >= 0.0) & (times <= end)]


def _from_result(result: Any, robot: Robot | None) -> tuple[dict[str, np.ndarray], Robot | None]:
    if result.arrays["q"].ndim != 2:
        raise ShapeError("Judge one run of a batch at a time: result.run(i).")
    if robot is None:
        robot = robot_of(result)
    good = np.isfinite(result.arrays["q"]).all(axis=1)
    t = result.t[good]
    data = {"t": t, **{k: result.arrays[k][good] for k in ("q", "qd", "qdd")}}
    for name in ("tau", "friction"):
        if name in result.arrays:
            data["torque" if name == "tau" else name] = result.arrays[name][good]
    return _complete(data, robot), robot


def _complete(data: dict[str, np.ndarray], robot: Robot | None) -> dict[str, np.ndarray]:
    """Names of the checked quantities, and torques from the robot where none were recorded."""
    data["position"], data["velocity"], data["acceleration"] = data["q"], data["qd"], data["qdd"]
    if robot is not None and not robot.parameters:
        model = Model(robot)
        data["gravity"] = model.gravity(data["q"])
        if "torque" not in data:
            data["torque"] = model.inverse_dynamics(data["q"], data["qd"], data["qdd"]) + data.get("friction", 0.0)
    if "torque" in data:
        data["power"] = data["torque"] * data["qd"]
        data["tau"] = data["torque"]
    return data
