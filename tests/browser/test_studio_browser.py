"""The studio in a real browser, as a person uses it: choose, change, run, watch, compare, drag, drop, export."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from studio_pages import LONG, NAMELESS, READY, choose, colours, run, samples

pytest.importorskip("uvicorn", reason="the studio is an extra")

HOSTILE = '<img src=x onerror="document.title=1">'


def test_choose_change_a_mass_run_and_watch(page):
    choose(page, "scara-khang")
    page.click("text=Edit as DH table (standard)")
    page.locator('input[data-path="robot.dh.rows[1].mass"]').first.fill("5.5")
    page.wait_for_function("() => window.studio.store.problem.value === null")
    summary = run(page)
    assert summary["status"] == "finished"
    assert colours(page) > 50
    assert "finished" in page.inner_text(".verdict")
    _t, q = samples(page)
    before = page.evaluate("window.studio.view.stage.tip()")
    page.locator("#charts figure:first-child .u-over").scroll_into_view_if_needed()
    box = page.locator("#charts figure:first-child .u-over").bounding_box()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.5 * box["height"])
    page.wait_for_function("() => window.studio.view.state.clock.shown.value > 1")
    after = page.evaluate("window.studio.view.stage.tip()")
    assert np.abs(np.subtract(after, before)).max() > 0.01  # the arm follows the pointer
    assert np.abs(q[-1] - q[0]).max() > 0.05


def test_the_numbers_are_those_of_python(page, tmp_path):
    import manipula as mp

    choose(page, "planar-2r")
    run(page)
    t, q = samples(page)
    with page.expect_download() as got:
        page.click("#save")
    got.value.save_as(tmp_path / "run.toml")
    result = mp.run_file(tmp_path / "run.toml")
    assert np.array_equal(t, result.t)
    assert np.array_equal(q, result.q)


def test_a_slider_runs_again_at_once_and_undo_takes_it_back(page):
    choose(page, "planar-2r")
    first = run(page)
    page.click("#tab-control")
    slider = page.locator('input.slider[data-path="controller.kp"]')
    slider.evaluate("(s) => { s.value = '700'; s.dispatchEvent(new Event('input', { bubbles: true })); }")
    page.wait_for_function(
        "(old) => { const r = window.studio.run.value; return r && r.id !== old && r.state === 'done'; }",
        arg=first["id"],
    )
    assert page.evaluate("window.studio.store.document.value.controller.kp") != 100
    page.click("#undo")
    page.wait_for_function("() => window.studio.store.document.value.controller.kp === 100")


def test_two_runs_over_each_other_are_told_apart_in_a_table(page):
    choose(page, "planar-2r")
    run(page)
    page.click("#tab-run")
    page.click("#keep")
    page.click("#tab-control")
    page.fill('input[type=text][data-path="controller.kp"]', "20")
    page.wait_for_function("() => window.studio.view.state.engine.runs.value.length === 2")
    assert page.evaluate("window.studio.kept.runs.value.length") == 1
    assert page.locator("#show-ghost").is_checked()
    page.wait_for_function("() => window.studio.compared.value !== null")
    page.click("#tab-run")
    words = page.inner_text(".differences")
    assert "controller.kp" in words
    assert "Position of joint1" in words


CONSTRUCTED = "() => window.studio.overlay.frames.children.length"


def test_frames_of_a_construction_go_with_the_table_they_belong_to(page):
    choose(page, "planar-2r")
    for leave in (lambda: page.click("#tab-run"), lambda: choose(page, "scara-khang")):
        page.click("#tab-robot")
        if not page.locator("#construction").count():
            page.click("text=Edit as DH table (modified)")
        page.wait_for_function("() => window.studio.robot.value?.robot.drawn")
        page.locator("#construction").evaluate("(r) => { r.value = 7; r.dispatchEvent(new Event('input')); }")
        assert page.evaluate(CONSTRUCTED) > 1
        leave()
        page.wait_for_function(f"() => ({CONSTRUCTED})() === 0")


def test_a_wrong_cell_is_refused_where_it_stands(page):
    choose(page, "planar-2r")
    page.click("text=Edit as DH table (modified)")
    cell = page.locator('input[data-path="robot.dh.rows[0].a"]')
    cell.fill("1 +")
    page.wait_for_selector('input[data-path="robot.dh.rows[0].a"].bad')
    assert "robot.dh.rows[0].a" in page.inner_text(".verdict")
    cell.fill("0.2")
    page.wait_for_selector('input[data-path="robot.dh.rows[0].a"].bad', state="detached")


def test_the_tip_is_dragged(page):
    choose(page, "planar-3r")
    page.wait_for_function("() => window.studio.view.showsPosture")
    joint = page.locator("input[data-joint='1']")
    joint.evaluate("(s) => { s.value = '0.8'; s.dispatchEvent(new Event('input', { bubbles: true })); }")
    page.wait_for_function("() => Math.abs(window.studio.posture.value[1] - 0.8) < 0.01")
    where = """() => { const s = window.studio.view.stage, t = s.tip(), v = s.camera.position.clone().set(...t).project(s.camera);
        const b = s.canvas.getBoundingClientRect();
        return [b.left + (v.x + 1) / 2 * b.width, b.top + (1 - v.y) / 2 * b.height, ...t]; }"""
    page.locator("#stage").scroll_into_view_if_needed()
    x, y, *before = page.evaluate(where)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 15, y + 25, steps=3)
    page.wait_for_function(
        "(t) => Math.hypot(...window.studio.view.stage.tip().map((v, i) => v - t[i])) > 0.005", arg=before
    )
    page.mouse.up()
    there = f"([x, y]) => {{ const [a, b] = ({where})(); return Math.hypot(a - x, b - y) < 3; }}"
    page.wait_for_function(there, arg=[x - 15, y + 25])  # under the pointer


def test_a_urdf_is_dropped_and_names_stay_text(page):
    urdf = f"""<robot name="{HOSTILE.replace("<", "&lt;").replace('"', "&quot;")}"><link name="base"/><link name="arm"><inertial><mass value="2"/>
    <origin xyz="0.1 0 0"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="9" effort="90"/></joint></robot>"""
    page.evaluate(
        """(text) => { const d = new DataTransfer(); d.items.add(new File([text], "<b>arm.urdf"));
        window.dispatchEvent(new DragEvent("drop", { dataTransfer: d, bubbles: true, cancelable: true })); }""",
        urdf,
    )
    page.wait_for_function("() => window.studio.robot.value && window.studio.robot.value.robot.n === 1")
    assert page.locator("img").count() == 0
    assert page.title().endswith(" · Manipula studio")
    assert run(page)["status"] == "finished"
    page.evaluate(
        """() => { const d = new DataTransfer(); d.items.add(new File(["<robot"], "bad.urdf"));
        window.dispatchEvent(new DragEvent("drop", { dataTransfer: d, bubbles: true, cancelable: true })); }"""
    )
    page.wait_for_function("() => window.studio.message.value.includes('bad.urdf')")


def test_a_reload_finds_a_run_that_goes_on(page):
    page.evaluate("(d) => { window.studio.replace(d); return window.studio.start(); }", LONG)
    page.wait_for_function("() => window.studio.busy.value.includes('%')")
    moved = page.evaluate("window.studio.view.stage.tip()")
    page.wait_for_function(
        "(t) => Math.hypot(...window.studio.view.stage.tip().map((v, i) => v - t[i])) > 1e-3", arg=moved
    )
    number = page.evaluate("window.studio.run.value.id")
    page.reload()
    page.wait_for_selector(READY, state="attached")
    page.wait_for_function(
        "(id) => window.studio.run.value && window.studio.run.value.id === id && window.studio.busy.value.includes('%')",
        arg=number,
    )
    page.click("#stop")
    page.wait_for_function("() => window.studio.run.value.state === 'stopped'")


def test_equations_are_typeset(page):
    choose(page, "planar-2r")
    page.click("#tab-equations")
    page.wait_for_selector(".equations math")
    assert page.locator(".equations math").count() > 1


def test_files_of_a_run(page, tmp_path):
    import manipula as mp

    choose(page, "planar-2r")
    run(page)
    page.click("#tab-run")
    for name in ("result.npz", "report.html", "film.gif"):
        with page.expect_download() as got:
            page.click(f'.files button[data-file="{name}"]')
        got.value.save_as(tmp_path / name)
    assert mp.load_result(tmp_path / "result.npz").status == "finished"
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "film.gif").read_bytes()[:6] == b"GIF89a"
    with page.expect_download() as got:
        page.click("#picture")
    got.value.save_as(tmp_path / "arm.png")
    with Image.open(tmp_path / "arm.png") as image:
        assert len(np.unique(np.asarray(image.convert("RGB")).reshape(-1, 3), axis=0)) > 50


def test_every_control_has_a_name_and_phones_fit(page):
    for panel in ("robot", "task", "control", "run", "equations", "studies"):
        page.click(f"#tab-{panel}")
        assert page.evaluate(NAMELESS) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_points_are_typed_in_rows_and_the_box_keeps_the_focus(page):
    page.evaluate(
        """() => window.studio.replace({ format: 1, name: "polyline", robot: "planar-3r", duration: 1, kind: "kinematic", q0: [0.3, 0.6, 0.5],
        reference: { path: { kind: "polyline", points: [[0.6, 0.5, 0], [0.5, 0.6, 0]] }, timing: { kind: "quintic", duration: 1 } } })"""
    )
    page.wait_for_function("() => window.studio.robot.value && window.studio.robot.value.robot.name === 'planar-3r'")
    page.click("#tab-task")
    box = page.locator('textarea[data-path="reference.path.points"]')
    box.click()
    page.keyboard.press("Control+End")
    page.evaluate("document.activeElement.dataset.mine = '1'")
    page.keyboard.type("\n0.4 0.6 0")
    page.wait_for_function("() => window.studio.store.document.value.reference.path.points.length === 3")
    page.wait_for_function(
        "() => window.studio.overlay.followed && window.studio.path.text.includes('0.4,0.6')"
    )  # looked at
    assert page.evaluate("document.activeElement.dataset.mine") == "1"  # the same box, not one drawn anew
    assert page.evaluate("document.activeElement.dataset.path") == "reference.path.points"
    assert page.evaluate("window.studio.store.document.value.reference.path.points") == [
        [0.6, 0.5, 0],
        [0.5, 0.6, 0],
        [0.4, 0.6, 0],
    ]


def test_a_gain_is_typed_while_runs_follow(page):
    choose(page, "planar-2r")
    run(page)
    page.click("#tab-control")
    box = page.locator('input[type=text][data-path="controller.kp"]')
    box.click()
    page.keyboard.press("Control+A")
    page.keyboard.type("144")
    page.wait_for_function("() => window.studio.store.document.value.controller.kp === 144")
    page.wait_for_function(
        "() => window.studio.run.value && window.studio.run.value.state === 'done' && window.studio.ranText.includes('144')"
    )
    assert page.evaluate("document.activeElement.dataset.path") == "controller.kp"


def test_keys_and_themes(page):
    page.keyboard.press("3")
    assert page.get_attribute("#tab-control", "aria-selected") == "true"
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    page.keyboard.press("Escape")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_documents_are_plain(page):
    """What the page keeps is the scenario as JSON, nothing else."""
    kept = json.loads(page.evaluate("localStorage.getItem('manipula.document')"))
    assert kept["robot"]
    assert page.evaluate("location.search") == ""  # the key is gone from the address
