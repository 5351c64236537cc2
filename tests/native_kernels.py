"""Small kernels built with llvmlite, for tests of the layers below the compiler."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir

from manipula.native.llvm.lanes import lane_type
from manipula.native.llvm.llvm_builder import DOUBLE, I64, POINTER, Emission, integer
from manipula.native.llvm.objects import LoadedCode, compile_object, load_object
from manipula.native.mathlib import functions as mathlib


def emit_elementwise(module: ir.Module, name: str, width: int) -> str:
    """``void loop(arguments…, results…, count)``: the elementary function over arrays, ``width`` at a time."""
    function = mathlib.emit(module, name, width)
    symbol = f"loop_{name}_{width}"
    result_count = 2 if name == "sincos" else 1
    pointers = [POINTER] * (len(function.args) + result_count)
    e = Emission(ir.Function(module, ir.FunctionType(ir.VoidType(), [*pointers, I64]), symbol))
    *arrays, count = e.function.args
    with e.loop(e.b.udiv(count, integer(width))) as group:
        offset = e.words(e.b.mul(group, integer(width)))
        arguments = []
        for array in arrays[: len(function.args)]:
            loaded = e.b.load(e.at(array, offset), typ=lane_type(DOUBLE, width))
            loaded.align = 8
            arguments.append(loaded)
        value = e.b.call(function, arguments)
        results = [value] if result_count == 1 else [e.b.extract_value(value, k) for k in range(2)]
        for array, result in zip(arrays[len(function.args) :], results):
            e.b.store(result, e.at(array, offset)).align = 8
    e.b.ret_void()
    return symbol


class Elementwise:
    """All elementary functions in all widths, callable on arrays: ``functions("sin", 4, x)``."""

    def __init__(self) -> None:
        module = ir.Module("elementwise")
        names = [emit_elementwise(module, name, width) for name in mathlib.FUNCTIONS for width in (1, 2, 4, 8)]
        self.object_code = compile_object(module)
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


Formula = Callable[[Emission, list[list[ir.Value]]], list[list[ir.Value]]]
"""Rows of values, one list per argument → rows of values, one list per result."""


def compile_formula(
    formula: Formula, input_sizes: Sequence[int], output_sizes: Sequence[int], *, uses_workspace: bool = False
) -> LoadedCode:
    """Kernels ``one`` and ``batch`` (the interface of ``ufunc.py``) of a formula over rows of doubles.

    With ``uses_workspace`` every result passes through the first word of the workspace.
    """
    module = ir.Module("formula")
    kind = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, POINTER])
    e = Emission(ir.Function(module, kind, "one"))
    inputs, outputs, workspace = e.function.args
    _row(e, formula, input_sizes, output_sizes, inputs, None, outputs, None, None, workspace, uses_workspace)
    e.b.ret_void()
    kind = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, POINTER, POINTER, I64, POINTER])
    e = Emission(ir.Function(module, kind, "batch"))
    inputs, input_strides, outputs, output_strides, count, workspace = e.function.args
    with e.loop(count) as row:
        _row(
            *(e, formula, input_sizes, output_sizes, inputs, input_strides, outputs, output_strides, row, workspace),
            uses_workspace,
        )
    e.b.ret_void()
    return load_object(compile_object(module), ["one", "batch"])


def _row(e, formula, input_sizes, output_sizes, inputs, input_strides, outputs, output_strides, row, workspace, used):
    def base(pointers, strides, index):
        pointer = e.word(pointers, 8 * index, POINTER)
        return pointer if row is None else e.at(pointer, e.words(e.b.mul(row, e.word(strides, 8 * index))))

    bases = [base(inputs, input_strides, i) for i in range(len(input_sizes))]
    values = [[e.word(b, 8 * k, DOUBLE) for k in range(size)] for b, size in zip(bases, input_sizes)]
    for index, (size, results) in enumerate(zip(output_sizes, formula(e, values))):
        target = base(outputs, output_strides, index)
        for k in range(size):
            result = results[k]
            if used:
                e.b.store(result, workspace)
                result = e.b.load(workspace, typ=DOUBLE)
            e.b.store(result, e.at(target, 8 * k))
