"""Fingers on the page of a phone: what they take moves, and what they do not take scrolls the page and nothing else."""

from __future__ import annotations

import re

import numpy as np
import pytest

from studio_pages import READY

pytest.importorskip("uvicorn", reason="the studio is an extra")

TIP = """() => { const s = window.studio.view.stage, b = s.canvas.getBoundingClientRect();
  const v = s.camera.position.clone().set(...s.tip()).project(s.camera);
  return [b.left + (v.x + 1) / 2 * b.width, b.top + (1 - v.y) / 2 * b.height]; }"""
CAMERA = "() => window.studio.view.stage.camera.position.toArray()"
STEPS = 20


@pytest.fixture
def phone(profiles, studio):
    home = re.match(r"http://[\d.:]+/", studio).group()
    shown = profiles.page((home, "phone"), f"{home}nothing", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)  # fmt: skip
    shown.goto(studio)
    shown.wait_for_selector(READY, state="attached")
    yield shown
    profiles.close_pages()


def drag(page, begin: list, end: list) -> None:
    """Fingers from places to places."""
    begin, end = np.array(begin, float), np.array(end, float)
    fingers = page.context.new_cdp_session(page)

    def send(kind: str, places) -> None:
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", begin)
    for k in range(1, STEPS + 1):
        send("touchMove", begin + (end - begin) * k / STEPS)
    send("touchEnd", [])


@pytest.mark.parametrize("by", [(0, -35), (-40, 0), (0, 60)])
def test_the_tip_follows_a_finger_in_every_direction(phone, by):
    phone.evaluate(
        "() => window.studio.open(async () => ({ format: 1, name: 'arm', robot: 'planar-3r', duration: 1 }))"
    )
    phone.wait_for_function("() => window.studio.view.state?.page.robots[0]?.name === 'planar-3r'")
    phone.evaluate("() => window.studio.stand([0.9, -1.1, -0.7])")
    phone.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    at = np.array(phone.evaluate(TIP))
    drag(phone, [at], [at + by])
    there = f"(to) => {{ const at = ({TIP})(); return Math.hypot(at[0] - to[0], at[1] - to[1]) < 3; }}"
    phone.wait_for_function(there, arg=list(at + by), timeout=20_000)
    assert phone.evaluate("scrollY") == 0


def test_a_swipe_over_the_arm_scrolls_the_page_and_leaves_the_view(phone):
    phone.set_viewport_size({"width": 390, "height": 560})
    box = phone.locator("#stage").bounding_box()
    middle = np.array([box["x"] + 0.5 * box["width"], box["y"] + 0.8 * box["height"]])
    before = phone.evaluate(CAMERA)
    drag(phone, [middle], [middle - (0, 160)])
    phone.wait_for_function("() => scrollY > 20")
    assert phone.evaluate(CAMERA) == pytest.approx(before, abs=1e-9)


def test_two_fingers_enlarge_the_arm_and_not_the_page(phone):
    box = phone.locator("#stage").bounding_box()
    middle = np.array([box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]])
    length = "() => window.studio.view.stage.controls.getDistance()"
    before = phone.evaluate(length)
    near, far = np.array([20.0, 0.0]), np.array([80.0, 0.0])
    drag(phone, [middle - near, middle + near], [middle - far, middle + far])
    assert phone.evaluate(length) < 0.6 * before
    assert phone.evaluate("visualViewport.scale") == 1
