"""What every controller must obey, whatever it does: compiled and on floats it commands the same; gains are run-time numbers."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

import manipula as mp
from control.arms_and_gains import EXAMPLES, GOAL, SPRINGS, arm, quintic
from manipula import native
from manipula.control import REGISTRY, Arm, Controller, Target
from manipula.control.base import is_digital
from manipula.errors import DescriptionError
from manipula.redundancy.arm import Motors
from manipula.simulation.loops.setup import prepare_run
from manipula.simulation.plant.parameters import flatten, rebuild

AGREEMENT = 1e-11  # compiled against float torques of size 100: other order of summation, fused products


def prepared(name: str) -> tuple[Arm, Controller]:
    robot = arm("planar-3r")
    model = Arm(robot)
    if EXAMPLES[name].measures:
        seen = Motors(np.array([0.1, -0.2, 0.3]), np.array([0.2, 0.1, -0.4]))
        model = Arm(robot, drives=SPRINGS * robot.n, rotors=(0.2,) * robot.n).measuring(seen, np.arange(6.0))
    return model, EXAMPLES[name].prepare(model)


def test_every_controller_has_an_example() -> None:
    assert set(EXAMPLES) == set(REGISTRY)
    assert all(type(EXAMPLES[name]) is kind for name, kind in REGISTRY.items())


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_compiled_controller_is_the_controller(name: str) -> None:
    model, controller = prepared(name)
    dimension = 3
    size = controller.states(model.n)
    rng = np.random.default_rng(7)
    count = 6
    q, qd = rng.uniform(-1, 1, (count, 3)), rng.normal(size=(count, 3))
    target = rng.uniform(-1, 1, (count, 3, dimension))
    state = 0.1 * rng.normal(size=(count, max(size, 1)))

    def f(p, t, q, qd, target, state):
        numbers = iter(range(10_000))
        own = rebuild(controller, lambda path, value: p[next(numbers)])
        aim = Target(target[0], target[1], target[2])
        return {
            "torque": own.torque(model, t, q, qd, aim, state[:size]),
            "rate": np.concatenate([own.state_rate(model, t, q, qd, aim, state[:size]), np.zeros(1)]),
        }

    p = np.array([v for _, v in flatten(controller)] or [0.0])
    shapes = {"p": (len(p),), "t": (), "q": (3,), "qd": (3,), "target": (3, dimension), "state": (max(size, 1),)}
    torque, rate = native.compile_function(f, shapes)(p, 0.3, q, qd, target, state)
    for k in range(count):
        aim = Target(*target[k])
        own = state[k, :size]
        expected = np.asarray(controller.torque(model, 0.3, q[k], qd[k], aim, own), float)
        assert expected.shape == (3,)
        np.testing.assert_allclose(torque[k], expected, rtol=AGREEMENT, atol=AGREEMENT)
        slopes = np.asarray(controller.state_rate(model, 0.3, q[k], qd[k], aim, own), float)
        assert slopes.shape == (size,)
        np.testing.assert_allclose(rate[k, :size], slopes, rtol=AGREEMENT, atol=AGREEMENT)
    assert np.shape(controller.initial_state(model)) == (size,)


def louder(controller: Controller) -> Controller:
    """The same controller with other gains; a weight counts only among tasks of one priority."""
    return rebuild(controller, lambda path, value: value if path.endswith(".weight") else 1.25 * value)


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"user"}))
def test_other_gains_use_the_same_machine_code(name: str) -> None:
    robot = arm("planar-3r")
    controller = EXAMPLES[name]
    reference = None
    if controller.space == "task":
        tip = mp.compile(robot).position(np.full(3, 0.4))
        reference = mp.trajectory(mp.paths.line(tip, tip - [0.1, 0.05, 0.0]), mp.timing.quintic(1.0))
    elif controller.space == "joint":
        reference = mp.trajectory(mp.paths.joint([[0.4] * 3, [0.1] * 3]), mp.timing.quintic(1.0))
    other = louder(controller)
    if hasattr(controller, "links"):
        object.__setattr__(other, "links", controller.links)
    drives = None
    if controller.measures:
        robot = replace(robot, joints=tuple(replace(j, rotor_inertia=0.2) for j in robot.joints))
        drives = SPRINGS * robot.n
    scenario = mp.Scenario(
        robot=robot,
        controller=controller,
        reference=reference,
        q0=[0.4] * 3,
        duration=0.1,
        integrator="rk4",
        drives=drives,
    )
    if is_digital(controller, robot.n):
        scenario = scenario.replace(control_period=0.002)
    one, two = (prepare_run(scenario.replace(controller=c)) for c in (controller, other))
    assert one.loop is two.loop
    assert not np.array_equal(one.p, two.p)


def test_controllers_are_values() -> None:
    for controller in EXAMPLES.values():
        values = {f.name: getattr(controller, f.name) for f in fields(controller)}  # pyright: ignore[reportArgumentType]
        assert type(controller)(**values) == controller
        assert hash(type(controller)(**values)) == hash(controller)


def test_two_classes_of_one_name_do_not_share_machine_code() -> None:
    def law(gain: float) -> type[Controller]:
        from dataclasses import dataclass
        from typing import Any, ClassVar

        @dataclass(frozen=True)
        class Own(Controller):
            kp: Any
            name: ClassVar[str] = "own"
            space: ClassVar[Any] = "none"

            def torque(self, arm, t, q, qd, target, state):
                return -gain * self.kp * q

        return Own

    robot = arm("planar-2r")
    first, second = (
        mp.simulate(mp.Scenario(robot=robot, controller=law(g)(1.0), q0=[0.3, 0.1], duration=0.02, verify=False))
        for g in (1.0, 2.0)
    )
    np.testing.assert_allclose(second.command, -2.0 * second.q, rtol=1e-14)
    np.testing.assert_allclose(first.command, -first.q, rtol=1e-14)


def test_references_must_fit_the_controller() -> None:
    robot = arm("planar-2r")
    line = mp.trajectory(mp.paths.line([1.0, 0.5, 0], [1.0, 0.8, 0]), mp.timing.quintic(1.0))
    with pytest.raises(DescriptionError, match="joint reference"):
        mp.simulate(mp.Scenario(robot=robot, controller=EXAMPLES["computed_torque"], reference=line, q0=[0.1, 0.1]))
    with pytest.raises(DescriptionError, match="none is given"):
        mp.simulate(mp.Scenario(robot=robot, controller=EXAMPLES["computed_torque"], q0=[0.1, 0.1], duration=1.0))
    reference = quintic("planar-2r", [0.0, 0.0])
    with pytest.raises(DescriptionError, match="task reference"):
        mp.simulate(
            mp.Scenario(robot=robot, controller=EXAMPLES["impedance"], reference=reference, q0=GOAL["planar-2r"])
        )
