"""What tests of the studio do with its page: choose a robot, run, read samples, count colours."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

PATIENCE_MS = 180_000
READY = "html[data-studio=ready]"


def run(page) -> dict:
    """Press Run and wait for the end."""
    before = page.evaluate("window.studio.run.value && window.studio.run.value.id")
    page.click("#run")
    page.wait_for_function(
        "(old) => { const r = window.studio.run.value; return r && r.id !== old && r.state === 'done'; }", arg=before
    )
    page.wait_for_function(
        "() => !window.studio.view.growing && window.studio.view.state.engine.runs.value[0].t.length > 1"
    )
    return page.evaluate("window.studio.run.value")


def samples(page, k: int = 0):
    numbers = "const r = window.studio.view.state.engine.runs.value[k]; return [Array.from(r.t), r.q.map((c) => Array.from(c))];"
    found = page.evaluate(f"(k) => {{ {numbers} }}", k)
    return np.array(found[0]), np.array(found[1]).T


def choose(page, robot: str) -> None:
    page.click("#tab-robot")
    page.select_option("#catalogue", robot)
    page.wait_for_function(
        "(name) => window.studio.robot.value && window.studio.robot.value.robot.name === name", arg=robot
    )


def colours(page) -> int:
    """How many different colours the stage shows."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    with Image.open(io.BytesIO(page.locator("#stage").screenshot())) as image:
        return len(np.unique(np.asarray(image.convert("RGB")).reshape(-1, 3), axis=0))
