"""Elements and attributes that are no part of a format: slips of the pen are refused, somebody's own are counted and told."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection

from manipula.errors import printable
from manipula.formats.xml.reader import Element


class Unread:
    """What a reader passes over."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.soft_limits: list[str] = []  # joints that state some

    def children(self, element: Element, known: Collection[str]) -> None:
        """Refuse a child whose tag is almost one that means something; count the other strangers."""
        for child in element.children:
            if child.tag in known:
                continue
            close = difflib.get_close_matches(child.tag.lower(), known, n=1, cutoff=0.7)
            if close and abs(len(close[0]) - len(child.tag)) <= 1:
                child.fail(f"Unknown element <{printable(child.tag)}> in <{element.tag}>. Did you mean <{close[0]}>?")
            self.counts[f"<{printable(child.tag)}> in <{element.tag}>"] += 1

    def attributes(self, element: Element, known: Collection[str]) -> None:
        """The same for attributes."""
        element.expect(known)
        for attribute in element.attributes:
            if attribute not in known:
                self.counts[f"'{printable(attribute)}' in <{element.tag}>"] += 1

    def notes(self, format_name: str) -> list[str]:
        """One sentence for each kind of stranger."""
        told = [f"{count} {what} not part of {format_name}, ignored." for what, count in self.counts.items()]
        if self.soft_limits:
            names = ", ".join(f"'{printable(name, 60)}'" for name in self.soft_limits)
            joints = "joint" if len(self.soft_limits) == 1 else "joints"
            told.append(
                f"{joints} {names}: <safety_controller> is not read; the range in <limit> counts, not its soft limits."
            )
        return told
