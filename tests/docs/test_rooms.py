"""What every file of the package keeps: contents listed, class names unique, public names documented, no long modules."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import manipula
from manipula.lazy import cached_property
from manipula.native.tracing.tracer import Node

PACKAGE = Path(__file__).parents[2] / "src" / "manipula"
PATHS = sorted(PACKAGE.rglob("*.py"))
ROOMS = [path.parent for path in PATHS if path.name == "__init__.py" and path.parent != PACKAGE]
LONGEST = 400  # lines


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Everything below a node that is no part of an expression."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


@pytest.fixture(scope="module")
def classes_and_undocumented() -> tuple[list[tuple[str, Path]], list[str]]:
    """All classes with their files, and public names without a docstring; no module stays parsed, for together they are millions of objects."""
    classes, undocumented = [], []
    for path in PATHS:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes += [(node.name, path) for node in statements(tree) if isinstance(node, ast.ClassDef)]
        nodes = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
        names = [(n, n.name) for n in nodes if not n.name.startswith("_")]
        undocumented += [f"{path}: {name}" for n, name in [(tree, "the module"), *names] if not ast.get_docstring(n)]
    return classes, undocumented


@pytest.mark.parametrize("folder", ROOMS, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_room_lists_its_contents(folder: Path) -> None:
    contents = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    listed = re.findall(r"^``(\w+/?)`` +\S", contents, re.MULTILINE)
    modules = {p.stem for p in folder.glob("*.py")} - {"__init__"}
    folders = {f"{p.name}/" for p in folder.iterdir() if p.is_dir() and not p.name.startswith("__")}
    assert len(listed) == len(set(listed))
    assert set(listed) == modules | folders


def test_class_names_are_unique(classes_and_undocumented: tuple[list[tuple[str, Path]], list[str]]) -> None:
    found: dict[str, Path] = {}
    for name, path in classes_and_undocumented[0]:
        assert name not in found, f"{name}: {path} and {found[name]}"
        found[name] = path
    assert len(found) > 200


def test_no_module_is_long() -> None:
    lines = {str(p.relative_to(PACKAGE)): p.read_text(encoding="utf-8").count("\n") for p in PATHS}
    assert not {name: n for name, n in lines.items() if n > LONGEST}


def test_every_module_function_and_class_has_a_docstring(
    classes_and_undocumented: tuple[list[tuple[str, Path]], list[str]],
) -> None:
    assert not classes_and_undocumented[1]


def test_every_method_of_a_public_class_has_a_docstring() -> None:
    public = [getattr(manipula, name) for name in manipula.__all__]
    spaces = [x for x in public if inspect.ismodule(x)]
    inside = [getattr(m, name) for m in spaces for name in getattr(m, "__all__", dir(m)) if not name.startswith("_")]
    classes = {
        x for x in [*public, *inside] if inspect.isclass(x) and x.__module__.startswith("manipula") and x is not Node
    }
    found = []
    for cls in classes:
        own = {k: v for k, v in vars(cls).items() if not k.startswith("_")}
        methods = {
            k for k, v in own.items() if inspect.isroutine(v) or isinstance(v, property | classmethod | cached_property)
        }
        found += [f"{cls.__module__}.{cls.__name__}.{k}" for k in methods if not inspect.getdoc(getattr(cls, k))]
    assert len(classes) > 40
    assert not sorted(found)
