"""The page about adding parts is true: its blocks run, one after another, in one namespace."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_shows_every_kind_of_part() -> None:
    for title in ("friction law", "drive", "controller", "integrator", "path", "inverse kinematics"):
        assert re.search(f"^## .*{title}", PAGE, re.MULTILINE), title


def test_every_block_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = BLOCK.findall(PAGE)
    assert len(blocks) == 6
    module = ModuleType("extending")
    monkeypatch.setitem(sys.modules, "extending", module)  # dataclasses look their module up
    for number, block in enumerate(blocks):
        exec(compile(block, f"docs/extending.md, block {number + 1}", "exec"), module.__dict__)  # noqa: S102
