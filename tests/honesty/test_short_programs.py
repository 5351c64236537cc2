"""Pulses, corners and jumps in the formulas of a program are met, or told; what is smooth is left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops

ARM = mp.planar([1.0, 0.8], [2.0, 1.5])


def run(constraints: Any, **options: Any) -> mp.Result:
    common: dict[str, Any] = {"q0": [0.3, 0.8], "duration": 0.2, "step": 1e-3, "start": "project"}
    return mp.ProgramScenario(ARM, constraints, **common | options).run()


@pytest.mark.parametrize("level", ["x = 1.3 + {}", "vx = {}", "ax = {}"])
@pytest.mark.parametrize("width", [2e-5, 2e-6])
def test_a_bump_shorter_than_a_step_is_met_or_told(level: str, width: float) -> None:
    """Between two steps of 1 ms, where neither the run nor its repetition looks."""
    bump = f"0.01*exp(-((t - 0.10021)/{width})^2)"
    result = run([level.format(bump)])
    if result.ok:
        fine = run([level.format(bump)], step=1e-5)
        assert fine.ok
        np.testing.assert_allclose(result.q[-1], fine.q[-1], atol=1e-5)
    else:
        assert result.status == "inaccurate"


def test_a_bump_in_a_function_and_in_a_gradient() -> None:
    def program(v: Any) -> Any:
        return v["x"] - 1.3 - (v["y"] - 0.9) * ops.exp(-(((v["t"] - 0.10021) / 2e-6) ** 2))

    smooth = run(["x = 1.3"])
    result = run([program])
    assert not result.ok or np.abs(result.qd[-1] - smooth.qd[-1]).max() > 0.0


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("x = 1.3 + 0.1*abs(t - 0.1)", "the rate of 'x = 1.3"),
        ("x = 1.3 + 0.1*abs(t - 0.10037)", "the rate of 'x = 1.3"),
        ("x = 1.3 + 1e-5*sign(t - 0.1)", "'x = 1.3"),
        ("vx = 0.1*sign(t - 0.1)", "'vx = 0.1"),
    ],
)
def test_a_program_that_jumps_is_not_finished(formula: str, words: str) -> None:
    result = run([formula])
    assert result.status == "failed"
    assert words in result.reason
    assert "t = 0.1" in result.reason


def test_jumps_of_accelerations_and_torques_fall_between_steps() -> None:
    """They are allowed; with steps that end on them the answer does not depend on where they lie."""
    for when in ("0.1", "0.10037"):
        assert run([f"x = 1.3 + 0.5*max(t - {when}, 0)^2"]).ok
        pushed, fine = (run(["x = 1.3"], drives={0: f"5*sign(t - {when})"}, step=h) for h in (1e-3, 1e-4))
        assert pushed.ok, pushed.reason
        np.testing.assert_allclose(pushed.q[-1], fine.q[-1], atol=1e-9)


def test_a_pulse_of_a_drive_written_in_python_is_met() -> None:
    push = lambda t: ops.where((t > 0.10031) & (t < 0.10034), 3000.0, 0.0)
    coarse, fine = (run(["x = 1.3"], drives={0: push}, step=h) for h in (1e-3, 1e-5))
    assert coarse.ok, coarse.reason
    np.testing.assert_allclose(coarse.qd[-1], fine.qd[-1], atol=1e-5)


@pytest.mark.parametrize("sample", [None, 0.01, 0.03])
def test_smooth_programs_keep_their_steps_and_samples(sample: float | None) -> None:
    from manipula.simulation.programmed.instants import instants_of
    from manipula.simulation.programmed.run import cut, stretches

    motion = mp.programmed_motion(ARM, ["x = 1.3 + 0.1*sin(3*t) + 0.01*t^3"], drives={0: "2*cos(20*t)"})
    x = np.asarray(motion.plant.start(np.array([0.3, 0.8]), np.zeros(2)), float)
    assert not len(instants_of(motion.plant, x, 0.2, 1e-3).marks)
    parts = stretches(0.2, 1e-3, sample)
    times = np.concatenate([p.times for p in parts])
    for marks in ([], [0.05], [0.0501, 0.0502, 0.0507, 0.1999], [0.01, 0.1 + 1e-13]):
        pieces = cut(parts, np.array(marks), 1e-3)
        np.testing.assert_allclose(np.concatenate([p.times for p in pieces]), times, rtol=0, atol=1e-15)
        ends = np.array([p.time(p.steps) for p in pieces])
        np.testing.assert_allclose([p.t0 for p in pieces[1:]], ends[:-1], rtol=0, atol=1e-16)
        assert all(p.h <= 1e-3 * (1 + 1e-9) for p in pieces)
        for m in marks:
            assert np.abs(np.append(ends, times) - m).min() < 1e-15


@pytest.mark.parametrize(("formula", "until"), [("x = 1.3 + 4*t", 0.125), ("x^2 + y^2 = (1.5 + 4*t)^2", 0.075)])
@pytest.mark.parametrize("formulation", ["gpme", "multipliers"])
def test_a_program_beyond_reach_is_singular(formula: str, until: float, formulation: str) -> None:
    result = run([formula], formulation=formulation)
    assert result.status == "singular", result.reason
    assert f"'{formula}'" in result.reason
    assert "smaller step" not in result.reason
    assert abs(float(result.reason.split("t = ")[1].split(" s")[0]) - until) < 5e-3


@pytest.mark.parametrize("width", [2e-8, 2e-10, 2e-12])
@pytest.mark.parametrize(
    "formula",
    [
        "x = 1.3 + 0.01*{}",
        "vx = 0.005/{w}*{}",
        "ax = 0.05/{w}*{}",
        "x = 1.3 + (y - 0.9)*{}",
        "vx*cos(t) = 0.005/{w}*{}",
    ],
)
def test_a_bump_that_no_grid_meets_is_met_or_told(formula: str, width: float) -> None:
    """Found by the ranges of value and derivatives, down to 1e-11 of the run and less."""
    result = run([formula.format(f"exp(-((t - 0.10021)/{width})^2)", w=width)])
    if result.ok:
        smooth = run([formula.format("(0*t)", w=width)])
        assert np.abs(result.qd[-1] - smooth.qd[-1]).max() > 1e-3
    else:
        assert result.trusted_until < 0.101


def test_a_bump_in_a_function_that_no_grid_meets() -> None:
    result = run([lambda v: v["x"] - 1.3 - (v["y"] - 0.9) * ops.exp(-(((v["t"] - 0.10021) / 2e-10) ** 2))])
    assert not result.ok


@pytest.mark.parametrize("width", [2e-8, 2e-11])
def test_pushes_of_drives_that_no_grid_meets(width: float) -> None:
    pulse = f"4/{width}*exp(-((t - 0.10021)/{width})^2)"
    calm = run(["x = 1.3"], drives={0: "0*t"})
    for torque in (pulse, lambda t: 4 / width * ops.exp(-(((t - 0.10021) / width) ** 2))):
        result = run(["x = 1.3"], drives={0: torque})
        assert not result.ok or np.abs(result.qd[-1] - calm.qd[-1]).max() > 0.1
    motor = f"0.3 + 100*{pulse}"
    for angle in (motor, lambda t: 0.3 + 400 / width * ops.exp(-(((t - 0.10021) / width) ** 2))):
        soft = mp.drives.Flexible(stiffness=10.0, motor=angle)
        result = run(["x = 1.3"], drives={0: soft})
        slow = run(["x = 1.3"], drives={0: mp.drives.Flexible(stiffness=10.0, motor="0.3 + 0*t")})
        assert not result.ok or np.abs(result.qd[-1] - slow.qd[-1]).max() > 0.1


def test_what_cannot_be_searched_is_told() -> None:
    """A function of plain numbers alone: ranges cannot go through it."""

    def program(v: Any) -> Any:
        if type(v["t"]).__name__ == "Range":
            raise RuntimeError("plain numbers only")
        return v["x"] - 1.3 - 0.01 * v["t"]

    result = run([program])
    assert any("searched" in note for note in result.notes), result.notes
