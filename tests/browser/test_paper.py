"""A report that is printed: everything fits on the sheet, the arm and the colours of legends are on it, and the screen is as before afterwards."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from manipula.reports.report import write_report
from report_results import scara

OVER = """() => [...document.querySelectorAll(".charts figure")].flatMap((f) => [...f.querySelectorAll("canvas, .u-wrap")]
  .filter((e) => e.getBoundingClientRect().right > f.getBoundingClientRect().right + 0.5).map(() => f.id))"""
SHEET = 794 - 106  # px of A4 without 14 mm at either side


@pytest.mark.parametrize("width", [390, 1280])
def test_charts_fit_on_the_sheet_and_the_arm_is_a_picture(opened, tmp_path, width):
    page = opened(write_report(scara(), tmp_path / "r.html"), width)
    page.wait_for_function(
        "n => document.querySelectorAll('.u-wrap').length === n", arg=page.locator(".charts figure").count()
    )
    before = page.evaluate("() => [...document.querySelectorAll('.u-wrap')].map((e) => e.clientWidth)")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(100)
    widths = page.evaluate("() => [...document.querySelectorAll('.u-wrap')].map((e) => e.clientWidth)")
    assert (
        sorted(widths)[-2] < SHEET / 2
    )  # drawn for the sheet while rules of the screen hold; an odd last chart is wide
    page.emulate_media(media="print")
    assert page.evaluate("() => document.querySelector('main').getBoundingClientRect().width") <= SHEET
    assert page.evaluate(OVER) == []
    picture = page.locator("img.printed")
    assert picture.evaluate("(e) => e.decode().then(() => [e.clientWidth > 200, e.clientHeight > 200])") == [True, True]
    with Image.open(io.BytesIO(picture.screenshot())) as image:
        assert (
            len(np.unique(np.asarray(image.convert("RGB")).reshape(-1, 3), axis=0)) > 20
        )  # an arm, not an empty stage
    chips = page.eval_on_selector_all(
        ".legend i, .readout i", "(all) => all.map((e) => getComputedStyle(e).printColorAdjust)"
    )
    assert chips
    assert set(chips) == {"exact"}
    page.emulate_media(media="screen")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    page.wait_for_timeout(100)
    assert page.evaluate("() => [...document.querySelectorAll('.u-wrap')].map((e) => e.clientWidth)") == before
    assert page.locator("img.printed").count() == 0
