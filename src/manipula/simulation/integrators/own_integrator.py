"""An integrator that somebody wrote, asked for one step of x' = -x on plain numbers before it becomes part of a loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.errors import DescriptionError, ManipulaError, printable
from manipula.identity import is_own
from manipula.simulation.integrators.base import AdaptiveStep, FixedStep

START = (1.0, 0.5)
STEP = 1e-3


def check_own_integrator(method: FixedStep | AdaptiveStep, name: str) -> None:
    """Does it give a state of the shape that it was given (an adaptive one with an error, one number)?

    Raises:
        DescriptionError: with what it gives instead, or how it fails.
    """
    if is_own(method):
        return
    x, decay = np.array(START), lambda t, x: -np.asarray(x)
    fixed = not isinstance(method, AdaptiveStep)
    try:
        if isinstance(method, AdaptiveStep):
            found: Any = method.attempt(decay, 0.0, x, STEP, lambda new: np.ones(len(x)))
        else:
            found = method.step(decay, 0.0, x, STEP, len(x) // 2)
    except ManipulaError:
        raise
    except Exception as error:  # user code
        raise DescriptionError(
            f"The integrator '{name}' fails at one step of x' = -x: {type(error).__name__}: {error}.",
            field="integrator",
        ) from error
    pair = (found, 0.0) if fixed else found
    if not (isinstance(pair, tuple) and len(pair) == 2 and _numbers(pair[0], x.shape) and _numbers(pair[1], ())):
        wanted = "the state" if fixed else "the pair (state, error)"
        raise DescriptionError(
            f"The integrator '{name}' gives {printable(repr(found), 60)} for a state of {len(x)} numbers; {wanted} after the step is needed.",
            field="integrator",
        )


def _numbers(value: Any, shape: tuple[int, ...]) -> bool:
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError):
        return False
    return found.shape == shape and bool(np.isfinite(found).all())
