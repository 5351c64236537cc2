"""Ranges hold every value: random numbers inside go through the same formula and stay inside."""

from __future__ import annotations

import numpy as np
import pytest

from manipula.algebra import ops
from manipula.algebra.expression import parse
from manipula.algebra.jet import Jet
from manipula.algebra.ranges import Range, as_range

FORMULAS = [
    "sin(3*t)", "cos(t)^2 - t", "tan(t/3)", "exp(-t^2)*t", "1/(t + 3)", "1/(t^2 + 0.1)", "abs(t - 0.3)", "sign(t)*t", "floor(2*t)", "sqrt(t^2 + 1)",
    "atan2(t, t + 3)", "atan2(t, 0.5 - t)", "min(t, 0.2, t^2)", "max(t, -t)", "tanh(5*t) + sinh(t)*cosh(t)", "asin(t/3) + acos(t/3)", "atan(t)^3", "log(t + 3)",
    "2^t", "(t + 3)^1.5", "(t + 3)^(-2)", "t*t - t", "t^5", "t^4 - t^3",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_every_value_lies_in_its_range(text: str) -> None:
    rng = np.random.default_rng(1)
    formula = parse(text, ("t",))
    low = rng.uniform(-2.0, 2.0, 400)
    high = low + rng.choice([1e-9, 1e-3, 0.1, 1.0], 400)
    t = Range(low, high)
    with np.errstate(all="ignore"):
        value = as_range(formula.evaluate({"t": t}))
        along = formula.evaluate({"t": Jet([t, as_range(1.0)])})
    slope, torn = (
        as_range(along.coefficients[1]),
        as_range(along.coefficients[0]).torn | as_range(along.coefficients[1]).torn,
    )
    for _ in range(20):
        at = low + rng.random(400) * (high - low)
        exact = np.array([float(formula.evaluate({"t": float(x)})) for x in at])
        room = 1e-12 * (1.0 + np.abs(exact))
        assert (exact >= value.low - room).all()
        assert (exact <= value.high + room).all()
        rate = np.array(
            [getattr(formula.evaluate({"t": Jet([float(x), 1.0])}), "coefficients", (0.0, 0.0))[1] for x in at]
        )
        sure = ~np.broadcast_to(torn, at.shape)
        room = 1e-9 * (1.0 + np.abs(rate))
        assert (rate >= slope.low - room)[sure].all()
        assert (rate <= slope.high + room)[sure].all()


def test_conditions_that_are_not_certain_take_both_branches() -> None:
    t = Range([0.0, 0.4, 0.9], [0.3, 0.6, 1.0])
    found = ops.where((t > 0.5) & ~(t > 0.95), 7.0, ops.where(t < 0.1, -1.0, 2.0))
    np.testing.assert_array_equal(found.low, [-1.0, 2.0, 2.0])
    np.testing.assert_array_equal(found.high, [2.0, 7.0, 7.0])
    np.testing.assert_array_equal(found.torn, [True, True, True])
    sure = ops.where(t >= 0.4, 1.0, 0.0)
    np.testing.assert_array_equal(sure.torn, [False, False, False])


def test_tight_where_a_number_occurs_once() -> None:
    t = Range([-1.0], [2.0])
    assert (t**2).low[0] == 0.0
    assert (t * t).high[0] == 4.0
    assert abs(t).high[0] == 2.0
    assert (1.0 / Range([1.0], [4.0])).low[0] == 0.25
    assert Range([3.0], [3.3]).cos().low[0] == -1.0
    assert np.isinf((1.0 / t).high[0])


@pytest.mark.parametrize("text", [*FORMULAS, "cos(t^3 - 2*max(t - 1, 0)^3)", "(abs(t) + 1)^2.5/(2 + min(t, 1)*t)"])
@pytest.mark.parametrize("order", [1, 2])
def test_ranges_of_derivatives_of_derivatives(text: str, order: int) -> None:
    """A series whose coefficients are series of ranges; each value of the exact derivative lies in them."""
    formula = parse(text, ("t",))
    low = np.random.default_rng(2).uniform(-2.0, 2.0, 100)
    width = 1e-3
    inner = Jet([Range(low, low + width), as_range(1.0)], level=1)
    with np.errstate(all="ignore"):
        found = formula.evaluate({"t": Jet.variable(inner, order)})
        at = low + 0.3 * width
        exact = [formula.evaluate({"t": Jet.variable(float(x), order)}) for x in at]
    value = found.derivative(order) if isinstance(found, Jet) else 0.0
    top = as_range(value.coefficients[0] if isinstance(value, Jet) else value)
    for k, e in enumerate(exact):
        true = float(e.derivative(order)) if isinstance(e, Jet) else 0.0
        if np.isfinite(true):
            room = 1e-9 * (1.0 + abs(true))
            assert (
                np.broadcast_to(top.low, low.shape)[k] - room <= true <= np.broadcast_to(top.high, low.shape)[k] + room
            )
