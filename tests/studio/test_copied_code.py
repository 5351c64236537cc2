"""What the panel Equations copies as source code is one text that compiles alone, without its test."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula.codegen import LANGUAGES
from manipula.errors import BudgetError
from manipula.studio.runs import RunStore
from manipula.studio.verbs import call, deriving

Q = (0.3, -0.4, 0.2, 0.1)
CALLS = {  # a program that prints the torques of gravity, behind the text; the words that run it
    "python": ("arm.py", "\nprint(*gravity({q}))\n", [sys.executable, "arm.py"]),
    "javascript": ("arm.mjs", "\nconst g = new Float64Array(4); gravity(Float64Array.of({q1}), g); console.log(...g);\n", ["node", "arm.mjs"]),
    "c": ("arm.c", ("\n#include <stdio.h>\nint main(void) {{ double q[] = {{{q1}}}, g[4]; scara_khang_gravity(q, g);"
          ' printf("%.17g %.17g %.17g %.17g\\n", g[0], g[1], g[2], g[3]); return 0; }}\n'), ["sh", "-c", "cc -Wall -o arm arm.c -lm && ./arm"]),
    "matlab": ("arm.m", "\nprintf('%.17g ', scara_khang_gravity([{q1}]'));\n", ["octave", "--quiet", "--no-gui", "arm.m"]),
}  # fmt: skip


def text_of(language: str) -> str:
    document = {"format": 1, "robot": "scara-khang", "duration": 1}
    return call("code", RunStore(), {"document": document, "language": language})["text"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_whole_and_brings_no_test(language):
    text = text_of(language)
    assert "all agree" not in text
    assert text.count("gravity") > 0
    assert '#include "' not in text


@pytest.mark.parametrize("language", CALLS)
def test_it_compiles_alone_and_computes_the_same(language, tmp_path: Path):
    name, behind, words = CALLS[language]
    program = {"c": "cc", "matlab": "octave"}.get(language, words[0])
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    numbers = ", ".join(map(str, Q))
    (tmp_path / name).write_text(text_of(language) + behind.format(q=list(Q), q1=numbers), encoding="utf-8")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found = [float(x) for x in done.stdout.split()]
    assert np.allclose(found, mp.compile(mp.load("scara-khang")).gravity(Q), rtol=1e-12, atol=1e-12)


def test_formulas_that_no_page_can_show_are_refused_and_can_be_copied(monkeypatch):
    document = {
        "format": 1,
        "robot": {"name": "six", "planar": {"lengths": [0.2] * 6, "masses": [1.0] * 6}},
        "duration": 1,
    }
    asked = {"document": document, "level": "raw", "only": "christoffel"}
    assert "<math" in call("equations", RunStore(), asked)["text"]
    monkeypatch.setattr(deriving, "MOST_SHOWN", 100)
    with pytest.raises(BudgetError, match="more than the 100 that a page can show"):
        call("equations", RunStore(), asked)
    assert len(call("equations", RunStore(), asked | {"format": "text"})["text"]) > 1000
