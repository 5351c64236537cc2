"""Exact derivatives of functions written over :mod:`manipula.algebra.ops`.

The number behind them is :class:`~manipula.algebra.jet.Jet`; calls may be nested (a Hessian is the Jacobian of a
gradient) and mixed with symbols and traced numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from manipula.algebra.jet import Jet, active_level, next_level
from manipula.errors import ShapeError

__all__ = ["derivatives", "directional", "gradient", "jacobian"]


@contextmanager
def _fresh_level(values: Sequence[Any]) -> Iterator[int]:
    """A level above every derivative now being taken and above every number in ``values``."""
    level = next_level(values)
    token = active_level.set(level)
    try:
        yield level
    finally:
        active_level.reset(token)


def _read(result: Any, level: int, read: Callable[[Jet], Any], constant: Callable[[Any], Any]) -> Any:
    """``read`` applied to every jet of this level in a scalar or (nested) array; others are constants."""

    def one(y: Any) -> Any:
        return read(y) if isinstance(y, Jet) and y.level == level else constant(y)

    if not isinstance(result, (np.ndarray, list, tuple)):
        return one(result)
    array = np.asarray(result, object)
    out = np.empty(array.shape, object)
    for index in np.ndindex(array.shape):
        out[index] = one(array[index])
    return _tight(out)


def _tight(array: np.ndarray) -> np.ndarray:
    """A float array when every element is a plain number."""
    if array.size and all(isinstance(x, (float, int, np.floating, np.integer)) for x in array.flat):
        return array.astype(float)
    return array


def derivatives(f: Callable[[Any], Any], x: Any, order: int) -> list[Any]:
    """``[f(x), f'(x), …, f^(order)(x)]`` of a scalar or array function of one scalar (or a grid of them)."""
    with _fresh_level((x,)) as level:
        result = f(Jet.variable(x, order, level=level))
    return [
        _read(result, level, lambda y, k=k: y.derivative(k), lambda y, k=k: 0.0 if k else y) for k in range(order + 1)
    ]


def directional(f: Callable[[Any], Any], x: Any, dx: Any, order: int = 1) -> Any:
    r"""The derivative :math:`d^k/dt^k\, f(x + t\,dx)` at t = 0, k = ``order``, of a function of an array."""
    x, dx = np.asarray(x), np.asarray(dx)
    if x.shape != dx.shape:
        raise ShapeError(f"The direction has shape {dx.shape}; the point has {x.shape}.")
    with _fresh_level([*x.flat, *dx.flat]) as level:
        moving = np.empty(x.shape, object)
        for index in np.ndindex(x.shape):
            moving[index] = Jet.variable(x[index], order, dx[index], level=level)
        result = f(moving if x.shape else moving[()])
    return _read(result, level, lambda y: y.derivative(order), lambda _: 0.0)


def jacobian(f: Callable[[Any], Any], x: Any) -> np.ndarray:
    """``∂f/∂x`` of a function of an array; the axes of f come first, then those of x.

    Plain floats are differentiated in all directions in one pass; other numbers one direction at a time.
    """
    x = np.asarray(x)
    size = int(np.prod(x.shape, dtype=int))
    if x.dtype == object:
        unit = np.eye(size)
        columns = [directional(f, x, unit[i].reshape(x.shape)) for i in range(size)]
        shape = np.shape(columns[0])
        out = np.empty((*shape, size), object)
        for i, column in enumerate(columns):
            out[..., i] = column
        return _tight(out.reshape(shape + x.shape))
    with _fresh_level(()) as level:
        moving = np.empty(x.shape, object)
        seeds = np.eye(size)
        for i, index in enumerate(np.ndindex(x.shape)):
            moving[index] = Jet((float(x[index]), seeds[i]), level)
        result = np.asarray(f(moving), object)
    out = np.zeros((*result.shape, size), object)
    for index in np.ndindex(result.shape):
        y = result[index]
        if not (isinstance(y, Jet) and y.level == level):
            continue
        slope = y.coefficients[1]
        if isinstance(slope, Jet):  # a lower level's number whose coefficients hold one entry a direction
            slope = [_entry(slope, i) for i in range(size)]
        out[index] = slope
    return _tight(out.reshape(result.shape + x.shape))


def _entry(c: Any, i: int) -> Any:
    if isinstance(c, Jet):
        return c.map(lambda part: _entry(part, i))
    return c[i] if isinstance(c, np.ndarray) else c


def gradient(f: Callable[[Any], Any], x: Any) -> np.ndarray:
    """``∂f/∂x`` of a scalar function of an array; the shape of x."""
    result = jacobian(f, x)
    if result.shape != np.shape(x):
        raise ShapeError(f"A gradient needs a scalar function; this one returns shape {result.shape[: -np.ndim(x)]}.")
    return result
