"""One thing the doctor noticed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from manipula.algebra.value import Value

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, eq=False, repr=False)
class Finding(Value):
    """A sentence about one place of the robot.

    Attributes:
        severity: "error" (the model cannot be right), "warning" (it probably is not) or "info".
        code: short stable name such as ``inertia.triangle``.
        place: name of the link or joint, or of the robot.
        sentence: what was found, in words.
        value: the number, list or mapping behind the sentence, for programs.
        advice: what to do about it; empty when there is nothing to do.
        in_strict: the severity when the doctor is strict.
    """

    severity: Severity
    code: str
    place: str
    sentence: str
    value: Any = None
    advice: str = ""
    in_strict: Severity | None = None
