"""Every argument of the public functions about motion and inverse kinematics, with values that nobody should give.

Whatever it is, the call succeeds or raises one of our errors; no other exception, no warning of NumPy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import paths, timing
from manipula.ik.tracking.cyclic import track_cyclic
from manipula.motion.paths import orientation

HOSTILE: list[Any] = [
    None, True, "a", "", b"x", "1.0", float("nan"), float("inf"), -1.0, 0, -3, 1e-300, 1e300, 10**400, 1j, object(), [], {}, (), [[]],
    [1.0, "a"], [1.0, None], [[1.0, 2.0], [3.0]], np.zeros((0, 3)), np.full(3, np.nan), np.array(["a"]), np.zeros((2, 2, 2)),
    np.array([1, 2]), {"kind": []}, {"kind": "nothing"}, {1: 2}, lambda: None, lambda *a: "text", int, set(), range(3), np.datetime64("2020"),
]  # fmt: skip

MODEL = mp.compile(mp.load("planar-2r"))
POINTS = [[0.3, 0.1, 0.0], [0.4, 0.2, 0.0], [0.5, 0.1, 0.0], [0.6, 0.3, 0.0]]
LINE = paths.line([0.5, 0.1], [0.6, 0.2])
JOINT = paths.joint([[0.0, 0.0], [0.5, 0.4], [1.0, 0.2]])
MOTION = mp.trajectory(LINE, timing.quintic(1.0))
FREE = dict.fromkeys(("start_velocity", "start_acceleration", "goal_velocity", "goal_acceleration"))


def planar_pose() -> np.ndarray:
    return MODEL.pose([0.3, 0.4])


CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (timing.constant_speed, {"speed": 1.0}),
    (timing.trapezoid, {"v_max": 1.0, "a_max": 1.0, "d_max": 2.0}),
    (timing.cubic, {"duration": 1.0}),
    (timing.quintic, {"duration": 1.0}),
    (timing.septic, {"duration": 1.0}),
    (timing.cosine, {"duration": 1.0}),
    (timing.cycloid, {"duration": 1.0}),
    (timing.double_s, {"v_max": 1.0, "a_max": 1.0, "j_max": 1.0}),
    (timing.piecewise_jerk, {"duration": 1.0, "pattern": (1.0, -1.0, 1.0), "fractions": (0.25, 0.5, 0.25)}),
    (timing.table, {"times": [0, 1, 2], "s": [0, 0.5, 1.0], "interpolation": "monotone", "unit": "fraction"}),
    (timing.formula, {"formula": "L*t/T", "duration": 1.0, "breaks": [0.5]}),
    (timing.scaled, {"law": timing.cubic(1.0), "factor": 2.0, "duration": None}),
    (timing.from_description, {"description": {"kind": "cubic", "duration": 1.0}}),
    (paths.line, {"a": [0.0, 0.0], "b": [1.0, 0.0]}),
    (paths.polyline, {"points": POINTS, "closed": False, "blend": 0.01, "shape": "quintic"}),
    (paths.circle, {"center": [0, 0], "radius": 1.0, "normal": (0, 0, 1), "axis": (1, 0, 0), "turns": 1.0}),
    (paths.arc, {"start": [0, 0], "via": [1, 1], "end": [2, 0]}),
    (paths.ellipse, {"center": [0, 0], "a": 1.0, "b": 2.0, "normal": (0, 0, 1), "axis": None, "turns": 1.0}),
    (paths.figure_eight, {"center": [0, 0], "width": 1.0, "height": 2.0, "normal": (0, 0, 1), "axis": None, "turns": 1.0}),
    (paths.helix, {"center": [0, 0], "radius": 1.0, "pitch": 0.1, "turns": 2.0, "normal": (0, 0, 1), "axis": None}),
    (paths.rectangle, {"width": 1.0, "height": 2.0, "corner": [0, 0], "center": None, "first": (1, 0, 0), "second": (0, 1, 0), "blend": 0.1,
     "shape": "quintic"}),
    (paths.square, {"side": 1.0, "corner": None, "center": [0, 0], "first": (1, 0, 0), "second": (0, 1, 0), "blend": 0.1, "shape": "quintic"}),
    (paths.spline, {"points": POINTS, "ends": "natural", "spacing": "chord", "tangents": None}),
    (paths.bspline, {"points": POINTS, "degree": 3, "closed": False}),
    (paths.joint, {"points": POINTS, "interpolation": "spline", "ends": "natural", "spacing": "chord", "tangents": None, "closed": False,
     "blend": 0.0, "shape": "quintic"}),
    (paths.formula, {"function": ["u", "u^2"], "u": [0.0, 1.0]}),
    (paths.from_csv, {"source": "x,y\n0,0\n1,1\n2,0\n", "columns": ["x", "y"], "interpolation": "spline", "space": "task", "ends": "natural",
     "spacing": "chord", "closed": False, "blend": 0.0, "delimiter": ","}),
    (paths.from_svg, {"source": "M 0 0 L 1 0", "scale": 1.0, "origin": (0, 0, 0), "flip_y": True, "index": 0}),
    (paths.concatenate, {"paths": [LINE]}),
    (paths.transform, {"path": LINE, "pose": np.eye(4)}),
    (paths.translate, {"path": LINE, "by": [1.0, 0.0]}),
    (paths.scale, {"path": LINE, "factor": 2.0, "about": None}),
    (paths.reverse, {"path": LINE}),
    (paths.from_description, {"description": {"kind": "line", "a": [0, 0], "b": [1, 0]}}),
    (orientation.constant, {"rotation": np.eye(3)}),
    (orientation.tangent, {"up": (0, 0, 1)}),
    (orientation.slerp_keys, {"rotations": [np.eye(3), np.diag([1.0, -1, -1])], "at": [0.0, 1.0]}),
    (orientation.squad, {"rotations": [np.eye(3), np.diag([1.0, -1, -1])]}),
    (LINE.derivatives, {"s": 0.01, "order": 2, "side": "right"}),
    (LINE.tangent, {"s": 0.01, "side": "right"}),
    (LINE.curvature, {"s": 0.01, "side": "right"}),
    (LINE.position, {"s": 0.01}),
    (LINE.corners, {"angle": 1e-6}),
    (LINE.parameter, {"s": 0.01}),
    (LINE.with_orientation, {"orientation": orientation.constant(np.eye(3))}),
    (LINE.with_orientation(orientation.constant(np.eye(3))).rotation, {"s": 0.01, "order": 1, "side": "right"}),
    (mp.trajectory, {"path": LINE, "law": timing.cubic(1.0)}),
    (MOTION.position, {"t": 0.5}),
    (MOTION.velocity, {"t": 0.5}),
    (MOTION.acceleration, {"t": 0.5}),
    (MOTION.jerk, {"t": 0.5}),
    (MOTION.derivatives, {"t": 0.5, "order": 2, "side": "right"}),
    (MOTION.arc_length, {"t": 0.5, "order": 2, "side": "right"}),
    (MOTION.to_piecewise, {"tolerance": 1e-6}),
    (mp.formula_motion, {"coordinates": ["t", "t"], "duration": 1.0, "breaks": [0.5], "space": "task", "orientation": ["0", "0", "t"],
     "constants": {"k": 1.0}}),
    (mp.formula_motion(["t", "t"], 1.0).derivatives, {"t": 0.5, "order": 2, "side": "right"}),
    (mp.formula_motion(["t", "t"], 1.0, orientation=["0", "0", "t"]).rotation, {"t": 0.5}),
    (mp.joint_move, {"start": [0, 0], "goal": [1, 1], "velocity": 1.0, "acceleration": 2.0, "jerk": 9.0, "synchronise": "time",
     "method": "double_s", **FREE}),
    (mp.reference_from, {"t": np.arange(9.0), "q": np.cos(np.arange(18.0)).reshape(9, 2), "space": "joint", "noise": 0.1}),
    (mp.waypoints, {"times": [0, 1, 2], "points": [[0.0], [1.0], [0.5]], "velocities": [[0.0], [0.1], [0.0]], "space": "joint", "method": "quintic",
     "ends": "natural", "accelerations": None, "blend": None}),
    (mp.time_optimal, {"path": JOINT, "velocity": 1.0, "acceleration": 1.0, "torque": None, "inverse_dynamics": None, "tip_speed": None,
     "tip_velocity": None,
                       "jerk": 1e6, "start_speed": 0.0, "end_speed": 0.0, "points": 20, "scheme": "interpolation", "tolerance": 0.1, "strict": True}),
    (mp.check_limits, {"trajectory": MOTION, "position": ([-9, -9, -9], 9), "velocity": 9.0, "acceleration": 99.0, "jerk": 999.0, "speed": 9.0,
                       "reachable": None, "samples": 21, "tolerance": 1e-9}),
    (mp.solve_ik, {"model": MODEL, "target": planar_pose()[:3, 3], "method": "auto", "all_solutions": False, "q0": None, "limits": True, "frame": "",
                   "rows": None, "tolerance": 1e-8, "max_iterations": 100, "seed": 0}),
    (mp.solve_ik, {"model": MODEL, "target": planar_pose()[:3, 3], "all_solutions": True, "seed": 0, "max_iterations": 100, "prefer": "middle"}),
    (mp.track, {"model": MODEL, "trajectory": MOTION, "q0": None, "frame": "", "limits": True, "criteria": (), "weight": None, "gain": 0.0,
                "samples": 20, "tolerance": 1e-3, "seed": 0}),
    (track_cyclic, {"model": MODEL, "trajectory": MOTION, "posture": None, "frame": "", "limits": True, "samples": 20, "tolerance": 1e-3, "seed": 0}),
]  # fmt: skip


def label(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", str(function))


@pytest.mark.filterwarnings("ignore:The jerk limit")
@pytest.mark.parametrize(("function", "given"), CALLS, ids=lambda x: label(x) if callable(x) else "")
def test_hostile_arguments_are_refused_in_our_words(function: Callable[..., Any], given: dict[str, Any]) -> None:
    function(**given)  # the ordinary call works
    for name in given:
        for value in HOSTILE:
            try:
                function(**{**given, name: value})
            except mp.ManipulaError:
                pass
            except Exception as error:
                pytest.fail(f"{label(function)}({name}={value!r}) raised {type(error).__name__}: {error}")


def test_every_argument_is_walked() -> None:
    walked: dict[str, set[str]] = {}
    for function, given in CALLS:
        walked.setdefault(label(function), set()).update(given)
    for function, _ in CALLS:
        if function is not mp.time_optimal:
            missing = set(inspect.signature(function).parameters) - walked[label(function)]
            assert not missing, f"{label(function)} has arguments that are not tried: {missing}"
    known = {label(function).rpartition(".")[2] for function, _ in CALLS}
    assert set(timing.REGISTRY) <= known
    assert set(paths.REGISTRY) <= known


def test_unknown_keywords_name_the_function() -> None:
    with pytest.raises(TypeError, match=r"^time_optimal\(\).*'foo'"):
        mp.time_optimal(JOINT, foo=1)
    with pytest.raises(TypeError, match=r"^solve_ik\(\).*'foo'"):
        mp.solve_ik(MODEL, [1.0, 0.0, 0.0], foo=1)  # pyright: ignore[reportCallIssue]


def test_durations_that_no_motion_has() -> None:
    for make in (timing.cubic, timing.septic, timing.cycloid):
        for duration in (1e-300, 1e-13, 1e13, 1e300):
            with pytest.raises(mp.DescriptionError, match="duration"):
                make(duration)
    with pytest.raises(mp.DescriptionError, match="between"):
        mp.trajectory(LINE, timing.constant_speed(1e-50))
