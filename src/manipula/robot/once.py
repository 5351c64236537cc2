"""Answers about a mechanism that are computed once: they depend on links, joints and frames, not on friction laws and drives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

ROBOT = "manipula.robot.robot"
F = TypeVar("F", bound=Callable[..., Any])


def once_per_mechanism(maxsize: int) -> Callable[[F], F]:
    """Keep the answers of ``f(robot, …)`` for the robots asked for last.

    They are found again by :attr:`Robot.bare`. Laws and drives, which somebody may have written, are never compared or hashed.
    """

    def decorate(f: F) -> F:
        kept = functools.lru_cache(maxsize=maxsize)(f)

        @functools.wraps(f)
        def answer(robot: Any, *rest: Any, **options: Any) -> Any:
            if type(robot).__module__ != ROBOT:  # a user's class, whose answers may change
                return f(robot, *rest, **options)
            return kept(robot.bare, *rest, **options)

        answer.cache_clear = kept.cache_clear  # pyright: ignore[reportAttributeAccessIssue]
        return answer  # pyright: ignore[reportReturnType]

    return decorate
