"""Curves that somebody wrote: one that gives no point is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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
