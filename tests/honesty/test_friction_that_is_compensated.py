"""A controller without a model believes the friction that acts; one with a model believes that of its model's joints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError
from manipula.robot.friction import Coulomb, Viscous

ARM = mp.load("planar-2r")
MOVE = mp.trajectory(mp.paths.joint([[0.2, 0.4], [0.6, -0.5]]), mp.timing.quintic(0.3))
LINE = mp.trajectory(mp.paths.line([1.2, 0.3, 0.0], [1.0, 0.5, 0.0]), mp.timing.quintic(0.3))
CONTROLLERS: dict[str, tuple[Any, Any]] = {
    "joints": (control.ComputedTorque(100.0, 20.0), MOVE),
    "tip": (control.TaskSpaceComputedTorque(100.0, 20.0), LINE),
    "operational space": (control.OperationalSpace(100.0, 20.0), LINE),
}


def rubbing(robot: mp.Robot, law: Any) -> mp.Robot:
    return robot.replace(joints=tuple(replace(j, friction=law) for j in robot.joints))


def error(robot: mp.Robot, controller: Any, reference: Any, **more: Any) -> float:
    start = (0.2, 0.4) if reference.space == "joint" else mp.solve_ik(mp.compile(robot), [1.2, 0.3, 0.0]).q
    result = mp.simulate(mp.Scenario(robot, reference, controller, q0=start, **more))
    assert result.ok, result.reason
    if reference.space == "joint":
        return float(np.abs(result.q - reference.derivatives(result.t, 0)[0]).max())
    return float(np.abs(mp.compile(robot).position(result.q) - reference.derivatives(result.t, 0)[0]).max())


@pytest.mark.parametrize("which", sorted(CONTROLLERS))
@pytest.mark.parametrize(
    ("own", "given"),
    [(None, Viscous(3.0)), (Viscous(3.0), ()), (Viscous(3.0), Viscous(1.0)), (Viscous(3.0), None)],
    ids=["of the scenario", "switched off", "another", "of the robot"],
)
def test_the_friction_that_acts_is_compensated(which: str, own: Any, given: Any) -> None:
    controller, reference = CONTROLLERS[which]
    robot = rubbing(ARM, own)
    acts = Viscous(3.0) if given is None else given
    assert error(robot, controller, reference, friction=given) < 1e-6
    if acts:
        assert error(robot, replace(controller, friction=False), reference, friction=given) > 1e-3


def test_a_model_brings_the_friction_of_its_joints() -> None:
    computed = control.ComputedTorque(100.0, 20.0)
    law = Viscous(3.0)
    assert error(ARM, computed, MOVE, friction=law, model=ARM) > 1e-2  # a model without friction
    assert error(ARM, computed, MOVE, friction=law, model=rubbing(ARM, law)) < 1e-6
    assert error(rubbing(ARM, law), computed, MOVE, friction=(), model=rubbing(ARM, law)) > 1e-2


def test_a_model_with_free_parameters_is_refused() -> None:
    free = mp.planar([1.0, 1.0], [1.0, 1.0], damping="b")
    with pytest.raises(DescriptionError, match=r"model.*free parameters \(b\).*with_parameters"):
        mp.simulate(mp.Scenario(ARM, MOVE, control.ComputedTorque(100.0, 20.0), model=free))


def test_every_run_of_a_batch_compensates_its_own_friction() -> None:
    computed = control.ComputedTorque(100.0, 20.0)
    varied = mp.Scenario(
        ARM, MOVE, computed, q0=(0.2, 0.4), friction=Viscous(1.0), vary={"friction[0].damping": [0.5, 4.0]}
    )
    symbolic = mp.planar([1.0, 1.0], [1.0, 1.0], damping="b")
    free = mp.Scenario(symbolic, MOVE, computed, q0=(0.2, 0.4), parameters={"b": [0.5, 4.0]})
    for scenario in (varied, free):
        result = mp.simulate(scenario)
        assert result.q.shape[0] == 2
        assert np.abs(result.q - MOVE.derivatives(result.t, 0)[0]).max() < 1e-6


def test_a_function_of_somebody_sees_the_friction_that_acts() -> None:
    class Cancelling(control.Controller):
        name, space = "cancelling", "none"

        def torque(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
            return arm.gravity(q) + arm.friction(qd)

    drifting = mp.planar([1.0], [1.0])
    result = mp.simulate(mp.Scenario(drifting, None, Cancelling(), qd0=[1.0], duration=0.5, friction=(Coulomb(2.0),)))
    assert np.allclose(result.qd, 1.0, atol=1e-6)
