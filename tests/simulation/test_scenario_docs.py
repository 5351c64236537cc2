"""What the pages on scenarios and programs show is read, and the Python examples run."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

from manipula import control
from manipula.simulation.files.scenario_file import file_text, load_text
from manipula.simulation.scenario import KINDS

ROOT = Path(__file__).parents[2]
PAGES = {
    name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("scenarios", "programmed_motion")
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOML = [(page, body) for page, text in PAGES.items() for kind, body in BLOCK.findall(text) if kind == "toml"]


@pytest.mark.parametrize(("page", "text"), TOML, ids=[f"{page} {k}" for k, (page, _) in enumerate(TOML)])
def test_toml_blocks_are_scenarios(page, text):
    scenario = load_text(text, file=page)
    assert load_text(file_text(scenario)) == scenario


def test_python_blocks_print_what_is_shown(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = BLOCK.findall(PAGES["programmed_motion"])
    pairs = [(body, found[k + 1][1]) for k, (kind, body) in enumerate(found) if kind == "python"]
    assert pairs
    for code, output in pairs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs", "exec"), {})  # noqa: S102 - our own text, the point of the test
        assert printed.getvalue() == output


def test_the_pages_name_every_kind_and_controller():
    for name in set(KINDS) - {"auto"}:
        assert f"`{name}`" in PAGES["scenarios"]
    assert "(parts.md" in PAGES["scenarios"]
    parts = (ROOT / "docs" / "parts.md").read_text(encoding="utf-8")
    for name in control.KIND.in_files:
        assert f"`{name}`" in parts


LONG = ("controller_with_memory", "program_to_tracking")  # thousands of calls of Python; a long chain of runs
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=pytest.mark.slow if p.stem in LONG else ()) for p in SCRIPTS]
)
def test_python_examples_run(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
