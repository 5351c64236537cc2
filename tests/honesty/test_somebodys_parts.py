"""Controllers and secondary criteria that somebody wrote with another signature or shape are named; none is taken for another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.control import Controller
from manipula.redundancy.criterion import Criterion

ROBOT = mp.load("planar-3r")
MOVE = mp.trajectory(mp.paths.joint([[0, 0.2, 0.3], [0.2, 0.3, 0.4]], interpolation="polyline"), mp.timing.quintic(0.2))
Q0 = (0.3, 0.5, 0.4)
TIP = mp.compile(ROBOT).position(Q0)
LINE = mp.trajectory(mp.paths.line(TIP, TIP + np.array([-0.02, 0.01, 0.0])), mp.timing.quintic(0.2))


def controller(**methods: Any) -> Controller:
    def torque(self: Any, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        return 0.0 * q

    body = {"name": "mine", "space": "joint", "torque": torque, **methods}
    return dataclass(frozen=True)(type("Mine", (Controller,), body))()  # pyright: ignore[reportCallIssue]


def criterion(**methods: Any) -> Criterion:
    body = {"name": "mine", "gain": 1.0, "cost": lambda self, arm, q: q[0] * q[0], **methods}
    return type("Mine", (Criterion,), body)()


def run(part: Controller) -> mp.Result:
    return mp.simulate(mp.Scenario(ROBOT, MOVE, controller=part, duration=0.02, step=1e-3, verify=False))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"torque": lambda self, q: q}, "'torque' of Mine must take"),
    ({"torque": lambda self, arm, t, q, qd, target, state: np.zeros(2)}, r"torques of shape \(2,\)"),
    ({"torque": lambda self, arm, t, q, qd, target, state: None}, "torques of shape"),
    ({"states": lambda self: 2}, "'states' of Mine must take"),
    ({"states": lambda self, n: "a"}, "states of controller 'mine'"),
    ({"states": lambda self, n: -1}, "states of controller 'mine'"),
    ({"states": lambda self, n: 1.5}, "states of controller 'mine'"),
    ({"states": lambda self, n: 2, "state_rate": lambda self: 0}, "'state_rate' of Mine must take"),
    (
        {"states": lambda self, n: 2, "state_rate": lambda self, arm, t, q, qd, target, state: np.zeros(3)},
        r"state_rate of controller 'mine' has shape \(3,\); its states are 2",
    ),
    (
        {
            "states": lambda self, n: 2,
            "initial_state": lambda self, arm: np.zeros(5),
            "state_rate": lambda self, arm, t, q, qd, target, state: np.zeros(2),
        },
        "initial_state of controller",
    ),
    ({"prepare": lambda self: self}, "'prepare' of Mine must take"),
    ({"prepare": lambda self, arm: None}, "must return a controller; found NoneType"),
]


@pytest.mark.parametrize(("methods", "message"), WRONG)
def test_controllers_that_do_not_fit_are_named(methods: dict[str, Any], message: str) -> None:
    with pytest.raises(mp.ManipulaError, match=message):
        run(controller(**methods))


@pytest.mark.parametrize("function", [lambda t, q, qd: q, lambda: 0.0, lambda *, t, q, qd, target: q])
def test_functions_of_another_signature_are_no_controllers(function: Callable[..., Any]) -> None:
    with pytest.raises(mp.DescriptionError, match=r"must take 4 arguments: \(t, q, qd, target\)"):
        control.UserFunction(function)


ALL_ROUTES: dict[str, Callable[[Criterion], Any]] = {
    "kinematic": lambda c: mp.simulate(
        mp.Scenario(ROBOT, LINE, kind="kinematic", q0=Q0, criteria=(c,), step=1e-2, verify=False)
    ),
    "controlled": lambda c: mp.simulate(
        mp.Scenario(
            ROBOT, LINE, controller=control.OperationalSpace(9.0, 6.0, criteria=(c,)), q0=Q0, step=1e-2, verify=False
        )
    ),
    "tracked": lambda c: mp.track(ROBOT, LINE, q0=Q0, criteria=(c,), samples=10, tolerance=1e-3),
}


@pytest.mark.parametrize("route", ALL_ROUTES)
@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"cost": lambda self, q: 0.0}, "'cost' of Mine must take"),
        ({"cost": lambda self, arm, q: q}, "cost of criterion 'mine' must be one number"),
        ({"cost": lambda self, arm, q: None}, "cost of criterion 'mine' must be one number"),
        ({"direction": lambda self, q: q}, "'direction' of Mine must take"),
        ({"direction": lambda self, arm, q: q[:2]}, r"criterion 'mine' has shape \(2,\), expected \(3,\)"),
        ({"direction": lambda self, arm, q: ["a", "b", "c"]}, "no number"),
        ({"acceleration": lambda self, arm, q: q}, "'acceleration' of Mine must take"),
        ({"idle": lambda self: ""}, "'idle' of Mine must take"),
        ({"broken": lambda self: []}, "'broken' of Mine must take"),
        ({"gain": "a"}, "gain"),
        ({"gain": None}, "gain"),
    ],
)
def test_criteria_that_do_not_fit_are_named(route: str, methods: dict[str, Any], message: str) -> None:
    with pytest.raises(mp.ManipulaError, match=message):
        ALL_ROUTES[route](criterion(**methods))


def _delayed(self: Any, arm: Any, q: Any) -> Any:
    self.__dict__.setdefault("seen", []).append(q)
    return -self.seen[max(0, len(self.seen) - 20)]


def _filtered(self: Any, arm: Any, q: Any) -> Any:
    self.__dict__["state"] = 0.9 * self.__dict__.get("state", np.zeros(3)) + 0.1 * q
    return -self.state


def _first(self: Any, arm: Any, q: Any) -> Any:
    return -self.__dict__.setdefault("start", q)


def _slowly(self: Any, arm: Any, q: Any) -> Any:
    last = self.__dict__.get("last", q)
    self.__dict__["last"] = q
    return (q[0] - last[0]) * (q[0] - last[0])


@pytest.mark.parametrize("route", ["kinematic", "tracked"])
@pytest.mark.parametrize("methods", [{"direction": f} for f in (_delayed, _filtered, _first)] + [{"cost": _slowly}])
def test_criteria_that_remember_are_refused_where_they_are_asked_in_any_order(
    route: str, methods: dict[str, Any]
) -> None:
    with pytest.raises(mp.DescriptionError, match="asked in any order and may keep no memory"):
        ALL_ROUTES[route](criterion(**methods))


def test_a_criterion_that_remembers_acts_under_a_controller_and_one_that_only_stores_answers_everywhere() -> None:
    assert ALL_ROUTES["controlled"](criterion(direction=_filtered)).ok

    def counting(self: Any, arm: Any, q: Any) -> Any:
        self.__dict__["calls"] = self.__dict__.get("calls", 0) + 1
        return -q

    assert ALL_ROUTES["kinematic"](criterion(direction=counting)).ok


@pytest.mark.parametrize("route", ["controlled", "tracked"])
def test_what_is_no_criterion_is_refused(route: str) -> None:
    with pytest.raises(mp.DescriptionError, match="criteri"):
        ALL_ROUTES[route](object())  # pyright: ignore[reportArgumentType]


def test_classes_made_by_type_are_somebodys_code() -> None:
    """``type()`` says that such a class stands in the module 'abc'; two of one name must still be two."""
    ends = []
    for push in (0.1, 5.0):

        def torque(self: Any, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any, push: float = push) -> Any:
            float(q[0])  # cannot be traced
            return np.full(3, push)

        rate = lambda self, arm, t, q, qd, target, state: np.zeros(1)
        ends.append(run(controller(torque=torque, states=lambda self, n: 1, state_rate=rate)).q[-1])
    assert np.abs(ends[1] - ends[0]).max() > 1e-4


def test_track_says_what_it_could_not_do() -> None:
    q0 = np.array(Q0) + 0.01
    assert "from q0" in mp.track(ROBOT, LINE, q0=q0, samples=20, tolerance=1e-3).reason
    two = mp.load("planar-2r")
    start = mp.compile(two).position([0.3, 0.5])
    line = mp.trajectory(mp.paths.line(start, start + np.array([-0.02, 0.01, 0.0])), mp.timing.quintic(0.2))
    found = mp.track(two, line, criteria=(control.Posture((0.0, 0.0)),), samples=20, tolerance=1e-3)
    assert "no null space in which 'posture' could act" in found.reason


UNSAID: list[tuple[dict[str, Any], str]] = [
    ({"states": 1}, r"controller.states: 'states' of controller 'mine' is a method.*def states\(self, n\): return 1"),
    ({"states": lambda self, n: 2}, "controller.state_rate: .*'mine' has states but no method state_rate"),
    ({"space": None}, "controller.space: .*which target it follows: joint, task, none; found None"),
    ({"space": "cartesian"}, "joint, task, none; found 'cartesian'"),
    ({"name": None}, "controller.name: Mine needs a name"),
]


@pytest.mark.parametrize(("methods", "message"), UNSAID)
def test_what_a_controller_must_say_is_asked_for(methods: dict[str, Any], message: str) -> None:
    with pytest.raises(mp.DescriptionError, match=message):
        run(controller(**methods))


def test_a_function_is_told_how_to_become_a_controller() -> None:
    with pytest.raises(mp.DescriptionError, match=r"mp\.control\.UserFunction"):
        mp.Scenario(ROBOT, MOVE, controller=lambda t, q, qd, target: 0 * q)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("kind", ["dynamic", "inverse_dynamics"])
def test_a_reference_of_another_robot_is_refused(kind: str) -> None:
    more = {"controller": control.PD(1.0, 1.0)} if kind == "dynamic" else {}
    with pytest.raises(mp.ShapeError, match="The reference has 3 joints, robot 'planar-2r' has 2"):
        mp.simulate(mp.Scenario(mp.load("planar-2r"), MOVE, kind=kind, **more))


def test_a_tolerance_below_rounding_is_refused() -> None:
    with pytest.raises(mp.DescriptionError, match=r"tolerance: .*1e-16 is below the rounding.*least allowed is 1e-13"):
        mp.Scenario(ROBOT, q0=Q0, duration=0.1, tolerance=1e-16)
