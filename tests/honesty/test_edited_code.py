"""Machine code is the code the user wrote: an edited part gives the numbers of its new text, never those of the old one.

The judge is the interpreter: the same script without compiler and without cache.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PARTS = Path(__file__).parent.parent / "data" / "edited_parts.py"
CHANGES = Path(__file__).parent.parent / "data" / "changed_parts.py"
ROUNDING = 1e-12  # between machine code and interpreter
INTERPRETED = {"MANIPULA_NO_LLVM": "1", "MANIPULA_CACHE": "off"}


def outcome(script: Path, *arguments: str, **environment: str) -> dict[str, list[float]]:
    """What a new process that runs the script prints."""
    done = subprocess.run(
        [sys.executable, str(script), *arguments], env={**os.environ, **environment}, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def wrong(found: dict[str, list[float]], expected: dict[str, list[float]]) -> list[str]:
    return [name for name in expected if not np.allclose(found[name], expected[name], rtol=0.0, atol=ROUNDING)]


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, list[float]]]:
    """Two versions of one script, one process each, with one cache; and the second version interpreted."""
    folder = tmp_path_factory.mktemp("edited")
    script, cache = folder / "parts.py", {"MANIPULA_CACHE_DIR": str(folder / "cache"), "MANIPULA_CACHE": ""}
    found = []
    for number, environment in (("3.0", cache), ("5.0", cache), ("5.0", INTERPRETED)):
        script.write_text(PARTS.read_text().replace("7.25", number))
        found.append(outcome(script, **environment))
    return found


def test_every_edit_matters(edited: list[dict[str, list[float]]]) -> None:
    """Otherwise the next test could not fail."""
    first, _, expected = edited
    assert set(wrong(first, expected)) == set(expected)


def test_an_edited_part_is_compiled_anew_in_the_next_process(edited: list[dict[str, list[float]]]) -> None:
    _, second, expected = edited
    assert wrong(second, expected) == []
