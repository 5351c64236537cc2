"""Pulses far shorter than the steps: found in formulas by ranges, in compiled code by its conditions, or said to be beyond what was searched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.simulation.stepping.instants import formula_marks

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis
METHODS = ["auto", "rk4", "dop853", "rodas"]


def pushed(*formulas: str, **options: Any) -> mp.Result:
    push = tuple(mp.Wrench((0, 0, 0, 0, 0, text)) for text in formulas)
    common: dict[str, Any] = {"q0": [0.0], "duration": 1.0, "sample": 0.25, "disturbances": push}
    return mp.simulate(mp.Scenario(ROD, **common | options))


# an impulse of 2 N·m·s at 0.400003 s turns the rod by 2·(1 − 0.400003) rad
AT, IMPULSE = 0.400003, 2.0
PULSES = {
    "gauss": ("{a}*exp(-((t - 0.400003)/{w})^2)", np.sqrt(np.pi)),
    "resonance": ("{a}/(1 + ((t - 0.400003)/{w})^2)^2", np.pi / 2),
    "triangle": ("{a}*max(0, 1 - abs(t - 0.400003)/{w})", 1.0),
    "box": ("{a}*(sign(t - 0.400003 + {w}/2) - sign(t - 0.400003 - {w}/2))/2", 1.0),
    "under a swing": ("3*sin(9*t) + {a}*exp(-((t - 0.400003)/{w})^2)", np.sqrt(np.pi)),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("width", [1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("name", list(PULSES))
def test_a_needle_in_a_formula_is_met_or_confessed(name: str, width: float, method: str) -> None:
    text, area = PULSES[name]
    result = pushed(text.format(a=f"{IMPULSE / (area * width):.17g}", w=width), integrator=method)
    if not result.ok:  # methods whose step follows the error may find times too coarse for it
        assert method != "rk4" or width < 1e-8 or name in ("resonance", "box"), result.reason
        return
    swing = 3 * (1.0 / 9 - np.sin(9.0) / 81) if name == "under a swing" else 0.0
    assert result.q[-1, 0] == pytest.approx(IMPULSE * (1.0 - AT) + swing, abs=3e-6)
    assert not [note for note in result.notes if "pulses" in note]


@pytest.mark.parametrize(
    "text",
    ["3*sin(9*t)", "t*exp(-3*t)*cos(40*t)", "sin(t)^2 + cos(t)^2", "5*sign(sin(pi*(t - 0.1234)/0.2))", "2", "sqrt(t)", "atan2(t, 0.3)"],
)  # fmt: skip
def test_what_is_smooth_has_no_more_marks_than_before_and_no_doubts(text: str) -> None:
    examined = formula_marks((), (mp.Wrench((0, 0, 0, 0, 0, text)),), 1.0, 1e-3)
    assert not examined.doubts
    assert len(examined.marks) < 300


def test_what_cannot_be_searched_to_the_end_is_said() -> None:
    """Ten thousand needles: there is no time to look at all of them."""
    result = pushed("(1 + sign(sin(2*pi*1e4*t) - 0.999999999))/2")
    assert result.status != "finished" or any("searched for pulses down to" in note for note in result.notes)
