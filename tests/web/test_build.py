"""The build of the viewer: what it is made from is stamped, where it cannot be made that is said, and no file names a registry."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "web"
LARGEST = 750_000  # bytes of the script


@pytest.fixture
def build(tmp_path, monkeypatch):
    found = importlib.util.spec_from_file_location("viewer_build", WEB / "build.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    monkeypatch.setattr(module, "BUILT", tmp_path / "built")
    monkeypatch.setattr(module.sys, "argv", ["build.py"])
    monkeypatch.delenv("MANIPULA_NO_WEB", raising=False)
    return module


def test_without_node_the_reason_is_kept(build, monkeypatch) -> None:
    def none() -> tuple[str, list[str]]:
        raise build.NotBuiltError("Node was not found.\nmore words")

    monkeypatch.setattr(build, "node_and_npm", none)
    monkeypatch.setattr(build, "install", none)
    assert build.main() == 0
    assert (build.BUILT / "missing.txt").read_text(encoding="utf-8") == "Node was not found.\n"
    assert not build.is_built()


def test_a_program_that_fails_is_quoted(build, monkeypatch) -> None:
    monkeypatch.setattr(build, "node_and_npm", lambda: ("python3", ["python3"]))
    words = [build.sys.executable, "-c", "import sys; print('no such package'); sys.exit(3)"]
    with pytest.raises(build.NotBuiltError, match="no such package"):
        build.run(words, "npm ci")


def test_what_was_built_from_these_sources_is_not_built_again(build, monkeypatch) -> None:
    build.BUILT.mkdir()
    for script in ("viewer.js", "studio.js"):
        (build.BUILT / script).write_text("", encoding="utf-8")
    (build.BUILT / "sources.sha256").write_text(build.digest() + "\n", encoding="utf-8")
    monkeypatch.setattr(build, "install", lambda: pytest.fail("built again"))
    assert build.main() == 0
    (build.BUILT / "sources.sha256").write_text("other\n", encoding="utf-8")
    assert not build.is_built()


def test_no_file_names_a_registry_and_every_package_is_pinned() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))
    for name, package in lock["packages"].items():
        assert "resolved" not in package, name
        assert not name or package.get("link") or package["integrity"].startswith("sha512-"), name
    for path in (WEB / "package.json", WEB / ".npmrc", WEB / "vite.config.ts", WEB / "build.py"):
        assert not re.search(r"https?://", path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("names", [["viewer.js"], ["first.js", "studio.js"]], ids=["viewer", "studio"])
def test_scripts_are_small(names: list[str]) -> None:
    scripts = [ROOT / "src" / "manipula" / "reports" / "web" / "built" / name for name in names]
    if not all(script.is_file() for script in scripts):
        pytest.skip("the viewer is not built")
    assert sum(script.stat().st_size for script in scripts) <= LARGEST
