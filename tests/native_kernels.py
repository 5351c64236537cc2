"""Small kernels written as LLVM text, for tests of the layers below the compiler."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

from manipula.native.llvm.images import LoadedCode
from manipula.native.llvm.objects import compile_object, load_object
from manipula.native.llvm_text import DOUBLE, INT64, POINTER, VOID, LlvmBuilder, LlvmValue, ModuleText, Type, integer
from manipula.native.mathlib import functions as mathlib


def elementwise_text(texts: dict[str, str], name: str, width: int) -> str:
    """``void loop(arguments…, results…, count)``: the elementary function over arrays, ``width`` at a time."""
    function = mathlib.define(texts, name, width)
    symbol = f"loop_{name}_{width}"
    number, result_count = Type("double", width), 2 if name == "sincos" else 1
    count = 2 if name in ("atan2", "pow") else 1
    f = LlvmBuilder(symbol, VOID, [*[POINTER] * (count + result_count), INT64])
    *arrays, size = f.arguments
    with f.loop(f.lshr(size, integer(width.bit_length() - 1))) as group:
        offset = f.words(f.mul(group, integer(width)))
        arguments = [f.load(f.at(array, offset), number) for array in arrays[:count]]
        value = f.call_symbol(function, mathlib.result_type(name, width), *arguments)
        results = [value]
        if result_count == 2:
            results = [LlvmValue(number, f.let(f"extractvalue {value}, {k}")) for k in range(2)]
        for array, result in zip(arrays[count:], results):
            f.store(result, f.at(array, offset))
    f.ret()
    texts[f"@{symbol}"] = f.text()
    return symbol


class Elementwise:
    """All elementary functions in all widths, callable on arrays: ``functions("sin", 4, x)``."""

    def __init__(self) -> None:
        texts: dict[str, str] = {}
        names = [elementwise_text(texts, name, width) for name in mathlib.FUNCTIONS for width in (1, 2, 4, 8)]
        self.object_code = compile_object(ModuleText("elementwise", "\n".join(texts.values())))
        self.code = load_object(self.object_code, names)

    def __call__(self, name: str, width: int, *arguments: np.ndarray) -> list[np.ndarray]:
        size = arguments[0].size
        padded = -(-size // 8) * 8
        arrays = [np.full(padded, 0.5) for _ in arguments]
        for array, argument in zip(arrays, arguments):
            array[:size] = argument
        results = [np.empty(padded) for _ in range(2 if name == "sincos" else 1)]
        pointers = [ctypes.c_void_p] * (len(arrays) + len(results))
        loop = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64)(self.code[f"loop_{name}_{width}"])
        loop(*(a.ctypes.data for a in (*arrays, *results)), padded)
        return [result[:size] for result in results]


Formula = Callable[[LlvmBuilder, list[list[LlvmValue]]], list[list[LlvmValue]]]
"""Rows of values, one list per argument → rows of values, one list per result."""


def compile_formula(
    formula: Formula, input_sizes: Sequence[int], output_sizes: Sequence[int], *, uses_workspace: bool = False
) -> LoadedCode:
    """Kernels ``one`` and ``batch`` (see ``binary_interface.py``) of a formula over rows of doubles.

    With ``uses_workspace`` every result passes through the first word of the workspace.
    """
    one = LlvmBuilder("one", VOID, [POINTER] * 3)
    inputs, outputs, workspace = one.arguments
    _row(one, formula, input_sizes, output_sizes, inputs, None, outputs, None, None, workspace, uses_workspace)
    one.ret()
    f = LlvmBuilder("batch", VOID, [*[POINTER] * 4, INT64, POINTER])
    inputs, input_strides, outputs, output_strides, count, workspace = f.arguments
    with f.loop(count) as row:
        _row(
            *(f, formula, input_sizes, output_sizes, inputs, input_strides, outputs, output_strides, row, workspace),
            uses_workspace,
        )
    f.ret()
    return load_object(compile_object(ModuleText("formula", one.text() + f.text())), ["one", "batch"])


def _row(f, formula, input_sizes, output_sizes, inputs, input_strides, outputs, output_strides, row, workspace, used):
    def base(pointers, strides, index):
        pointer = f.word(pointers, 8 * index, POINTER)
        return pointer if row is None else f.at(pointer, f.words(f.mul(row, f.word(strides, 8 * index))))

    bases = [base(inputs, input_strides, i) for i in range(len(input_sizes))]
    values = [[f.word(b, 8 * k, DOUBLE) for k in range(size)] for b, size in zip(bases, input_sizes)]
    for index, (size, results) in enumerate(zip(output_sizes, formula(f, values))):
        target = base(outputs, output_strides, index)
        for k in range(size):
            result = results[k]
            if used:
                f.store(result, workspace)
                result = f.load(workspace, DOUBLE)
            f.store(result, f.at(target, 8 * k))
