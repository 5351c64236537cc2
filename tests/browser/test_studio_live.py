"""A number is moved while its run is shown: curves follow, and nothing is done twice."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright")

from studio_pages import choose, run, samples

SLIDE = """(value) => { const s = document.querySelector('input.slider[data-path="controller.kp"]');
  s.value = value; s.dispatchEvent(new Event('input', { bubbles: true })); }"""
DONE = "(old) => { const r = window.studio.run.value; return r && r.id !== old && r.state === 'done'; }"
COUNT = """() => { window.wiped = new Map(); const wipe = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...a) {
    window.wiped.set(this.canvas, 1 + (window.wiped.get(this.canvas) ?? 0)); return wipe.apply(this, a); }; }"""
LATE = """() => { const fetched = window.fetch; window.fetch = async (where, asked) => {
  const answer = await fetched(where, asked);
  if (where !== '/api/run' || answer.headers.get('content-type') !== 'application/octet-stream') return answer;
  const data = await answer.arrayBuffer(), length = new DataView(data).getUint32(0, true);
  const { drawn, ...begun } = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  return Response.json({ ...begun, state: 'integrating' }); }; }"""  # as where a run takes longer than an answer waits


HELD = """() => { const fetched = window.fetch; window.fetch = async (where, asked) => {
  const answer = await fetched(where, asked);
  if (['/api/robot', '/api/judged'].includes(where)) await new Promise((done) => { window[`go_${where.slice(5)}`] = done; });
  return answer; }; }"""  # until it is let go


def moved(page, value: int) -> None:
    before = page.evaluate("window.studio.run.value.id")
    page.evaluate(SLIDE, str(value))
    page.wait_for_function(DONE, arg=before)


def beside(page) -> None:
    """An arm that begins beside its reference: gains matter."""
    choose(page, "planar-2r")
    page.evaluate("() => window.studio.store.edit(['q0'], window.studio.robot.value.robot.start.map((v) => v + 0.2))")
    page.wait_for_timeout(500)  # the arm is shown where it begins


def shown(page):
    page.click("#tab-control")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_every_chart_is_drawn_once_for_new_samples(page):
    beside(page)
    run(page)
    shown(page)
    page.evaluate(COUNT)
    moved(page, 900)
    page.wait_for_function("() => window.wiped.size >= 2")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    counts = page.evaluate("[...window.wiped.values()]")
    assert set(counts) == {1}


def test_charts_that_are_new_are_drawn_once(page):
    choose(page, "planar-2r")
    page.evaluate(COUNT)
    run(page)
    page.wait_for_function("() => document.querySelectorAll('.u-over').length >= 6")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert set(page.evaluate("[...window.wiped.values()]")) == {1}
    assert page.locator(".cursor:visible").count() >= 2  # at the moment that is shown


def test_the_way_of_the_tip_follows_the_run(page):
    """Its line is made anew with the next picture of the arm, after the charts."""
    beside(page)
    run(page)
    shown(page)
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))"
    )
    trace = "() => Array.from(window.studio.view.stage.lines.find((l) => l.name === 'trace').line.geometry.attributes.instanceStart.array)"
    before = page.evaluate(trace)
    moved(page, 900)
    page.wait_for_function(
        f"(old) => {{ const now = ({trace})(); return now.some((v, i) => v !== old[i]); }}", arg=before
    )


def test_curves_stay_while_a_run_is_computed_with_another_number(page):
    beside(page)
    run(page)
    shown(page)
    old = samples(page)[1]
    page.evaluate(LATE)
    page.evaluate("() => { document.querySelector('#stage').dataset.mine = 'yes'; }")
    moved(page, 900)
    page.wait_for_function(
        "(q) => window.studio.view.state.engine.runs.value[0].q[0].at(-1) !== q", arg=float(old[-1, 0])
    )
    assert page.locator("#stage[data-mine]").count() == 1


def test_a_run_that_begins_while_the_arm_is_looked_at_keeps_its_curves(page):
    """The robot of an edited document is answered after the run of that document, and before its verdict."""
    choose(page, "planar-2r")
    page.evaluate(HELD)
    page.evaluate("() => window.studio.store.edit(['q0'], window.studio.robot.value.robot.start.map((v) => v + 0.2))")
    page.wait_for_function("() => window.go_robot")
    page.click("#run")
    page.wait_for_function("() => window.go_judged && window.studio.view.state.engine.runs.value[0]?.t.length > 1")
    start = page.evaluate("window.studio.robot.value.robot.start[0]")
    page.evaluate("window.go_robot()")
    page.wait_for_function("(old) => window.studio.robot.value.robot.start[0] !== old", arg=start)
    page.evaluate("window.go_judged()")
    page.wait_for_function("() => window.studio.run.value.state === 'done'")
    assert len(samples(page)[0]) > 1


def test_runs_fill_no_history(page):
    choose(page, "planar-2r")
    first = run(page)
    shown(page)
    length = page.evaluate("history.length")
    moved(page, 800)
    assert page.evaluate("location.hash.slice(1)") not in ("", first["id"])
    assert page.evaluate("history.length") == length
