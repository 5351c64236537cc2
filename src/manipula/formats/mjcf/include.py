"""``<include file="…"/>``: the elements of another file take its place.

As MuJoCo does it: the name of the included file's root does not matter, every file is included at most once (so there are no cycles), and
a name is looked up in the folder of the main file, then in that of the file that names it. Only regular files inside the
folder of the main file (``trusted_folder``) are opened, also after links have been followed, and all files together share one budget.
"""

from __future__ import annotations

from pathlib import Path

from manipula.errors import DescriptionError, printable
from manipula.formats.mjcf.trusted_folder import TrustedFolder
from manipula.formats.xml.reader import Budget, BudgetUsed, Element, read_xml

LARGEST_NUMBER_OF_FILES = 200


def join_includes(
    root: Element, file: str | None, trusted: TrustedFolder | None, budget: Budget, spent: BudgetUsed
) -> None:
    """Replace every ``<include>`` below ``root`` by what its file holds.

    Raises:
        DescriptionError: a file outside the folder, twice, missing or empty; text from Python has no folder.
    """
    main = Path(file).resolve() if file is not None else None
    seen = {main}
    todo = [(root, 1)]
    while todo:
        holder, depth = todo.pop()
        at = 0
        while at < len(holder.children):
            child = holder.children[at]
            if child.tag != "include":
                todo.append((child, depth + 1))
                at += 1
                continue
            if main is None or trusted is None:
                child.fail("A text has no folder to look this file up in; give the path of the main file.", "file")
            path = _file(child, main.parent, trusted)
            if path in seen or len(seen) > LARGEST_NUMBER_OF_FILES:
                shown = printable(child.get("file"), 60)
                child.fail(
                    f"'{shown}' is included a second time."
                    if path in seen
                    else f"More than {LARGEST_NUMBER_OF_FILES} included files.",
                    "file",
                )
            seen.add(path)
            holder.children[at : at + 1] = _elements(child, path, depth, budget, spent)


def _file(include: Element, main: Path, trusted: TrustedFolder) -> Path:
    """The included file: beside the main file, else beside the file that names it."""
    reference = include.get("file")
    if include.children:
        include.fail("An <include> has nothing inside.")
    try:
        return trusted.file(main, reference)
    except DescriptionError as error:
        if include.file is not None:
            try:
                return trusted.file(Path(include.file).parent, reference)
            except DescriptionError:
                pass
        raise error.at(file=include.file, line=include.line, field="include.file") from None


def _elements(include: Element, path: Path, depth: int, budget: Budget, spent: BudgetUsed) -> list[Element]:
    root, _ = read_xml(path, budget, spent)
    if not root.children:
        include.fail(f"The file '{printable(include.get('file'), 60)}' is empty.", "file")
    level = root.children
    while level:
        depth += 1
        if depth > budget.depth:
            include.fail(f"Nested deeper than {budget.depth} levels, includes counted.", "file")
        for element in level:
            element.file = str(path)
        level = [child for element in level for child in element.children]
    return root.children
