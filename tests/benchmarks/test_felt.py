"""The table of what a person feels: every row is measured, compares the same answers, and says what it could not measure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from manipula.bench.felt import dynamics, first_run, planning, processes, rows, simulations, table
from manipula.bench.felt.rows import FeltRow
from manipula.cli.app import app


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "SECONDS", 0.0)
    monkeypatch.setattr(rows, "WINDOW", 0.0)


def complete(found: list[FeltRow], missing: str) -> None:
    """Every row has a time, and its peer's unless there is none."""
    assert found
    for row in found:
        assert row.seconds > 0.0
        assert (row.ratio is not None) == (bool(row.peer) and not missing)


@pytest.mark.parametrize("runs", [1, 3])
def test_runs_beside_mujoco(runs: int) -> None:
    found = simulations.beside_rollout(runs, 0.02, 10.0, 5.0)
    complete(found, simulations.mujoco_peer.reason())
    assert len(found) == (4 if runs == 1 else 5)


def test_another_motion_of_mujoco_is_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    monkeypatch.setattr(simulations, "AGREEMENT", -1.0)
    with pytest.raises(RuntimeError, match="differs"):
        simulations.beside_rollout(1, 0.01, 10.0, 5.0)


def test_calls_without_peer() -> None:
    complete(simulations.fixed_cost(2), "")
    complete(simulations.large_batches(3, 2, 0.01), "")
    complete(planning.failing_ik(), "")
    complete(dynamics.identification(100), "")


@pytest.mark.filterwarnings("default")  # of other libraries
def test_planning_beside_its_peers() -> None:
    complete(planning.fastest_motion(), planning.toppra_peer.reason())
    complete(planning.joint_moves(), planning.ruckig_peer.reason())
    complete(planning.all_postures(), planning.eaik_peer.reason())


def test_a_process_and_a_command() -> None:
    pytest.importorskip("resource")
    found = processes.first_runs(("rk4",), repeats=1, cold_repeats=1) + processes.commands(repeats=1)
    complete(found, "")
    assert all(row.clock == "CPU" and row.wall is not None for row in found)
    assert len(found) == 4
    with pytest.raises(RuntimeError, match="ended with 1"):
        processes.spent(("-c", "raise SystemExit(1)"), Path.cwd())


@pytest.mark.parametrize("kind", first_run.KINDS)
def test_kinds_of_first_runs_have_goals(kind: str) -> None:
    assert first_run.scenario(kind).integrator in ("rk4", "dop853", "rodas")
    assert kind in processes.WARM_GOALS


def test_a_row_is_judged_by_its_ratio_or_its_time() -> None:
    assert FeltRow("a", 2.0, 3.0).holds is True
    assert FeltRow("a", 4.0, 3.0).holds is False
    assert FeltRow("a", 2.0).holds is None
    beside = FeltRow("a", 2.0, 3.0, "peer", 7.0)
    assert (beside.ratio, beside.holds) == (3.5, True)
    assert FeltRow("a", 2.0, 3.0, "peer").holds is None
    assert FeltRow("a", 2.0, 3.0, "peer").cells() == ("a", "2 s", "peer: not measured", "", "3×")
    assert FeltRow("a", 2e-3, 0.5, clock="CPU", wall=3e-6).cells() == ("a", "2 ms CPU (3 µs)", "", "", "500 ms")


def test_the_calls_of_a_row_take_turns() -> None:
    order: list[str] = []
    rows.fastest(lambda: order.append("a"), lambda: order.append("b"))
    assert order[-2:] == ["a", "b"]


def test_what_cannot_be_measured_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(peers: bool) -> list[FeltRow]:
        raise RuntimeError("another answer")

    asked: list[bool] = []
    groups = {"good": lambda peers: asked.append(peers) or [FeltRow("a call", 2.0, 1.0)], "bad": broken}
    monkeypatch.setattr(table, "GROUPS", groups)
    monkeypatch.setattr(table.ruckig_peer, "missing", lambda *names: "Not installed: ruckig.")
    files = (tmp_path / "felt.json", tmp_path / "felt.md")
    done = CliRunner().invoke(app, ["bench", "--felt", "--json", str(files[0]), "--markdown", str(files[1])])
    assert done.exit_code == 0, done.output
    assert "another answer" in done.output
    plain = json.loads(files[0].read_text(encoding="utf-8"))
    assert plain["rows"][0]["holds"] is False
    assert plain["missing"]["ruckig"] == "Not installed: ruckig."
    text = files[1].read_text(encoding="utf-8")
    assert "| a call | 2 s |  |  | **1 s** |" in text
    assert "0 of 1 goals hold" in text
    CliRunner().invoke(app, ["bench", "--felt", "--no-peers"])
    assert asked == [True, False]
