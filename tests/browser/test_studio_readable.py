"""What stands on the page of the studio can be read: on fine screens, on a phone, however far a panel is scrolled, with long names of joints."""

from __future__ import annotations

import pytest

from studio_pages import PATIENCE_MS, READY, choose, run

pytest.importorskip("uvicorn", reason="the studio is an extra")

LETTERS = """async () => { window.letters = []; const draw = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (...a) {
    window.letters.push(parseFloat(this.font.match(/([\\d.]+)px/)[1])); return draw.apply(this, a); };
  window.studio.view.drawn[0].plot.redraw(false, true); await null; await null; return window.letters; }"""
SEEN = """(selector) => { const e = document.querySelector(selector), r = e.getBoundingClientRect();
  if (!r.width || r.bottom > innerHeight || r.top < 0) return false;
  return e.contains(document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2)); }"""
CUT = """(selector) => [...document.querySelectorAll(selector)].filter((e) => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"""
ROWS = "() => [...document.querySelectorAll('#charts .legend button')].map((b) => Math.round(b.getBoundingClientRect().height))"
ARMS = {
    "panda": ["joint1", "joint2", "joint3", "joint4", "joint5", "joint6", "joint7"],
    "ur5e": ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"],
}


@pytest.fixture
def fine(browser, studio):
    """A page on a screen with two dots for each pixel."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 850}, device_scale_factor=2, reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(studio)
    page.wait_for_selector(READY, state="attached")
    yield page
    context.close()


def test_letters_at_axes_grow_with_the_dots_of_a_screen(fine):
    choose(fine, "planar-2r")
    run(fine)
    fine.wait_for_selector(".u-over")
    letters = fine.evaluate(LETTERS)
    assert len(letters) > 6
    assert min(letters) >= 22  # 11 pixels of the page


@pytest.mark.parametrize("arm", ARMS)
def test_long_names_of_joints_stay_in_one_line(page, arm):
    page.set_viewport_size({"width": 1280, "height": 850})
    choose(page, arm)
    run(page)
    page.wait_for_function("() => document.querySelectorAll('#chart-torque .legend button').length > 5")
    page.evaluate("() => { const c = window.studio.view.state.clock; c.stay(0.37 * c.end.value); }")
    assert len(set(page.evaluate(ROWS))) == 1
    assert page.evaluate(CUT, "#charts .legend span, .readout td:first-child, .joint .name") == []
    assert page.locator("#chart-torque .legend button span").all_inner_texts() == ARMS[arm]
    assert page.locator(".readout tr td:first-child span").all_inner_texts() == ARMS[arm]
    full = page.locator(".readout tr td:first-child span").evaluate_all("(all) => all.map((e) => e.title)")
    assert full == page.evaluate("window.studio.robot.value.robot.joints.map((j) => j.name)").copy()[: len(full)]


def test_what_is_told_is_seen_however_far_a_panel_is_scrolled(page):
    choose(page, "planar-2r")
    run(page)
    page.click("#tab-run")
    page.locator("#link").scroll_into_view_if_needed()
    page.click("#link")
    page.wait_for_function("() => window.studio.message.value !== ''")
    assert page.evaluate(SEEN, ".message")
    boxes = [page.locator(place).bounding_box() for place in ("#side", "#view")]
    assert (boxes[0]["x"], boxes[0]["y"]) == (0, boxes[1]["y"])  # it lies over the panels and moves nothing
    assert boxes[1]["x"] == boxes[0]["width"]
    page.click(".message button")
    assert page.locator(".message").is_hidden()
    page.set_viewport_size({"width": 390, "height": 844})  # a phone; the panels are closed
    page.evaluate("() => { window.studio.message.value = 'This file is no robot.'; }")
    assert page.evaluate(SEEN, ".message")


def test_every_panel_begins_at_its_top_and_stays_where_it_was_left(page):
    page.set_viewport_size({"width": 1280, "height": 500})
    choose(page, "panda")
    top = "document.getElementById('body').scrollTop"
    page.evaluate("document.getElementById('body').scrollTo(0, 200)")
    assert page.evaluate(top) > 0
    page.click("#tab-task")
    assert page.evaluate(top) == 0
    page.click("#tab-robot")
    assert page.evaluate(top) > 0


def test_a_chart_that_a_run_has_nothing_for_is_told(page):
    choose(page, "planar-2r")
    run(page)
    page.click("#tab-run")
    page.evaluate("document.getElementById('chooser').open = true")
    page.click('input[data-chart="contact"]')
    page.wait_for_function("() => document.getElementById('left-out').textContent.includes('contact')")
    assert "was recorded" in page.inner_text("#left-out")
    assert page.locator("label.absent").inner_text() == "contact"
    page.click('input[data-chart="contact"]')
    page.wait_for_function("() => document.getElementById('left-out').textContent === ''")


def test_runs_that_are_kept_stay_after_a_reload_and_are_not_too_many(page):
    choose(page, "planar-2r")
    page.click("#tab-run")
    for k in range(6):
        page.evaluate("(k) => window.studio.store.edit(['duration'], 0.2 + 0.1 * k)", k)
        run(page)
        page.click("#keep")
        page.wait_for_function(
            "(k) => window.studio.kept.runs.value.length === Math.min(k + 1, 5) && (k < 5 || window.studio.message.value.includes('At most 5'))",
            arg=k,
        )
    page.reload()
    page.wait_for_selector(READY, state="attached")
    page.wait_for_function(
        "() => window.studio.kept.runs.value.length === 5 && window.studio.view.state.engine.runs.value.length === 6"
    )


def test_a_document_that_cannot_be_saved_says_nothing_but_that_the_studio_is_silent(page):
    page.evaluate(
        "() => { const f = fetch; window.fetch = (to, ...a) => to === '/api/write' ? Promise.reject(new TypeError('gone')) : f(to, ...a); }"
    )
    page.evaluate(  # another answer may end the silence at once
        """() => new MutationObserver(() => { if (!document.querySelector("#silence")?.hidden) window.silent = true; })
            .observe(document.body, { attributes: true, childList: true, subtree: true })"""
    )
    page.click("#save")
    page.wait_for_function("() => window.silent")
    assert page.evaluate("window.studio.message.value") == ""


def test_a_late_answer_about_the_last_run_takes_nothing_from_the_next(page):
    """The answer to *Keep* comes after the next run is there."""
    choose(page, "planar-2r")
    run(page)
    page.click("#tab-run")
    page.wait_for_selector("#keep")
    page.evaluate(
        """() => { const asked = window.fetch; window.held = [];
          window.fetch = async (...given) => { const found = await asked(...given);
            if (String(given[0]).includes("view") && !window.free) await new Promise((go) => window.held.push(go));
            return found; }; }"""
    )
    page.click("#keep")
    page.wait_for_function("() => window.held.length > 0")
    page.evaluate("() => window.studio.store.edit(['duration'], 1.5)")
    page.wait_for_function("() => window.studio.compared.value !== null && window.studio.run.value.state === 'done'")
    page.evaluate(
        "async () => { window.free = true; window.held.forEach((go) => go()); await new Promise((r) => setTimeout(r, 300)); }"
    )
    assert page.evaluate("window.studio.compared.value !== null")
    assert page.evaluate("window.studio.view.state.engine.runs.value[0].t.at(-1)") == 1.5


def test_the_numbers_of_a_phase_plane_are_those_of_all_runs(page):
    choose(page, "planar-2r")
    run(page)
    page.click("#tab-run")
    page.click("#keep")
    page.evaluate("() => window.studio.store.edit(['duration'], 1.5)")
    page.wait_for_function("() => window.studio.compared.value !== null")
    page.wait_for_function(
        "() => !window.studio.view.growing && window.studio.view.state.engine.runs.value[0].t.at(-1) === 1.5"
    )
    page.evaluate("document.getElementById('chooser').open = true")
    page.click('input[data-chart="phase"]')
    page.wait_for_selector("#chart-phase .u-over")
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.locator("#chart-phase summary").click()
    page.get_by_role("button", name="Copy numbers").first.click()
    head, *rows = page.evaluate("window.copied").strip().split("\r\n")
    assert head.count(",") >= 3
    assert len(rows) == max(page.evaluate("window.studio.view.state.engine.runs.value.map((r) => r.t.length)"))


def test_places_that_graphics_cannot_hold_are_told_or_left_out(page):
    """The console hears nothing of them."""
    rod = {"name": "rod", "planar": {"lengths": [0.4], "masses": [1]}}
    page.evaluate("(r) => window.studio.replace({ format: 1, name: 'far', robot: r, duration: 0.1 })", {**rod, "base": {"xyz": [9e59, 0, 0]}})  # fmt: skip
    page.wait_for_function("() => window.studio.store.problem.value?.message.includes('further')")
    line = {"path": {"kind": "line", "a": [0.6, 0.5], "b": [0.5, 0.6]}, "timing": {"kind": "quintic", "duration": 1}}
    document = {"format": 1, "name": "far", "robot": "planar-3r", "duration": 1, "kind": "kinematic", "q0_deg": [20, 40, 30], "reference": line}  # fmt: skip
    page.evaluate("(d) => window.studio.replace(d)", document)
    page.wait_for_function("() => window.studio.overlay.handles.length === 2 && window.studio.path.coloured.value")
    page.evaluate("() => window.studio.store.edit(['reference', 'path', 'a'], [1e59, 0.5])")
    page.wait_for_function("() => window.studio.path.reach.value !== ''")
