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


EVERY = [pytest.param("4", id="one in four"), pytest.param("1", id="all", marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=EVERY)
def edited(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, list[float]]]:
    """Two versions of one script, one process each, with one cache; and the second version interpreted."""
    folder = tmp_path_factory.mktemp("edited")
    script, cache = folder / "parts.py", {"MANIPULA_CACHE_DIR": str(folder / "cache"), "MANIPULA_CACHE": ""}
    found = []
    for number, environment in (("3.0", cache), ("5.0", cache), ("5.0", INTERPRETED)):
        script.write_text(PARTS.read_text().replace("7.25", number))
        found.append(outcome(script, request.param, **environment))
    assert len(found[0]) >= 5
    return found


def test_every_edit_matters(edited: list[dict[str, list[float]]]) -> None:
    """Otherwise the next test could not fail."""
    first, _, expected = edited
    assert set(wrong(first, expected)) == set(expected)


def test_an_edited_part_is_compiled_anew_in_the_next_process(edited: list[dict[str, list[float]]]) -> None:
    _, second, expected = edited
    assert wrong(second, expected) == []


@pytest.mark.parametrize("every", EVERY)
def test_a_part_that_changes_is_compiled_anew_in_one_process(every: str) -> None:
    """Globals, attributes, arrays and dicts changed in place, replaced methods, classes and registrations made again."""
    found, expected = outcome(CHANGES, "changed", every), outcome(CHANGES, "fresh", every, **INTERPRETED)
    assert len(found) >= 5
    before, after, right = ({k: v[i] for k, v in x.items()} for x, i in ((found, 0), (found, 1), (expected, 1)))
    assert set(wrong(before, right)) == set(right)  # otherwise nothing could be seen
    assert wrong(after, right) == []


PATCHED = """
import json, sys
import manipula as mp
from manipula.physics import newton_euler

arm = mp.planar([0.5, 0.4], [2.0, 1.0])
if sys.argv[1] == "patched":
    newton_euler.gravity = lambda mechanism, q: 0.0 * q
print(json.dumps({"gravity": mp.compile(arm).gravity([0.3, 0.4]).tolist()}))
"""


def test_a_patched_package_leaves_nothing_behind(tmp_path: Path) -> None:
    """What somebody replaced in our modules is not stored as if it were ours."""
    script, cache = tmp_path / "arm.py", {"MANIPULA_CACHE_DIR": str(tmp_path / "cache"), "MANIPULA_CACHE": ""}
    script.write_text(PATCHED)
    assert outcome(script, "patched", **cache)["gravity"] == [0.0, 0.0]
    arm = 9.81 * np.array([2.0 * 0.25 + 1.0 * 0.5, 1.0 * 0.2])
    second = arm[1] * np.cos(0.7)
    expected = [arm[0] * np.cos(0.3) + second, second]
    assert np.allclose(outcome(script, "plain", **cache)["gravity"], expected, rtol=1e-14)
