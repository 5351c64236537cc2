"""The equations of motion inside a report, when they are short enough to be read and quick enough to derive."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from manipula.errors import ManipulaError
from manipula.robot.robot import Robot

if TYPE_CHECKING:
    from manipula.symbolic.equations import Equations

MOST_TERMS = 400  # of the mass matrix, estimated before anything is derived
MOST_SECONDS = 3.0
MOST_CHARACTERS = 120_000


class _TooLongError(Exception):
    """The derivation was given up."""


def equations_html(of: Robot | Equations, seconds: float = MOST_SECONDS) -> str:
    """The equations as MathML, or nothing when they would be too long or take too long."""
    from manipula.symbolic.equations import equations

    until = time.monotonic() + seconds

    def watch(*_: object) -> None:
        if time.monotonic() > until:
            raise _TooLongError

    try:
        found: Any = equations(of) if isinstance(of, Robot) else of
        make, named = found.__reduce__()  # once more, by this clock
        page = make(*named, limit=MOST_TERMS, progress=watch).html()
    except (ManipulaError, _TooLongError):
        return ""
    inside = page.partition("<body>")[2].rpartition("</body>")[0].strip()
    inside = "".join(c for c in inside if c.isprintable() or c == "\n")
    return inside if 0 < len(inside) <= MOST_CHARACTERS else ""
