"""What tests of the studio do with its page: choose a robot, run, read samples, count colours."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

PATIENCE_MS = 180_000
LONG = {
    "format": 1,
    "name": "long",
    "robot": "panda",
    "duration": 900.0,
    "step": 1e-4,
    "sample": 0.1,
    "verify": False,
    "integrator": "rk4",
}
READY = "html[data-studio=ready]"
ARGUMENTS = (
    "--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--enable-unsafe-swiftshader",  # 3-D drawn by the processor; with --use-angle=swiftshader the whole page would be, at three times the cost
)  # fmt: skip
NAMELESS = """() => [...document.querySelectorAll("button,input:not([hidden]),select,textarea,canvas[tabindex]")].filter((e) => e.offsetParent
  && !(e.getAttribute("aria-label") || e.textContent.trim() || e.title || e.labels?.length)).map((e) => e.outerHTML.slice(0, 120))"""
CONTRAST = """() => {
  const parse = (c) => { const n = c.match(/[\\d.]+(e-?\\d+)?/g).map(Number); // mixed colours are color(srgb 0.9 …), from 0 to 1
    const rgb = n.slice(0, 3).map((v) => (c.startsWith("color(") ? 255 * v : v)); return [...rgb, n[3] ?? 1]; };
  const over = (top, under) => top.slice(0, 3).map((v, i) => v * top[3] + under[i] * (1 - top[3]));
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => { const layers = []; for (let n = e; n; n = n.parentElement) layers.push(parse(getComputedStyle(n).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]); };
  const seen = (e) => e.offsetParent && getComputedStyle(e).visibility !== "hidden";
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    if (!seen(e) || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || e.closest("[disabled],option,.u-wrap,math")) continue;
    const style = getComputedStyle(e), under = ground(e), ink = over(parse(style.color), under);
    const [a, b] = [light(ink), light(under)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) bad.push([e.tagName, e.className, e.textContent.trim().slice(0, 30), ratio.toFixed(2)]);
  }
  return bad; }"""


def run(page) -> dict:
    """Press Run and wait for the end."""
    before = page.evaluate("window.studio.run.value && window.studio.run.value.id")
    page.click("#run")
    page.wait_for_function(
        "(old) => { const r = window.studio.run.value; return r && r.id !== old && r.state === 'done'; }", arg=before
    )
    page.wait_for_function(
        "() => !window.studio.view.growing && window.studio.view.state?.engine.runs.value[0].t.length > 1"
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
