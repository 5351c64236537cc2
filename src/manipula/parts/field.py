"""What one field of a part is: kind, unit, meaning and sensible range, written beside its type.

::

    damping: Annotated[float, Number("N·m·s/rad or N·s/m", "viscous friction b", least=0.0)] = 0.0

Readers of files, checks, tables, schemas and forms are made from this one line (see :mod:`.declared`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from manipula.algebra.arguments import LARGEST

Kind = Literal[
    "number", "one per joint", "vector", "numbers", "rows", "formula", "formulas", "frame", "choice", "whole number",
    "whole numbers", "text", "texts", "flag", "file", "part", "parts", "constants", "function", "any",
]  # fmt: skip


@dataclass(frozen=True)
class Field:
    """The declaration of one field.

    Attributes:
        kind: what a value is. unit: SI, "1" for a pure number, "" for what is no number. meaning: a phrase for people.
        least, above: smallest value allowed, or bound that must be exceeded. most, below: the same upwards.
        nonzero: 0 is not allowed. infinite: infinity is a value (a time that never comes).
        choices: allowed words; beside numbers, words that may stand in their place.
        lengths: of a vector, the numbers of entries allowed.
        each: what "one per joint" counts: joints, or coordinates, or parameters.
        degrees: an angle, which a file may give in degrees with ``_deg`` behind the name.
        names: variables of a formula; none when other fields define them.
        of: the kind of part that stands in this field; of a file the ending that tells its name from a text (none: one line).
        example: a sensible value for somebody who begins with this part, where its unit alone does not suggest one.
    """

    kind: Kind
    unit: str = ""
    meaning: str = ""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    nonzero: bool = False
    infinite: bool = False
    choices: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()
    each: str = "joint"
    degrees: bool = False
    names: tuple[str, ...] = ("t",)
    of: str = ""
    example: Any = None

    @property
    def range(self) -> str:
        """The allowed range in words, empty when every finite number is allowed."""
        if self.least is not None and self.most is not None:
            return f"from {self.least:g} to {self.most:g}"
        words = [
            text.format(bound)
            for text, bound in (
                ("at least {:g}", self.least),
                ("greater than {:g}", self.above),
                ("at most {:g}", None if self.most == LARGEST else self.most),
                ("less than {:g}", self.below),
            )
            if bound is not None
        ]
        return " and ".join(words + ["different from 0"] * self.nonzero)

    @property
    def kind_words(self) -> str:
        """The kind as a table shows it."""
        words = f"one per {self.each}" if self.kind == "one per joint" else self.kind
        if self.kind == "vector":
            words = f"{' or '.join(str(k) for k in self.lengths)} numbers"
        if self.kind in ("part", "parts"):
            words = self.of if self.kind == "part" else f"list of {self.of}s"
        words = {"number": "angle", "numbers": "angles"}.get(words, f"angle, {words}") if self.degrees else words
        return words + "".join(f', or "{c}"' for c in self.choices if self.kind != "choice")


Number = partial(Field, "number")
Angle = partial(Field, "number", degrees=True)
PerJoint = partial(Field, "one per joint")
AnglePerJoint = partial(Field, "one per joint", degrees=True)
Numbers = partial(Field, "numbers")
Rows = partial(Field, "rows")
Formula = partial(Field, "formula")
Formulas = partial(Field, "formulas")
Whole = partial(Field, "whole number", "1")
Wholes = partial(Field, "whole numbers", "1")
Frame = partial(Field, "frame", "")
Text = partial(Field, "text", "")
Texts = partial(Field, "texts", "")
Flag = partial(Field, "flag", "")
File = partial(Field, "file", "")
# endings of files whose content may stand in their place, recognised by their line breaks; other files are recognised by their ending
OF_SEVERAL_LINES = ("", ".csv")
Constants = partial(Field, "constants", "")
Function = partial(Field, "function", "")


def VectorField(unit: str, meaning: str, lengths: tuple[int, ...] = (3,), example: Any = None) -> Field:
    """A list of as many numbers as ``lengths`` allows."""
    return Field("vector", unit, meaning, lengths=lengths, example=example)


def Choice(meaning: str, *choices: str) -> Field:
    """One of several words."""
    return Field("choice", "", meaning, choices=choices)


def Part(of: str, meaning: str) -> Field:
    """Another part."""
    return Field("part", "", meaning, of=of)


def Parts(of: str, meaning: str) -> Field:
    """A list of other parts."""
    return Field("parts", "", meaning, of=of)
