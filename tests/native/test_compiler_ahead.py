"""What the turns of a short loop compute from their number alone is computed before it: the same bits, alone, in batches and in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from manipula import native
from manipula.algebra import ops
from manipula.native.llvm import target, turns
from manipula.native.lowering import ahead
from manipula.native.lowering.ahead import ahead_of
from manipula.native.lowering.passes import lower

CLOSE = 1e-13  # compiled against plain: fused operations


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch) -> None:
    monkeypatch.setenv("MANIPULA_CACHE", "off")


def plan_of(kernel: native.Kernel) -> ahead.Ahead | None:
    graph = lower(kernel.graph)
    found = [ahead_of(graph, loop) for loop in graph.loops()]
    return next((plan for plan in found if plan is not None), None)


def stages(count: int) -> Any:
    """A loop of so many stages, with much that follows from the time of a stage alone: formulas, a table, comparisons."""
    nodes = np.linspace(0.0, 1.0, count)
    table = native.table(np.array([0.0, 0.3, 0.7, 2.0]), np.random.default_rng(1).normal(size=(3, 2, 4)))

    def run(x: Any, t: Any, h: Any, p: Any) -> Any:
        def stage(i: Any, y: Any, total: Any) -> Any:
            s = t + native.lookup(nodes, i) * h
            a = p * ops.sin(20.0 * s) + ops.cos(ops.sin(3.0 * s))
            late = s > 0.4
            around = late & (s < 0.8)
            b = ops.where(around, ops.exp(-s), a)
            u, v = table(s)
            inner = native.until(lambda z: (0.5 * (z + b),), (y[0],), lambda z: ops.abs(z - b) < 0.1, 3).state[0]
            slope = np.array([ops.where(late, u, -u) * y[1] + a, v * y[0] - b * ops.where(around, inner, y[0])], object)
            return x + 0.1 * h * slope, total + slope

        return native.repeat(stage, (x, np.zeros(2)), count).state[1]

    return run


INPUTS: dict[str, tuple] = {"x": (2,), "t": (), "h": (), "p": ()}


def given(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 2)), rng.uniform(0.0, 1.0, count), rng.normal(size=count)


@pytest.mark.parametrize(
    ("count", "segment"), [(2, 0), (3, 0), (4, 0), (5, 0), (7, 0), (8, 0), (4, 5), (4, 10**6), (8, 10**6)]
)
def test_alone_in_batches_and_in_python(monkeypatch, count: int, segment: int) -> None:
    if segment:  # a graph that is cut: into short pieces, or into one that holds the loop
        monkeypatch.setattr(target, "INLINE", 0)
        monkeypatch.setattr(target, "SEGMENT", segment)
    f = stages(count)
    kernel = native.compile_function(f, INPUTS)
    plan = plan_of(kernel)
    assert plan is not None
    assert plan.turns == count
    x, t, p = given(21)
    alone = np.array([kernel(a, b, 0.1, c) for a, b, c in zip(x, t, p)])
    assert np.array_equal(kernel(x, t, 0.1, p), alone)  # every state has a time of its own
    same = np.array([kernel(a, 0.25, 0.1, 1.5) for a in x])
    assert np.array_equal(kernel(x, np.full(21, 0.25), 0.1, np.full(21, 1.5)), same)  # all of them one
    mixed = t.copy()
    mixed[:8] = 0.25  # some that stand side by side agree, others do not
    assert np.array_equal(kernel(x, mixed, 0.1, p), np.array([kernel(a, b, 0.1, c) for a, b, c in zip(x, mixed, p)]))
    plain = np.array([np.asarray(f(a, float(b), 0.1, float(c)), float) for a, b, c in zip(x, t, p)])
    assert np.max(np.abs(alone - plain)) < CLOSE * np.max(np.abs(plain))


def test_the_same_bits_as_turn_by_turn(monkeypatch) -> None:
    x, t, p = given(16)
    t[:8] = t[0]
    p[:8] = p[0]
    quick = native.compile_function(stages(4), INPUTS)(x, t, 0.1, p)
    monkeypatch.setattr(ahead, "LEAST", 10**9)
    kernel = native.compile_function(stages(4), INPUTS)
    assert plan_of(kernel) is None
    assert np.array_equal(kernel(x, t, 0.1, p), quick)
    assert np.array_equal(kernel(x[0], t[0], 0.1, p[0]), quick[0])


def test_zeros_of_different_sign_and_nan_are_not_the_same_time() -> None:
    def run(x: Any, t: Any) -> Any:
        def stage(i: Any, y: Any) -> Any:
            s = t * native.lookup(np.array([1.0, -1.0, 2.0, 0.5]), i)
            return y + ops.atan2(s, -1.0) + ops.sin(s) * ops.cos(s) + s * s

        return native.repeat(stage, (x,), 4).state[0]

    kernel = native.compile_function(run, {"x": (), "t": ()})
    assert plan_of(kernel) is not None
    for t in ([0.0, -0.0] * 4, [np.nan] * 8, [0.0] * 7 + [np.nan], [np.inf, 1.0] * 4):
        alone = np.array([kernel(0.0, v) for v in t])
        assert np.array_equal(kernel(np.zeros(8), np.array(t)), alone, equal_nan=True)


def test_what_the_state_has_a_part_in_stays_in_the_loop(monkeypatch) -> None:
    """Loops that end early, record, run long or count at run time keep everything; the number of a turn may itself be asked for."""
    seen: list[Any] = []
    original = turns.Turns.__init__
    monkeypatch.setattr(turns.Turns, "__init__", lambda self, f, plan, block: (seen.append(plan), original(self, f, plan, block))[1])  # fmt: skip

    def busy(i: Any, t: Any) -> Any:
        return ops.sin(t * i) + ops.exp(-t * i) * ops.cos(i + t)

    shared = ("steps",)
    cases = {
        "long": (lambda x, t, steps: native.repeat(lambda i, y: y + busy(i, t), (x,), 9).state[0], False),
        "counted": (lambda x, t, steps: native.repeat(lambda i, y: y + busy(i, t), (x,), steps).state[0], False),
        "stops": (
            lambda x, t, steps: native.repeat(lambda i, y: y + busy(i, t), (x,), 4, stop=lambda i, y: y > 2.0).state[0],
            False,
        ),
        "index": (lambda x, t, steps: native.repeat(lambda i, y: y * i + busy(i, t), (x,), 4).state[0], True),
    }
    for name, (f, wanted) in cases.items():
        seen.clear()
        kernel = native.compile_function(f, {"x": (), "t": (), "steps": ()}, shared=shared)
        for x, t in ((0.3, 0.7), (1.1, -0.4)):
            plain = float(f(x, t, 3))
            assert abs(kernel(x, t, 3) - plain) <= CLOSE * (1.0 + abs(plain)), name
        batch = kernel(np.array([0.3, 1.1]), np.array([0.7, -0.4]), 3)
        assert np.array_equal(batch, [kernel(0.3, 0.7, 3), kernel(1.1, -0.4, 3)]), name
        assert bool(seen) == wanted, name
