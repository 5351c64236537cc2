"""A path of ``vary`` means one number, or one field whose entries are all numbers; whatever else it names is refused, and what stands for several is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control, friction
from manipula.errors import DescriptionError

ARM = mp.load("planar-2r")
PUSH = mp.Wrench((1.0, "sin(t)", 0.0, 0.0, 0.0, 0.5))
PLAIN = mp.Wrench((1.0, 2.0, 0.0, 0.0, 0.0, 0.5))
TASKS = control.TaskPriorities((control.JointPosture(0.3), control.FramePosition((0.5, 0.5, 0.0), priority=2)))


def run(vary: dict[str, Any], **more: Any) -> mp.Result:
    given: dict[str, Any] = {
        "controller": control.PD((9.0, 7.0), 3.0, goal=0.1),
        "q0": [0.2, 0.4],
        "friction": friction.Coulomb(0.1, width=0.1),
    }
    return mp.simulate(mp.Scenario(ARM, duration=0.05, step=5e-3, verify=False, vary=vary, **given | more))  # fmt: skip


def test_one_number_for_all_joints_is_told() -> None:
    """As in the field itself, one number means the same for every joint."""
    found = run({"controller.kp": [4.0, 8.0]})
    assert found.notes == ("vary.controller.kp: one number per run stands for all 2 entries.",)
    rows = run({"controller.kp": [[4.0, 4.0], [8.0, 8.0]]})
    assert rows.notes == ()
    np.testing.assert_array_equal(found.q, rows.q)
    assert run({"controller.kv": [1.0, 2.0]}).notes == ()  # one number in the run, too
    given = run({"friction[0].level": [0.1, 0.3]})
    assert given.notes == ()


@pytest.mark.parametrize("values", [[1.0, 2.0], [[1.0, 2.0], [2.0, 3.0]], 3.0])
@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("controller", r"controller\.kp\[0\]"),
        ("friction[0]", r"friction\[0\]\.level"),
        ("friction", r"friction\[0\]\.level"),
        ("disturbances", r"disturbances\[0\]\.wrench\[0\]"),
    ],
)
def test_a_whole_part_is_no_number(path: str, named: str, values: Any) -> None:
    with pytest.raises(DescriptionError, match=f"'.*' is a whole part.*vary one of them: {named}") as error:
        run({path: values}, disturbances=(PLAIN,))
    assert error.value.field == f"vary.{path}"


def test_parts_inside_a_part() -> None:
    for path in ("controller.tasks", "controller.tasks[1]"):
        with pytest.raises(DescriptionError, match=r"whole part.*controller\.tasks\[\d\]\."):
            run({path: [1.0, 2.0]}, controller=TASKS)
    assert run(
        {"controller.tasks[0].gain": [5.0, 9.0]}, controller=control.TaskPriorities((control.JointPosture(0.3),))
    )


def test_a_vector_takes_rows() -> None:
    """A force in x is no force in y."""
    with pytest.raises(DescriptionError, match=r"Rows of 6 are needed, found shape \(2,\)") as error:
        run({"disturbances[0].wrench": [1.0, 2.0]}, disturbances=(PLAIN,))
    assert error.value.field == "vary.disturbances[0].wrench"
    with pytest.raises(DescriptionError, match="Rows of 6"):
        run({"disturbances[0].wrench": 1.0}, disturbances=(PLAIN,))
    rows = [[1.0, 0, 0, 0, 0, 0], [0, 3.0, 0, 0, 0, 0]]
    found = run({"disturbances[0].wrench": rows}, disturbances=(PLAIN,))
    alone = run({}, disturbances=(mp.Wrench(tuple(rows[1])),))
    np.testing.assert_allclose(found.q[1], alone.q, atol=1e-14)


@pytest.mark.parametrize("values", [[1.0, 2.0], [[1.0] * 5, [2.0] * 5], [[1.0] * 6, [2.0] * 6]])
def test_formulas_are_not_passed_over(values: Any) -> None:
    with pytest.raises(
        DescriptionError, match=r"'disturbances\[0\]\.wrench\[1\]' is a formula, 'sin\(t\)'.*vary single entries"
    ) as error:
        run({"disturbances[0].wrench": values}, disturbances=(PUSH,))
    assert error.value.field == "vary.disturbances[0].wrench"
    assert run({"disturbances[0].wrench[0]": [1.0, 2.0]}, disturbances=(PUSH,)).statuses == ("finished",) * 2


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("disturbances[0].wrench[1]", r"is no number but 'sin\(t\)'"),
        ("disturbances[0].axes", "is no number but 'base'"),
        ("actuator.delay", "is the same in all runs"),
        ("actuator.limit", "is none in this run"),
    ],
)
def test_what_cannot_vary_says_why(path: str, words: str) -> None:
    with pytest.raises(DescriptionError, match=words) as error:
        run({path: [1.0, 2.0]}, disturbances=(PUSH,), actuator=mp.Actuator(delay=0.01), integrator="rk4")
    assert error.value.field == f"vary.{path}"
