"""Constraints of programmed motions: redundant is not contradictory, errors quote what was written, and every setting acts or is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.simulation.files.scenario_file import load_text
from manipula.simulation.integrators import FIXED, FixedStep

ARM = mp.planar([0.5, 0.4, 0.3], [2.0, 1.5, 1.0])
Q0 = [0.3, 0.8, -0.5]


def run(constraints: Any, settings: dict[str, Any] | None = None, **options: Any) -> mp.Result:
    motion = mp.programmed_motion(ARM, constraints, **(settings or {}))
    return motion.run(Q0, **{"duration": 0.5, "step": 1e-2, "start": "project", "verify": False, **options})


def refusal(constraints: Any, settings: dict[str, Any] | None = None, **options: Any) -> DescriptionError:
    with pytest.raises(DescriptionError) as found:
        run(constraints, settings, **options)
    return found.value


@pytest.mark.parametrize(
    ("constraints", "last", "others"),
    [
        (["x^2 + y^2 = 0.25", "2*x^2 + 2*y^2 = 0.5"], "2*x^2 + 2*y^2 = 0.5", "'x^2 + y^2 = 0.25'"),
        (["x = 0.3", "x^2 = 0.09"], "x^2 = 0.09", "'x = 0.3'"),
        (["y = 0.2", "x = 0.3", "(x - 0.3)*y = 0"], "(x - 0.3)*y = 0", "'x = 0.3'"),
        (["x = 0.3", "y = 0.2", "x + y = 0.5"], "x + y = 0.5", "'x = 0.3' and 'y = 0.2'"),
        (["x = 0.3 + t/10", "vx = 0.1"], "vx = 0.1", "'x = 0.3 + t/10'"),
    ],
)
def test_redundant_constraints_say_which_follows_from_which(constraints: Any, last: str, others: str) -> None:
    """Also from a start that breaks them, where their values do not agree yet."""
    told = str(refusal(constraints))
    assert f"'{last}' follows from {others}; leave it out" in told
    assert "redundant" in told


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        (["x = 0.3", "x^2 = 0.1"], "contradict each other at the start"),
        (["x = 0.3", "y = 0.2", "x + y = 0.6"], "contradict each other at the start"),
        (["x = 0.3", "x = 0.3 + 0.1*t^3"], "contradict each other at t ="),
        (["x = 0.3", "vx = 0.1*t^3"], "contradict each other at t ="),
        (["x = 0.3", "ax = t"], "contradict each other at t ="),
    ],
)
def test_contradictory_constraints_are_called_so(constraints: Any, words: str) -> None:
    told = str(refusal(constraints))
    assert words in told
    assert "redundant" not in told


def test_a_singular_start_is_neither() -> None:
    with pytest.raises(DescriptionError, match="start posture is singular") as found:
        mp.programmed_motion(ARM, ["x = 1.2*cos(0.4)", "y = 1.2*sin(0.4)"]).run(
            [0.4, 0.0, 0.0], duration=0.1, step=1e-2
        )
    assert found.value.field == "q0"


@pytest.mark.parametrize(
    ("formula", "column"),
    [("xx = 0.5", 1), ("x = yy", 5), ("x == zz", 6), ("x) - (y = 0", 2), ("x = y = 0", 7), ("x*(y + 1 = 0", None)],
)
def test_errors_quote_the_text_and_count_its_columns(formula: str, column: int | None) -> None:
    error = refusal([formula])
    assert error.field == f"constraints[0], formula '{formula}'"
    assert column is None or error.problem.startswith(f"Column {column}:")


@pytest.mark.parametrize(
    ("formula", "level", "words"),
    [
        ("vx = 0", "position", "names 'vx'"),
        ("ax = 0", "velocity", "names 'ax'"),
        ("qd2 = 0", "position", "names 'qd2'"),
        ("x = 0.5", "velocity", "names no velocity"),
        ("vx = 0.5", "acceleration", "names no acceleration"),
    ],
)
def test_a_level_that_does_not_fit_the_formula_is_told(formula: str, level: str, words: str) -> None:
    error = refusal([mp.Constraint(formula, level=level)])
    assert error.field == "constraints[0]"
    assert words in error.problem
    assert "leave the level out" in error.problem


def test_a_function_of_another_level_is_told() -> None:
    assert "give level = 'velocity'" in str(refusal([lambda v: v["vx"]]))
    assert "no quantity" in str(refusal([lambda v: v["vq"]]))


def test_functions_that_remember_are_told_so() -> None:
    calls: list[float] = []

    def constraint(v: Any) -> Any:
        calls.append(1.0)
        return v["x"] - 0.5 + 1e-3 * len(calls)

    def torque(t: Any) -> Any:
        calls.append(1.0)
        return 0.1 * len(calls)

    class Wearing(mp.friction.FrictionLaw):
        name = "wearing"

        def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
            calls.append(1.0)
            return 0.01 * len(calls) * qd

    found = {
        "constraints[0]": refusal([constraint]),
        "drives[1]": refusal(["x = 0.5"], {"drives": {1: torque}}),
        "friction[2]": refusal(["x = 0.5"], {"friction": [None, None, Wearing()]}),
    }
    for field, error in found.items():
        assert error.field == field
        assert "remembers something between its calls" in error.problem


def test_a_function_that_keeps_traced_numbers_is_told_so() -> None:
    last: list[Any] = [0.0]

    def constraint(v: Any) -> Any:
        last[0] = 0.5 * last[0] + 0.5 * v["x"]
        return v["x"] - 0.5 + 0.0 * last[0]

    assert "earlier call" in str(refusal([constraint]))


def test_independent_beside_multipliers_is_told_or_refused() -> None:
    given = run(["x = 0.8"], {"independent": [0, 2]}, formulation="multipliers")
    assert any("independent = [joint1, joint3] did not act" in note for note in given.notes)
    assert not any("did not act" in note for note in run(["x = 0.8"], formulation="multipliers").notes)
    assert not any("did not act" in note for note in run(["x = 0.8"], {"independent": [1, 2]}).notes)
    with pytest.raises(DescriptionError, match="chooses no independent") as found:
        mp.ProgramScenario(ARM, ["x = 0.8"], Q0, independent=[0, 2], formulation="multipliers")
    assert found.value.field == "independent"
    text = """kind = "programmed"
robot = "planar-3r"
q0 = [0.3, 0.8, -0.5]
duration = 0.1
[program]
constraints = ["x = 0.8"]
independent = [0, 2]
formulation = "multipliers"
"""
    with pytest.raises(DescriptionError, match="chooses no independent") as found:
        load_text(text)
    assert found.value.field == "program.independent"
    assert found.value.line == 7


@pytest.mark.parametrize(
    ("constraints", "options", "field"),
    [
        (["x = 0.8"], {"gain": 30.0}, "gain"),
        (["x = 0.8"], {"gain": 30.0, "stabilisation": "none"}, "gain"),
        (["ax = 0.1"], {"stabilisation": "baumgarte"}, "stabilisation"),
    ],
)
def test_settings_that_cannot_act_are_refused_on_both_roads(constraints: Any, options: Any, field: str) -> None:
    assert refusal(constraints, **options).field == field
    with pytest.raises(DescriptionError) as found:
        mp.ProgramScenario(ARM, constraints, Q0, **options)
    assert found.value.field == field


def test_a_joint_counts_once_among_the_independent_ones() -> None:
    with pytest.raises(DescriptionError, match=r"leave 1 independent joint; found \[0, 0\]"):
        mp.programmed_motion(ARM, ["x = 0.8", "y = 0.5"], independent=[0, 0])


def test_notes_and_advice_are_right() -> None:
    coarse = run(["x = 0.5"], duration=1.0)
    assert coarse.meta["splits"] == 1
    assert "The independent coordinates were chosen anew once." in coarse.notes
    assert coarse.status == "inaccurate"
    assert "leaves 'x = 0.5'" in coarse.reason
    assert "stabilisation" not in coarse.reason  # it is on
    assert np.abs(coarse.residual).max() > 1e-6
    free = run(["x = 0.5"], duration=0.4, step=2e-2, stabilisation="none")
    assert "use stabilisation" in free.reason


def test_drives_that_nothing_commands_are_refused() -> None:
    for drive in (mp.drives.Rigid(), mp.drives.DCMotor(1.0, 1.0, 1.0)):
        error = refusal(["x = 0.8"], {"drives": {1: drive}})
        assert error.field == "drives[1]"
        assert "commanded" in error.problem
    error = refusal(["x = 0.8"], {"drives": {1: "b*t"}})
    assert error.field == "drives[1], formula 'b*t'"
    braked = run(["x = 0.8"], {"drives": {0: mp.drives.DCMotor(1.0, 1.0, 1.0, voltage=1e-3)}}, step=1e-3)
    assert np.abs(braked.applied).max() > 0.0


def test_a_tolerance_acts_or_is_told() -> None:
    idle = run(["x = 0.8"], tolerance=1e-3, verify=False, duration=0.02)
    assert any("tolerance = 0.001 did not act" in note for note in idle.notes)
    assert not any("did not act" in note for note in run(["x = 0.8"], tolerance=1e-3, verify=True, duration=0.02).notes)
    assert refusal(["x = 0.8"], tolerance=1e-30).field == "tolerance"
    with pytest.raises(DescriptionError, match="rounding"):
        mp.ProgramScenario(ARM, ["x = 0.8"], Q0, tolerance=1e-30)


@pytest.mark.parametrize("step", [lambda self, f, t, x, h, n: None, lambda self, f, t, x, h, n: x[:1]])
def test_integrators_that_give_no_state_are_named(step: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    own = type("Own", (FixedStep,), {"name": "own", "order": 1, "step": step})()
    monkeypatch.setitem(FIXED, "own", own)
    error = refusal(["x = 0.8"], integrator="own")
    assert error.field == "integrator"
    assert "'own' gives" in error.problem


def test_a_constraint_given_twice_follows_from_itself() -> None:
    assert "'x = 0.8' follows from 'x = 0.8'" in str(refusal(["x = 0.8", "x = 0.8"]))
