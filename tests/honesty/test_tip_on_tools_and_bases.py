"""Where the tip is moved by a tool or by its base, limits and motions of points are not judged by another tip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError

ARM = mp.load("planar-2r")
TOOL = mp.PayloadChange(time=0.05, mass=0.1, tool=(1.0, 0.0, 0.0))
SHAKEN = mp.BaseMotion(position=("0.5*sin(20*t)", 0, 0))
MOVED = [{"disturbances": (TOOL,)}, {"base_motion": SHAKEN}]


def swing(**more: Any) -> mp.Result:
    control = mp.control.PDGravity(kp=200, kv=40, goal=[1.2, 0.3])
    return mp.simulate(
        mp.Scenario(robot=ARM, q0=[0.2, 0.3], duration=0.3, sample=0.001, controller=control, **more)
    ).check()


@pytest.mark.parametrize("moved", MOVED)
def test_a_tip_limit_is_not_held_against_another_tip(moved: dict[str, Any]) -> None:
    still = swing(limits={"tip": {"velocity": 100.0, "jerk": 1e9}})
    assert still.feasible is not None
    result = swing(**moved, limits={"tip": {"velocity": 100.0, "acceleration": 1e4, "jerk": 1e9}})
    assert result.feasible is None
    assert "tip could not be checked" in mp.feasibility(result).reason
    assert mp.feasibility(result).feasible is None
    assert mp.feasibility(result, {"tip": {"velocity": 1e-3}}).feasible is None


@pytest.mark.parametrize("moved", MOVED)
def test_motion_and_jerk_of_a_moved_tip_are_refused(moved: dict[str, Any], tmp_path: Path) -> None:
    result = swing(**moved)
    result.save(tmp_path / "run.nc")
    for found in (result, mp.load_result(tmp_path / "run.nc")):
        with pytest.raises(DescriptionError, match=r"tool|base"):
            found.point_motion()
        with pytest.raises(DescriptionError, match=r"tool|base"):
            found.jerk("tip")
        assert mp.feasibility(found, {"velocity": 1e3}, points={"tip": {"velocity": 1e3}}).feasible is None


def test_a_tool_leaves_other_points_alone_and_a_load_leaves_the_tip() -> None:
    tooled = swing(disturbances=(TOOL,))
    assert tooled.point_motion("link2").position.shape == (301, 3)
    with pytest.raises(DescriptionError, match="tool"):
        tooled.to_reference(space="task")
    loaded = swing(disturbances=(mp.PayloadChange(0.05, 0.1),), limits={"tip": {"velocity": 100.0}})
    assert loaded.feasible is True
    np.testing.assert_allclose(loaded.point_motion().position, loaded.tip, atol=1e-14)
    batch = mp.Scenario(
        robot=ARM, q0=[0.2, 0.3], duration=0.1, disturbances=(mp.PayloadChange(0.05, 0.1),),
        vary={"disturbances[0].mass": [0.1, 0.2]}, limits={"tip": {"velocity": 100.0}},
    )  # fmt: skip
    assert mp.simulate(batch).feasible is True


def test_the_orientation_error_is_that_of_the_reference_whatever_the_base_does() -> None:
    robot = mp.planar(lengths=[0.5, 0.4, 0.3], masses=[1, 1, 1], gravity=(0, 0, 0))
    q0 = [0.3, 0.4, 0.5]
    x, y = mp.compile(robot).pose(q0)[:2, 3]
    held = mp.formula_motion([str(x), str(y), "0"], duration=0.2, orientation=["0", "0", "1.2"])
    control = mp.control.OperationalSpace(kp=100, kv=20)
    s = mp.Scenario(robot=robot, reference=held, q0=q0, sample=0.05, controller=control)
    turned = mp.simulate(s.replace(base_motion=mp.BaseMotion(rotation=(0, 0, 0.5)))).check()
    assert np.abs(turned.q - q0).max() < 1e-9
    assert np.abs(turned.orientation_error).max() < 1e-9
