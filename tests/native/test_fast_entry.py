"""Calling kernels from Python: the fast entry, the gufunc and the slow route agree, count references and pass errors on."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

from manipula.errors import CompileError
from manipula.native import binary_interface
from manipula.native.calling import fast_entry, gufunc
from manipula.native.calling import fast_entry_code as entry
from manipula.native.llvm_text import DOUBLE, LlvmValue, hexadecimal
from native_kernels import compile_formula

pytestmark = pytest.mark.skipif(
    not binary_interface.supported(), reason="the fast entry is made for CPython with the GIL"
)

CALLS = 100_000
N = 7


class Refusal(Exception):
    """Raised by fallbacks in these tests."""


def torque(e, rows):
    """tau_k = q_k + qd_k·qdd_k"""
    q, qd, qdd = rows
    return [[e.fadd(a, e.fmul(b, c)) for a, b, c in zip(q, qd, qdd)]]


def several(e, rows):
    """(x (2, 3), s ()) → s·x (2, 3), s + x₀ (), x₁ (1,)"""
    x, (s,) = rows
    return [[e.fmul(s, a) for a in x], [e.fadd(s, x[0])], [x[1]]]


@pytest.fixture(scope="module")
def torque_code():
    return compile_formula(torque, [N] * 3, [N], uses_workspace=True)


@pytest.fixture(scope="module")
def several_code():
    return compile_formula(several, [6, 1], [6, 1, 1])


def never(*arguments, **options):
    raise Refusal(arguments, options)


@pytest.fixture(scope="module")
def fast(torque_code):
    return fast_entry.make_callable(
        "torque", [(N,)] * 3, [(N,)], torque_code["one"], never, workspace=1, keep=torque_code
    )


@pytest.fixture(scope="module")
def fast_several(several_code):
    shapes = [(2, 3), ()], [(2, 3), (), (1,)]
    return fast_entry.make_callable("several", *shapes, several_code["one"], never, keep=several_code)


@pytest.fixture
def states():
    return np.random.default_rng(17).normal(size=(3, N))


def test_the_self_test_passes_here():
    assert fast_entry._entry_works()


def test_the_fast_entry_computes_what_the_slow_road_computes(fast, torque_code, states):
    slow = fast_entry.ctypes_callable([(N,)] * 3, [(N,)], torque_code["one"], workspace=1)
    q, qd, qdd = states
    assert np.array_equal(fast(q, qd, qdd), q + qd * qdd)
    assert np.array_equal(fast(q, qd, qdd), slow(q, qd, qdd))
    assert type(fast(q, qd, qdd)) is np.ndarray


def test_several_results_come_as_a_tuple_and_numbers_as_numpy_scalars(fast_several):
    x = np.arange(6.0).reshape(2, 3) + 0.5
    for number in (0.25, np.float64(0.25)):
        scaled, total, part = fast_several(x, number)
        assert np.array_equal(scaled, 0.25 * x)
        assert type(total) is np.float64
        assert total == 0.75
        assert part.shape == (1,)
        assert part[0] == x[0, 1]


def test_results_held_by_the_caller_are_never_overwritten(fast):
    one, zero = np.ones(N), np.zeros(N)
    held = [fast(one * k, zero, zero) for k in range(50)]
    views = [fast(one * k, zero, zero)[2:4] for k in range(50)]
    exported = [memoryview(fast(one * k, zero, zero)) for k in range(50)]
    for k in range(50):
        assert (held[k] == k).all()
        assert (views[k] == k).all()
        assert list(exported[k]) == [k] * N
    assert len({a.ctypes.data for a in held}) == 50


def test_altered_arrays_are_not_given_out_again(fast):
    one, zero = np.ones(N), np.zeros(N)
    for _ in range(20):
        a = fast(one, zero, zero)
        a.setflags(write=False)
        del a
        b = fast(one, zero, zero)
        assert b.flags.writeable
        del b
    watched = weakref.ref(fast(one, zero, zero))
    later = [fast(one * 2, zero, zero) for _ in range(2 * entry.POOL)]
    alive = watched()
    assert alive is None or (alive == 1).all()
    assert all((a == 2).all() for a in later)


def test_an_array_that_was_reshaped_in_place_is_not_given_out_again(fast_several):
    x = np.ones((2, 3))
    for _ in range(3 * entry.POOL):
        scaled = fast_several(x, 1.0)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer versions of NumPy advise against it
            scaled.shape = (3, 2)
        del scaled
        assert fast_several(x, 2.0)[0].shape == (2, 3)


def foreign_arguments(states):
    q, qd, qdd = states
    big = np.zeros((N, 2))
    unaligned = np.frombuffer(b"\0" * (8 * N + 1), dtype=np.uint8)[1:].view(np.float64)
    return {
        "list": (list(q), qd, qdd),
        "too few": (q, qd),
        "too many": (q, qd, qdd, q),
        "none": (),
        "wrong length": (q[:-1], qd, qdd),
        "wrong rank": (q.reshape(1, N), qd, qdd),
        "batch": (np.stack([q, q]), qd, qdd),
        "strided": (big[:, 0], qd, qdd),
        "reversed": (q[::-1], qd, qdd),
        "float32": (q.astype(np.float32), qd, qdd),
        "int": (np.arange(N), qd, qdd),
        "big endian": (q.astype(">f8"), qd, qdd),
        "complex": (q + 0j, qd, qdd),
        "object": (q.astype(object), qd, qdd),
        "subclass": (np.ma.masked_array(q), qd, qdd),
        "zero rank": (np.array(1.0), qd, qdd),
        "number": (1.0, qd, qdd),
        "nothing": (None, qd, qdd),
        "text": ("q", qd, qdd),
        "unaligned": (unaligned, qd, qdd),
        "last": (q, qd, None),
    }


def test_everything_else_goes_unchanged_to_the_fallback(torque_code, states):
    seen = []

    def fallback(*arguments, **options):
        seen.append((arguments, options))
        return "handed over"

    fast = fast_entry.make_callable("torque", [(N,)] * 3, [(N,)], torque_code["one"], fallback, workspace=1)
    for name, arguments in foreign_arguments(states).items():
        assert fast(*arguments) == "handed over", name
        assert all(given is got for given, got in zip(arguments, seen[-1][0], strict=True))
    out = np.empty(N)
    assert fast(*states, out=out, threads=2) == "handed over"
    assert seen[-1][1].keys() == {"out", "threads"}
    assert seen[-1][1]["out"] is out


def test_numbers_of_other_kinds_go_to_the_fallback(several_code):
    shapes = [(2, 3), ()], [(2, 3), (), (1,)]
    fast = fast_entry.make_callable(
        "several", *shapes, several_code["one"], lambda *a: "handed over", keep=several_code
    )
    x = np.ones((2, 3))
    for number in (1, True, np.float32(1), np.array(1.0), 1j, None, "1", np.ones(1)):
        assert fast(x, number) == "handed over"
    assert fast(x.T, 1.0) == "handed over"


def test_exceptions_of_the_fallback_arrive(fast, fast_several):
    with pytest.raises(Refusal):
        fast()
    with pytest.raises(Refusal):
        fast_several(1, 2, out=3)


def test_reference_counts_stay_where_they_are(fast, fast_several, states):
    q, qd, qdd = states
    x, number = np.ones((2, 3)), 0.1 + float(q[0])
    dtype = np.dtype(np.float64)
    watched = (q, qd, qdd, x, number, np.ndarray, np.float64, never, fast, fast_several)
    fast(q, qd, qdd)
    fast_several(x, number)
    before = [sys.getrefcount(thing) for thing in watched]
    dtype_before = sys.getrefcount(dtype)
    for _ in range(CALLS):
        fast(q, qd, qdd)
        fast_several(x, number)
    for _ in range(1000):
        with pytest.raises(Refusal):
            fast(q, qd, None)
    assert [sys.getrefcount(thing) for thing in watched] == before
    assert (
        abs(sys.getrefcount(dtype) - dtype_before) < 100
    )  # pooled arrays hold a few, others in the process come and go


def test_memory_does_not_grow(fast, fast_several, states):
    q, qd, qdd = states
    x = np.ones((2, 3))

    def rounds(count):
        kept = []
        for k in range(count):
            kept.append((fast(q, qd, qdd), fast_several(x, 0.5)))
            if k % 100 == 99:
                kept.clear()

    rounds(1000)
    gc.collect()
    tracemalloc.start()
    rounds(1000)
    gc.collect()
    first = tracemalloc.get_traced_memory()[0]
    rounds(20_000)
    gc.collect()
    growth = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    assert growth < 20_000  # one lost array a round would be 20 000 × 150 bytes


def test_a_discarded_function_releases_what_it_holds(torque_code, states):
    class Owner:
        function = None

    owner: Any = Owner()
    owner.function = fast_entry.make_callable(
        "torque", [(N,)] * 3, [(N,)], torque_code["one"], lambda *a, o=owner: o, workspace=1, keep=owner
    )
    result = owner.function(*states)
    held = sys.getrefcount(result)
    gone = weakref.ref(owner)
    del owner
    gc.collect()  # function → context → fallback → owner → function is a cycle
    assert gone() is None
    assert sys.getrefcount(result) == held - 1  # the context no longer remembers the array
    assert np.isfinite(result).all()


def test_large_results_are_not_remembered():
    size = fast_entry.REMEMBERED_BYTES // 8 + 1
    code = compile_formula(lambda e, rows: [[rows[0][0]]], [1], [1])  # writes the first double only
    fast = fast_entry.make_callable("large", [(1,)], [(size,)], code["one"], never, keep=code)
    large, other = fast(np.ones(1)), np.empty(size)
    assert large.shape == (size,)
    assert sys.getrefcount(large) == sys.getrefcount(other)


def test_unusual_signatures_are_left_to_the_fallback(torque_code):
    many = [(1,)] * (entry.MAX_ARGUMENTS + 1)
    assert fast_entry.make_callable("many", many, [(1,)], torque_code["one"], never) is never
    deep = [(1,) * (entry.MAX_RANK + 1)]
    assert fast_entry.make_callable("deep", deep, [(1,)], torque_code["one"], never) is never
    assert fast_entry.make_callable("nothing", [], [(1,)], torque_code["one"], never) is never


def test_an_unknown_interpreter_or_a_failed_self_test_leaves_the_fallback(torque_code, monkeypatch):
    arguments = "torque", [(N,)] * 3, [(N,)], torque_code["one"], never
    monkeypatch.setattr(fast_entry, "_entry_works", lambda: False)
    assert fast_entry.make_callable(*arguments) is never
    monkeypatch.undo()
    monkeypatch.setattr(fast_entry, "ctypes_callable", lambda *a, **o: lambda *b: (np.zeros(3), np.float64(0)))
    assert not fast_entry._self_test()
    monkeypatch.undo()
    monkeypatch.setattr(binary_interface, "ARRAY_FLAGS", binary_interface.ARRAY_FLAGS + 8)
    assert not binary_interface._layout_as_expected()


def test_name_and_documentation(torque_code):
    fast = fast_entry.make_callable("torque", [(N,)] * 3, [(N,)], torque_code["one"], never, doc="Joint torques.")
    assert fast.__name__ == "torque"
    assert fast.__doc__ == "Joint torques."


def test_many_threads_at_once(fast):
    zero = np.zeros(N)
    wrong = []

    def work(k):
        mine = np.full(N, float(k))
        for _ in range(3000):
            if not (fast(mine, zero, zero) == k).all():
                wrong.append(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


# --- the gufunc ----------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def torque_gufunc(torque_code):
    return gufunc.make_gufunc("torque", [(N,)] * 3, [(N,)], torque_code["batch"], workspace=1, keep=torque_code)


@pytest.fixture(scope="module")
def several_gufunc(several_code):
    shapes = [(2, 3), ()], [(2, 3), (), (1,)]
    return gufunc.make_gufunc("several", *shapes, several_code["batch"], keep=several_code)


def test_gufunc_broadcasts_casts_and_takes_any_strides(torque_gufunc):
    rng = np.random.default_rng(23)
    q, qd, qdd = rng.normal(size=(5, 4, N)), rng.normal(size=(4, N)), rng.normal(size=(5, 1, N))
    expected = q + qd * qdd
    assert np.array_equal(torque_gufunc(q, qd, qdd), expected)
    strided = np.repeat(q, 3, axis=-1)[..., ::3]
    backwards = np.ascontiguousarray(qd[:, ::-1])[:, ::-1]
    fortran = np.asfortranarray(qdd)
    assert not strided.flags.c_contiguous
    assert np.array_equal(torque_gufunc(strided, backwards, fortran), expected)
    assert np.array_equal(torque_gufunc(q[::-1], qd, qdd[::-1]), expected[::-1])
    assert np.array_equal(torque_gufunc(q.tolist(), qd.tolist(), qdd.tolist()), expected)
    ones = np.ones(N, dtype=np.int32)
    assert np.array_equal(torque_gufunc(ones, ones, ones.astype(">f8")), np.full(N, 2.0))


def test_gufunc_writes_into_out_even_if_it_overlaps(torque_gufunc):
    q = np.random.default_rng(29).normal(size=(6, N))
    expected = q + q * q
    target = np.empty((6, 2 * N))
    assert torque_gufunc(q, q, q, out=target[:, ::2]).base is target
    assert np.array_equal(target[:, ::2], expected)
    assert np.array_equal(torque_gufunc(q, q, q, out=q), expected)


def test_gufunc_with_several_results_and_matrices(several_gufunc):
    rng = np.random.default_rng(31)
    x, s = rng.normal(size=(4, 2, 3)), rng.normal(size=4)
    for matrix in (x, np.ascontiguousarray(x.transpose(2, 0, 1)).transpose(1, 2, 0)):
        scaled, total, part = several_gufunc(matrix, s)
        assert np.array_equal(scaled, x * s[:, None, None])
        assert np.array_equal(total, s + x[:, 0, 0])
        assert np.array_equal(part[:, 0], x[:, 0, 1])
    assert type(several_gufunc(x[0], 0.5)[1]) is np.float64


def test_gufunc_of_an_empty_batch_is_empty(torque_gufunc):
    assert torque_gufunc(np.empty((0, N)), np.ones(N), np.ones(N)).shape == (0, N)


def test_gufunc_refuses_wrong_shapes(torque_gufunc):
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        torque_gufunc(np.ones(N - 1), np.ones(N), np.ones(N))


def test_gufunc_does_not_warn_about_branches_not_taken():
    def guarded(e, rows):
        ((x,),) = rows
        zero, one = LlvmValue(DOUBLE, hexadecimal(0.0)), LlvmValue(DOUBLE, hexadecimal(1.0))
        return [[e.select(e.compare("fcmp oeq", x, zero), one, e.fdiv(one, x))]]

    code = compile_formula(guarded, [1], [1])
    inverse = gufunc.make_gufunc("inverse", [(1,)], [(1,)], code["batch"], keep=code)
    assert inverse(np.zeros((3, 1))).tolist() == [[1.0]] * 3  # a warning would be an error here


def test_gufunc_lives_and_dies_with_what_it_needs(torque_code):
    class Owner:
        pass

    owner = Owner()
    function = gufunc.make_gufunc("torque", [(N,)] * 3, [(N,)], torque_code["batch"], workspace=1, keep=owner)
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is not None
    assert function.signature == "(7),(7),(7)->(7)"
    del function
    gc.collect()
    assert gone() is None


def test_gufunc_refuses_what_its_loop_is_not_made_for(torque_code):
    with pytest.raises(CompileError, match="none of length 0"):
        gufunc.make_gufunc("empty", [(0,)], [(1,)], torque_code["batch"])
    with pytest.raises(CompileError, match="16 operands of 4 axes"):
        gufunc.make_gufunc("deep", [(1, 1, 1, 1, 1)], [(1,)], torque_code["batch"])
