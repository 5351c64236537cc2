"""Loops in machine code: counted, until converged, nested, in one piece and cut, against plain Python."""

import numpy as np
import pytest

from manipula import native
from manipula.algebra import ops
from manipula.errors import BudgetError, ShapeError, TracingError
from manipula.native.llvm import target

CLOSE = 1e-13  # fused operations over a few hundred steps of a stable system
G = 9.81


@pytest.fixture(params=["one function", "cut"])
def _cut(request, monkeypatch):
    monkeypatch.setenv("MANIPULA_CACHE", "off")
    if request.param == "cut":
        monkeypatch.setattr(target, "INLINE", 0)
        monkeypatch.setattr(target, "INLINE_RUN", 0)
        monkeypatch.setattr(target, "SEGMENT", 5)


pytestmark = pytest.mark.usefixtures("_cut")


def pendulum(x, damping):
    return np.array([x[1], -G * ops.sin(x[0]) - damping * x[1]], object)


def rk4(x, h, damping):
    k1 = pendulum(x, damping)
    k2 = pendulum(x + 0.5 * h * k1, damping)
    k3 = pendulum(x + 0.5 * h * k2, damping)
    k4 = pendulum(x + h * k3, damping)
    return x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def simulation(x0, steps, every, h, damping):
    """RK4 with samples; stops when the pendulum swings through −0.3 rad."""
    run = native.repeat(
        lambda i, x: rk4(x, h, damping),
        (x0,),
        steps,
        record=lambda i, x: {"t": i * h, "x": x, "energy": 0.5 * x[1] ** 2 - G * ops.cos(x[0])},
        every=every,
        stop=lambda i, x: x[0] < -0.3,
    )
    return {"end": run.state[0], "stopped": run.stopped, **run.samples}


INPUTS = {"x0": (2,), "steps": (), "every": (), "h": (), "damping": ()}


def simulator():
    return native.compile_function(simulation, INPUTS, shared=("steps", "every"))


def starts(count):
    rng = np.random.default_rng(3)
    return np.column_stack([rng.uniform(0.1, 1.5, count), rng.uniform(-0.5, 0.5, count)])


@pytest.mark.parametrize(("steps", "every"), [(120, 10), (121, 10), (1, 1), (0, 3), (7, 50)])
def test_rk4_with_samples_and_stop_like_plain_python(steps, every):
    kernel = simulator()
    x0, damping = starts(6), np.array([0.0, 0.3, 8.0, 0.0, 1.0, 0.1])
    results = dict(zip(kernel.graph.outputs, kernel(x0, steps, every, 0.01, damping)))
    interpreted = dict(zip(kernel.graph.outputs, kernel.python(x0, steps, every, 0.01, damping)))
    assert results["x"].shape == (6, steps // every + 1, 2)
    assert results["t"].shape == (6, steps // every + 1)
    for k in range(6):
        plain = simulation(x0[k], steps, every, 0.01, damping[k])
        for name, value in plain.items():
            expected = np.asarray(value, float)
            np.testing.assert_allclose(results[name][k], expected, rtol=CLOSE, atol=CLOSE, err_msg=name)
            np.testing.assert_allclose(interpreted[name][k], expected, rtol=CLOSE, atol=CLOSE, err_msg=name)


def test_the_batch_holds_states_that_stop_and_states_that_do_not():
    stopped = simulator()(starts(6), 120, 10, 0.01, np.array([0.0, 0.3, 8.0, 0.0, 1.0, 0.1]))[1]
    assert (stopped >= 0).any()
    assert (stopped < 0).any()


def test_one_state_and_a_batch_give_the_same_bits():
    kernel = simulator()
    x0 = starts(7)
    batch = kernel(x0, 100, 7, 0.01, 0.2)
    for k in range(7):
        for alone, together in zip(kernel(x0[k], 100, 7, 0.01, 0.2), batch):
            np.testing.assert_array_equal(alone, together[k])


def test_a_new_duration_needs_no_new_code():
    kernel = simulator()
    kernel(starts(5), 10, 1, 0.01, 0.0)
    kernel(starts(1)[0], 10, 1, 0.01, 0.0)
    before = dict(kernel._codes)
    assert kernel(starts(5), 5000, 100, 0.001, 0.0)[2].shape == (5, 51)
    assert kernel._codes == before


def test_a_state_that_is_no_longer_finite_freezes():
    def grow(x, n):
        run = native.repeat(lambda i, y: y * y * 1e3, (x,), n, stop=lambda i, y: ~native.is_finite(y))
        return run.state[0], run.stopped

    kernel = native.compile_function(grow, {"x": (), "n": ()}, shared=("n",))
    x = np.array([1.0, 1e-9, 10.0, 2.0])
    end, stopped = kernel(x, 12)
    for k in range(4):
        with np.errstate(over="ignore"):
            plain = grow(x[k], 12)
        assert plain == (end[k], stopped[k])


@pytest.mark.parametrize("steps", [float("nan"), -3.0, 0.5])
def test_hostile_step_counts_are_no_steps(steps):
    kernel = native.compile_function(
        lambda x, n: native.repeat(lambda i, y: y + 1.0, (x,), n).state[0], {"x": (), "n": ()}, shared=("n",)
    )
    assert kernel(2.0, steps) == 2.0
    np.testing.assert_array_equal(kernel(np.arange(5.0), steps), np.arange(5.0))
    np.testing.assert_array_equal(kernel.python(np.arange(5.0), steps), np.arange(5.0))


def test_too_many_steps_are_refused():
    kernel = native.compile_function(
        lambda x, n: native.repeat(lambda i, y: y + 1.0, (x,), n).state[0], {"x": (), "n": ()}, shared=("n",)
    )
    for call in (kernel, kernel.python):
        with pytest.raises(BudgetError, match="'n' is inf steps"):
            call(2.0, np.inf)


def test_runge_kutta_as_a_loop_over_its_stages():
    """The four stages as an inner loop whose coefficients are looked up."""
    nodes, weights = np.array([0.0, 0.5, 0.5, 1.0]), np.array([1.0, 2.0, 2.0, 1.0]) / 6.0

    def step(i, x):
        def stage(s, slope, total):
            slope = pendulum(x + native.lookup(nodes, s) * 0.01 * slope, 0.1)
            return slope, total + native.lookup(weights, s) * 0.01 * slope

        return native.repeat(stage, (np.zeros(2), x), 4).state[1]

    kernel = native.compile_function(
        lambda x, n: native.repeat(step, (x,), n).state[0], {"x": (2,), "n": ()}, shared=("n",)
    )
    x = starts(5)
    written_out = native.compile_function(
        lambda x, n: native.repeat(lambda i, y: rk4(y, 0.01, 0.1), (x,), n).state[0],
        {"x": (2,), "n": ()},
        shared=("n",),
    )
    np.testing.assert_allclose(kernel(x, 50), written_out(x, 50), rtol=CLOSE, atol=CLOSE)
    np.testing.assert_array_equal(kernel(x[1], 50), kernel(x, 50)[1])


def root(a, limit=60.0):
    found = native.until(lambda x: 0.5 * (x + a / x), (1.0,), lambda x: abs(x * x - a) <= 1e-15 * a, limit)
    return found.state[0], found.iterations


def test_until_each_state_of_a_batch_takes_its_own_number_of_steps():
    kernel = native.compile_function(root, {"a": ()})
    a = np.array([1.0, 2.0, 1e6, 1e-9, 4.0, 17.0])
    x, taken = kernel(a)
    np.testing.assert_allclose(x, np.sqrt(a), rtol=1e-15)
    assert taken[0] == 0
    assert len(set(taken)) > 3
    for k in range(6):
        assert root(a[k]) == (x[k], taken[k])
        assert kernel(a[k]) == (x[k], taken[k])
    np.testing.assert_array_equal(kernel.python(a)[1], taken)


def test_until_gives_up_at_the_limit():
    kernel = native.compile_function(root, {"a": (), "limit": ()})
    x, taken = kernel(np.array([-1.0, 2.0, np.nan]), 9.0)
    np.testing.assert_array_equal(taken, [9, 5, 9])
    assert np.isnan(x[2])
    assert kernel(2.0, 0.0) == (1.0, 0.0)


def test_until_inside_repeat():
    def implicit(x, n):
        """Backward Euler for ẋ = −x³, its equation solved by Newton's method."""

        def step(i, x):
            def newton(y):
                return y - (y - x + 0.1 * y**3) / (1.0 + 0.3 * y**2)

            return native.until(newton, (x,), lambda y: abs(y - x + 0.1 * y**3) < 1e-14, 30).state[0]

        return native.repeat(step, (x,), n).state[0]

    kernel = native.compile_function(implicit, {"x": (), "n": ()}, shared=("n",))
    x = np.array([0.1, 3.0, -2.0, 0.7, 50.0])
    expected = [implicit(v, 15) for v in x]
    np.testing.assert_allclose(kernel(x, 15), expected, rtol=CLOSE)
    np.testing.assert_allclose(kernel.python(x, 15), expected, rtol=CLOSE)
    assert kernel(x, 15)[1] == kernel(x[1], 15)


def test_repeat_inside_until():
    def f(a, n):
        """Doubles a step length until n small steps cover the distance a."""

        def covered(h):
            return native.repeat(lambda i, s: s + h * (1.0 + 0.01 * i), (0.0,), n).state[0]

        found = native.until(lambda h: 2.0 * h, (1e-3,), lambda h: covered(h) >= a, 50)
        return found.state[0], found.iterations

    kernel = native.compile_function(f, {"a": (), "n": ()}, shared=("n",))
    a = np.array([1e-3, 5.0, 70.0, 0.3, 2.0, 1e4])
    h, taken = kernel(a, 20)
    for k in range(6):
        assert f(a[k], 20) == (h[k], taken[k])
        assert kernel(a[k], 20) == (h[k], taken[k])


def test_what_does_not_change_is_computed_outside():
    def f(x, n):
        return native.repeat(lambda i, y: y + ops.exp(ops.sin(x) * x) * i, (x,), n).state[0]

    graph = native.trace(f, {"x": (), "n": ()}, shared=("n",))
    (loop,) = graph.loops()
    inside = {graph.operations[n].code for n in loop.body}
    assert inside <= {"param", "mul", "add"}
    assert native.compile_graph(graph)(0.3, 4) == pytest.approx(0.3 + np.exp(np.sin(0.3) * 0.3) * 6, rel=1e-15)


def test_states_may_swap_and_have_shapes():
    def f(a, n):
        M, k = native.repeat(lambda i, M, k: (M @ M[::-1].T * 0.1, k + 1.0), (a, 0.0), n).state
        x, y = native.repeat(lambda i, x, y: (y, x), (a[0, 0], a[1, 1]), n).state
        return M, k, x, y

    kernel = native.compile_function(f, {"a": (2, 2), "n": ()}, shared=("n",))
    a = np.random.default_rng(0).normal(size=(5, 2, 2))
    results = kernel(a, 3)
    for k in range(5):
        for ours, plain in zip(results, f(a[k], 3)):
            np.testing.assert_allclose(ours[k], np.asarray(plain, float), rtol=CLOSE)


def test_mistakes_are_named():
    def leak(x):
        kept = []
        native.repeat(lambda i, y: kept.append(y * 2.0) or y, (x,), 3)
        return kept[0] + x

    with pytest.raises(TracingError, match="outside"):
        native.trace(leak, {"x": ()})

    def leak_of_a_live_loop(x):
        kept = []
        end = native.repeat(lambda i, y: kept.append(y * 2.0) or y * 0.5, (x,), 3).state[0]
        return kept[0] + end

    with pytest.raises(TracingError, match="outside"):
        native.trace(leak_of_a_live_loop, {"x": ()})
    with pytest.raises(TracingError, match="shared"):
        native.trace(lambda x: native.repeat(lambda i, y: y, (x,), x * 2.0).state[0], {"x": ()})
    with pytest.raises(TracingError, match="shared"):
        native.trace(lambda x, n: native.repeat(lambda i, y: y, (x,), n).state[0], {"x": (), "n": ()})
    with pytest.raises(ShapeError, match="2 parts"):
        native.trace(lambda x: native.repeat(lambda i, y, z: y, (x, x), 3).state[0], {"x": ()})
    with pytest.raises(ShapeError, match="part 0"):
        native.trace(lambda x: native.repeat(lambda i, y: y[:1], (x,), 3).state[0], {"x": (2,)})
    with pytest.raises(TracingError, match="condition"):
        native.trace(lambda x: native.until(lambda y: y, (x,), lambda y: y).state[0], {"x": ()})
