"""kinmodel and dynmodel against 36 arms that other programs computed, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manipula.compat.zlajpah import dynmodel, kinmodel
from manipula.errors import DescriptionError, ManipulaError, ShapeError

CASES = json.loads((Path(__file__).parent.parent / "data" / "planar_nR.json").read_text(encoding="utf-8"))["cases"]
MODEL = 1e-11  # the other programs agree to 2e-13


def arguments(case: dict[str, Any]) -> list[Any]:
    return [case[key] for key in ("q", "qd", "n", "L", "Lc", "m", "ml", "I", "B")]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['n']}R{'-payload' if c['ml'] else ''}")
def test_other_programs_find_the_same(case: dict[str, Any]) -> None:
    x, J, Jd, H, h, g = found = dynmodel(*arguments(case))
    for value, key in zip((x, J, Jd, H, h, g), ("x", "J", "Jd", "H", "h", "g")):
        assert np.abs(value - case[key]).max() < MODEL, key
    assert np.abs(found.torque(case["qdd"]) - case["tau_with_B"]).max() < MODEL
    assert np.abs(found.torque(case["qdd"]) - found.friction - case["tau_without_B"]).max() < MODEL
    for value, key in zip(kinmodel(case["q"], case["L"], case["qd"]), ("x", "J", "Jd")):
        assert np.abs(value - case[key]).max() < MODEL, key


def test_states_may_have_leading_axes_and_be_columns() -> None:
    case = next(c for c in CASES if c["n"] == 3 and c["ml"])
    one = dynmodel(*arguments(case))
    q, qd = (np.broadcast_to(case[k], (2, 4, 3)) for k in ("q", "qd"))
    many = dynmodel(q, qd, *arguments(case)[2:])
    for a, b in zip(one, many):
        assert b.shape == (2, 4, *a.shape)
        assert np.array_equal(b[1, 3], a)
    assert np.array_equal(many.torque(q)[0, 0], one.torque(case["q"]))
    column = dynmodel(np.array(case["q"])[:, None], np.array(case["qd"])[:, None], *arguments(case)[2:])
    assert np.array_equal(column.H, one.H)


def test_a_full_matrix_of_viscous_friction_acts() -> None:
    case = CASES[0]
    B = np.array([[0.3, -0.1], [0.2, 0.4]])
    found = dynmodel(*[*arguments(case)[:-1], B])
    assert np.allclose(found.friction, B @ case["qd"], rtol=1e-15, atol=0)


def test_a_thousand_joints() -> None:
    """A symmetric positive definite H, and the torques of a straight arm that hangs on its side: g_i = 9.81 Σ m (distance)."""
    n = 1000
    one = np.ones(n)
    found = dynmodel(0 * one, one, n, one, one / 2, one, 2.0, one / 12, 0 * one)
    beyond = n - np.arange(n)
    assert np.allclose(found.g, 9.81 * (beyond**2 / 2 + 2.0 * beyond), rtol=1e-12)
    assert np.array_equal(found.H, found.H.T)
    assert np.abs(found.h).max() < 1e-6 * np.abs(found.g).max()  # all links turn in line: no Coriolis torques
    assert np.linalg.eigvalsh(found.H)[0] > 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"nj": 3}, "L"), ({"nj": 2.0}, "nj"), ({"nj": 0}, "nj"), ({"q": [1.0]}, "q"), ({"qd": [1.0, float("nan")]}, "qd"), ({"L": [1.0, 0.0]}, "L"),
        ({"Lc": [1.0]}, "Lc"), ({"m": [1.0, -1.0]}, "m"), ({"ml": -1.0}, "ml"), ({"ml": [1.0, 2.0]}, "ml"), ({"I": [1.0, -1.0]}, "I"),
        ({"B": [[1.0, 2.0, 3.0]]}, "B"), ({"B": "1"}, "B"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(change: dict[str, Any], told: str) -> None:
    good: dict[str, Any] = {
        "q": [0.1, 0.2], "qd": [0.0, 0.0], "nj": 2, "L": [1.0, 1.0], "Lc": [0.5, 0.5], "m": [1.0, 1.0], "ml": 0.0, "I": [0.1, 0.1], "B": [0.0, 0.0],
    }  # fmt: skip
    dynmodel(**good)
    with pytest.raises(ManipulaError, match=f"'{told}"):
        dynmodel(**{**good, **change})


def test_torques_need_an_acceleration_per_joint() -> None:
    found = dynmodel(*arguments(CASES[0]))
    with pytest.raises(ShapeError, match="qdd"):
        found.torque([1.0])
    with pytest.raises((ShapeError, DescriptionError), match="L"):
        kinmodel([0.1], [], [0.1])
