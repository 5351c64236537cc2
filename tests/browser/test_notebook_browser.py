"""Outputs of a notebook in a browser: each in a frame of its own, at work, cut off from the page around it."""

from __future__ import annotations

from pathlib import Path

import manipula as mp
from manipula.reports.notebook import html_of
from report_results import planar


def test_frames_come_to_life_and_cannot_reach_the_notebook(browser, tmp_path: Path) -> None:
    values = (mp.planar([0.5, 0.4], [2.0, 1.0]), planar())
    cells = "".join(f"<div>{html_of(value)}</div>" for value in values)
    page_file = tmp_path / "notebook.html"
    page_file.write_text(f"<!doctype html><meta charset=utf-8><title>notebook</title>{cells}", encoding="utf-8")
    context = browser.new_context(viewport={"width": 1000, "height": 1700}, reduced_motion="reduce", offline=True)
    heard: list[str] = []
    try:
        page = context.new_page()
        page.on(
            "console",
            lambda said: (
                heard.append(said.text) if said.type in ("error", "warning") and "GPU stall" not in said.text else None
            ),
        )
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.goto(page_file.as_uri())
        frames = page.locator("iframe")
        assert frames.count() == len(values)
        for k in range(len(values)):
            inside = frames.nth(k).content_frame
            inside.locator("html[data-report=ready]").wait_for(state="attached", timeout=60_000)
            assert inside.locator("#motion canvas").count() == 1
            assert inside.locator("html").evaluate("() => origin") == "null"
        assert page.evaluate("() => 'manipulaView' in window") is False
    finally:
        context.close()
    assert heard == []
