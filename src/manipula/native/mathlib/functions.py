"""Elementary functions as LLVM code of our own, one lane or several, always the same bits.

``define(texts, "sincos", 4)`` puts an internal function ``{<4 x double>, <4 x double>} (<4 x double>)`` into the texts of a
module (once) and returns its symbol. Errors are at most 2 units in the last place over the whole range; signed zeros, infinities, NaN
and subnormals are as IEEE 754 wants them. The range in which the code is our own is wide; lanes outside it (|x| > 1e7
for the trigonometric functions, the special cases of ``atan2`` and ``pow``) are recomputed by the C library. Its
functions are external symbols with the names of ``LIBM_SYMBOLS``; ``llvm/images.py`` supplies the addresses when code is
loaded, so that none stands in the code and object files can be kept on disk.

Because every width gives the same bits, a scalar kernel may put independent arguments side by side: one call of the
4-wide ``sincos`` for four joints costs little more than one scalar call.

On a processor without fused multiply-add ``llvm.fma`` becomes a call of the C library's ``fma``: slow, the same bits.
"""

from __future__ import annotations

from collections.abc import Callable

from manipula.errors import CompileError, unknown_name
from manipula.native.llvm_text import DOUBLE, LlvmBuilder, LlvmValue, Type
from manipula.native.mathlib import exponentials as mathlib_exp
from manipula.native.mathlib import inverse_trigonometry as mathlib_inverse
from manipula.native.mathlib import trigonometry as mathlib_trig
from manipula.native.mathlib.lanes import WIDTHS, Lanes, Texts, intrinsic
from manipula.native.mathlib.library import PREFIX

Body = Callable[..., "tuple[list[LlvmValue], LlvmValue | None]"]
"""Writes a function: (lanes, arguments) → (results, bit per lane "inside my range", or None if that is everywhere)."""

_FUNCTIONS: dict[str, tuple[Body, int, tuple[str, ...]]] = {
    # name: (body, number of arguments, library function for each result outside the range)
    "sin": (mathlib_trig.sin, 1, ("sin",)),
    "cos": (mathlib_trig.cos, 1, ("cos",)),
    "sincos": (mathlib_trig.sincos, 1, ("sin", "cos")),
    "tan": (mathlib_trig.tan, 1, ("tan",)),
    "asin": (mathlib_inverse.asin, 1, ()),
    "acos": (mathlib_inverse.acos, 1, ()),
    "atan": (mathlib_inverse.atan, 1, ()),
    "atan2": (mathlib_inverse.atan2, 2, ("atan2",)),
    "exp": (mathlib_exp.exp, 1, ()),
    "log": (mathlib_exp.log, 1, ()),
    "sinh": (mathlib_exp.sinh, 1, ()),
    "cosh": (mathlib_exp.cosh, 1, ()),
    "tanh": (mathlib_exp.tanh, 1, ()),
    "pow": (mathlib_exp.pow, 2, ("pow",)),
}

_SETTLED: dict[str, Callable[[Lanes, LlvmValue], tuple[LlvmValue, LlvmValue]]] = {
    # name: a bit per lane "settled here", and the value there; where all lanes are, nothing else is computed
    "exp": mathlib_exp.exp_settled,
    "tanh": mathlib_exp.tanh_settled,
}

_NEAR: dict[str, Callable[[Lanes, LlvmValue], tuple[LlvmValue, Callable[[], LlvmValue]]]] = {
    # name: a bit per lane "the short way will do", and the short way; its bits are those of the long one
    "exp": mathlib_exp.exp_near
}

FUNCTIONS = (*_FUNCTIONS, "sqrt", "floor")
"""Names that :func:`define` knows. ``sqrt`` and ``floor`` are exact LLVM intrinsics."""


def symbol(name: str, width: int) -> str:
    """What stands for an elementary function in LLVM text."""
    return f"@{PREFIX}{name}_{width}"


def result_type(name: str, width: int) -> Type:
    """What an elementary function gives: numbers, or for ``sincos`` a pair of them."""
    number = Type("double", width)
    return Type(f"{{{number}, {number}}}") if name == "sincos" else number


def define(texts: Texts, name: str, width: int) -> str:
    """The symbol of the function ``name`` for ``width`` lanes; written at the first request, then used again.

    Args:
        texts: where the definition goes, and the declarations of what it calls.
        name: one of ``FUNCTIONS``; ``sincos`` returns a literal struct {sine, cosine}.
        width: 1 for ``double``, 2, 4 or 8 for ``<W x double>``.
    """
    if name not in FUNCTIONS:
        raise unknown_name("elementary function", name, FUNCTIONS)
    if width not in WIDTHS:
        raise CompileError(f"Width {width} of '{name}' is not possible. Allowed: {', '.join(map(str, WIDTHS))}.")
    if name in ("sqrt", "floor"):
        return intrinsic(texts, name, width, 1)
    wanted = symbol(name, width)
    if wanted not in texts:
        texts[wanted] = _definition(texts, name, width)
    return wanted


def _definition(texts: Texts, name: str, width: int) -> str:
    body, count, library = _FUNCTIONS[name]
    v = Lanes(texts, f"{PREFIX}{name}_{width}", result_type(name, width), [Type("double", width)] * count, width)
    if name in _SETTLED:
        settled, value = _SETTLED[name](v, *v.arguments)
        v.branch_if(v.all(settled), "settled", "usual")
        v.start("settled")
        v.ret(value)
        v.start("usual")
    if name in _NEAR:
        near, short = _NEAR[name](v, *v.arguments)
        v.branch_if(v.all(near), "short", "long")
        v.start("short")
        v.ret(short())
        v.start("long")
    results, inside = body(v, *v.arguments)
    if inside is None:
        _return(v, results)
        return v.text()
    v.branch_if(v.all(inside), "near", "far")
    v.start("near")
    _return(v, results)
    v.start("far")
    patches = [_patch(texts, library_name, width, count) for library_name in library]
    _return(v, [v.call_symbol(p, v.number, inside, r, *v.arguments) for p, r in zip(patches, results)])
    return v.text()


def _patch(texts: Texts, library_name: str, width: int, count: int) -> str:
    """A function (inside, result, arguments…) → result with the lanes outside replaced by the C library's value."""
    wanted, library = f"@{PREFIX}far_{library_name}_{width}", f"@{PREFIX}libm_{library_name}"
    if wanted in texts:
        return wanted
    texts[library] = f"declare {DOUBLE} {library}({', '.join([str(DOUBLE)] * count)})"
    number = Type("double", width)
    f = LlvmBuilder(wanted[1:], number, [Type("i1", width), number, *[number] * count], "internal")
    inside, result, *arguments = f.arguments

    def lane(value: LlvmValue, k: int) -> LlvmValue:
        return value if width == 1 else f.extract(value, k)

    for k in range(width):
        before, call, after = f.block, f.label("call"), f.label("after")
        f.branch_if(lane(inside, k), after, call)
        f.start(call)
        value = f.call_symbol(library, DOUBLE, *[lane(a, k) for a in arguments])
        changed = value if width == 1 else f.insert(result, value, k)
        f.branch(after)
        f.start(after)
        result = f.either((result, before), (changed, call))
    f.ret(result)
    texts[wanted] = f.text()
    return wanted


def _return(f: LlvmBuilder, results: list[LlvmValue]) -> None:
    if len(results) == 1:
        f.ret(results[0])
        return
    packed = LlvmValue(Type(f"{{{', '.join(str(r.type) for r in results)}}}"), "undef")
    for position, result in enumerate(results):
        packed = LlvmValue(packed.type, f.let(f"insertvalue {packed}, {result}, {position}"))
    f.ret(packed)
