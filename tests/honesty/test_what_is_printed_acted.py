"""What a report, a plot, the command line or a repr prints is what acted in the run."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.reports.charts import CHARTS
from manipula.reports.figures import plot
from manipula.reports.key_numbers import key_numbers
from manipula.reports.plots import PLOTS
from manipula.reports.report import report_html

ARM = mp.load("planar-2r")
MOVE = mp.trajectory(mp.paths.joint([[0.0, 0.0], [1.0, -0.8]]), mp.timing.quintic(1.0))
LINE = mp.trajectory(mp.paths.line([1.2, 0.3, 0.0], [0.5, 1.0, 0.0]), mp.timing.quintic(1.0))


class _Words(HTMLParser):
    """Everything a reader of the page sees as text, a line an element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.hidden = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.hidden = False

    def handle_data(self, data: str) -> None:
        if not self.hidden and data.strip():
            self.lines.append(data.strip())


def words(result: mp.Result) -> list[str]:
    return _Words(report_html(result, equations=False, charts=("position",))).lines


def numbers(result: mp.Result) -> dict[str, tuple[str, str, str]]:
    return {title: rest for title, *rest in key_numbers(result)}  # pyright: ignore


def test_the_friction_table_shows_what_acted() -> None:
    rough = ARM.replace(joints=tuple(replace(j, friction=mp.friction.Viscous(7.25)) for j in ARM.joints))
    own, other, none = (
        mp.simulate(mp.Scenario(rough, MOVE, kind="inverse_dynamics", step=1e-2, friction=laws))
        for laws in (None, (mp.friction.Coulomb(3.125), None), ())
    )
    assert any("7.25" in line for line in words(own))
    for result, shown in ((other, True), (none, False)):
        text = words(result)
        assert not any("7.25" in line for line in text)
        assert any("coulomb (level 3.125" in line for line in text) is shown


def test_the_friction_table_survives_a_file(tmp_path: Path) -> None:
    result = mp.simulate(
        mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=1e-2, friction=(mp.friction.Coulomb(3.125), None))
    )
    result.save(tmp_path / "run.nc")
    assert any("coulomb (level 3.125" in line for line in words(mp.load_result(tmp_path / "run.nc")))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("x = height", "x = height"),
        ("x - height", "x - height = 0"),
        ("(x) - (height)", "x = height"),
        (mp.Constraint("x = height", name="keep away"), "keep away: x = height"),
    ],
)
def test_a_constraint_is_printed_as_it_was_written(given: object, shown: str) -> None:
    run = mp.ProgramScenario(
        ARM, [given], q0=[0.9, -0.5], parameters={"height": 1.2}, duration=0.02, step=1e-3, start="project"
    )
    text = words(run.run())
    assert shown in text
    assert not any("= height = 0" in line for line in text)


def test_forces_and_torques_are_not_mixed() -> None:
    """A SCARA: its slide carries a weight in newtons, its hinges newton metres."""
    arm = mp.load("scara-khang")
    move = mp.joint_move([0, 0.5, 0, 0.1], [1.2, -0.8, 1.0, 0.25], velocity=1.5, acceleration=4, jerk=30)
    result = mp.simulate(mp.Scenario(arm, move, kind="inverse_dynamics", step=1e-2))
    slides = np.array([j.kind == "prismatic" for j in arm.joints])
    shown = numbers(result)
    for title, unit, chosen in (("Largest torque", "N·m", ~slides), ("Largest force", "N", slides)):
        value, found, _ = shown[title]
        assert found == unit
        assert float(value.replace("−", "-")) == pytest.approx(np.abs(result.tau[:, chosen]).max(), rel=1e-3)
    assert {shown[f"Largest velocity, {kind}"][1] for kind in ("turning", "sliding")} == {"rad/s", "m/s"}


def test_tracking_errors_of_different_units_are_not_added() -> None:
    arm = mp.load("scara-khang")
    move = mp.joint_move([0, 0.5, 0, 0.1], [1.2, -0.8, 1.0, 0.25], velocity=1.5, acceleration=4, jerk=30)
    result = mp.simulate(
        mp.Scenario(arm, move, mp.control.ComputedTorque(100.0, 20.0), q0=[0.05, 0.5, 0, 0.12], step=1e-3, sample=1e-2)
    )
    units = [unit for title, _, unit, _ in key_numbers(result) if title == "Tracking error, rms"]
    assert sorted(units) == ["m", "rad"]


def test_a_run_that_died_shows_how_far_it_came() -> None:
    law = mp.control.UserFunction(lambda t, q, qd, target: 4000.0 * (q - target.position) + 20.0 * qd)
    away = mp.Scenario(ARM, MOVE, law, q0=[0.1, 0.2], duration=1.0, step=1e-3, integrator="rk4")
    result = mp.simulate(away)
    assert result.status in ("diverged", "not_finite")
    last = result.t[np.isfinite(result.q).all(axis=1)][-1]
    assert result.reached == last < 0.9
    shown = numbers(result)
    assert "Duration" not in shown
    assert float(shown["Ended early at"][0]) == pytest.approx(last, rel=1e-3)
    assert "of 1 s" in shown["Ended early at"][2]
    assert f"{last:g} s" in repr(result)


def test_every_run_of_a_batch_has_its_own_error() -> None:
    starts = [[0.1, 0.2], [1.4, -0.4], [-0.7, 2.0]]
    batch = mp.simulate(
        mp.Scenario(ARM, q0=starts, duration=0.3, step=5e-3, sample=0.05, integrator="rk4", tolerance=1e-3)
    )
    errors = [batch.run(k).error_estimate for k in range(3)]
    assert len(set(errors)) == 3
    assert batch.error_estimate == max(errors)
    assert f"{max(errors):.1e}" in batch.reason
    text = words(batch)
    from manipula.reports.source import summary

    assert all(summary(e) in text for e in errors)


@pytest.mark.parametrize(
    ("described", "shown"),
    [
        (mp.Scenario(ARM, LINE, kind="inverse_dynamics", step=1e-2), "line from (1.2, 0.3, 0) to (0.5, 1, 0); quintic (duration 1)"),
        (mp.Scenario(ARM, mp.formula_motion(["1.2 - r*(1 - cos(t))", "0.4 + r*sin(t)"], duration=1.0, constants={"r": 0.2}),
                     kind="inverse_dynamics", step=1e-2), "x = 1.2 - r*(1 - cos(t)), y = 0.4 + r*sin(t) (r = 0.2)"),
        (mp.Scenario(ARM, mp.joint_move([0, 0], [1, 0.5], velocity=1.0, acceleration=2.0, jerk=8.0), kind="inverse_dynamics",
                     step=1e-2), "joint move (start (0, 0), goal (1, 0.5)"),
        (mp.Scenario(ARM, q0=[0.1, 0.2], duration=0.1, disturbances=(mp.Wrench(("10*sin(t)", 0, 0, 0, 0, 0), "tip"),)),
         "10*sin(t), 0, 0, 0, 0, 0"),
        (mp.Scenario(ARM, q0=[0.1, 0.2], duration=0.1, step=1e-3,
                     controller=mp.control.UserFunction(lambda t, q, qd, target: [0 * math.pi * q[0], 0 * q[1]])), "Python function"),
    ],
)  # fmt: skip
def test_settings_are_formulas_and_numbers(described: mp.Scenario, shown: str) -> None:
    text = words(mp.simulate(described))
    assert any(shown in line for line in text)
    assert not any(re.search(r"object at 0x|PathTrajectory|FormulaMotion|PiecewiseTrajectory", line) for line in text)
    assert " at 0x" not in repr(described.reference)


@pytest.mark.parametrize(
    "kind", ["position", "velocity", "acceleration", "power", "error", "tip-time", "energy", "phase", "each"]
)
def test_rounding_is_not_drawn_as_a_signal(kind: str) -> None:
    """An arm that rests, with rounding noise in every signal: no axis is so fine that the noise becomes a curve."""
    still = mp.trajectory(mp.paths.joint([[0.3, 0.4], [0.30001, 0.4]]), mp.timing.quintic(1.0))
    quiet = mp.simulate(mp.Scenario(ARM, still, kind="inverse_dynamics", step=1e-2))
    noise = 1e-17 * np.random.default_rng(3).standard_normal((len(quiet.t), 3))
    rest = {name: np.broadcast_to(v[0], v.shape) + 0.0 for name, v in quiet.arrays.items()}
    rest |= {"qd": noise[:, :2], "qdd": noise[:, :2], "power": noise[:, :2], "error": noise, "audit": noise[:, 0], "kinetic": abs(noise[:, 0]),
             "target": rest["tip"] + noise, "q": rest["q"] + noise[:, :2], "tip": rest["tip"] + noise}  # fmt: skip
    result = replace(quiet, arrays=rest)
    if PLOTS[kind].missing(result) is not None:
        pytest.fail(PLOTS[kind].missing(result) or "")
    for ax in np.ravel(plot(result, kind)):
        if ax.get_yscale() != "linear":
            continue
        low, high = ax.get_ylim()
        assert high - low > 1e-9
        for line in ax.get_lines():
            y = np.asarray(line.get_ydata(), float)
            if len(y) > 2:
                assert np.ptp(y) < 1e-6 * (high - low)  # a straight line to the eye


def test_a_real_signal_is_still_drawn_as_one() -> None:
    still = mp.trajectory(mp.paths.joint([[0.3, 0.4], [0.300001, 0.4]]), mp.timing.quintic(1.0))
    result = mp.simulate(mp.Scenario(ARM, still, kind="inverse_dynamics", step=1e-2))
    ax = plot(result, "velocity")
    low, high = ax.get_ylim()
    assert high - low < 1e-5


def test_limits_are_drawn_where_they_are_broken() -> None:
    tight = ARM.replace(joints=tuple(replace(j, limits=replace(j.limits, velocity=1.5)) for j in ARM.joints))
    result = mp.simulate(mp.Scenario(tight, MOVE, kind="inverse_dynamics", step=1e-2))
    ax = plot(result, "velocity")
    assert any(list(line.get_ydata()) == [1.5, 1.5] for line in ax.get_lines())
    assert len(ax.collections) >= 1  # the part beyond
    text = words(result)
    assert "Not feasible: a limit is broken." in text
    assert any(line.startswith("Joint 'joint1' passes its velocity limit of 1.5 rad/s") for line in text)
    wide = mp.simulate(mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=1e-2))
    assert not any("Not feasible" in line for line in words(wide))


# a picture that cannot be drawn --------------------------------------------------------------------------------------


def post() -> mp.Robot:
    """An arm whose tip lies on the axis of its only joint."""
    row = {
        "a": 0,
        "alpha": 0,
        "d": 0.5,
        "theta": 0,
        "mass": 1.0,
        "com": [0.1, 0, 0],
        "inertia": [0.1, 0.1, 0.1, 0, 0, 0],
    }
    return mp.from_dh([row], "standard", name="post")


def test_a_tip_on_its_axis_is_reported(tmp_path: Path) -> None:
    mp.Scenario(post(), q0=[0.1], duration=0.1, step=1e-2, name="post").save(tmp_path / "post.toml")
    told = CliRunner().invoke(app, ["run", str(tmp_path / "post.toml"), "-o", str(tmp_path / "out")])
    assert told.exit_code == 0, told.output
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["report.html", "result.nc", "scenario.toml"]


def test_a_picture_that_fails_is_left_out_and_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = mp.simulate(mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=1e-2))

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no paint left")

    monkeypatch.setitem(PLOTS, "velocity", replace(PLOTS["velocity"], draw=broken))
    monkeypatch.setitem(CHARTS, "velocity", broken)
    page = report_html(result, equations=False)
    assert "chart-position" in page
    assert 'id="chart-velocity"' not in page
    text = _Words(page).lines
    assert any("no paint left" in line and "velocity" in line for line in text)
    assert "Largest torque" in text


def test_results_are_written_though_no_report_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=1e-2).save(tmp_path / "move.toml")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no paper left")

    monkeypatch.setattr("manipula.reports.report.write_report", broken)
    words = ["run", str(tmp_path / "move.toml"), "-o", str(tmp_path / "out"), "--json"]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 0, told.output
    assert "no paper left" in json.loads(told.output)["left_out"][0]
    assert mp.load_result(tmp_path / "out" / "result.nc").status == "finished"


def test_nothing_is_left_out_of_an_ordinary_report() -> None:
    from report_results import RESULTS

    for make in RESULTS.values():
        assert "Left out" not in _Words(report_html(make(), equations=False)).lines
