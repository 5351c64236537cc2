"""The public surface: what ``manipula`` promises exists, is documented, and costs nothing until it is used."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import manipula

ROOT = Path(__file__).parents[2]
SOURCE = ast.parse((ROOT / "src" / "manipula" / "__init__.py").read_text(encoding="utf-8"))
HEAVY = ("numpy", "scipy", "sympy", "llvmlite", "matplotlib", "xarray", "typer", "rich")
FOREIGN = ("manipula.bench.peers", "manipula.__main__")  # needs other libraries; runs the command


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", manipula.__all__)
def test_every_public_name_resolves(name: str) -> None:
    value = getattr(manipula, name)
    assert value is getattr(manipula, name)  # fetched once, then kept
    if not isinstance(value, str):
        assert (value.__doc__ or "").strip(), f"{name} has no docstring"


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")
def test_every_public_name_is_taught_two_steps_from_the_readme() -> None:
    """On the README or on a page that it, or the list of pages, links; the list of names in the design teaches nothing."""
    readme, pages = (ROOT / "README.md").read_text("utf-8"), (ROOT / "docs" / "README.md").read_text("utf-8")
    linked = set(re.findall(r"\(docs/([\w/]+\.md)", readme)) | set(re.findall(r"\]\(([\w/]+\.md)", pages))
    assert linked >= {str(p.relative_to(ROOT / "docs").as_posix()) for p in (ROOT / "docs").rglob("*.md")} - {
        "README.md"
    }
    told = "".join((ROOT / "docs" / name).read_text("utf-8") for name in sorted(linked - {"design.md"})) + pages
    assert not [name for name in manipula._PUBLIC if not re.search(rf"\b{name}\b", told)]


def test_no_ghosts_and_no_repetition() -> None:
    assert len(manipula.__all__) == len(set(manipula.__all__))
    assert dir(manipula) == sorted(manipula.__all__)
    assert set(manipula._MODULES) <= set(manipula._PUBLIC)
    for name in manipula._MODULES:
        space = getattr(manipula, name)
        assert isinstance(space, types.ModuleType)
        assert dir(space) == sorted(space.__all__), name  # completion shows no modules and no imports


def test_star_import_gives_exactly_the_public_names() -> None:
    found = run(
        "from manipula import *\nprint(*sorted(n for n in dir() if not n.startswith('__') or n == '__version__'))"
    )
    assert found.split() == sorted(manipula.__all__)


def test_type_checkers_see_the_same_names() -> None:
    block = next(n for n in SOURCE.body if isinstance(n, ast.If))
    declared = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    fetched = {n: m if n in manipula._MODULES else f"{m}.{n}" for n, m in manipula._PUBLIC.items()}
    assert declared == fetched


def test_a_wrong_name_suggests_the_right_one() -> None:
    with pytest.raises(AttributeError, match="did you mean 'simulate'"):
        manipula.simulat


def test_importing_does_no_work() -> None:
    loaded = run(
        "import sys\nbefore = set(sys.modules)\nimport manipula\nprint(*sorted(set(sys.modules) - before))"
    ).split()
    assert not [name for name in loaded if name.split(".")[0] in HEAVY]
    assert [name for name in loaded if name.startswith("manipula")] == [
        "manipula",
        "manipula.verbs",
        "manipula.version",
    ]


def test_describing_an_arm_needs_neither_compiler_nor_sympy_nor_plots() -> None:
    loaded = run("import sys, manipula\nmanipula.load('puma560')\nprint(*sys.modules)").split()
    for name in ("sympy", "llvmlite", "matplotlib", "xarray"):
        assert name not in loaded


def test_the_command_line_starts_lightly() -> None:
    loaded = run("import sys, manipula.cli.app\nprint(*sys.modules)").split()
    for name in ("sympy", "llvmlite", "matplotlib", "xarray"):
        assert name not in loaded


def modules() -> list[str]:
    found = [m.name for m in pkgutil.walk_packages(manipula.__path__, "manipula.")]
    return [name for name in found if not name.startswith(FOREIGN)]


def test_every_module_imports_and_keeps_its_promises() -> None:
    for name in modules():
        module = importlib.import_module(name)
        for promised in getattr(module, "__all__", ()):
            assert hasattr(module, promised), f"{name}.__all__ promises '{promised}'"


def test_versions_agree() -> None:
    from importlib.metadata import version

    stated = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{manipula.__version__}"' in stated
    assert version("manipula") == manipula.__version__
