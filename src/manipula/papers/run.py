"""The papers by name, and running one."""

from __future__ import annotations

import importlib
import time
from dataclasses import replace

from manipula.errors import unknown_name
from manipula.papers.base import PaperInfo, Reproduction
from manipula.papers.printed import paper_info

PAPERS = ("zlajpah", "khang", "arora", "abdelsatar", "jarzebowska")


def papers() -> list[PaperInfo]:
    """Every paper that can be run."""
    return [paper_info(name) for name in PAPERS]


def run_paper(name: str, *, quick: bool = False) -> Reproduction:
    """Run everything that a paper shows and hold it against print.

    Args:
        name: one of :data:`PAPERS`.
        quick: leave out what is only timed and judges nothing, such as large arms.

    Raises:
        UnknownNameError: no such paper; says which there are.
    """
    if name not in PAPERS:
        raise unknown_name("paper", name, PAPERS, field="name")
    begin = time.perf_counter()
    found = importlib.import_module(f"manipula.papers.{name}.paper").reproduce(quick)
    return replace(found, seconds=time.perf_counter() - begin)
