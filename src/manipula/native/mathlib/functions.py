"""Elementary functions as LLVM code of our own, one lane or several, always the same bits.

``emit(module, "sincos", 4)`` puts an internal function ``{<4 x double>, <4 x double>} (<4 x double>)`` into the module
(once) and returns it. Errors are at most 2 units in the last place over the whole range; signed zeros, infinities, NaN
and subnormals are as IEEE 754 wants them. The range in which the code is our own is wide; lanes outside it (|x| > 1e7
for the trigonometric functions, the special cases of ``atan2`` and ``pow``) are recomputed by the C library. Its
functions are external symbols with the names of ``LIBM_SYMBOLS``; ``objects.py`` supplies the addresses when code is
loaded, so that none stands in the code and object files can be kept on disk.

Because every width gives the same bits, a scalar kernel may put independent arguments side by side: one call of the
4-wide ``sincos`` for four joints costs little more than one scalar call.

On a processor without fused multiply-add ``llvm.fma`` becomes a call of the C library's ``fma``: slow, the same bits.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from manipula.errors import CompileError, unknown_name
from manipula.native.llvm.lanes import BIT, DOUBLE, WIDTHS, Lanes, Value, intrinsic, lane_type
from manipula.native.mathlib import exponentials as mathlib_exp
from manipula.native.mathlib import inverse_trigonometry as mathlib_inverse
from manipula.native.mathlib import trigonometry as mathlib_trig

PREFIX = "manipula_math_"

LIBM_SYMBOLS = {PREFIX + "libm_" + name: name for name in ("sin", "cos", "tan", "atan2", "pow")}
"""External symbols in emitted code, and the function of the C library each stands for."""

Body = Callable[..., "tuple[list[Value], Value | None]"]
"""Emits a function: (lanes, arguments) → (results, bit per lane "inside my range", or None if that is everywhere)."""

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

FUNCTIONS = (*_FUNCTIONS, "sqrt", "floor")
"""Names that :func:`emit` knows. ``sqrt`` and ``floor`` are exact LLVM intrinsics."""


def emit(module: ir.Module, name: str, width: int) -> ir.Function:
    """The function ``name`` for ``width`` lanes inside ``module``; emitted at the first request, then reused.

    Args:
        module: where the code goes.
        name: one of ``FUNCTIONS``; ``sincos`` returns a literal struct {sine, cosine}.
        width: 1 for ``double``, 2, 4 or 8 for ``<W x double>``.
    """
    if name not in FUNCTIONS:
        raise unknown_name("elementary function", name, FUNCTIONS)
    if width not in WIDTHS:
        raise CompileError(f"Width {width} of '{name}' is not possible. Allowed: {', '.join(map(str, WIDTHS))}.")
    if name in ("sqrt", "floor"):
        return intrinsic(module, name, width, 1)
    symbol = f"{PREFIX}{name}_{width}"
    known = module.globals.get(symbol)
    return known if known is not None else _emit_function(module, name, width, symbol)


def _emit_function(module: ir.Module, name: str, width: int, symbol: str) -> ir.Function:
    body, argument_count, library = _FUNCTIONS[name]
    number = lane_type(DOUBLE, width)
    result_count = max(1, len(library))
    result_type = number if result_count == 1 else ir.LiteralStructType([number] * result_count)
    function = _internal(module, ir.FunctionType(result_type, [number] * argument_count), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    lanes = Lanes(builder, width)
    results, inside = body(lanes, *function.args)
    if inside is None:
        _return(builder, results)
        return function
    near, far = function.append_basic_block("near"), function.append_basic_block("far")
    builder.cbranch(lanes.all(inside), near, far)
    builder.position_at_end(near)
    _return(builder, results)
    builder.position_at_end(far)
    patched = [
        builder.call(_emit_patch(module, library_name, width, argument_count), [inside, result, *function.args])
        for library_name, result in zip(library, results)
    ]
    _return(builder, patched)
    return function


def _emit_patch(module: ir.Module, library_name: str, width: int, argument_count: int) -> ir.Function:
    """A function (inside, result, arguments…) → result with the lanes outside replaced by the C library's value."""
    symbol = f"{PREFIX}far_{library_name}_{width}"
    known = module.globals.get(symbol)
    if known is not None:
        return known
    number, flag = lane_type(DOUBLE, width), lane_type(BIT, width)
    function = _internal(module, ir.FunctionType(number, [flag, number] + [number] * argument_count), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    library = _libm(module, library_name, argument_count)
    inside, result, *arguments = function.args
    for lane in range(width):
        call, after = function.append_basic_block(f"call{lane}"), function.append_basic_block(f"after{lane}")
        before = builder.block
        builder.cbranch(_lane(builder, inside, lane, width), after, call)
        builder.position_at_end(call)
        value = builder.call(library, [_lane(builder, a, lane, width) for a in arguments])
        changed = value if width == 1 else builder.insert_element(result, value, ir.Constant(ir.IntType(32), lane))
        builder.branch(after)
        builder.position_at_end(after)
        merged = builder.phi(number)
        merged.add_incoming(result, before)
        merged.add_incoming(changed, call)
        result = merged
    builder.ret(result)
    return function


def _lane(builder: ir.IRBuilder, value: Value, lane: int, width: int) -> Value:
    return value if width == 1 else builder.extract_element(value, ir.Constant(ir.IntType(32), lane))


def _libm(module: ir.Module, name: str, argument_count: int) -> ir.Function:
    symbol = PREFIX + "libm_" + name
    known = module.globals.get(symbol)
    if known is None:
        known = ir.Function(module, ir.FunctionType(DOUBLE, [DOUBLE] * argument_count), symbol)
    return known


def _internal(module: ir.Module, function_type: ir.FunctionType, symbol: str) -> ir.Function:
    function = ir.Function(module, function_type, symbol)
    function.linkage = "internal"
    function.attributes.add("nounwind")
    return function


def _return(builder: ir.IRBuilder, results: list[Value]) -> None:
    if len(results) == 1:
        builder.ret(results[0])
        return
    packed: Value = ir.Constant(ir.LiteralStructType([r.type for r in results]), ir.Undefined)
    for position, result in enumerate(results):
        packed = builder.insert_value(packed, result, position)
    builder.ret(packed)
