"""The page of a study in a real browser: points that are runs, and the arm as it moves in any of them."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.reports.studies.page import write_study_report
from manipula.reports.studies.tuning import write_tuning_report

ARM = mp.planar(lengths=[0.5, 0.4], masses=[3, 2], damping=[0.3, 0.2])
MOVE = mp.waypoints([0.0, 0.4], [[0.3, 0.5], [0.7, 0.1]])
BASE = mp.Scenario(ARM, MOVE, mp.control.PDGravity(kp=100, kv=20), q0=[0.3, 0.5], sample=0.01, step=2e-3)
SHOW = """async (run) => {
    window.manipulaStudy.show(run);
    const said = document.querySelector('.said');
    while (!said.textContent.startsWith(`Run ${run},`)) await new Promise((r) => setTimeout(r, 20));
    return [said.textContent, Array.from(window.manipulaView.state.engine.runs.peek()[0].q, (c) => Array.from(c))];
}"""


@pytest.fixture(scope="module")
def gains(tmp_path_factory):
    vary = {
        "controller.kp": mp.log_uniform(20, 2000),
        "controller.kv": mp.uniform(5, 60),
        "payload.mass": mp.uniform(0, 2),
    }
    return mp.sweep(
        mp.Study(BASE, vary=vary, samples=30, seed=5, name="gains"), tmp_path_factory.mktemp("gains") / "s", "serial"
    )


def test_a_point_is_a_run_that_the_page_computes(gains, opened, tmp_path):
    page = opened(write_study_report(gains, tmp_path / "study.html"))
    for run in (3, 17):
        said, q = page.evaluate(SHOW, run)
        assert f"Run {run}, computed in this page" in said
        wanted = gains.run(run)
        t = page.evaluate("Array.from(window.manipulaView.state.engine.runs.peek()[0].t)")
        np.testing.assert_allclose(np.array(t), wanted.t, atol=1e-12)
        np.testing.assert_allclose(np.array(q).T, wanted.q, atol=1e-9)


def test_points_are_clicked_and_read(gains, opened, tmp_path):
    page = opened(write_study_report(gains, tmp_path / "study.html"))
    canvas = page.locator("canvas.cloud")
    canvas.scroll_into_view_if_needed()
    place = page.evaluate("window.manipulaStudy.scatter.place(Array.from(window.manipulaStudy.runs).indexOf(11))")
    canvas.hover(position={"x": place[0], "y": place[1]})
    row = gains.row(11)
    shown = page.inner_text(".study .numbers")
    assert "Run 11" in shown
    assert f"{row['controller.kp']:.4g}" in shown.replace("−", "-")
    canvas.click(position={"x": place[0], "y": place[1]})
    page.wait_for_function("document.querySelector('.said').textContent.startsWith('Run 11')")
    before = page.evaluate("window.manipulaStudy.scatter.place(0)")
    page.select_option("select[aria-label=Across]", "payload.mass")
    page.wait_for_function("(x) => window.manipulaStudy.scatter.place(0)[0] !== x", arg=before[0])
    canvas.press("ArrowRight")
    canvas.press("Enter")


def test_runs_that_the_page_cannot_compute_are_in_the_file_or_named(opened, tmp_path):
    """A choice of controllers has no one loop: samples of some runs are in the file."""
    choices = [{"law": "pd_gravity", "kp": 100, "kv": 20}, {"law": "computed_torque", "kp": 100, "kv": 20}]
    study = mp.Study(BASE, vary={"controller": choices, "payload.mass": [0.0, 1.0]}, name="laws")
    made = mp.sweep(study, tmp_path / "s", "serial")
    page = opened(write_study_report(made, tmp_path / "laws.html"))
    first = page.evaluate("window.manipulaStudy.study.first")
    other = next(run for run in range(4) if run != first)
    said, q = page.evaluate(SHOW, other)
    assert said == f"Run {other}, as recorded."
    np.testing.assert_allclose(np.array(q).T, made.run(other).q, atol=1e-6)


def test_names_are_text(opened, tmp_path):
    made = mp.sweep(
        mp.Study(BASE, vary={"controller.kp": [50.0, 60.0]}, name="<img src=x onerror=alert(1)>"),
        tmp_path / "s",
        "serial",
    )
    page = opened(write_study_report(made, tmp_path / "x.html"), 390, 800, True)
    assert page.locator("h1").inner_text().startswith("<img")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_tuning_is_a_page_too(opened, tmp_path):
    study = mp.Study(
        BASE, vary={"controller.kp": mp.log_uniform(20, 2000), "controller.kv": mp.uniform(5, 60)}, samples=1
    )
    found = mp.tune(study, ["error_rms", "tau_max"], evaluations=30, population=10)
    page = opened(write_tuning_report(found, tmp_path / "tuning.html"))
    said, q = page.evaluate(SHOW, int(found.front[0]))
    assert "computed in this page" in said
    np.testing.assert_allclose(np.array(q).T, mp.simulate(found.scenario(int(found.front[0]))).q, atol=1e-9)
