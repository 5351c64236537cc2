"""What inverse kinematics gives back, and how errors are measured.

A solution is only called "solved" when its residual, evaluated again by forward kinematics, is below the tolerance and (when asked)
its joints are within their limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from manipula.algebra.value import Value
from manipula.errors import SolveError
from manipula.robot.robot import Robot
from manipula.verbs import notebook_html

Status = Literal["solved", "unreachable", "limits", "singular", "not_converged"]
TOLERANCE = 1e-8  # m and rad
LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True, eq=False, repr=False)
class IkResult(Value):
    """Answer for one target, or for a batch (then every field has leading axes).

    Attributes:
        q: (n,) solution or best posture found; (k, n) with ``all_solutions``; (..., n) for a batch of targets.
        status: "solved", "unreachable" (``reason`` has the distance), "limits" (a posture exists, but not within the limits),
            "singular" (stuck at a singular posture), "not_converged".
        residual: largest of position error [m] and angle error [rad], from forward kinematics.
        iterations: of the numeric method; 0 for closed forms.
        reason: a sentence.
        method: what solved it.
        continuum: with ``all_solutions``, (k,): is the posture one of infinitely many that reach the target (a redundant arm, a singular
            target)? Such a posture stands for the others; ``reason`` names the joints that are free. None otherwise.
        units: (n,) of the entries of ``q``: "rad" or "m".
    """

    q: np.ndarray
    status: Any
    residual: Any
    iterations: Any
    reason: Any
    method: Any = ""
    continuum: Any = None
    units: tuple[str, ...] = ()

    @classmethod
    def of_own(cls, fields: dict[str, Any]) -> IkResult:
        """A result of all its fields by name, whose arrays are read-only and in nobody else's hands: nothing has to be copied."""
        result = object.__new__(cls)
        object.__setattr__(result, "__dict__", fields)
        return result

    def _repr_html_(self) -> str | None:
        """A table, for notebooks."""
        return notebook_html(self)

    @property
    def ok(self) -> bool:
        """Is every target solved?"""
        return bool(np.all(np.asarray(self.status) == "solved"))

    def reshaped(self, lead: tuple[int, ...]) -> IkResult:
        """The same answers with the leading axes of the batch of targets."""
        shape = lambda x: np.reshape(x, (*lead, *np.shape(x)[1:]))  # noqa: E731
        return IkResult(
            *(shape(x) for x in (self.q, self.status, self.residual, self.iterations, self.reason, self.method)),
            units=self.units,
        )

    def check(self) -> IkResult:
        """The result, or a SolveError that carries it."""
        if not self.ok:
            first = (
                self.reason
                if isinstance(self.reason, str)
                else next(r for r, s in zip(np.ravel(self.reason), np.ravel(self.status)) if s != "solved")
            )
            raise SolveError(f"Inverse kinematics: {first}", self)
        return self


def units_of(robot: Robot) -> tuple[str, ...]:
    """What the positions of the joints are measured in."""
    return tuple("rad" if joint.is_revolute else "m" for joint in robot.joints)
