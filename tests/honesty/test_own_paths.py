"""Curves that somebody wrote: one that gives no point is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.motion.paths.base import Curve, Path


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (lambda self, u, piece: None, "'point' of Own gives None; 3 coordinates are needed"),
        (lambda self, u, piece: (u, u), "'point' of Own gives .*; 3 coordinates"),
        (lambda self, u, piece: 1 / 0, "'point' of Own fails: ZeroDivisionError"),
        (lambda self, u: (u, u, u), r"'point' of Own must take \(self, u, piece\)"),
    ],
)
def test_curves_that_give_no_point_are_named(point: Any, message: str) -> None:
    body = {"point": point, "breaks": np.array([0.0, 1.0]), "__module__": "mine"}
    with pytest.raises(DescriptionError, match=message):
        Path([type("Own", (Curve,), body)()])


def test_a_motion_that_is_another_one_when_differentiated_is_refused() -> None:
    def caught(t: Any) -> Any:
        try:
            return [0.1 + 0.0 * float(t), 0.2 + 0.1 * float(t)]
        except Exception:
            return [0.3 + 0.0 * t, 0.2 + 0.1 * t]

    with pytest.raises(mp.DescriptionError, match="other positions than by itself"):
        mp.formula_motion(caught, 1.0, space="joint")
    assert mp.formula_motion(lambda t: [0.3 + 0.0 * t, 0.2 + 0.1 * t], 1.0, space="joint").position(0.5)[0] == 0.3
