"""``manipula cache``: what is said is what is there, and only that is removed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from manipula.cli.app import app
from manipula.native.store import object_cache as cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MANIPULA_CACHE_DIR", str(tmp_path / "objects"))
    monkeypatch.delenv("MANIPULA_CACHE", raising=False)
    return tmp_path / "objects"


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["cache", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_info_counts_what_is_there(folder: Path) -> None:
    assert json.loads(run("info", "--json"))["entries"] == 0
    assert not folder.exists()  # looking creates nothing
    cache.store(b"one", b"x" * 1000)
    cache.store(b"two", b"y" * 3000)
    facts = json.loads(run("info", "--json"))
    on_disk = [p.stat().st_size for p in folder.iterdir()]
    assert (facts["folder"], facts["entries"], facts["bytes"]) == (str(folder), 2, sum(on_disk))
    assert facts["bytes"] > 4000
    text = run("info")
    assert str(folder) in text
    assert "MANIPULA_NO_LLVM" in text


def test_clear_removes_entries_and_nothing_else(folder: Path) -> None:
    cache.store(b"one", b"x" * 1000)
    other = folder / "notes.txt"
    other.write_text("mine")
    assert "Removed 1 entries" in run("clear")
    assert cache.load(b"one") is None
    assert [p.name for p in folder.iterdir()] == ["notes.txt"]
    assert "Removed 0 entries" in run("clear")


def test_variables_in_force_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANIPULA_CACHE", "off")
    monkeypatch.setenv("MANIPULA_THREADS", "1")
    facts = json.loads(run("info", "--json"))
    assert facts["enabled"] is False
    assert facts["variables"]["MANIPULA_THREADS"] == "1"
    assert "switched off" in run("info")


@pytest.mark.skipif(os.name != "posix", reason="rights of folders")
def test_a_folder_that_others_may_write_to_is_not_used(folder: Path) -> None:
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    assert json.loads(run("info", "--json"))["folder"] is None
    assert "live in memory" in run("info")


def test_the_entries_used_longest_ago_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 1000 + cache.HEADER_SIZE
    monkeypatch.setattr(cache, "DISK_BUDGET", 3 * size)
    monkeypatch.setattr(cache, "DISK_SPARE", 0)
    for k in range(3):
        cache.store(b"%d" % k, b"x" * 1000)
        path = max(folder.iterdir(), key=lambda p: p.stat().st_mtime_ns)
        os.utime(path, (1e9 + k, 1e9 + k))
    assert cache.load(b"0") is not None  # used now
    cache.store(b"3", b"x" * 1000)
    assert [cache.load(b"%d" % k) is not None for k in range(4)] == [True, False, True, True]
    assert cache.contents().size <= cache.DISK_BUDGET
