"""Functions of one scalar that work for every kind of number.

Physics calls ``ops.sin(x)`` and never asks what ``x`` is. Floats and float arrays go to NumPy; every other
number type (Taylor numbers, traced numbers, trigonometric polynomials) carries methods of the same name
(``x.sin()``, ``x.atan2(y)``, ``condition.select(a, b)``); SymPy expressions are recognised when SymPy is loaded.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

Scalar = Any
Vector = Any

_PLAIN = (float, int, np.floating, np.integer, np.bool_)


def _is_sympy(x: Any) -> bool:
    sympy = sys.modules.get("sympy")
    # none while another thread still loads SymPy
    kinds = (getattr(sympy, "Basic", None), getattr(sympy, "MatrixBase", None))
    return None not in kinds and isinstance(x, kinds)  # pyright: ignore[reportArgumentType]


def _unary(name: str, plain: Callable[[Any], float], vector: Callable, sympy_name: str | None = None) -> Callable:
    def function(x: Scalar) -> Scalar:
        if isinstance(x, _PLAIN):
            return plain(x)
        if isinstance(x, np.ndarray):
            if x.dtype != object:
                return vector(x)
            out = np.empty(x.shape, object)
            for index in np.ndindex(x.shape):
                out[index] = function(x[index])
            return out
        if _is_sympy(x):
            import sympy

            return getattr(sympy, sympy_name or name)(x)
        return getattr(x, name)()

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}(x)`` for any scalar, elementwise for arrays."
    return function


sin = _unary("sin", math.sin, np.sin)
cos = _unary("cos", math.cos, np.cos)
tan = _unary("tan", math.tan, np.tan)
asin = _unary("asin", math.asin, np.arcsin)
acos = _unary("acos", math.acos, np.arccos)
atan = _unary("atan", math.atan, np.arctan)
exp = _unary("exp", math.exp, np.exp)
log = _unary("log", math.log, np.log)
sinh = _unary("sinh", math.sinh, np.sinh)
cosh = _unary("cosh", math.cosh, np.cosh)
tanh = _unary("tanh", math.tanh, np.tanh)
sqrt = _unary("sqrt", math.sqrt, np.sqrt)
floor = _unary("floor", lambda x: float(math.floor(x)), np.floor)
sign = _unary("sign", lambda x: float(x > 0) - float(x < 0), np.sign)


def abs(x: Scalar) -> Scalar:
    """``|x|`` for any scalar, elementwise for arrays."""
    return x.__abs__() if not isinstance(x, np.ndarray) else np.abs(x)


def _binary(name: str, plain: Callable, vector: Callable, sympy_name: str) -> Callable:
    def function(a: Scalar, b: Scalar) -> Scalar:
        if isinstance(a, _PLAIN) and isinstance(b, _PLAIN):
            return plain(a, b)
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            x, y = np.broadcast_arrays(a, b)
            if x.dtype != object and y.dtype != object:
                return vector(x, y)
            out = np.empty(x.shape, object)
            for index in np.ndindex(x.shape):
                out[index] = function(x[index], y[index])
            return out
        if _is_sympy(a) or _is_sympy(b):
            import sympy

            return getattr(sympy, sympy_name)(a, b)
        if not isinstance(a, _PLAIN):
            return getattr(a, name)(b)
        return getattr(type(b), "r" + name)(b, a)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}(a, b)`` for any scalars, elementwise for arrays."
    return function


atan2 = _binary("atan2", math.atan2, np.arctan2, "atan2")
minimum = _binary("minimum", min, np.minimum, "Min")
maximum = _binary("maximum", max, np.maximum, "Max")


def where(condition: Any, a: Scalar, b: Scalar) -> Scalar:
    """``a`` where the condition holds, else ``b``; the only branch physics may take.

    Both branches are evaluated, so neither may divide by zero where the other is taken.
    """
    if isinstance(condition, np.ndarray) and condition.dtype == object:
        out = np.empty(condition.shape, object)
        x, y = np.broadcast_to(a, condition.shape), np.broadcast_to(b, condition.shape)
        for index in np.ndindex(condition.shape):
            out[index] = where(condition[index], x[index], y[index])
        return out
    if isinstance(condition, np.ndarray):
        return np.where(condition, a, b)
    if isinstance(condition, (bool, np.bool_)):
        return a if condition else b
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        x, y = np.broadcast_arrays(np.asarray(a, object), np.asarray(b, object))
        out = np.empty(x.shape, object)
        for index in np.ndindex(x.shape):
            out[index] = where(condition, x[index], y[index])
        return out
    if _is_sympy(condition):
        import sympy

        return sympy.Piecewise((a, condition), (b, True))
    for branch in (a, b):
        combine = getattr(type(branch), "where_parts", None)  # Taylor numbers choose coefficient by coefficient
        if combine is not None:
            return combine(condition, a, b)
    return condition.select(a, b)


def value(x: Scalar) -> Any:
    """The leading float of a number that has one (a Taylor number's value), else ``x`` itself."""
    return x.value() if hasattr(x, "value") and callable(x.value) else x
