"""A masked array says which of its numbers are none; what would compute with all of them refuses it, by name where there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import paths, timing
from manipula.analysis.singularities import singularities

ARM = mp.planar([0.5, 0.4], [2.0, 1.5])
MODEL = mp.compile(ARM)
POINTS = [[0.3, 0.1, 0.0], [0.4, 0.2, 0.0], [0.5, 0.1, 0.0], [0.6, 0.3, 0.0]]
LINE = paths.line([0.5, 0.1], [0.6, 0.2])
MOTION = mp.trajectory(LINE, timing.quintic(1.0))
RUN = {"robot": ARM, "q0": [0.1, 0.2], "qd0": [0.0, 0.1], "duration": 0.01}


def masked(values: Any) -> Any:
    """The same numbers, the first of which is none."""
    numbers = np.asarray(values, float)
    nowhere = np.zeros(numbers.shape, bool)
    nowhere[(0,) * numbers.ndim] = True
    return np.ma.masked_array(numbers, mask=nowhere)


def run(**options: Any) -> mp.Result:
    return mp.simulate(mp.Scenario(**{**RUN, **options}))


CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Scenario": (run, {"q0": [0.1, 0.2], "qd0": [0.0, 0.1], "duration": 0.01, "step": 1e-3, "tolerance": 1e-6}),
    "torques": (lambda torques: run(torques=([0.0, 0.01], torques)), {"torques": [[1.0, 0.0], [1.0, 0.0]]}),
    "limits": (lambda velocity: run(limits={"velocity": velocity}), {"velocity": [1.0, 2.0]}),
    "friction": (lambda level: mp.friction.Coulomb(level), {"level": 0.5}),
    "noise": (mp.Noise, {"position": 1e-3, "velocity": 1e-3}),
    "gains": (mp.control.PD, {"kp": [5.0, 6.0], "kv": [1.0, 2.0]}),
    "replace": (ARM.replace, {"gravity": [0.0, -9.0, 0.0], "base": np.eye(4), "tool": np.eye(4), "payload": 1.0}),
    "time law": (timing.trapezoid, {"v_max": 1.0, "a_max": 1.0}),
    "line": (paths.line, {"a": [0.0, 0.0], "b": [1.0, 0.0]}),
    "circle": (paths.circle, {"center": [0.0, 0.0], "radius": 1.0, "normal": [0.0, 0.0, 1.0]}),
    "spline": (paths.spline, {"points": POINTS}),
    "joint path": (paths.joint, {"points": POINTS, "blend": 0.0}),
    "trajectory": (MOTION.position, {"t": [0.1, 0.2]}),
    "waypoints": (mp.waypoints, {"times": [0.0, 1.0, 2.0], "points": [[0.0], [1.0], [0.5]]}),
    "joint_move": (mp.joint_move, {"start": [0.0, 0.0], "goal": [1.0, 1.0], "velocity": [1.0, 2.0], "acceleration": [2.0, 2.0], "jerk": [9.0, 9.0]}),
    "reference_from": (mp.reference_from, {"t": np.arange(9.0), "q": np.cos(np.arange(18.0)).reshape(9, 2)}),
    "solve_ik": (lambda **x: mp.solve_ik(MODEL, **x), {"target": MODEL.pose([0.3, 0.4])[:3, 3], "q0": [0.1, 0.2]}),
    "mass_matrix": (MODEL.mass_matrix, {"q": np.array([0.1, 0.2])}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "argument"), [(name, argument) for name, (_, given) in CALLS.items() for argument in given]
)
def test_masked_arrays_are_refused(name: str, argument: str) -> None:
    call, given = CALLS[name]
    call(**given)
    with pytest.raises(mp.ManipulaError):
        call(**{**given, argument: masked(given[argument])})


def test_in_lists_too() -> None:
    with pytest.raises(mp.DescriptionError, match="masked"):
        paths.spline([masked(POINTS[0]), *POINTS[1:]])


@pytest.mark.parametrize("name", [True, float("nan"), 3, {1.0}, "", "a\nb"])
def test_a_robot_is_named_by_a_text(name: Any) -> None:
    with pytest.raises(mp.DescriptionError, match="name"):
        ARM.replace(name=name)


@pytest.mark.parametrize("payload", [True, np.bool_(True), False])
def test_a_mass_is_no_truth_value(payload: Any) -> None:
    with pytest.raises(mp.DescriptionError, match="payload"):
        ARM.replace(payload=payload)


@pytest.mark.parametrize("what", [True, float("nan"), float("inf"), 10**400])
def test_equations_compile_what_is_finite(what: Any) -> None:
    with pytest.raises(mp.ManipulaError):
        mp.equations(ARM).compile(what)


def test_thresholds_below_all_values() -> None:
    with pytest.raises(mp.DescriptionError, match="threshold"):
        singularities(ARM, np.linspace([0.1, 1.0], [0.2, -1.0], 9), threshold=-0.1)
    with pytest.raises(mp.DescriptionError, match="angle"):
        LINE.corners(-1.0)


def test_bounds_beyond_all_floats() -> None:
    rng = np.random.default_rng(1)
    q, qd, qdd, tau = (rng.normal(size=(40, 2)) for _ in range(4))
    with pytest.raises(mp.ManipulaError):
        mp.identify(ARM, q, qd, qdd, tau, extras=(), prior=ARM, total_mass=(0.0, 10**400))
