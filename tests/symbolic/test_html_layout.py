"""Equations in a browser: factors stand apart, dots stand clear of their letters, long lines stay inside the page."""

from __future__ import annotations

import manipula as mp


def test_factors_are_parted_and_lines_stay_in_their_box() -> None:
    page = mp.equations(mp.load("abdelsatar-2r")).html()
    assert page.count('<mo lspace="0" rspace="0.17em">&#8290;</mo>') == page.count("&#8290;") > 10
    assert "<mover><mi>q</mi><mo lspace='0' rspace='0'>..</mo></mover>" in page
    assert "overflow-x:auto" in page
    assert '<meta name="viewport"' in page
