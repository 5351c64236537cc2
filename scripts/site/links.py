"""Links that leave docs/ lead to the pages that the site makes of those files."""

from __future__ import annotations

import re
from typing import Any

from mkdocs.structure.pages import Page

ROOT_PAGES = {
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
LINK = re.compile(r"(\]\()((?:\.\./)+)([^)#\s]+)((?:#[^)\s]*)?\))")


def target(name: str) -> str | None:
    """The page of a file of the project, by its path from the root."""
    if name in ROOT_PAGES:
        return ROOT_PAGES[name]
    if name.rstrip("/") == "examples":
        return "README.md#examples"
    if name.startswith("examples/") and name.endswith((".toml", ".py", ".ipynb")):
        return name.replace("examples/notebooks/", "notebooks/").rsplit(".", 1)[0] + (
            ".md" if name.endswith((".toml", ".ipynb")) else "-py.md"
        )
    return None


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    depth = page.file.src_uri.count("/")

    def rewritten(match: re.Match[str]) -> str:
        if match[2].count("../") != depth + 1:
            return match[0]
        found = target(match[3])
        if found is None:
            return match[0]
        end = match[4] if "#" not in found else ")"
        return f"{match[1]}{'../' * depth}{found}{end}"

    return LINK.sub(rewritten, markdown)
