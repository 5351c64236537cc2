"""Rules that hold for every file: text is never executed and no machine shows through."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "manipula"
MODULES = sorted(PACKAGE.rglob("*.py"))

BUILTINS = {"eval", "exec", "compile", "__import__"}  # run text
CALLS = {"sympify", "parse_expr", "system", "popen", "literal_eval"}  # as functions or as methods of anything
QUALIFIED = {("yaml", "load"), ("builtins", "eval"), ("builtins", "exec"), ("builtins", "compile")}
IMPORTS = {
    "pickle",
    "cPickle",
    "_pickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "builtins",
    "code",
    "codeop",
}
IMPORTED_NAMES = {"sympify", "parse_expr"}
SWITCHES = {"shell", "allow_pickle"}  # never True, never decided at run time
WORDS = re.compile(rf"\b(?:{'|'.join(BUILTINS | CALLS | {b for _, b in QUALIFIED} | IMPORTS | SWITCHES)})\b")


def own_names(nodes: list[ast.AST]) -> set[str]:
    """Functions that the module defines or imports from this package: they are not the builtins of the same name."""
    found = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("manipula"):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def violations(text: str) -> Iterator[str]:
    """What in a module's text could run foreign text or data."""
    if not WORDS.search(text):
        return
    nodes = list(ast.walk(ast.parse(text)))
    own = own_names(nodes)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (f"import {a.name}" for a in node.names if a.name.split(".")[0] in IMPORTS)
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").split(".")[0] in IMPORTS:
                yield f"from {node.module} import"
            yield from (f"import of {a.name}" for a in node.names if a.name in IMPORTED_NAMES)
        elif isinstance(node, ast.Name):
            if node.id in BUILTINS | {"sympify", "parse_expr"} and node.id not in own:
                yield f"line {node.lineno}: {node.id}"
        elif isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in CALLS or (owner, node.attr) in QUALIFIED:
                yield f"line {node.lineno}: {owner}.{node.attr}"
        elif isinstance(node, ast.keyword) and node.arg in SWITCHES and ast.unparse(node.value) != "False":
            yield f"line {node.value.lineno}: {node.arg}={ast.unparse(node.value)}"


def test_text_is_never_executed() -> None:
    found = {str(p.relative_to(PACKAGE)): list(violations(p.read_text(encoding="utf-8"))) for p in MODULES}
    assert not {name: what for name, what in found.items() if what}
    assert len(found) > 200


@pytest.mark.parametrize(
    "text",
    [
        "eval('1')",
        "f = exec",
        "compile('1', '', 'eval')",
        "import pickle",
        "from pickle import loads",
        "from sympy import sympify",
        "import sympy\nsympy.sympify('x')",
        "from sympy.parsing.sympy_parser import parse_expr",
        "import yaml\nyaml.load(t)",
        "import subprocess\nsubprocess.run('ls', shell=True)",
        "import numpy as np\nnp.load(f, allow_pickle=True)",
        "import numpy as np\nnp.load(f, allow_pickle=wanted)",
        "import os\nos.system('ls')",
    ],
)
def test_the_rule_sees_what_it_forbids(text: str) -> None:
    assert list(violations(text))


@pytest.mark.parametrize(
    "text",
    [
        "import re\nre.compile('a')",
        "from manipula.model import compile\ncompile(robot)",
        "import numpy as np\nnp.load(f, allow_pickle=False)",
        "model.evaluate(1)",
        "import ast\nast.parse('1', mode='eval')",
    ],
)
def test_the_rule_allows_what_is_harmless(text: str) -> None:
    assert not list(violations(text))


@cache
def tracked() -> tuple[Path, ...]:
    """Files under version control; every file of the shipped folders where there is none."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        paths = [ROOT / name for name in listed.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        folders = ("src", "tests", "docs", "examples", "benchmarks")
        paths = [p for folder in folders for p in (ROOT / folder).rglob("*") if "__pycache__" not in p.parts]
        paths += list(ROOT.glob("*.*"))
    return tuple(p for p in paths if p.is_file())


# written in pieces, so that this file does not contain what it looks for
FOLDERS = "|".join(("work", "home", "root", "Users", "mnt", "workspace"))
HOSTS = (
    "arti" + "factory",
    "nex" + "us[.-]",
    "jf" + "rog",
    "dev" + "pi",
    "pypi" + r"\.org/simple",
    "python" + "hosted",
    "index" + "-url",
)
MACHINE = re.compile(
    rf"(?<![\w./-])/(?:{FOLDERS})/[\w.-]+|C:\\+Users|{'|'.join(HOSTS)}|https?://(?!127\.)\d+\.\d+\.\d+\.\d+"
)


def test_no_machine_shows_through() -> None:
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {m[0]}" for m in MACHINE.finditer(text)]
    assert not found
    assert len(tracked()) > 100


@pytest.mark.parametrize(
    "text",
    [" /" + "home/me/arm.urdf", "'/" + "work/main'", "pip --index" + "-url x", "http://10." + "0.0.1/x"],
)
def test_a_machine_would_be_seen(text: str) -> None:
    assert MACHINE.search(text)


def test_no_drawer_modules() -> None:
    drawers = {"utils.py", "util.py", "misc.py", "helpers.py", "common.py"}
    assert not [p.name for p in MODULES if p.name in drawers]
