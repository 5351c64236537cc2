"""Pages that nobody writes twice: the README, one page per example and notebook, and the reference of every public name."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import manipula

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXAMPLE_ROW = re.compile(r"^\| (\d+) \| \[[\w.]+\]\(\.\./examples/([\w./]+)\) \| (.*) \|$", re.MULTILINE)
HIDDEN = ("friction", "drives", "paths", "timing", "control", "contact")  # modules of parts: their members are listed


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    assert config.nav is not None
    scripts = [{f"{k}. {n}": f"examples/{place(n)}.md"} for k, n, _ in examples()]
    config.nav.append(
        {"Examples": scripts + [{f"Notebook: {title(p)}": f"notebooks/{p.stem}.md"} for p in notebooks()]}
    )
    names = [{t.capitalize(): f"api/{t.replace(' ', '_')}.md"} for t, _ in groups()]
    config.nav.append({"API": ["api/index.md", *names]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def pages() -> dict[str, str]:
    """Every generated page by its place in the site."""
    return {**of_the_root(), **of_examples(), **of_notebooks(), **of_names()}


def of_the_root() -> dict[str, str]:
    found = {}
    for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY"):
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        text = re.sub(r"(\]\()docs/README\.md", r"\1README.md", text)
        text = re.sub(r"(\]\()docs/", r"\1", text)
        for other in ("CHANGELOG", "CONTRIBUTING", "SECURITY"):
            text = text.replace(f"]({other}.md", f"]({other.lower()}.md")
        text = re.sub(r"\]\(examples/([^)]*)\)", r"](../examples/\1)", text)
        text = re.sub(r"\[([^\]]*)\]\((LICENSE|pyproject\.toml|Makefile)\)", r"`\1`", text)
        found[f"{name.lower()}.md"] = text
    return found


def examples() -> list[tuple[int, str, str]]:
    """Number, file and sentence of every example, as docs/README.md lists them."""
    text = (DOCS / "README.md").read_text(encoding="utf-8")
    return [(int(number), name, told) for number, name, told in EXAMPLE_ROW.findall(text)]


def place(name: str) -> str:
    """Where the page of an example stands: scripts and scenarios may share a name."""
    stem, _, suffix = name.rpartition(".")
    return stem + ("-py" if suffix == "py" else "")


def notebooks() -> list[Path]:
    return sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def title(path: Path) -> str:
    """Of a notebook: its first heading."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "".join(cells[0]["source"]).splitlines()[0].lstrip("# ")


def header(path: Path, text: str) -> tuple[str, str]:
    """What an example says about itself, and its code without that."""
    if path.suffix == ".py":
        tree = ast.parse(text)
        told = ast.get_docstring(tree) or ""
        return told, "".join(text.splitlines(keepends=True)[tree.body[0].end_lineno :]).lstrip("\n")
    lines = text.splitlines()
    count = next(k for k, line in enumerate(lines) if not line.startswith("#"))
    return "\n".join(line.lstrip("# ") for line in lines[:count]), "\n".join(lines[count:]).lstrip("\n")


def of_examples() -> dict[str, str]:
    found = {}
    for number, name, _ in examples():
        path = ROOT / "examples" / name
        if path.suffix not in (".py", ".toml"):
            continue
        told, code = header(path, path.read_text(encoding="utf-8"))
        how = f"python examples/{name}" if path.suffix == ".py" else f"manipula run examples/{name}"
        language = "python" if path.suffix == ".py" else "toml"
        found[f"examples/{place(name)}.md"] = (
            f"# {number}. {name}\n\n{told}\n\n```sh\n{how}\n```\n\n```{language}\n{code.rstrip()}\n```\n\n"
            "All examples: [list](../README.md#examples).\n"
        )
    return found


def of_notebooks() -> dict[str, str]:
    found = {}
    for path in notebooks():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = []
        for cell in cells:
            source = "".join(cell["source"])
            text.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        how = f"`jupyter lab examples/notebooks/{path.name}`"
        text.insert(1, f"*A notebook: {how} opens it, with its answers after running.*")
        found[f"notebooks/{path.stem}.md"] = "\n\n".join(text) + "\n"
    return found


def groups() -> list[tuple[str, list[str]]]:
    """Public names in the groups and the order of docs/design.md."""
    text = (DOCS / "design.md").read_text(encoding="utf-8")
    section = text.split("## Public names\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| ([a-z][^|]*?) \| (`.*) \|$", section, re.MULTILINE)
    return [(title, re.findall(r"`(\w+)`", names)) for title, names in rows]


OPTIONS = ["    options:", "      show_root_heading: false", "      show_root_toc_entry: false"]


def signature(name: str, thing: object) -> list[str]:
    """How a function or class is called, as a block of code; nothing where that says nothing."""
    try:
        found = inspect.signature(thing)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return []
    words, seen = [], set()
    for key, p in found.parameters.items():
        if p.kind is p.KEYWORD_ONLY and not seen & {p.KEYWORD_ONLY, p.VAR_POSITIONAL}:
            words.append("*")
        seen.add(p.kind)
        kind = "" if p.annotation is p.empty else f": {_annotation(p.annotation)}"
        given = "" if p.default is p.empty else f"{' = ' if kind else '='}{_default(p.default)}"
        words.append("*" * (p.kind is p.VAR_POSITIONAL) + "**" * (p.kind is p.VAR_KEYWORD) + key + kind + given)
    back = (
        ""
        if found.return_annotation is found.empty or isinstance(thing, type)
        else f" -> {_annotation(found.return_annotation)}"
    )
    line = f"mp.{name}({', '.join(words)}){back}"
    if len(line) > 100:
        line = f"mp.{name}(\n    " + ",\n    ".join(words) + f",\n){back}"
    return ["```python", line, "```", ""]


def _annotation(a: object) -> str:
    text = a if isinstance(a, str) else getattr(a, "__name__", None) if isinstance(a, type) else str(a)
    text = re.sub(r"\bAnnotated\[([\w.]+(?: \| [\w.]+)*),.*\]", r"\1", str(text))
    return re.sub(r"\b(?:typing|np|numpy|manipula(?:\.\w+)*)\.", "", text)


def _default(value: object) -> str:
    text = repr(value)
    return text if len(text) < 40 and " at 0x" not in text and "factory" not in text else "…"


def of_names() -> dict[str, str]:
    found = {}
    index = [
        "# API reference",
        "",
        "Public names in the order of the work, `import manipula as mp`. Everything else is inside and may change.",
        "",
    ]
    index += ["| | |", "|---|---|"]
    for title, names in groups():
        at = title.replace(" ", "_")
        text = [f"# {title.capitalize()}", ""]
        for name in names:
            module, thing = manipula._PUBLIC[name], getattr(manipula, name)
            text += [f"## `mp.{name}` {{ #{name} }}", ""]
            if name in manipula._MODULES:
                text += [f"::: {module}", *OPTIONS, *["      members: false"] * (name in HIDDEN), ""]
                text += of_members(name) if name in HIDDEN else []
            else:
                text += [*signature(name, thing), f"::: {module}.{name}", *OPTIONS, ""]
        found[f"api/{at}.md"] = "\n".join(text) + "\n"
        index.append(f"| [{title}]({at}.md) | " + " ".join(f"[`{n}`]({at}.md#{n})" for n in names) + " |")
    found["api/index.md"] = "\n".join(index) + "\n"
    return found


def of_members(name: str) -> list[str]:
    """Parts of a module that holds parts: what can be written behind ``mp.control.`` and its like."""
    module = getattr(manipula, name)
    text = []
    for member in getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]:
        thing = getattr(module, member)
        home = getattr(thing, "__module__", "")
        if not home.startswith(module.__name__) or not callable(thing):
            continue
        text += [f"### `mp.{name}.{member}` {{ #{name}.{member} }}", "", *signature(f"{name}.{member}", thing)]
        text += [f"::: {home}.{getattr(thing, '__qualname__', member)}", *OPTIONS, "      members: false", ""]
    return text
