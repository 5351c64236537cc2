"""The pages about adding parts and about simulation are true: their blocks run."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "extending.md").read_text(encoding="utf-8")
SIMULATION = (DOCS / "simulation.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_shows_every_kind_of_part() -> None:
    for title in ("friction law", "drive", "controller", "integrator", "path", "inverse kinematics"):
        assert re.search(f"^## .*{title}", PAGE, re.MULTILINE), title


def test_every_block_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = BLOCK.findall(PAGE)
    assert len(blocks) == 7
    module = ModuleType("extending")
    monkeypatch.setitem(sys.modules, "extending", module)  # dataclasses look their module up
    for number, block in enumerate(blocks):
        exec(compile(block, f"docs/extending.md, block {number + 1}", "exec"), module.__dict__)  # noqa: S102


def test_the_blocks_of_the_page_about_simulation_run() -> None:
    blocks, names = BLOCK.findall(SIMULATION), {}
    assert blocks
    for number, block in enumerate(blocks):
        exec(compile(block, f"docs/simulation.md, block {number + 1}", "exec"), names)  # noqa: S102
