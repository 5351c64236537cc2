"""Versions that a result states, judged by the library of Python that knows them."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from manipula.simulation.provenance import installed, versions


@pytest.mark.parametrize("name", ["numpy", "scipy", "llvmlite", "pyarrow"])
def test_the_folder_of_metadata_says_the_version(name: str) -> None:
    assert installed(name) == version(name)


def test_a_library_that_is_not_there() -> None:
    assert installed("no-such-library") is None


def test_the_first_place_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does for an import, and for importlib.metadata."""
    (tmp_path / "scipy-0.0.7.dist-info").mkdir()
    (tmp_path / "scipy-0.0.7.dist-info" / "METADATA").write_text("Name: scipy\nVersion: 0.0.7\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "nothing"), str(tmp_path), *sys.path])
    assert installed("scipy") == version("scipy") == "0.0.7"


def test_python_and_machine() -> None:
    assert versions()["python"] == platform.python_version()
    assert versions()["machine"] == platform.machine()
