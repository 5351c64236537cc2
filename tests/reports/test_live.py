"""Live reports: which runs can be computed in a page, which numbers can be moved there, and what is refused with which words."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.control.base import Controller
from manipula.errors import ManipulaError, UnknownNameError
from manipula.reports import viewer
from manipula.reports.report import report_html
from report_results import batch, planar, programmed, scara, seven

pytestmark = pytest.mark.skipif(viewer.script() is None, reason=viewer.missing())
ARM = mp.planar(lengths=[0.5, 0.4], masses=[4, 3], damping=[1.0, 0.5])


def told(html: str) -> dict:
    return json.loads(re.search(r'id="document">(.*?)</script>', html, re.DOTALL)[1])["live"]


def pd(**more):
    given = {
        "controller": mp.control.PDGravity(kp=60, kv=12, goal=[0.4, 0.6]),
        "q0": [0.1, -0.2],
        "duration": 0.05,
        "step": 1e-3,
    }
    return mp.Scenario(robot=ARM, verify=False, **{**given, **more})


def test_gains_friction_payload_and_start_can_be_moved() -> None:
    live = told(report_html(mp.simulate(pd()), equations=False, charts=("position",), live=True))
    paths = {x["path"]: x for x in live["parameters"]}
    gains, friction = ["kp", "kv", "goal[0]", "goal[1]"], ["friction[0].damping", "friction[1].damping"]
    assert list(paths) == [*(f"controller.{name}" for name in gains), *friction, "payload.mass", "q0[0]", "q0[1]"]
    assert paths["controller.kp"]["value"] == 60.0
    assert paths["friction[1].damping"]["value"] == 0.5
    assert paths["payload.mass"]["value"] == 0.0
    for x in live["parameters"]:
        assert x["low"] <= x["value"] <= x["high"]
        assert x["low"] < x["high"]


def test_the_numbers_that_are_asked_for_get_a_slider() -> None:
    wanted = ["controller.goal[1]", "friction.damping", "controller.kv"]
    live = told(report_html(mp.simulate(pd()), equations=False, charts=(), live=wanted))
    assert [x["path"] for x in live["parameters"]] == wanted
    assert len(live["parameters"][1]["slots"]) == 2
    with pytest.raises(UnknownNameError, match=r"controller\.kp"):
        report_html(mp.simulate(pd()), live=["controller.kq"])


def test_policy_allows_the_equations_by_their_hash() -> None:
    html = report_html(planar(), equations=False, charts=(), live=True)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert len(re.findall(r"'sha256-", policy)) == 2
    assert "unsafe-eval" not in policy
    modules = re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    assert len(modules) == 2
    assert not re.findall(r"\beval\(|new Function", modules[0])


class Stubborn(Controller):
    """Cannot be written down: it asks whether a number is large."""

    name = "stubborn"
    space = "none"

    def torque(self, arm, t, q, qd, target, state):
        return np.array([1.0 if float(x) > 0 else -1.0 for x in q])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (batch, "this is a batch"), (scara, "not 'inverse_dynamics'"), (programmed, "not 'programmed'"),
        (lambda: mp.simulate(pd(integrator="rodas")), "'rodas' has no form in JavaScript"),
        (lambda: mp.simulate(pd(integrator="rk4", noise=mp.Noise(position=1e-3))), "noise"),
        (lambda: mp.simulate(pd(integrator="rk4", actuator=mp.Actuator(delay=2e-3))), "delays"),
        (lambda: mp.simulate(pd(controller=Stubborn(), integrator="rk4")), "asked by Python"),
        (lambda: [planar(), planar()], "one run"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_in_a_page_is_refused(make, said: str) -> None:
    with pytest.raises(ManipulaError, match=said):
        report_html(make(), equations=False, charts=(), live=True)


@pytest.mark.parametrize("wrong", ["controller.kp", [3], 7])
def test_live_is_a_flag_or_a_list_of_paths(wrong) -> None:
    with pytest.raises(ManipulaError, match="live"):
        report_html(planar(), live=wrong)


@pytest.mark.parametrize("part", ["controller", "friction[0]"])
def test_a_whole_part_is_no_number(part: str) -> None:
    with pytest.raises(UnknownNameError, match="number of the run"):
        report_html(mp.simulate(pd(friction=mp.friction.Viscous(0.2))), equations=False, charts=(), live=[part])


def test_without_viewer_nothing_is_live(monkeypatch) -> None:
    monkeypatch.setattr(viewer, "script", lambda: None)
    with pytest.raises(ManipulaError, match="viewer is not part"):
        report_html(planar(), live=True)


def test_a_stored_run_can_be_live_from_the_command_line(tmp_path) -> None:
    mp.simulate(pd(name="stored")).save(tmp_path / "run.nc")
    words = ["report", str(tmp_path / "run.nc"), "--live", "--number", "controller.kp", "--no-equations"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    live = told((tmp_path / "run.html").read_text(encoding="utf-8"))
    assert [x["path"] for x in live["parameters"]] == ["controller.kp"]
    refused = CliRunner().invoke(app, ["report", str(tmp_path / "run.nc"), "--number", "controller.kp"])
    assert refused.exit_code == 2


def test_a_live_report_can_be_mailed() -> None:
    assert len(report_html(seven(), equations=False, live=True).encode()) < 1_500_000
