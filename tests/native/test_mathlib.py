"""Elementary functions in machine code: errors against mpmath, special values, the same bits in every width."""

from __future__ import annotations

import math
import platform

import llvmlite.binding as llvm
import mpmath.libmp as mp
import numpy as np
import pytest

from manipula.errors import CompileError, UnknownNameError
from manipula.native.host import host
from manipula.native.llvm import objects
from manipula.native.llvm.images import external_symbols
from manipula.native.llvm.objects import compile_object
from manipula.native.llvm_text import ModuleText
from manipula.native.mathlib import functions as mathlib
from manipula.native.mathlib import trigonometry as mathlib_trig
from native_kernels import Elementwise

POINTS = 20_000
PRECISION = 160  # bits of the oracle: mpmath loses up to 50 in powers of numbers near 1
ALLOWED_ULP = (
    2.0  # the promise of mathlib; measured worst cases over 1e5 points are 1.4 (sin, cos) and below 1 (the rest)
)
WIDTHS = (1, 2, 4, 8)
INF, NAN = math.inf, math.nan
TINY, SMALLEST_NORMAL, LARGEST = 5e-324, 2.0**-1022, 1.7976931348623157e308


@pytest.fixture(scope="module")
def functions() -> Elementwise:
    return Elementwise()


def bits(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x).view(np.int64)


def spread(rng: np.random.Generator, n: int, low: float, high: float) -> np.ndarray:
    """Both signs, sizes from 2^low to 2^high, evenly over the exponents."""
    return rng.choice([-1.0, 1.0], n) * np.exp2(rng.uniform(low, high, n))


def points(name: str, n: int) -> list[np.ndarray]:
    """Arguments that look for trouble: the whole range, and crowds where the function has zeros, poles or seams."""
    rng = np.random.default_rng(sum(map(ord, name)))
    u, q = rng.uniform, n // 4
    if name in ("sin", "cos", "sincos", "tan"):
        multiples = rng.integers(-6_000_000, 6_000_000, q) * (math.pi / 2) * (1 + spread(rng, q, -60, -50))
        near = rng.integers(-100, 100, q) * (math.pi / 2) + spread(rng, q, -50, -3)
        far = spread(rng, 200, 23, 1023)
        return [np.concatenate([u(-1e7, 1e7, q), multiples, near, spread(rng, q - 200, -1074, 23), far])]
    if name in ("asin", "acos"):
        edge = rng.choice([-1.0, 1.0], q) * (1 - np.exp2(u(-53, -1, q)))
        return [np.concatenate([u(-1, 1, 2 * q), edge, spread(rng, q, -1074, 0)])]
    if name in ("atan", "tanh"):
        return [np.concatenate([u(-3, 3, 2 * q), spread(rng, q, -10, 10), spread(rng, q, -1074, 1023)])]
    if name == "exp":
        return [np.concatenate([u(-1, 1, q), u(-745.2, 709.8, 2 * q), spread(rng, q, -60, 9)])]
    if name == "log":
        around_one = 1 + spread(rng, q, -52, -1)
        return [np.abs(np.concatenate([u(0.5, 2, q), around_one, spread(rng, q, -1074, 1023), u(0, 100, q)]))]
    if name in ("sinh", "cosh"):
        return [np.concatenate([u(-2, 2, 2 * q), u(-710.47, 710.47, q), spread(rng, q, -1074, 9)])]
    if name == "atan2":
        y = np.concatenate([spread(rng, 2 * q, -3, 3), spread(rng, 2 * q, -1060, 960)])
        near_y = y[3 * q :] * spread(rng, q, -14, 14)
        return [y, np.concatenate([spread(rng, 2 * q, -3, 3), spread(rng, q, -1074, 1023), near_y])]
    assert name == "pow"
    x = np.concatenate([u(0, 10, q), spread(rng, q, -1074, 1023), 1 + spread(rng, q, -50, -1), u(0.5, 2, q)])
    return [
        np.abs(x),
        np.concatenate([u(-10, 10, q), spread(rng, q, -60, 10), spread(rng, q, -10, 50), u(-999, 999, q)]),
    ]


def _tan(x, precision, rounding):
    sine, cosine = mp.mpf_cos_sin(x, precision + 20, rounding)[::-1]
    return mp.mpf_div(sine, cosine, precision, rounding)


EXACT = {
    "sin": mp.mpf_sin,
    "cos": mp.mpf_cos,
    "tan": _tan,
    "asin": mp.mpf_asin,
    "acos": mp.mpf_acos,
    "atan": mp.mpf_atan,
    "atan2": mp.mpf_atan2,
    "exp": mp.mpf_exp,
    "log": mp.mpf_log,
    "sinh": mp.mpf_sinh,
    "cosh": mp.mpf_cosh,
    "tanh": mp.mpf_tanh,
    "pow": mp.mpf_pow,
}


def ulp_error(computed: float, exact: tuple) -> float:
    """|computed − exact| in units of the last place of the double next to the exact value."""
    nearest = mp.to_float(exact, rnd="n")
    if math.isinf(nearest) or math.isinf(computed):
        return 0.0 if nearest == computed or abs(nearest) == LARGEST else INF
    difference = mp.mpf_sub(mp.from_float(computed), exact, 53, "n")
    exponent = math.frexp(math.ulp(nearest))[1] - 1
    return abs(mp.to_float(mp.mpf_shift(difference, -exponent)))


@pytest.mark.parametrize("name", [n for n in mathlib.FUNCTIONS if n not in ("sqrt", "floor")])
def test_error_against_mpmath(functions, name):
    arguments = points(name, POINTS)
    for part, computed in zip(("sin", "cos") if name == "sincos" else (name,), functions(name, 1, *arguments)):
        exact = EXACT[part]
        worst, where = 0.0, None
        for values in zip(computed.tolist(), *(a.tolist() for a in arguments)):
            error = ulp_error(values[0], exact(*map(mp.from_float, values[1:]), PRECISION, "n"))
            if not error <= worst:
                worst, where = error, values
        assert worst <= ALLOWED_ULP, f"{part}: {worst:.2f} ulp at (value, arguments) = {where}"


@pytest.mark.parametrize("name", mathlib.FUNCTIONS)
def test_every_width_gives_the_same_bits(functions, name):
    arguments = [a[::7] for a in points("log" if name == "sqrt" else "sinh" if name == "floor" else name, POINTS)]
    odd = np.array([INF, -INF, NAN, 0.0, -0.0, TINY, LARGEST, -LARGEST, 1e7, -1e7, 1.0000001e7])
    mixed = [
        np.concatenate([a, rng.choice(odd, 4000)]) for a, rng in zip(arguments, map(np.random.default_rng, (1, 2)))
    ]
    mixed = [np.random.default_rng(3).permutation(a) for a in mixed]  # ordinary lanes beside special ones
    alone = functions(name, 1, *mixed)
    for width in WIDTHS[1:]:
        for one, many in zip(alone, functions(name, width, *mixed)):
            same = (bits(one) == bits(many)) | (np.isnan(one) & np.isnan(many))
            assert same.all(), f"width {width} differs at {[a[~same][:3] for a in mixed]}"


@pytest.mark.parametrize(
    ("name", "low", "high"), [("exp", -2e3, -745.2), ("tanh", 22.1, 1e300), ("tanh", -1e300, -22.1)]
)
def test_lanes_that_are_settled_together_give_the_bits_of_others(functions, name, low, high):
    settled = np.random.default_rng(8).uniform(low, high, 64)
    beside = np.tile([0.3, -2.0, 1.5, NAN, 0.0, -0.0, 4.0, -7.0], (8, 1))
    for width in WIDTHS:
        together = functions(name, width, settled)[0]
        beside[:, 0] = settled[:8]
        mixed = functions(name, width, beside.ravel())[0].reshape(8, 8)
        assert np.array_equal(bits(together[:8]), bits(mixed[:, 0]))
        assert np.array_equal(together, [0.0 if name == "exp" else math.copysign(1.0, low)] * 64)
        assert np.isnan(functions(name, width, np.where(np.arange(64) == 5, NAN, settled))[0][5])


def test_the_short_way_to_an_exponential_gives_the_bits_of_the_long_one(functions):
    """Lanes of ordinary size go one way together and another one beside what is not."""
    ordinary = np.concatenate([np.random.default_rng(9).uniform(-699.9, 699.9, 4000), [0.0, -0.0, TINY, -TINY, 699.99]])
    ordinary = ordinary[: len(ordinary) // 8 * 8]
    for width in WIDTHS[1:]:
        together = functions("exp", width, ordinary)[0]
        for odd in (NAN, INF, -INF, -720.0, 709.5, 701.0):
            beside = ordinary.copy()
            beside[::width] = odd
            mixed = functions("exp", width, beside)[0]
            kept = np.arange(len(ordinary)) % width != 0
            assert np.array_equal(bits(together[kept]), bits(mixed[kept]))


ORDINARY = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "exp": np.exp,
    "log": np.log,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "atan2": np.arctan2,
    "pow": np.power,
}
SPECIAL = [
    0.0,
    TINY,
    1e-310,
    SMALLEST_NORMAL,
    1e-300,
    0.5,
    1.0,
    1.5,
    2.0,
    3.0,
    709.0,
    1e7,
    1e22,
    2.0**1000,
    LARGEST,
    INF,
    NAN,
]


@pytest.mark.parametrize("name", ORDINARY)
def test_special_values_are_those_of_ieee754(functions, name):
    line = np.array(SPECIAL + [-x for x in SPECIAL])
    grid = [line] if name not in ("atan2", "pow") else [g.ravel() for g in np.meshgrid(line, line)]
    with np.errstate(all="ignore"):
        expected = ORDINARY[name](*grid)
    (computed,) = functions(name, 4, *grid)
    exceptional = ~np.isfinite(expected) | (expected == 0)
    same = np.where(np.isnan(expected), np.isnan(computed), bits(computed) == bits(expected))
    assert same[exceptional].all(), [a[exceptional & ~same] for a in (*grid, computed, expected)]
    ordinary, wanted = computed[~exceptional], expected[~exceptional]
    units = np.abs(ordinary - wanted) / [math.ulp(value) for value in wanted.tolist()]
    assert (units <= ALLOWED_ULP).all()  # NumPy's own error is below one unit at these points


def test_square_root_and_floor_are_exact(functions):
    x = np.abs(points("log", POINTS)[0])
    assert np.array_equal(bits(functions("sqrt", 4, x)[0]), bits(np.sqrt(x)))
    x = np.random.default_rng(5).uniform(-1e6, 1e6, POINTS)
    assert np.array_equal(functions("floor", 4, x)[0], np.floor(x))


@pytest.mark.parametrize("name", ["sin", "tan", "asin", "atan", "sinh", "tanh"])
def test_odd_functions_are_odd_to_the_bit(functions, name):
    (x,) = points(name, POINTS)
    assert np.array_equal(bits(functions(name, 4, -x)[0]), bits(-functions(name, 4, x)[0]))


def test_sincos_is_sin_and_cos(functions):
    (x,) = points("sincos", POINTS)
    sine, cosine = functions("sincos", 4, x)
    assert np.array_equal(bits(sine), bits(functions("sin", 4, x)[0]))
    assert np.array_equal(bits(cosine), bits(functions("cos", 4, x)[0]))


def test_seam_between_own_code_and_the_library(functions):
    around = mathlib_trig.LIMIT * (1 + np.arange(-50, 51) * 2.0**-52)
    for name in ("sin", "cos", "tan"):
        computed = functions(name, 4, around)[0].tolist()
        errors = [ulp_error(y, EXACT[name](mp.from_float(x), 90, "n")) for x, y in zip(around.tolist(), computed)]
        assert max(errors) <= ALLOWED_ULP


def test_a_function_is_written_once_and_stays_inside_the_module():
    texts: dict[str, str] = {}
    first = mathlib.define(texts, "atan2", 4)
    written = dict(texts)
    assert mathlib.define(texts, "atan2", 4) == first
    assert texts == written
    assert texts[first].startswith("define internal")
    assert mathlib.define(texts, "atan2", 1) != first


def test_unknown_names_and_widths_are_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'cosh'"):
        mathlib.define({}, "cossh", 1)
    with pytest.raises(CompileError, match="Width 3 of 'sin' is not possible"):
        mathlib.define({}, "sin", 3)


def test_object_code_holds_no_addresses_of_this_process(functions):
    for address in external_symbols().values():
        assert address.to_bytes(8, "little") not in functions.object_code
    assert Elementwise().object_code == functions.object_code


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="a processor without multiply-add: old x86")
def test_an_old_processor_gets_the_same_bits(functions, monkeypatch):
    target = llvm.Target.from_triple(host().triple)
    machine = target.create_target_machine(cpu="x86-64", features="", opt=2, reloc="pic", codemodel="small")
    monkeypatch.setattr(objects, "_target_machine", lambda: machine)
    old = Elementwise()
    assert old.object_code != functions.object_code
    for name in mathlib.FUNCTIONS:
        arguments = [a[::20] for a in points({"sqrt": "log", "floor": "sinh"}.get(name) or name, POINTS)]
        for width in (1, 4):
            for here, there in zip(functions(name, width, *arguments), old(name, width, *arguments)):
                assert np.array_equal(bits(here), bits(there)), name


@pytest.mark.parametrize(
    "text",
    [
        "declare void @system()\ndefine void @inside() {\n  call void @system()\n  ret void\n}",
        "@system = external global i64\ndefine i64 @inside() {\n  %x = load i64, ptr @system\n  ret i64 %x\n}",
    ],
    ids=["function", "variable"],
)
def test_a_module_that_uses_something_else_is_refused(text):
    with pytest.raises(CompileError, match="'hostile' calls 'system', which is not provided"):
        compile_object(ModuleText("hostile", text))


def test_a_module_that_is_wrong_is_refused():
    with pytest.raises(CompileError, match="LLVM refused the module 'wrong'"):
        compile_object(ModuleText("wrong", "define i64 @f() { ret double 0.0 }"))
