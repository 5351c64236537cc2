"""A live report in a real browser: the page computes the recorded run, and with other numbers what Python computes with them."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.reports.report import write_report

SAME = 1e-9
ARM = mp.planar(lengths=[0.5, 0.4, 0.3], masses=[4, 3, 2], damping=[0.5, 0.5, 0.5])
LINE = mp.trajectory(mp.paths.line([0.9, 0.3, 0], [0.5, 0.7, 0]), mp.timing.quintic(0.3))


def tracking(robot=ARM, kp: float = 100.0, q0=(0.4, -0.6, 1.2), **more):
    """A tip on a line, with friction."""
    given = {
        "reference": LINE,
        "controller": mp.control.TaskSpaceComputedTorque(kp=kp, kv=20),
        "step": 2e-3,
        "verify": False,
    }
    return mp.Scenario(robot=robot, q0=q0, **{**given, **more})


def panda(kp: float = 100.0, mass: float = 0.0):
    """Seven joints move to a posture while the arm carries something that its controller knows."""
    start, end = [0.1, 0.2, 0.3, -1.2, 0.1, 1.1, 0.2], [0.5, 0.3, -0.2, -1.5, 0.1, 1.4, 0.6]
    move = mp.joint_move(start, end, velocity=2, acceleration=10, jerk=100)
    robot = mp.load("panda").replace(payload=mass) if mass else mp.load("panda")
    return mp.Scenario(robot=robot, controller=mp.control.ComputedTorque(kp=kp, kv=20), reference=move,
                       q0=[0.1, 0.25, *start[2:]], duration=0.5, step=1e-3, integrator="rk4", verify=False)  # fmt: skip


def stiffer(damping: float):
    return mp.planar(lengths=[0.5, 0.4, 0.3], masses=[4, 3, 2], damping=[damping] * 3)


@pytest.fixture
def live(opened, tmp_path):
    def made(scenario, **options):
        path = write_report(mp.simulate(scenario), tmp_path / "live.html", equations=False, live=True, **options)
        return opened(path)

    return made


def computed(page, path: str, value: float):
    """The run of the page after a number was changed."""
    found = page.evaluate(
        "async ([path, value]) => { await window.manipula.set(path, value); return window.manipula.result(); }",
        [path, value],
    )
    return np.array(found["t"]), np.array(found["q"]), found["status"]


def check(page, path: str, value: float, scenario) -> None:
    wanted = mp.simulate(scenario)
    t, q, status = computed(page, path, value)
    assert np.array_equal(t, wanted.t)
    assert np.abs(q - wanted.arrays["q"]).max() <= SAME
    assert status == "finished"


def test_the_page_computes_the_recorded_run_and_others(live) -> None:
    page = live(tracking(), charts=("position", "torque"))
    assert "agrees to" in page.text_content("#live-status")
    assert page.evaluate("() => window.manipula.agreement") <= SAME
    check(page, "controller.kp", 64.0, tracking(kp=64.0))
    assert "Computed in this page with the numbers below" in page.text_content("#live-status")
    computed(page, "controller.kp", 100.0)
    check(page, "friction.damping", 1.25, tracking(robot=stiffer(1.25)))
    computed(page, "friction.damping", 0.5)
    check(page, "payload.mass", 1.5, tracking(robot=ARM.replace(payload=1.5)))
    computed(page, "payload.mass", 0.0)
    check(page, "q0[1]", -0.5, tracking(q0=(0.4, -0.5, 1.2)))
    page.locator("#live button").click()
    page.locator("#live-status", has_text="agrees to").wait_for()


def test_seven_joints_with_a_payload(live) -> None:
    page = live(panda(), charts=("position",))
    check(page, "payload.mass", 2.0, panda(mass=2.0))


@pytest.mark.parametrize("integrator", ["dop853", "dopri5", "semi_implicit"])
def test_other_integrators(live, integrator: str) -> None:
    page = live(tracking(integrator=integrator), charts=())
    assert page.evaluate("() => window.manipula.agreement") <= SAME
    check(page, "controller.kp", 81.0, tracking(kp=81.0, integrator=integrator))


def test_a_slider_moves_curves_and_arm(live) -> None:
    page = live(tracking(), charts=("position",))
    slider = page.locator('input[type=range][data-path="q0[0]"]')
    drawn = "() => Array.from(window.manipulaView.charts[0].table.columns[0])"
    page.locator("#chart-position").scroll_into_view_if_needed()
    page.locator("#chart-position canvas").wait_for()
    before = page.evaluate(drawn)
    slider.evaluate("(e) => { e.value = '0.7'; e.dispatchEvent(new Event('input', { bubbles: true })); }")
    page.locator("#live-status", has_text="with the numbers below").wait_for()
    page.locator("#chart-position").scroll_into_view_if_needed()
    after = page.evaluate(drawn)
    assert before[0] == 0.4
    assert after[0] == pytest.approx(0.7)
    wanted = mp.simulate(tracking(q0=(0.7, -0.6, 1.2))).arrays["q"][:, 0]
    assert np.abs(np.array(after) - wanted).max() <= SAME
    assert page.text_content("#value-0") == "0.700"


def test_wrong_requests_are_refused_by_the_page(live) -> None:
    page = live(tracking(), charts=())
    refused = "async ([path, value]) => { try { await window.manipula.set(path, value); return ''; } catch (e) { return e.message; } }"
    assert "controller.kp" in page.evaluate(refused, ["controller.kq", 1])
    assert "finite number" in page.evaluate(refused, ["controller.kp", None])
    assert "finite number" in page.evaluate(refused, ["controller.kp", "80"])
    assert "at least 0" in page.evaluate(refused, ["controller.kp", -1])
    assert "at least 0" in page.evaluate(refused, ["payload.mass", -0.5])
    told = {p["path"]: p for p in page.evaluate("window.manipula.parameters")}
    assert told["payload.mass"]["least"] == 0
    assert told["payload.mass"]["most"] is None
    assert told["controller.kp"]["value"] == 100


def test_a_run_that_runs_away_is_told(live) -> None:
    page = live(tracking(), charts=("position",))
    t, q, status = computed(page, "controller.kp", 1e9)
    assert status in ("diverged", "not_finite")
    assert len(t) == len(q) < len(mp.simulate(tracking()).t)
    assert "the run ends at" in page.text_content("#live-status")
