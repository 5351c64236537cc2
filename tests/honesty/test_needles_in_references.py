"""Bumps in a reference, a time law or a path that are far shorter than what a table of it is made from: they act, or are told."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis
AT = 0.45678
SHAPES = {
    "gauss": "exp(-((t - 0.45678)/{w})^2)",
    "triangle": "max(0, 1 - abs(t - 0.45678)/{w})",
    "box": "(sign(t - 0.45678 + {w}) - sign(t - 0.45678 - {w}))/2",
}
WIDTHS = [1e-2, 1e-3, 1e-5, 1e-7]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.parametrize("swell", ["0", "0.3*sin(3*t)"])
def test_the_table_of_a_motion_by_formulas_passes_its_bumps(shape: str, swell: str, width: float) -> None:
    motion = mp.formula_motion([f"{swell} + 0.01*{SHAPES[shape].format(w=width)}"], 1.0, space="joint")
    table = motion.to_piecewise(1e-12)
    t = AT + width * np.array([-30.0, -0.5, 0.0, 0.5, 30.0])
    t = t[(t > 0.0) & (t < 1.0)]
    assert np.abs(table.position(t) - motion.position(t)).max() < (1e-6 if width < 1e-6 else 1e-8)


@pytest.mark.parametrize("width", [1e-3, 1e-5])
@pytest.mark.parametrize("kind", ["inverse_dynamics", "dynamic"])
def test_a_run_feels_a_bump_of_its_reference(kind: Any, width: float) -> None:
    r"""The largest speed of :math:`a\,e^{-(t/w)^2}` is :math:`\sqrt{2/e}\,a/w`."""
    motion = mp.formula_motion([f"0.01*{SHAPES['gauss'].format(w=width)}"], 1.0, space="joint")
    law: dict[str, Any] = {"controller": mp.control.ComputedTorque(100.0, 20.0)} if kind == "dynamic" else {}
    limits = {"velocity": 5.0}
    result = mp.simulate(mp.Scenario(ROD, reference=motion, q0=[0.0], sample=0.1, kind=kind, limits=limits, **law))
    assert result.feasible is not True
    speed = next(c for c in result.feasibility.checks if c.quantity == "velocity")
    assert abs(float(speed.worst)) == pytest.approx(0.01 / width * np.sqrt(2 / np.e), rel=1e-3)


def test_a_kinematic_run_passes_a_bump_of_its_path() -> None:
    arm = mp.planar([0.5, 0.5], [1.0, 1.0])
    motion = mp.formula_motion([f"0.5 + 0.01*{SHAPES['gauss'].format(w=1e-3)}", "0.5"], 1.0)
    run = mp.Scenario(arm, reference=motion, q0=[0.0, np.pi / 2], kind="kinematic", sample=AT, limits={"velocity": 5.0})
    result = mp.simulate(run)
    assert result.ok
    assert result.feasible is False
    assert result.tip[1, 0] == pytest.approx(0.51, abs=1e-6)


@pytest.mark.parametrize("width", WIDTHS[1:])
def test_a_time_law_by_a_formula_turns_back_where_it_says(width: float) -> None:
    law = mp.timing.formula(f"L*t/T + 0.1*{SHAPES['gauss'].format(w=width)}", 1.0)
    table = mp.trajectory(mp.paths.line([0, 0, 0], [1, 0, 0]), law).to_piecewise(1e-12)
    assert table.position(AT)[0] == pytest.approx(AT + 0.1, abs=1e-8)


def test_a_time_law_that_leaves_its_path_for_an_instant_is_refused() -> None:
    with pytest.raises(mp.DescriptionError, match="leaves the path"):
        mp.trajectory(
            mp.paths.line([0, 0, 0], [1, 0, 0]),
            mp.timing.formula(f"L*t/T + 0.9*L*{SHAPES['gauss'].format(w=1e-6)}", 1.0),
        )


@pytest.mark.parametrize("width", [1e-2, 1e-3, 1e-5, 1e-7])
def test_a_path_by_a_formula_is_as_long_as_its_way_up_and_down(width: float) -> None:
    path = mp.paths.formula(["u", f"0.3*exp(-((u - 0.45678)/{width})^2)", "0"], [0.0, 1.0])
    slope = lambda x: 0.6 * x * mpmath.exp(-x * x) / width
    ends = [-AT / width, *(float(x) for x in np.linspace(-12.0, 12.0, 49)), (1.0 - AT) / width]
    length = float(mpmath.quad(lambda x: width * mpmath.sqrt(1 + slope(x) ** 2), ends))  # pyright: ignore[reportArgumentType]
    assert path.length == pytest.approx(length, abs=1e-9)
    assert mp.paths.scale(path, 2.0).length == pytest.approx(2.0 * length, abs=2e-9)
    assert mp.paths.reverse(path).length == pytest.approx(length, abs=1e-9)


def test_a_path_by_a_function_of_somebody_is_looked_at_as_well() -> None:
    path = mp.paths.formula(lambda u: [u, 0.3 * ops.exp(-(((u - AT) / 1e-5) ** 2)), 0.0], [0.0, 1.0])
    assert path.length == pytest.approx(1.6, abs=1e-3)
    motion = mp.formula_motion(lambda t: [0.01 * ops.exp(-(((t - AT) / 1e-5) ** 2))], 1.0, space="joint")
    assert motion.to_piecewise(1e-12).position(AT)[0] == pytest.approx(0.01, abs=1e-9)


@pytest.mark.parametrize("width", [1e-3, 1e-6])
def test_limits_of_a_motion_are_compared_where_it_moves(width: float) -> None:
    motion = mp.formula_motion([f"0.01*{SHAPES['gauss'].format(w=width)}"], 1.0, space="joint")
    peak = 0.01 / width * np.sqrt(2 / np.e)
    report = mp.check_limits(motion, velocity=[0.9 * peak])
    assert not report.kept
    assert max(abs(p.value) for p in report.peaks) == pytest.approx(peak, rel=1e-3)
    assert mp.feasibility(motion, {"velocity": 0.9 * peak}, robot=ROD).feasible is False


def test_the_base_of_an_arm_that_is_jolted_for_an_instant() -> None:
    """A wheel whose base turns and returns within 2 ms: a controller that knows nothing of it sees nothing; the limits do."""
    jolt = mp.formula_motion(["0", "0", "0"], 1.0, orientation=["0", "0", f"0.2*{SHAPES['gauss'].format(w=1e-3)}"])
    from manipula.simulation.plant.base_table import table_of

    q = table_of(jolt).position(AT)[3:]
    assert 2.0 * np.arctan2(np.abs(q[3]), q[0]) == pytest.approx(0.2, abs=1e-8)


def test_what_cannot_be_searched_is_said() -> None:
    def jumpy(t: Any) -> list[Any]:
        times = np.asarray(getattr(t, "coefficients", [t])[0], float)  # takes numbers and Taylor numbers, no ranges
        del times
        return [0.1 * t * t]

    motion = mp.formula_motion(jumpy, 1.0, space="joint")
    result = mp.simulate(
        mp.Scenario(ROD, reference=motion, q0=[0.0], controller=mp.control.ComputedTorque(100.0, 20.0))
    )
    assert any("reference was searched for changes that last" in note for note in result.notes)


def test_what_is_smooth_has_the_pieces_that_it_had() -> None:
    smooth = mp.formula_motion(["0.1*t^2*(3 - 2*t)", "0.5 - t"], 1.0, space="joint")
    assert len(smooth.to_piecewise(1e-12).breaks) == 2
    assert not smooth.looks().hidden


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
def test_a_tracked_motion_passes_the_bump_of_its_path(width: float) -> None:
    arm = mp.planar([0.5, 0.5], [1.0, 1.0])
    motion = mp.formula_motion([f"0.5 + 0.01*{SHAPES['gauss'].format(w=width)}", "0.5"], 1.0)
    for found in (mp.track(arm, motion, q0=[0.0, np.pi / 2]), mp.track_cyclic(arm, motion, posture=[0.0, np.pi / 2])):
        if found.ok:
            assert found.trajectory is not None
            there = mp.compile(arm).position(found.trajectory.position(AT + width * np.array([-1.0, 0.0, 1.0])))
            assert there[:, 0] == pytest.approx(0.5 + 0.01 * np.exp([-1.0, 0.0, -1.0]), abs=1e-6)
        else:
            assert found.status == "inaccurate"
    assert mp.track(arm, motion, q0=[0.0, np.pi / 2]).ok


@pytest.mark.parametrize("text", ["1/(t - 0.5)", "exp(1000*t)", "asin(2*t)", "1e308*t*10"])
@pytest.mark.filterwarnings("error")
def test_a_formula_that_is_refused_is_refused_in_words_only(text: str) -> None:
    with pytest.raises(mp.DescriptionError, match="finite"):
        mp.formula_motion([text], 1.0, space="joint")
    with pytest.raises(mp.DescriptionError, match=r"finite|runs from"):
        mp.trajectory(mp.paths.line([0, 0, 0], [1, 0, 0]), mp.timing.formula(text, 1.0))
