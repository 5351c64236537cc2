"""Feasible means: every stated limit was held against the motion. One that could not be is named, with the reason."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.reports.tables import limits_banner
from manipula.simulation.given_motion import watching as given
from manipula.simulation.loops import watching
from manipula.simulation.programmed import run as programmed

ARM = mp.load("planar-2r")
MOVE = mp.trajectory(mp.paths.joint([[0.0, 0.0], [1.0, -0.8]]), mp.timing.quintic(1.0))
WIDE = {"velocity": 100.0, "torque": 1e4}


def moved(limits: Any = WIDE, **options: Any) -> mp.Result:
    common: dict[str, Any] = {"kind": "inverse_dynamics", "step": 1e-2, "limits": limits}
    return mp.simulate(mp.Scenario(ARM, MOVE, **common | options))


def without(result: mp.Result, *names: str) -> mp.Result:
    return replace(result, arrays={k: v for k, v in result.arrays.items() if k not in names})


def cli(*words: object) -> tuple[int, str]:
    told = CliRunner().invoke(app, [str(w) for w in words])
    return told.exit_code, " ".join(told.output.split())


def test_one_of_several_limits_is_unknown() -> None:
    assert moved().feasible is True
    bare = without(moved(), "tau")
    verdict = bare.feasibility
    assert verdict.feasible is None
    assert "torque" in verdict.reason
    assert "could not be checked: nothing of it was recorded" in verdict.reason
    assert verdict.unchecked == (verdict.reason,)


def test_a_broken_limit_outweighs_an_unknown_one() -> None:
    verdict = without(moved({"velocity": 0.1, "torque": 1e4}), "tau").feasibility
    assert verdict.feasible is False
    assert "velocity" in verdict.reason
    assert any("torque could not be checked" in remark for remark in verdict.remarks)


def test_numbers_that_are_missing_in_between_are_unknown() -> None:
    result = moved()
    tau = result.tau.copy()
    tau[40, 1] = np.nan
    verdict = replace(result, arrays={**result.arrays, "tau": tau}).feasibility
    assert verdict.feasible is None
    assert "torque" in verdict.reason
    assert "0.4 s" in verdict.reason


def test_a_member_of_a_batch_is_unknown() -> None:
    starts = [[0.1, 0.0], [0.2, 0.0], [0.3, 0.0]]
    batch = mp.simulate(mp.Scenario(ARM, q0=starts, duration=0.05, step=1e-3, limits=WIDE))
    assert batch.feasibility.runs == (True, True, True)
    tau = batch.tau.copy()
    tau[1] = np.nan
    verdict = replace(batch, arrays={**batch.arrays, "tau": tau}).feasibility
    assert verdict.runs == (True, None, True)
    assert verdict.feasible is None
    assert "torque" in verdict.reason


@pytest.mark.parametrize("quantity", ["velocity", "acceleration", "jerk"])
def test_a_tip_that_nobody_knows(quantity: str) -> None:
    result = moved({"velocity": 100.0, "tip": {quantity: 1e6}})
    assert result.feasible is True
    lost = replace(result, scenario=None, meta={**result.meta, "robot_toml": "", "scenario_toml": ""})
    verdict = lost.feasibility
    assert verdict.feasible is None
    assert "tip could not be checked" in verdict.reason
    assert mp.feasibility(lost).feasible is None
    assert "tip could not be checked" in mp.feasibility(lost).reason


def test_jerk_that_cannot_be_found() -> None:
    result = without(moved({"velocity": 100.0, "jerk": 1e6}), "qdd")
    verdict = result.feasibility
    assert verdict.feasible is None
    assert "jerk could not be checked" in verdict.reason


def test_terminal_report_and_check_say_it(tmp_path: Path) -> None:
    result = moved({"velocity": 100.0, "tip": {"velocity": 1e6}})
    lost = replace(result, scenario=None, meta={**result.meta, "robot_toml": "", "scenario_toml": ""})
    banner = limits_banner(lost)
    assert "Not known" in banner
    assert "tip could not be checked" in banner
    lost.save(tmp_path / "run.nc")
    code, told = cli("check", tmp_path / "run.nc")
    assert code == 1
    assert "not known: Limits of the tip could not be checked" in told
    code, told = cli("check", tmp_path / "run.nc", "--json")
    assert code == 1
    assert json.loads(told)["feasible"] is None
    assert "tip could not be checked" in json.loads(told)["reason"]


@pytest.mark.parametrize("status", ["inaccurate", "failed"])
def test_numbers_that_are_not_right_prove_nothing(status: str) -> None:
    result = replace(moved(), status=status, reason="Repeated, it was another.")
    assert result.feasible is None
    assert "cannot be trusted" in result.feasibility.reason
    assert mp.feasibility(result).feasible is None
    assert replace(moved({"velocity": 0.1}), status=status).feasible is False


def test_limits_that_the_run_did_not_know_of() -> None:
    """A pulse between two samples: nobody looked at torques there, because nobody stated a limit of them."""
    rod = mp.planar([1.0], [3.0], gravity=(0, 0, 0))
    push = mp.Wrench((0, 0, 0, 0, 0, 2000.0), start=0.50013, stop=0.50063)
    coarse = mp.Scenario(rod, q0=[0.0], duration=1.0, disturbances=push, limits={"velocity": 50.0}, sample=0.25)
    result = mp.simulate(coarse)
    assert result.feasible is True
    later = mp.feasibility(result, {"acceleration": 100.0})
    assert later.feasible is None
    assert "acceleration" in later.reason
    assert "only at its samples" in later.reason
    every = mp.simulate(coarse.replace(limits={"acceleration": 100.0}))
    assert mp.feasibility(every, {"acceleration": 90.0}).feasible is False


def test_friction_that_a_trajectory_does_not_tell() -> None:
    lugre = mp.friction.LuGre(100.0, 1.0, 0.01, 0.1, 0.2, 0.1, load=10.0, diameter=0.1)
    arm = ARM.replace(joints=tuple(replace(j, friction=lugre) for j in ARM.joints))
    assert mp.feasibility(MOVE, {"velocity": 10.0}, robot=arm).feasible is True
    verdict = mp.feasibility(MOVE, {"torque": 1e4}, robot=arm)
    assert verdict.feasible is None
    assert "friction" in verdict.reason


def test_redundant_rates_that_were_not_verified_are_not_trusted(tmp_path: Path) -> None:
    arm = mp.planar([1.0, 0.8, 0.6], [1.0, 1.0, 1.0])
    line = mp.trajectory(mp.paths.line([1.2, 0.3, 0.0], [0.8, 1.0, 0.0]), mp.timing.quintic(1.0))
    for verify, code in ((True, 0), (False, 1)):
        s = mp.Scenario(arm, line, kind="inverse_dynamics", step=1e-2, limits=WIDE, verify=verify)
        mp.simulate(s).save(tmp_path / "run.nc")
        found, told = cli("check", tmp_path / "run.nc")
        assert found == code, told
        assert ("not trusted" in told) is not verify
    exact = mp.simulate(mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=1e-2, limits=WIDE, verify=False))
    exact.save(tmp_path / "exact.nc")  # nothing was integrated
    assert cli("check", tmp_path / "exact.nc")[0] == 0


SWING = mp.Scenario(
    mp.planar([1.0], [3.0], gravity=(0, 0, 0)), q0=[0.0], duration=1.0, sample=0.25,
    disturbances=mp.Wrench((0, 0, 0, 0, 0, "30*sin(40*t)")), limits={"velocity": 1.4, "acceleration": 29.9, "power": 1.0, "tip": {"velocity": 9.0}},
)  # fmt: skip


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_long_run_is_looked_at_piece_after_piece(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    whole = mp.simulate(SWING.replace(integrator=method)).feasibility
    monkeypatch.setattr(watching, "MOST", 1000)
    pieces = mp.simulate(SWING.replace(integrator=method)).feasibility
    assert whole.feasible is pieces.feasible is False
    assert len(pieces.checks) == len(whole.checks) == 4
    for a, b in zip(whole.checks, pieces.checks):
        assert b.worst == pytest.approx(a.worst, rel=1e-9)
        assert b.time == pytest.approx(a.time, abs=2e-3)
        assert b.first == pytest.approx(a.first, abs=2e-3, nan_ok=True)


def test_what_is_longer_still_says_that_only_samples_were_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((watching, "MOST"), (given, "MOST"), (programmed, "MOST_WATCHED")):
        monkeypatch.setattr(module, name, 10)
    wide = {"velocity": 1e3, "acceleration": 1e4}
    program = mp.ProgramScenario(
        ARM, ["q1 = 0.5*sin(3*t)"], q0=[0.0, 0.2], qd0=[1.5, 0.0], duration=1.0, step=1e-3, sample=0.1, limits=wide
    )
    for run in (mp.simulate(SWING.replace(limits=wide)), moved(wide, sample=0.1), program.run()):
        assert run.ok, run.reason
        assert run.feasible is None
        assert "only at its samples" in run.feasibility.reason
    assert mp.simulate(SWING.replace(limits=wide, sample=None)).feasible is True  # every step was recorded
