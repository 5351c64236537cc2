"""Operations of the planar model, counted by running it on numbers that remember where they came from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manipula.errors import BudgetError, DescriptionError
from manipula.formats.dh import from_dh
from manipula.formats.planar import planar
from manipula.physics.planar import PlanarConstants, arm_constants, planar_arm, planar_model

TABLE = json.loads((Path(__file__).parent.parent / "data" / "flops.json").read_text(encoding="utf-8"))["rows"]


class Counted:
    """A number whose every + − × negation sin cos is one operation, kept with its operands.

    A plain 0 is a payload that is not there: adding it or multiplying by it costs nothing.
    """

    def __init__(self, *operands: Any) -> None:
        self.operands = [x for x in operands if isinstance(x, Counted)]
        self.is_input = not operands

    def __add__(self, other: Any) -> Any:
        return self if isinstance(other, float) and other == 0.0 else Counted(self, other)

    def __mul__(self, other: Any) -> Any:
        return 0.0 if isinstance(other, float) and other == 0.0 else Counted(self, other)

    def _operation(self, *others: Any) -> Counted:
        return Counted(self, *others)

    __radd__, __rmul__ = __add__, __mul__
    __sub__ = __rsub__ = __neg__ = sin = cos = _operation

    def __repr__(self) -> str:
        return "·"


def operations(results: Iterable[Any]) -> int:
    """How many operations lie behind these numbers, each counted once."""
    seen: dict[int, Counted] = {}
    stack = [x for x in results if isinstance(x, Counted)]
    while stack:
        x = stack.pop()
        if id(x) not in seen:
            seen[id(x)] = x
            stack.extend(x.operands)
    return sum(not x.is_input for x in seen.values())


def inputs(n: int) -> np.ndarray:
    return np.array([Counted() for _ in range(n)], object)


def entries(*arrays: np.ndarray) -> list[Any]:
    return [x for a in arrays for x in np.ravel(a)]


@pytest.mark.parametrize("n", range(2, 21))
def test_complete_model(n: int) -> None:
    arm = PlanarConstants(list(inputs(n)), list(inputs(n)), list(inputs(n)), Counted())
    x, J, Jd, H, h, g = planar_model(arm, inputs(n), inputs(n))
    assert operations(entries(x, J, Jd)) <= 12 * n - 2
    assert operations(entries(x, J, Jd, H, h, g)) <= 2 * n * n + 34 * n - 30


@pytest.mark.parametrize("n", range(2, 21))
def test_nothing_is_computed_in_vain(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every operation that was executed lies behind a result: the count above hides none."""
    executed = 0
    create = Counted.__init__

    def counting(self: Counted, *operands: Any) -> None:
        nonlocal executed
        executed += bool(operands)
        create(self, *operands)

    monkeypatch.setattr(Counted, "__init__", counting)
    arm = PlanarConstants(list(inputs(n)), list(inputs(n)), list(inputs(n)), Counted())
    assert executed == operations(entries(*planar_model(arm, inputs(n), inputs(n))))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"n={row['n']}")
def test_beside_the_published_table(row: dict[str, Any]) -> None:
    n = row["n"]
    arm = PlanarConstants(list(inputs(n)), list(inputs(n)), list(inputs(n)), Counted())
    found = planar_model(arm, inputs(n), inputs(n))
    kinematics, complete = operations(entries(*found[:3])), operations(entries(*found))
    constants = arm_constants(inputs(n), inputs(n), inputs(n), inputs(n), 0.0, Counted())
    once = operations([*constants.p, *constants.d])
    assert kinematics <= row["own_kinmodel"] < row["paper_kinmodel"]
    assert complete <= row["own_dynmodel"] < row["paper_dynmodel"]
    assert once <= 8 * n - 6
    assert complete + once <= row["own_dynmodel_incl_arm_constants"]


def test_arm_constants_are_those_of_the_robot() -> None:
    rng = np.random.default_rng(1)
    l, m, inertia = rng.uniform(0.2, 1.0, (3, 6))
    lc = l * rng.uniform(0.2, 0.8, 6)
    by_hand = arm_constants(l, lc, m, inertia, 1.5, 9.81)
    of_robot = planar_arm(planar(l, m, lc, inertia, payload=1.5))
    for a, b in zip(by_hand, of_robot):
        assert np.allclose(np.array(a, float), np.array(b, float), rtol=1e-14, atol=0)


def test_robots_that_are_not_planar_arms_are_refused() -> None:
    bent = from_dh([{"a": 1.0, "alpha": 0.3}, {"a": 1.0}], "standard")
    with pytest.raises(DescriptionError, match="not a planar n-R arm"):
        planar_arm(bent)
    with pytest.raises(DescriptionError, match="not a planar n-R arm"):
        planar_arm(from_dh([{"a": 1.0}, {"joint": "prismatic"}], "standard"))
    with pytest.raises(DescriptionError, match="gravity"):
        planar_arm(planar([1.0, 1.0], [1.0, 1.0], gravity=(0.0, 0.0, -9.81)))


def test_a_hundred_thousand_links_are_refused() -> None:
    n = 100_000
    with pytest.raises(BudgetError, match="100000"):
        planar([1.0] * n, [1.0] * n)
    with pytest.raises(BudgetError, match="100000"):
        from_dh([{"a": 1.0}] * n, "standard")


def test_one_link_is_a_pendulum() -> None:
    l, lc, m, I, q, qd = 0.8, 0.3, 2.0, 0.05, 0.7, 1.1
    found = planar_model(planar_arm(planar([l], [m], [lc], [I])), [q], [qd])
    c, s = np.cos(q), np.sin(q)
    expected = (
        [l * c, l * s],
        [[-l * s], [l * c]],
        [[-l * c * qd], [-l * s * qd]],
        [[I + m * lc**2]],
        [0.0],
        [9.81 * m * lc * c],
    )
    for value, reference in zip(found, expected):
        assert np.allclose(np.array(value, float), reference, rtol=1e-15, atol=1e-15)
