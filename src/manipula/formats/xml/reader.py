"""XML for descriptions: a small tree with line numbers, built by expat under budgets.

Refused before anything is built from them: DOCTYPE, entities, processing instructions, deep nesting, too many
elements. Numbers in attributes go through our own decimal grammar (no nan, inf, underscores).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat

from manipula.algebra.arguments import LARGEST
from manipula.algebra.expression import decimal
from manipula.errors import BudgetError, DescriptionError, nearest, printable, unknown_name
from manipula.formats.guard import MAX_BYTES, Source, xml_source

_ENCODINGS = ("utf-8", "utf8", "utf-16", "us-ascii", "ascii", "iso-8859-1", "latin-1", "windows-1252")
_TYPO = 0.7  # how alike an unknown attribute and a missing one must be to be taken for a slip of the pen


class Budget(NamedTuple):
    """How much XML one description may hold; ``counts`` limits single tags."""

    bytes: int = MAX_BYTES  # of all files of one description
    depth: int = 24
    elements: int = 40_000  # 2000 links with all that they hold
    attributes: int = 100  # of one element
    characters: int = 100_000  # of one attribute
    text: int = 1000  # characters of text that are kept of one element
    counts: Mapping[str, int] = {}


@dataclass
class BudgetUsed:
    """What of a budget the files of one description have used together."""

    bytes: int = 0
    elements: int = 0
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Element:
    """One element: what it is called, what it says, where it stands."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list, repr=False)
    text: str = ""
    file: str | None = None  # where it was included from; ``None`` in the main file
    model: int = 0  # MJCF: number of the attached model that it belongs to

    def all(self, tag: str) -> Iterator[Element]:
        """Children of that tag, in order."""
        return (c for c in self.children if c.tag == tag)

    def one(self, tag: str) -> Element | None:
        """The child of that tag, or ``None``; two are refused, because nobody could say which one counts."""
        found = list(self.all(tag))
        if len(found) > 1:
            found[1].fail(f"A second <{printable(tag)}> in the same {self.label}.")
        return found[0] if found else None

    def need(self, tag: str) -> Element:
        found = self.one(tag)
        if found is None:
            close = nearest(tag, {c.tag for c in self.children})
            self.fail(f"<{tag}> is missing in {self.label}." + (f" Found <{printable(close)}>." if close else ""))
        return found

    @property
    def label(self) -> str:
        name = self.attributes.get("name")
        return f"<{printable(self.tag)}>" if name is None else f"<{printable(self.tag)} name='{printable(name, 40)}'>"

    def fail(self, problem: str, attribute: str | None = None) -> NoReturn:
        field = f"{self.tag}.{attribute}" if attribute else self.tag
        raise DescriptionError(problem, file=self.file, line=self.line, field=field)

    def get(self, attribute: str, default: str | None = None) -> str:
        """An attribute as text; missing ones are refused unless a default is given."""
        value = self.attributes.get(attribute, default)
        if value is None:
            close = nearest(attribute, self.attributes)
            self.fail(
                f"The attribute '{attribute}' is missing in {self.label}."
                + (f" Found '{printable(close)}'." if close else ""),
                attribute,
            )
        return value

    def choice(self, attribute: str, allowed: Collection[str], default: str) -> str:
        """An attribute that is one of a few words."""
        value = self.get(attribute, default).strip()
        if value not in allowed:
            where = {"file": self.file, "line": self.line, "field": f"{self.tag}.{attribute}"}
            raise unknown_name(f"value of {attribute}", value, allowed, **where)
        return value

    def number(self, attribute: str, default: float | None = None, *, largest: float = LARGEST) -> float:
        return self.numbers(attribute, 1, None if default is None else (default,), largest=largest)[0]

    def numbers(
        self, attribute: str, count: int | range, default: tuple[float, ...] | None = None, *, largest: float = LARGEST
    ) -> tuple[float, ...]:
        """Decimal numbers separated by white space, ``count`` of them, none above ``largest`` in magnitude."""
        if default is not None and attribute not in self.attributes:
            return default
        words = self.get(attribute).split()
        counts = range(count, count + 1) if isinstance(count, int) else count
        if len(words) not in counts:
            wanted = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
            commas = " Numbers are separated by spaces, not commas." if any("," in word for word in words) else ""
            self.fail(f"{wanted} number(s) are needed, found {len(words)}.{commas}", attribute)
        try:
            values = tuple(decimal(word) for word in words)
        except DescriptionError as error:
            raise error.at(file=self.file, line=self.line, field=f"{self.tag}.{attribute}") from None
        if any(abs(v) > largest for v in values):
            self.fail(
                f"{max(values, key=abs):g} is too large for a length, mass or inertia; at most {largest:g} is allowed.",
                attribute,
            )
        return values

    def expect(self, known: Collection[str]) -> None:
        """Refuse an attribute that is almost a known one which is missing (``uper`` for ``upper``)."""
        import difflib

        missing = [k for k in known if k not in self.attributes]
        for a in self.attributes:
            close = difflib.get_close_matches(a, missing, n=1, cutoff=_TYPO) if a not in known else []
            if close:
                self.fail(f"Unknown attribute '{printable(a)}' in {self.label}. Did you mean '{close[0]}'?", a)


def read_xml(
    text_or_path: str | bytes | os.PathLike[str], budget: Budget, spent: BudgetUsed | None = None
) -> tuple[Element, str | None]:
    """The root element and the file's name; ``spent`` is what files read before have used of the budget.

    Raises:
        DescriptionError: malformed, forbidden or too large; with file and line.
    """
    source = xml_source(text_or_path, budget.bytes)
    try:
        return _parse(source, budget, spent or BudgetUsed()), source.file
    except DescriptionError as error:
        raise error.at(file=source.file) from None


def _parse(source: Source, budget: Budget, spent: BudgetUsed) -> Element:
    # Text that came from Python is UTF-8 whatever its declaration says; a file's declaration counts.
    parser: Any = expat.ParserCreate(None if source.declared else "utf-8")
    stack: list[Element] = []
    roots: list[Element] = []
    counts = spent.counts
    spent.bytes += len(source.data)
    if spent.bytes > budget.bytes:
        raise BudgetError(f"At most {budget.bytes} bytes are read, all files of a description together.")

    def start(tag: str, attributes: dict[str, str]) -> None:
        spent.elements += 1
        line = parser.CurrentLineNumber
        if spent.elements > budget.elements:
            raise BudgetError(f"More than {budget.elements} elements.", line=line)
        if len(stack) >= budget.depth:
            raise BudgetError(f"Nested deeper than {budget.depth} levels.", line=line)
        if tag in budget.counts:
            counts[tag] = counts.get(tag, 0) + 1
            if counts[tag] > budget.counts[tag]:
                raise BudgetError(f"More than the {budget.counts[tag]} <{tag}> that one robot may have.", line=line)
        if len(attributes) > budget.attributes:
            raise BudgetError(f"More than {budget.attributes} attributes in <{printable(tag)}>.", line=line)
        if attributes and max(map(len, attributes.values())) > budget.characters:
            raise BudgetError(f"An attribute of more than {budget.characters} characters.", line=line)
        element = Element(tag, attributes, line)
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def end(tag: str) -> None:
        stack.pop()

    def characters(text: str) -> None:
        top = stack[-1]
        if len(top.text) < budget.text:
            top.text += text[: budget.text]

    def refuse(what: str) -> Any:
        def handler(*_: Any) -> None:
            raise DescriptionError(f"{what} is not allowed in a description.", line=parser.CurrentLineNumber)

        return handler

    def declaration(version: str, encoding: str | None, standalone: int) -> None:
        if source.declared and encoding is not None and encoding.lower() not in _ENCODINGS:
            raise DescriptionError(f"The encoding '{printable(encoding, 30)}' is not read; use UTF-8.", line=1)

    parser.buffer_text = True
    parser.buffer_size = max(8192, min(budget.text, 2**20))
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, characters
    parser.XmlDeclHandler = declaration
    parser.StartDoctypeDeclHandler = refuse("A DOCTYPE")
    parser.EntityDeclHandler = refuse("An entity")
    parser.ExternalEntityRefHandler = refuse("An external entity")
    parser.ProcessingInstructionHandler = refuse("A processing instruction")
    try:
        parser.Parse(source.data, True)
    except expat.ExpatError as problem:
        reason = expat.errors.messages.get(problem.code, "not well-formed")
        raise DescriptionError(f"Not well-formed XML: {reason}.", line=problem.lineno) from None
    except (LookupError, UnicodeError, ValueError) as problem:
        if isinstance(problem, DescriptionError):
            raise
        raise DescriptionError("The characters of this file cannot be decoded; use UTF-8.", line=1) from None
    return roots[0]
