"""More of what a person does in the studio: pause, zoom, pin, select, compare, choose parts, read on a phone, open studies."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from studio_pages import CONTRAST, PATIENCE_MS, READY, choose, run, samples

pytest.importorskip("uvicorn", reason="the studio is an extra")

LONG = {
    "format": 1, "name": "long", "robot": "panda", "duration": 900.0, "step": 1e-4, "sample": 0.1, "verify": False, "integrator": "rk4",
}  # fmt: skip


def begin(page, document: dict) -> None:
    page.evaluate("(d) => { window.studio.replace(d); return window.studio.start(); }", document)
    page.wait_for_function("() => window.studio.busy.value.includes('%')")


def test_a_run_is_paused_goes_on_and_is_stopped(page):
    begin(page, {**LONG, "duration": 5400.0, "sample": 0.6})  # must not end while a slow page looks elsewhere
    assert page.locator("#pause").is_enabled()
    page.click("#pause")
    page.wait_for_function("() => window.studio.paused.value")
    assert "paused" in page.inner_text("#chip")
    assert page.locator(".verdict progress").count() == 1
    number = page.evaluate("window.studio.run.value.id")
    page.reload()  # also after a reload it stands still
    page.wait_for_selector(READY, state="attached")
    page.wait_for_function("(id) => window.studio.run.value?.id === id && window.studio.paused.value", arg=number)
    before = page.evaluate("window.studio.progress.value ?? 0")
    page.click("#pause")
    page.wait_for_function(
        "(old) => !window.studio.paused.value && (window.studio.progress.value ?? 0) > old", arg=before
    )
    page.click("#stop")
    page.wait_for_function("() => window.studio.run.value.state === 'stopped'")
    assert page.locator("#pause").is_disabled()


def test_charts_and_trace_grow_while_a_run_is_computed(page):
    begin(page, LONG)
    page.wait_for_selector("#chart-position .u-over")
    count = "window.studio.view.state.engine.runs.value[0].t.length"
    before = page.evaluate(count)
    page.wait_for_function(f"(old) => {count} > old", arg=before)
    assert page.locator("#chart-velocity .legend button").count() == 7
    now = "window.studio.view.state.clock.now.value"
    page.wait_for_function(f"() => {now} > 0")
    page.click("#stop")
    page.wait_for_function("() => window.studio.run.value.state === 'stopped'")


def test_another_document_leaves_nothing_of_the_last_one(page):
    """Charts, key numbers and points of a path belong to one document."""
    choose(page, "planar-2r")
    run(page)
    path = {"kind": "polyline", "points": [[0.6, 0.5, 0], [0.5, 0.6, 0]]}
    page.evaluate(
        """(path) => window.studio.replace({ format: 1, name: "polyline", robot: "planar-3r", duration: 1, kind: "kinematic", q0_deg: [20, 40, 30],
        reference: { path, timing: { kind: "quintic", duration: 1 } } })""",
        path,
    )
    page.wait_for_function(
        "() => window.studio.robot.value?.robot.name === 'planar-3r' && window.studio.view.showsPosture"
    )
    assert page.locator("#charts figure").count() == 0
    assert np.allclose(page.evaluate("window.studio.posture.value"), np.deg2rad([20, 40, 30]))  # where the run begins
    page.wait_for_function("() => window.studio.overlay.handles.length === 2")
    page.click("#tab-run")
    assert page.locator(".cards > div").count() == 0
    choose(page, "planar-2r")  # has no such points
    page.wait_for_function("() => window.studio.view.showsPosture && window.studio.overlay.handles.length === 0")
    run(page)
    choose_again = "document.getElementById('catalogue').dispatchEvent(new Event('change'))"
    page.click("#tab-robot")
    page.evaluate(choose_again)  # the same robot once more
    page.wait_for_function("() => window.studio.view.showsPosture")
    assert page.locator("#charts figure").count() == 0
    assert page.evaluate("window.studio.message.value") == ""


def test_charts_zoom_pin_and_hide(page):
    choose(page, "planar-2r")
    run(page)
    over = page.locator("#charts figure:first-child .u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    at = lambda f: (box["x"] + f * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.move(*at(0.2))
    page.mouse.down()
    page.mouse.move(*at(0.6), steps=4)
    page.mouse.up()
    page.wait_for_function("() => window.studio.view.state.window.value !== null")
    low, high = page.evaluate("window.studio.view.state.window.value")
    assert 0.2 < low < 0.6 < high < 1.4  # of 2 s
    over.dblclick()
    page.wait_for_function("() => window.studio.view.state.window.value === null")
    for place in (0.3, 0.7):
        page.mouse.move(*at(place))
        over.focus()
        page.keyboard.press("p")
    page.wait_for_function("() => window.studio.view.state.pins.value.length === 2")
    assert "Δ" in page.inner_text("#charts figure:first-child .legend")
    first = page.locator("#charts figure:first-child .legend button").first
    first.click()
    assert first.get_attribute("aria-pressed") == "false"


def test_spectrum_and_phase_plane_are_instruments(page):
    choose(page, "planar-2r")
    run(page)
    page.click("#tab-run")
    page.evaluate("document.getElementById('chooser').open = true")
    for kind in ("spectrum", "phase"):
        page.click(f'input[data-chart="{kind}"]')
        page.wait_for_selector(f"#chart-{kind} .u-over")
    over = page.locator("#chart-spectrum .u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    page.wait_for_function("() => !document.querySelector('#chart-spectrum .cursor').hidden")
    assert page.evaluate("window.studio.view.state.clock.hover.value") is None  # no moment
    assert "rad/s²" in page.inner_text("#chart-spectrum .legend")


def test_a_link_is_selected_in_view_table_and_charts(page):
    choose(page, "planar-2r")
    run(page)
    page.hover("#charts figure:first-child .legend button >> nth=1")
    page.wait_for_function("() => window.studio.view.state.selected.value === 1")
    assert page.locator(".readout tr.selected").count() == 1
    where = """() => { const s = window.studio.view.stage, X = s.first.kinematics.at(Float64Array.from(s.arms[0].q))[0];
        const v = s.camera.position.clone().set(X[3] / 2, X[7] / 2, X[11] / 2); // half way from the base to the end of the first link
        const p = v.project(s.camera), r = s.canvas.getBoundingClientRect();
        return [r.left + (p.x + 1) / 2 * r.width, r.top + (1 - p.y) / 2 * r.height]; }"""
    page.locator("#stage").scroll_into_view_if_needed()
    x, y = page.evaluate(where)
    page.mouse.click(x, y)
    page.wait_for_function("() => window.studio.view.state.selected.value === 0")
    assert page.locator("#charts figure:first-child .legend button.selected").count() >= 1


@pytest.mark.parametrize(
    "name", [*(pytest.param(n, marks=pytest.mark.slow) for n in ("lqr", "task_space_computed_torque")), "pid"]
)
def test_a_part_that_is_chosen_in_a_form_runs(page, name):
    choose(page, "planar-3r")
    page.click("#tab-control")
    page.locator("#body select:has(option[value=lqr])").first.select_option(name)
    page.wait_for_function("(n) => window.studio.store.document.value.controller.law === n", arg=name)
    page.wait_for_function("() => window.studio.store.problem.value === null")
    summary = run(page)
    assert summary["status"]
    if name != "pid":
        assert "reference" in page.evaluate("JSON.stringify(window.studio.store.past.value.at(-1))")


def test_the_equations_have_a_font_of_their_own(page):
    choose(page, "planar-2r")
    page.click("#tab-equations")
    page.wait_for_selector(".equations math")
    page.evaluate("document.fonts.load('16px \"Manipula Math\"')")
    assert page.evaluate("document.fonts.check('16px \"Manipula Math\"')")
    assert "Manipula Math" in page.evaluate("getComputedStyle(document.querySelector('.equations math')).fontFamily")


def test_a_live_file_from_the_studio_agrees_with_python(page, opened, tmp_path):
    import manipula as mp

    choose(page, "planar-2r")
    run(page)
    page.click("#tab-run")
    with page.expect_download() as got:
        page.click('.files button[data-file="live.html"]')
    got.value.save_as(tmp_path / "live.html")
    document = page.evaluate("window.studio.store.document.value")
    alone = opened(tmp_path / "live.html")
    found = alone.evaluate(
        "async () => { await window.manipula.set('controller.kp', 61.5); return window.manipula.result(); }"
    )
    from manipula.studio.documents import scenario_from

    other = scenario_from({**document, "controller": {**document["controller"], "kp": 61.5}, "verify": False})
    assert np.abs(np.array(found["q"]) - mp.simulate(other).q).max() < 1e-9


@pytest.mark.parametrize("dark", [False, True])
def test_contrast_is_enough_everywhere(browser, studio, dark):
    context = browser.new_context(
        viewport={"width": 1300, "height": 850}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(studio)
    page.wait_for_selector(READY, state="attached")
    choose(page, "planar-2r")
    run(page)
    for panel in ("robot", "task", "control", "run", "equations", "studies"):
        page.click(f"#tab-{panel}")
        assert page.evaluate(CONTRAST) == []
    context.close()


def test_nothing_jumps_and_the_focus_is_seen(page):
    choose(page, "planar-2r")
    places = """() => [...document.querySelectorAll('#tabs button, #bar button:not(#chip)')].map((b) => Math.round(b.getBoundingClientRect().left))"""
    before = page.evaluate(places)
    for panel in ("task", "control", "robot"):
        page.click(f"#tab-{panel}")
        assert page.evaluate(places) == before
    for _ in range(6):
        page.keyboard.press("Tab")
        outline = page.evaluate(
            "() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]; }"
        )
        assert outline[0] != "none"
        assert outline[1] >= 1


def test_reduced_motion_is_respected(page):
    assert page.evaluate("getComputedStyle(document.getElementById('side')).transitionDuration") in ("0s", "")


def test_on_a_phone_panels_are_a_sheet(page):
    page.set_viewport_size({"width": 390, "height": 844})
    assert not page.evaluate("document.getElementById('side').classList.contains('open')")
    page.click("#tab-control")
    page.wait_for_selector("#side.open")
    assert page.locator("#body").is_visible()
    page.click("#tab-control")
    page.wait_for_selector("#side:not(.open)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_studies_are_empty_until_there_are_some(page):
    page.keyboard.press("6")
    page.wait_for_selector(".studies .words, .studies .item")
    assert page.get_attribute("#tab-studies", "aria-selected") == "true"


def test_a_point_of_a_study_is_a_run(browser, tmp_path_factory):
    pytest.importorskip("pyarrow", reason="studies are an extra")
    import manipula as mp

    folder = tmp_path_factory.mktemp("studies")
    move = mp.joint_move([0.3, 0.4], [0.9, 0.8], velocity=1.0, acceleration=4.0, jerk=40.0)
    base = mp.Scenario(
        mp.load("planar-2r"),
        move,
        mp.control.ComputedTorque(kp=100.0, kv=20.0),
        q0=[0.3, 0.4],
        duration=0.4,
        sample=0.01,
    )
    mp.sweep(
        mp.Study(base, vary={"controller.kp": mp.uniform(20, 200)}, samples=5, seed=1, name="gains"), folder / "gains"
    )
    words = [sys.executable, "-m", "manipula", "studio", "--no-browser", "--studies", str(folder)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    context = browser.new_context(viewport={"width": 1300, "height": 850}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    try:
        page = context.new_page()
        page.goto(process.stdout.readline().strip())
        page.wait_for_selector(READY, state="attached")
        page.click("#tab-studies")
        page.wait_for_function("() => window.studio.cloud?.place(3).every(Number.isFinite)")
        page.locator("canvas.cloud").scroll_into_view_if_needed()
        x, y = page.evaluate("window.studio.cloud.place(3)")
        page.locator("canvas.cloud").click(position={"x": x, "y": y})
        page.wait_for_function(
            "() => window.studio.run.value?.state === 'done' && !window.studio.view.growing && window.studio.view.state.engine.runs.value[0].t.length > 1"
        )
        _t, q = samples(page)
        assert np.array_equal(q, mp.open_study(folder / "gains").run(3).q)
        assert page.evaluate("window.studio.cloud.chosen.value") == 3
    finally:
        context.close()
        process.terminate()
        process.wait(30)
        process.stdout.close()


def test_undo_and_redo_by_the_keys_that_people_know(page):
    page.click("#tab-robot")
    page.evaluate("() => { window.studio.store.edit(['name'], 'a'); window.studio.store.edit(['duration'], 1.25); }")
    now = "() => [window.studio.store.get(['name']), window.studio.store.get(['duration'])]"
    for key, found in (("Control+z", "a"), ("Control+Z", "scara-khang"), ("Control+Shift+Z", "a"), ("Control+Y", "a")):
        page.keyboard.press(key)
        assert page.evaluate(now)[0] == found, key
    assert page.evaluate(now)[1] == 1.25


def test_letters_in_a_list_find_its_entry_and_start_nothing(page):
    page.click("#tab-robot")
    page.focus("#catalogue")
    page.keyboard.type("planar-3r")
    page.wait_for_function("() => window.studio.store.get(['robot']) === 'planar-3r'")
    assert page.evaluate("window.studio.run.value") is None
    assert page.get_attribute("#tab-robot", "aria-selected") == "true"


def test_joints_that_are_added_and_moved_keep_names_of_their_own(page):
    """The rows of an arm that was opened have names; one that is added beside them takes none of these, wherever it is moved."""
    choose(page, "planar-2r")
    page.get_by_text("Edit as DH table (standard)").click()
    page.wait_for_selector('input[data-path="robot.dh.rows[1].a"]')
    page.get_by_text("Add joint").click()
    page.get_by_role("button", name="Move up").last.click()
    page.wait_for_function("() => window.studio.robot.value?.robot.n === 3", timeout=30_000)
    names = page.evaluate("window.studio.robot.value.robot.joints.map((j) => j.name)")
    assert len(set(names)) == 3
    told = page.evaluate("window.studio.store.problem.value")
    assert told is None or told["field"] == "q0"  # which has two numbers still
