"""What a project keeps beside its code: true, and told in one voice."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import manipula

ROOT = Path(manipula.__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
pytestmark = pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="not a checkout")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_names_this_version() -> None:
    assert re.search(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE).group(1) == manipula.__version__
    assert re.search(r"^license: (.*)$", text("CITATION.cff"), re.MULTILINE).group(1) == PROJECT["license"]


def test_commands_of_the_guide_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), re.MULTILINE))
    named = set(re.findall(r"^make ([\w-]+)", text("CONTRIBUTING.md"), re.MULTILINE))
    assert {"test", "check", "test-slow"} <= named <= targets
    links = re.findall(r"\]\(([\w./]+)\)", text("CONTRIBUTING.md"))
    assert len(links) >= 3
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_list_of_slow_tests_names_tests() -> None:
    """A name that has changed would bring a long test back; a small one that is gone would leave a promise untested."""
    lines = [line for line in text("tests/slow_tests.txt").splitlines() if line and not line.startswith("#")]
    pairs = [tuple(part.strip() for part in line.partition(" < ")[::2]) for line in lines]
    for name in filter(None, (name for pair in pairs for name in pair)):
        file, _, function = name.partition("[")[0].partition("::")
        assert f"\ndef {function}(" in text(file), name
    moved = {long for long, _ in pairs}
    assert len(moved) == len(pairs)
    assert not [small for _, small in pairs if small in moved or small.partition("[")[0] in moved]
    assert [
        long for long, small in pairs if not small and "[" not in long
    ] == []  # one of its parameters, or another test, stays


def test_the_workflow_covers_what_the_package_claims() -> None:
    claimed = {c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)}
    workflow = text(".github/workflows/tests.yml")
    listed = re.search(r"python: \[(.*)\]", workflow).group(1)
    assert set(re.findall(r"3\.\d+", listed)) == claimed
    oldest = next(d for d in PROJECT["dependencies"] if d.startswith("numpy"))
    assert re.search(r">=([\d.]+)", oldest).group(1) + ".*" in workflow
    assert all(system in workflow for system in ("ubuntu", "macos", "windows"))


def test_tests_are_collected_where_there_is_no_pinocchio() -> None:
    """There is none for Windows, and a module that imports it ends the tests of a whole system."""
    assert "pin>=4.0,<5; sys_platform != 'win32'" in text("pyproject.toml")
    bare = re.compile(r"^(?:import|from) pinocchio\b", re.MULTILINE)
    assert [p.name for p in (ROOT / "tests").rglob("*.py") if bare.search(p.read_text(encoding="utf-8"))] == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_children_hear_an_interruption() -> None:
    """Whatever the parent of the tests did with SIGINT: see conftest.py."""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    child = "import signal; raise SystemExit(signal.getsignal(signal.SIGINT) is not signal.default_int_handler)"
    assert subprocess.run([sys.executable, "-c", child], check=False).returncode == 0


def test_the_package_is_a_command_with_version_and_completion() -> None:
    def told(*words: str) -> str:
        path = {"PYTHONPATH": str(ROOT / "src"), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
        import os

        command = [sys.executable, "-m", "manipula", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **path}).stdout

    assert told("--version").strip() == f"manipula {manipula.__version__}"
    assert "complete" in told("--show-completion", "bash")
