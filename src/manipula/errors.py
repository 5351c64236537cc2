"""Every error Manipula raises on purpose.

::

    ManipulaError
      x DescriptionError (ValueError)     a robot file, table or scenario is wrong: file, line, field
        + UnknownNameError (LookupError)  a name that does not exist; lists the known ones and the nearest
        + UnphysicalError                 mass < 0, inertia not positive definite, triangle rule (strict mode)
        + BudgetError                     larger than the stated limit: links, bytes, nesting, steps, terms
        + LengthError (ShapeError)        a field of a part holds too many or too few numbers
      x ShapeError (ValueError)           got (6,), expected (..., 7) for 'panda'
      x TracingError (TypeError)          Python control flow on a traced number
      x CompileError (RuntimeError)       backend missing or refused; says what to install
      x SolveError (RuntimeError)         raised from a result whose status is a failure; carries it

Wrong input raises. A numerical failure (diverged, no solution) is a status with a reason on the result.
A message says what is wrong, which object by name, what was found, what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class ManipulaError(Exception):
    """Base of every error in this package."""


class DescriptionError(ManipulaError, ValueError):
    """A description (file, table, scenario) is wrong.

    Attributes:
        file: name of the file, or ``None`` for data that came from Python.
        line: 1-based line in the file, when it is known.
        field: dotted place inside the description, such as ``link[2].inertia``.
        problem: the sentence without the place.
    """

    def __init__(
        self, problem: str, *, file: str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        self.problem, self.file, self.line, self.field = problem, file, line, field
        super().__init__(self._text())

    def _text(self) -> str:
        place = ""
        if self.file is not None:
            place = printable(self.file, 400) + (f":{self.line}" if self.line is not None else "")
        elif self.line is not None:
            place = f"line {self.line}"
        if self.field is not None:
            place = f"{place}, {printable(self.field)}" if place else printable(self.field)
        return f"{place}: {self.problem}" if place else self.problem

    def at(self, *, file: str | None = None, line: int | None = None, field: str | None = None) -> DescriptionError:
        """The same error with the place filled in where it was still unknown (upper layers add it)."""
        self.file = self.file if self.file is not None else file
        self.line = self.line if self.line is not None else line
        self.field = self.field if self.field is not None else field
        self.args = (self._text(),)
        return self


class UnknownNameError(DescriptionError, LookupError):
    """A name that does not exist, with the known ones and the nearest."""


class UnphysicalError(DescriptionError):
    """The numbers cannot belong to a real body."""


class BudgetError(DescriptionError):
    """The request is larger than a stated limit; refused before work is done."""


class ShapeError(ManipulaError, ValueError):
    """An array has the wrong shape, or is no array that a result can be written to."""


class LengthError(DescriptionError, ShapeError):
    """A field of a part holds too many or too few numbers."""


class TracingError(ManipulaError, TypeError):
    """Python control flow (``if``, ``while``, ``float()``) on a number that is being traced."""


class CompileError(ManipulaError, RuntimeError):
    """Machine code could not be made."""


class SolveError(ManipulaError, RuntimeError):
    """A computation ended without a trustworthy answer; ``result`` carries what there is."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


def printable(text: object, limit: int = 80) -> str:
    """``text`` with control characters escaped and cut to ``limit`` (names in messages may be hostile)."""
    shown = str(text)[: limit + 1]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like ``name``, or ``None``."""
    import difflib  # only who errs needs it

    found = difflib.get_close_matches(str(name)[:200], list(known), n=1, cutoff=0.5)
    return found[0] if found else None


def told_apart(*numbers: float, digits: int = 6) -> tuple[str, ...]:
    """Numbers with so many digits, or as many as it takes to tell those apart that differ: ("3.0000001", "3")."""
    for more in range(digits, 18):
        found = tuple(f"{x:.{more}g}" for x in numbers)
        if len(set(found)) >= len({float(x) for x in numbers}):
            return found
    return tuple(repr(float(x)) for x in numbers)


def unknown_name(kind: str, name: object, known: Iterable[str], **place: Any) -> UnknownNameError:
    """``No frame named 'tool'. Did you mean 'tool0'? Known: base, tool0.``"""
    names = [str(k) for k in known]
    close = nearest(str(name), names)
    hint = f" Did you mean '{printable(close)}'?" if close else ""
    shown = ", ".join(printable(k, 40) for k in names[:30]) + (" …" if len(names) > 30 else "")
    return UnknownNameError(f"No {kind} named '{printable(name, 60)}'.{hint} Known: {shown or 'none'}.", **place)


def check_registered(
    what: str, part: object, name: object, registry: Mapping[str, object], where: str, **place: Any
) -> None:
    """Refuse to write a part whose name in a file would not bring it back."""
    kind = part if isinstance(part, type) else type(part)
    found = registry.get(name) if isinstance(name, str) else None
    if found is kind or found is part:
        return
    label = f"'{printable(name)}' ({kind.__name__})" if isinstance(name, str) else f"of class {kind.__name__}"
    why = f"is not in {where}" if found is None else f"stands for another class in {where}"
    raise DescriptionError(
        f"The {what} {label} {why}, so a file with it could not be read again: register it there, or keep it in Python.",
        **place,
    )
