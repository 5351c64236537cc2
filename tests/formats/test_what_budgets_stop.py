"""Budgets and guards stop what lies just beyond them, before it has done anything, and nothing that lies within."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import BudgetError, DescriptionError
from manipula.formats.guard import read_bytes
from manipula.formats.meshes.nodes import MAX_NODES, joined
from manipula.formats.toml.budget import check_size
from manipula.simulation.stored.npz_file import MAX_DIRECTORY


@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_a_table_is_nested_24_times(pair: str) -> None:
    check_size(f"a = {pair[0] * 24}1{pair[1] * 24}\n", None)
    check_size("a" + ".a" * 24 + " = 1\n", None)
    with pytest.raises(BudgetError, match="deeper than 24"):
        check_size(f"a = {pair[0] * 25}1{pair[1] * 25}\n", None)
    with pytest.raises(BudgetError, match="deeper than 24"):
        check_size("a" + ".a" * 25 + " = 1\n", None)


def test_a_pipe_is_refused_before_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for a reader of it would go on."""
    pipe, opened = tmp_path / "arm.urdf", []
    os.mkfifo(pipe)
    usual = os.open
    monkeypatch.setattr(os, "open", lambda name, *more: opened.append(name) or usual(name, *more))
    with pytest.raises(DescriptionError, match="not a regular file"):
        read_bytes(pipe)
    assert str(pipe) not in map(str, opened)


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="no such system")
def test_a_file_that_hides_its_size_is_cut_at_the_budget() -> None:
    assert os.stat("/proc/self/status").st_size == 0
    assert len(read_bytes("/proc/self/status", 1 << 20)) > 100
    with pytest.raises(BudgetError, match="At most 100 bytes"):
        read_bytes("/proc/self/status", 100)


@pytest.mark.parametrize(("count", "told"), [(MAX_NODES, "no triangles"), (MAX_NODES + 1, "nodes")])
def test_nodes_of_a_mesh_are_counted(count: int, told: str) -> None:
    """One node shows the same child again and again, and no child anything."""
    assert 10_000 <= MAX_NODES <= 100_000
    read: Any = lambda node: (np.eye(4), (), ["child"] * (count - 1) if node == "top" else ())
    with pytest.raises(DescriptionError, match=told):
        joined(["top"], read)


def test_a_result_with_a_long_list_of_members_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    mp.simulate(mp.Scenario(mp.load("planar-2r"), q0=[0.1, 0.2], duration=0.01)).save(path)
    assert mp.load_result(path).ok
    with zipfile.ZipFile(path, "a") as archive:
        for k in range(6000):
            archive.writestr(f"{k:0200d}.npy", b"")
    assert 1 << 19 <= MAX_DIRECTORY <= 1 << 20
    with pytest.raises(BudgetError, match="list of members"):
        mp.load_result(path)
