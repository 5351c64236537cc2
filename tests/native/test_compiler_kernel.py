"""Calling kernels: broadcasting, memory, threads, hostile arguments, no compiler."""

import subprocess
import sys

import numpy as np
import pytest

from manipula import native
from manipula.algebra import ops
from manipula.errors import CompileError, ShapeError
from manipula.native.llvm import objects, target
from manipula.native.llvm.compiler import module_text
from manipula.native.llvm_text import ModuleText


def f(q, qd, m):
    return {"tau": ops.sin(q) * qd * m, "M": np.outer(q, qd) + m, "E": m * (qd @ qd)}


KERNEL = native.compile_function(f, {"q": (5,), "qd": (5,), "m": ()}, name="arm")
RNG = np.random.default_rng(0)


def plain(q, qd, m):
    return [np.asarray(v, float) for v in f(q, qd, m).values()]


@pytest.mark.parametrize(
    ("q", "qd", "m"),
    [
        ((), (), ()),
        ((1,), (1,), (1,)),
        ((7,), (7,), (7,)),
        ((3, 4), (3, 4), (3, 4)),
        ((7,), (), ()),
        ((3, 1), (4,), ()),
        ((2, 1, 3), (4, 1), (1,)),
        ((0,), (), ()),
        ((2, 0), (1, 1), ()),
        ((1000,), (1, 1000), ()),
    ],
)
def test_leading_axes_broadcast(q, qd, m):
    q, qd, m = RNG.normal(size=(*q, 5)), RNG.normal(size=(*qd, 5)), RNG.normal(size=m)
    batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1], m.shape)
    results = KERNEL(q, qd, m)
    interpreted = KERNEL.python(q, qd, m)
    assert [np.shape(r) for r in results] == [(*batch, 5), (*batch, 5, 5), batch]
    q, qd, m = np.broadcast_to(q, (*batch, 5)), np.broadcast_to(qd, (*batch, 5)), np.broadcast_to(m, batch)
    for index in list(np.ndindex(batch))[:20]:
        for ours, other, expected in zip(results, interpreted, plain(q[index], qd[index], m[index])):
            np.testing.assert_allclose(ours[index], expected, rtol=1e-14, atol=1e-15)
            np.testing.assert_allclose(other[index], expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.tolist(),
        lambda x: np.asfortranarray(x),
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: x[::-1][::-1],
        lambda x: x.astype(">f8"),
        lambda x: np.lib.stride_tricks.as_strided(x.copy(), x.shape, x.strides),
        lambda x: x.view(np.ndarray),
    ],
)
def test_any_layout_gives_the_same_bits(change):
    q, qd = RNG.normal(size=(2, 9, 5))
    expected = KERNEL(q, qd, 2.0)
    for ours, theirs in zip(KERNEL(change(q), change(qd), 2.0), expected):
        np.testing.assert_array_equal(ours, theirs)


def test_integers_are_numbers_and_text_is_not():
    np.testing.assert_array_equal(KERNEL(np.ones(5, int), [1, 2, 3, 4, 5], 1)[2], 55.0)
    for wrong in ("text", np.ones(5, complex), [object()] * 5, None):
        with pytest.raises(ShapeError, match="arm: argument 'qd' "):
            KERNEL(np.ones(5), wrong, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones(4), np.ones(5), 1.0), r"arm: argument 'q' has shape \(4,\), expected \(\.\.\., 5\)"),
        ((np.ones(5), 1.0, 1.0), r"arm: argument 'qd' has shape \(\), expected \(\.\.\., 5\)"),
        ((np.ones((3, 5)), np.ones((4, 5)), 1.0), r"arm: leading axes .*'q' \(3, 5\), 'qd' \(4, 5\)"),
    ],
)
def test_wrong_shapes_name_kernel_argument_and_expectation(arguments, message):
    for call in (KERNEL, KERNEL.python):
        with pytest.raises(ShapeError, match=message):
            call(*arguments)


def test_wrong_number_of_arguments():
    with pytest.raises(TypeError, match=r"arm\(\) takes 3 arguments \(q, qd, m\), 2 were given; missing: m"):
        KERNEL(np.ones(5), np.ones(5))


@pytest.mark.parametrize("count", [(), (1,), (6,), (3000,)])
def test_out_receives_the_results(count):
    q, qd = RNG.normal(size=(2, *count, 5))
    expected = KERNEL(q, qd, 1.5)
    out = (np.empty((*count, 5)), np.empty((*count, 5, 5)), np.empty(count))
    returned = KERNEL(q, qd, 1.5, out=out)
    for array, given, value in zip(returned, out, expected):
        assert array is given
        np.testing.assert_array_equal(array, value)


def test_out_may_be_strided_or_overlap_the_inputs():
    kernel = native.compile_function(lambda x: x[::-1] + 1.0, {"x": (3,)})
    x = RNG.normal(size=(1000, 3))
    expected = x[:, ::-1] + 1.0
    wide = np.zeros((1000, 6))
    kernel(x, out=wide[:, ::2])
    np.testing.assert_array_equal(wide[:, ::2], expected)
    same = x.copy()
    kernel(same, out=same)
    np.testing.assert_array_equal(same, expected)
    base = np.concatenate([x.ravel(), np.zeros(3)])
    kernel(base[:-3].reshape(1000, 3), out=base[3:].reshape(1000, 3))
    np.testing.assert_array_equal(base[3:].reshape(1000, 3), expected)


def test_wrong_out_is_refused():
    q = np.ones((2000, 5))
    with pytest.raises(ShapeError, match="3 outputs"):
        KERNEL(q, q, 1.0, out=np.empty((2000, 5)))
    kernel = native.compile_function(lambda x: x, {"x": (3,)}, name="copy")
    with pytest.raises(ShapeError, match="copy: out"):
        kernel(np.ones((2000, 3)), out=np.empty((2000, 4)))
    with pytest.raises(ShapeError, match="float64"):
        kernel(np.ones((2000, 3)), out=np.empty((2000, 3), np.float32))


def test_threads_change_no_bit():
    q, qd = RNG.normal(size=(2, 20011, 5))
    one = KERNEL(q, qd, 1.0, threads=1)
    for threads in (2, 3, None):
        for ours, theirs in zip(KERNEL(q, qd, 1.0, threads=threads), one):
            np.testing.assert_array_equal(ours, theirs)


def test_not_a_number_and_infinity_stay_in_their_state():
    q, qd = RNG.normal(size=(2, 8, 5))
    clean = KERNEL(q, qd, 1.0)
    q[3] = np.nan
    qd[5] = np.inf
    results = KERNEL(q, qd, 1.0)
    assert all(np.isnan(x[3]).all() for x in results[:2])  # the energy does not depend on q
    assert not any(np.isfinite(x[5]).any() for x in results)
    for dirty, before in zip(results, clean):
        rest = [0, 1, 2, 4, 6, 7]
        np.testing.assert_array_equal(dirty[rest], before[rest])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9])
@pytest.mark.parametrize("width", [4, 8])
def test_rows_of_any_length_are_read_and_written(size, width):
    kernel = native.compile_function(lambda x: x * np.arange(1.0, size + 1), {"x": (size,)}, width=width)
    for count in (1, 2, 7, 8, 9):
        x = RNG.normal(size=(count + 2, size))
        out = np.full((count + 2, size), 9.0)
        kernel(x[1:-1], out=out[1:-1])
        np.testing.assert_array_equal(out[1:-1], x[1:-1] * np.arange(1.0, size + 1))
        np.testing.assert_array_equal(out[[0, -1]], 9.0)


def test_constants_and_inputs_as_outputs_and_empty_arrays():
    kernel = native.compile_function(lambda x: (np.eye(2), x[1], np.zeros((0, 3)), 2.5), {"x": (2,)})
    eye, x, empty, number = kernel(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    np.testing.assert_array_equal(eye, np.broadcast_to(np.eye(2), (3, 2, 2)))
    np.testing.assert_array_equal(x, [2.0, 4.0, 6.0])
    assert empty.shape == (3, 0, 3)
    np.testing.assert_array_equal(number, 2.5)


def test_a_function_without_inputs():
    kernel = native.compile_function(lambda: np.array([1.0, ops.sin(2.0)]), {})
    np.testing.assert_array_equal(kernel(), [1.0, np.sin(2.0)])


def test_widths_that_do_not_exist_are_refused():
    with pytest.raises(CompileError, match="width 3"):
        native.compile_function(lambda x: x, {"x": ()}, width=3)


def test_shared_inputs_are_the_same_for_all_states():
    kernel = native.compile_function(lambda x, g: x @ g, {"x": (3,), "g": (3,)}, shared=("g",))
    x, g = RNG.normal(size=(6, 3)), np.array([0.0, 0.0, -9.81])
    np.testing.assert_allclose(kernel(x, g), x @ g, rtol=1e-14)
    with pytest.raises(ShapeError, match=r"'g' has shape \(6, 3\), expected \(3,\)"):
        kernel(x, np.ones((6, 3)))


def test_everything_works_without_a_compiler():
    program = """
import sys
sys.modules["llvmlite"] = None
import numpy as np
from manipula import native
from manipula.algebra import ops
k = native.compile_function(lambda x, n: native.repeat(lambda i, y: y + ops.sin(x), (x,), n).state[0],
                            {"x": (2,), "n": ()}, shared=("n",))
assert not k.is_native
x = np.arange(6.0).reshape(3, 2)
out = np.empty((3, 2))
assert k(x, 3, out=out) is out
np.testing.assert_allclose(out, x + 3 * np.sin(x))
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_environment_can_forbid_the_compiler(monkeypatch):
    monkeypatch.setenv("MANIPULA_NO_LLVM", "1")
    kernel = native.compile_function(lambda x: x * 2.0, {"x": ()})
    assert not kernel.is_native
    assert kernel(1.5) == 3.0


def test_code_comes_from_the_cache_the_second_time(monkeypatch, tmp_path):
    monkeypatch.setenv("MANIPULA_CACHE_DIR", str(tmp_path / "objects"))
    monkeypatch.delenv("MANIPULA_CACHE", raising=False)
    q = np.ones((6, 5))
    results = []
    for expected in (False, True):
        kernel = native.compile_function(f, {"q": (5,), "qd": (5,), "m": ()})
        results.append(kernel(q, q, 1.25))
        assert kernel.from_cache is expected
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)
    other = native.compile_function(lambda q, qd, m: f(q, qd, 2.0 * m), {"q": (5,), "qd": (5,), "m": ()})
    other(q, q, 1.25)
    assert not other.from_cache


def test_rows_with_gaps_are_copied_once_and_repeated_rows_never() -> None:
    """Machine code takes rows with gaps one by one, which is ten times slower than a copy; a row that is repeated needs none."""
    from manipula.native.tracing.arguments import rows_without_gaps

    q = np.random.default_rng(3).uniform(-1.0, 1.0, (300, 4))
    repeated = np.broadcast_to(q[0], q.shape)
    for kept in (q, q[::2], repeated, q[:0]):
        assert rows_without_gaps(kept, 1) is kept
    for gaps in (np.asfortranarray(q), np.repeat(q, 2, axis=1)[:, ::2], q[:, ::-1]):
        assert rows_without_gaps(gaps, 1).flags.c_contiguous

    kernel = native.compile_function(lambda a, b: ops.sin(a) * b[::-1], {"a": (4,), "b": (4,)}, "gaps")
    for a, b in ((np.asfortranarray(q), repeated), (q, repeated), (q[::2], q[:, ::-1][::2])):
        for options in ({}, {"threads": 1}):
            expected = kernel(np.array(a), np.array(b))
            assert np.array_equal(kernel(a, b, **options), expected)


def test_the_scheduler_of_llvm_is_on_again_behind_a_run(monkeypatch):
    """A run is emitted without it, anything else with it: what others compile in this process is as before."""
    set_to = []
    real = objects.llvm.set_option
    monkeypatch.setattr(objects.llvm, "set_option", lambda name, value: (set_to.append(value), real(name, value)))
    text = "define void @f(ptr %x) { ret void }"
    objects.compile_object(ModuleText("function", text))
    assert set_to == []
    objects.compile_object(ModuleText("run", text, in_order=True))
    with pytest.raises(CompileError, match="refused the module"):
        objects.compile_object(ModuleText("wrong", "define i64 @f() { ret double 0.0 }", in_order=True))
    assert set_to == [f"{objects.RESCHEDULING}=false", f"{objects.RESCHEDULING}=true"]
    monkeypatch.setattr(objects, "KNOWN_LLVM", range(0))
    objects.compile_object(ModuleText("run", text, in_order=True))
    assert len(set_to) == 2


def test_functions_whose_arguments_are_made_one_after_the_other_share_a_call():
    """Code for one state computes exponentials of several joints in one call, also where every argument takes a few operations of its own."""

    def friction(q, qd, vs):
        at = [ops.where(r * r < 40.0, -(r * r), -1000.0) for r in qd / vs]
        return np.array([ops.sin(a) * (1.0 + 2.0 * ops.exp(p)) + b for a, b, p in zip(q, qd, at)], object)

    graph = native.trace(friction, {"q": (6,), "qd": (6,), "vs": (6,)})
    text = module_text(graph, 1).text
    body = text[text.index("define void @one") :]
    widest = target.processor().width
    assert body.count("call") > 0
    for name, calls in (("exp", -(-6 // widest)), ("sin", -(-6 // widest))):
        assert body.count(f"@manipula_math_{name}_") == calls, name
        assert f"@manipula_math_{name}_1(" not in body, name
    kernel = native.compile_function(friction, {"q": (6,), "qd": (6,), "vs": (6,)})
    q, qd, vs = RNG.normal(size=(3, 50, 6))
    alone = np.array([kernel(*row) for row in zip(q, qd, vs)])
    assert np.array_equal(kernel(q, qd, vs), alone)
    assert np.max(np.abs(alone - [np.asarray(friction(*row), float) for row in zip(q, qd, vs)])) < 1e-13
