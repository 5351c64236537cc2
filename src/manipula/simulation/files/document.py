"""The text of a scenario file: numbers may be formulas of named constants, files stand beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manipula.algebra.arguments import LARGEST
from manipula.algebra.expression import parse
from manipula.algebra.symbols import free_names
from manipula.errors import DescriptionError, ManipulaError, ShapeError, printable, unknown_name
from manipula.formats.guard import safe_join
from manipula.formats.toml.fields import Document, Fields, radians


class ScenarioDocument(Document):
    """A parsed scenario.

    Attributes:
        folder: where files that the scenario names are looked for; ``None`` forbids opening any.
        package_dirs: where mesh files of what links look like may lie as well.
    """

    def __init__(
        self, text: str, file: str | None = None, folder: Path | None = None, package_dirs: Sequence[Path] = ()
    ) -> None:
        super().__init__(text, file)
        self.folder, self.package_dirs = folder, package_dirs
        self._open = False  # while constants are being read, their names are still free

    def define_constants(self, table: Fields) -> None:
        """Take ``[constants]``: numbers, or formulas of other constants in any order."""
        self._open = True
        try:
            self.define(table)
        except DescriptionError as error:  # the names of a robot are parameters, those of a scenario constants
            field = (error.field or "").replace("parameters.", f"{table.path}.", 1)
            raise DescriptionError(error.problem, **self.place(field)) from None
        finally:
            self._open = False
        for name, value in self.parameters.items():
            self.scalar(value, table.where(name))

    def check_constants(self) -> None:
        """Every constant must be used by a formula, else its name is probably misspelt."""
        for name in self.parameters:
            if name not in self.used:
                raise DescriptionError(
                    f"The constant '{printable(name)}' is not used by any number of this file.",
                    **self.place(f"constants.{name}"),
                )

    def scalar(self, value: Any, path: str, largest: float = LARGEST) -> float:
        """A finite float; names in a formula are constants of the file."""
        if isinstance(value, str) and not self._open:
            value = self._computed(value)
        number = super().scalar(value, path, largest)
        if isinstance(number, float) or self._open:
            return number
        raise unknown_name("constant", sorted(free_names(number))[0], self.parameters, **self.place(path))

    def _computed(self, text: str) -> Any:
        """The value of a formula whose names are all known numbers; else the text itself, which is then read symbolically."""
        try:
            formula = parse(text)
            known = {name: self.parameters[name] for name in formula.names}
            self.used.update(known)
            return float(formula.evaluate(known)) if all(isinstance(v, float) for v in known.values()) else text
        except (KeyError, DescriptionError):
            return text  # what is wrong with it is reported where it is read

    def numbers(self, value: Any, path: str, *, degrees: bool = False) -> Any:
        """A number, or nested lists of numbers as tuples; formulas in quotes are evaluated."""
        if isinstance(value, list):
            return tuple(self.numbers(v, f"{path}[{i}]", degrees=degrees) for i, v in enumerate(value))
        number = self.scalar(value, path)
        return radians(number) if degrees else number

    def beside(self, name: str, path: str) -> Path:
        """The file that the scenario names: regular, and inside the scenario's own folder when every link is followed."""
        if self.folder is None:
            raise DescriptionError("A scenario given as text opens no files.", **self.place(path))
        try:
            return safe_join(self.folder, name)
        except DescriptionError as error:
            raise self.located(error, path).at(file=self.file) from None

    def explain(self, error: Exception, path: str = "") -> DescriptionError:
        """Any failure of a part as one error with file, line and field."""
        if isinstance(error, DescriptionError):
            if error.file is not None and error.file != self.file:  # a file of its own: say where it is named
                return error
            return self.located(error, path).at(file=self.file)
        text = str(error) if isinstance(error, (ManipulaError, ShapeError)) else _plain(error)
        return DescriptionError(text, **self.place(path))


def _plain(error: Exception) -> str:
    return f"These values do not fit together: {printable(error, 200)}."


class Inline(Document):
    """A table of another document read as if it were a document (a robot inside a scenario)."""

    def __init__(self, outer: ScenarioDocument, key: str) -> None:
        self.outer, self.key = outer, key
        self.text, self.file, self.folder, self.package_dirs = outer.text, outer.file, outer.folder, outer.package_dirs
        self.parameters: dict[str, Any] = {}
        self.declared: dict[str, None] | None = None
        self.used: set[str] = set()
        self.work, self.formulas = outer.work, outer.formulas
        self.root = outer.root[key]

    def line(self, path: str) -> int | None:
        return self.outer.line(f"{self.key}.{path}" if path else self.key)

    def place(self, path: str) -> dict[str, Any]:
        return self.outer.place(f"{self.key}.{path}" if path else self.key)

    def located(self, error: DescriptionError, path: str = "") -> DescriptionError:
        if path:
            return self.outer.located(error, f"{self.key}.{path}")
        error.field = f"{self.key}.{error.field}" if error.field else self.key
        return self.outer.located(error)


def whole_number(table: Fields, key: str, default: int) -> int:
    """A whole number from 0 to 2⁶³ − 1."""
    value = table.raw(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise table.error(f"A whole number of at least 0 is needed, found {printable(value, 40)}.", key)
    return value
