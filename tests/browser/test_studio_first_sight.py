"""What is seen before, between and after runs belongs together: places are kept, numbers are those of the run that is shown."""

from __future__ import annotations

import pytest

from studio_pages import READY, run

pytest.importorskip("uvicorn", reason="the studio is an extra")

SHIFTS = """() => new Promise((done) => { let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((e) => { sum += e.value; })).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => done(sum), 300); })"""


def test_nothing_moves_while_the_page_is_filled(page):
    page.wait_for_function("() => window.studio.view.stage")
    assert page.evaluate(SHIFTS) < 0.05
    assert page.locator("#view").bounding_box()["width"] > 800


def test_a_run_that_ends_at_once_does_not_ask_to_press_run(page):
    assert page.locator("#charts .empty").count() == 1
    run(page)
    page.evaluate("() => window.studio.keep(window.studio.run.value.id, true)")
    page.evaluate("""() => { const d = structuredClone(window.studio.store.document.value);
      d.controller = { law: 'computed_torque', kp: 1e9, kv: 0 }; d.step = 0.05; d.integrator = 'rk4'; window.studio.store.replace(d); }""")
    page.wait_for_function("() => window.studio.run.value?.status === 'diverged' && !window.studio.view.growing")
    page.wait_for_selector("#charts figure")
    assert page.locator("#charts .empty").count() == 0


def test_key_numbers_are_those_of_the_run_that_is_shown(page):
    page.click("#tab-run")
    run(page)
    page.evaluate("""() => { window.seen = []; new MutationObserver(() => {
        const s = window.studio.run.value, shown = [...document.querySelectorAll('.cards > div')].find((d) => d.textContent.startsWith('Duration'));
        if (s?.state === 'done' && shown) window.seen.push([s.duration, shown.querySelector('dd').textContent.trim()]);
      }).observe(document.querySelector('#body'), { childList: true, subtree: true, characterData: true }); }""")
    for duration in (1.5, 1.0):
        page.evaluate("(v) => window.studio.store.edit(['duration'], v)", duration)
        page.wait_for_function(
            "(v) => window.studio.run.value?.duration === v && window.studio.run.value.state === 'done'", arg=duration
        )
        page.wait_for_function(
            "(v) => document.querySelector('.cards')?.textContent.includes(v + ' s')",
            arg=str(duration).removesuffix(".0"),
        )
    shown = page.evaluate("window.seen")
    assert shown
    assert [words for duration, words in shown if words.split() != [f"{duration:g}", "s"]] == []


def test_a_name_is_text_however_it_is_written(page, studio):
    name = "<img src=x onerror=\"document.title='taken'\"><script>1</script>" + "w" * 40
    page.evaluate("(n) => window.studio.store.edit(['name'], n)", name)
    for panel in ("robot", "run", "equations"):
        page.click(f"#tab-{panel}")
    run(page)
    assert page.locator("#studio img, #body script").count() == 0
    assert page.inner_text("#name") == name
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.reload()
    page.wait_for_selector(READY, state="attached")
    assert page.locator("#studio img").count() == 0


def test_every_control_is_reached_by_tab_and_seen_there(page):
    """One way round the page with the tab key: each stop shows an outline, and the bar, the tabs, the panel, the arm and its boxes are among them."""
    stops, first = set(), ""
    for _ in range(120):
        page.keyboard.press("Tab")
        found = page.evaluate("""() => { const e = document.activeElement, s = getComputedStyle(e);
          if (!e || e === document.body) return null;
          const ring = [e, e.parentElement].some((n) => { const c = getComputedStyle(n);
            return (c.outlineStyle !== 'none' && parseFloat(c.outlineWidth) > 0) || c.boxShadow !== 'none'; });
          return [e.id || e.dataset.path || e.className || e.tagName, ring, e.closest('#bar, #tabs, #body, #view')?.id ?? '']; }""")
        if found is None:
            continue
        first = first or found[0]
        if found[0] == first and len(stops) > 8:
            break
        assert found[1], f"no outline at {found[0]}"
        stops.add(found[2])
    assert stops >= {"bar", "tabs", "body", "view"}


def test_many_broken_limits_leave_the_key_numbers_in_sight(page):
    page.evaluate("""async () => {
      const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ robot: 'panda' }) };
      const { document } = await (await fetch('/api/new', asked)).json();
      document.reference = { ...document.reference, velocity: 6, acceleration: 60, jerk: 900 };
      window.studio.replace({ ...document, duration: 0.5 }); }""")
    page.wait_for_function("() => window.studio.robot.value?.robot.n === 7")
    page.click("#tab-run")
    run(page)
    assert page.evaluate("window.studio.run.value.broken.length") > 3
    assert page.locator("#chip.fair").count() == 1
    assert page.locator(".verdict > .note").count() < 3
    assert page.locator(".cards").bounding_box()["y"] < 400
    page.click(".verdict summary")
    assert page.locator(".verdict details .note").first.is_visible()
