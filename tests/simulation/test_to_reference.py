"""A run becomes a reference: exact at its samples, with a stated error between them, from memory and from files, followed by controllers."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp

ARM = mp.load("planar-2r")
FREE = mp.Scenario(ARM, q0=[0.3, -0.8], qd0=[0.5, 0.2], duration=0.6, sample=0.02)


@pytest.fixture(scope="module")
def run() -> mp.Result:
    return mp.simulate(FREE)


def test_it_is_the_run_at_its_samples(run: mp.Result) -> None:
    reference = run.to_reference()
    np.testing.assert_allclose(reference.derivatives(run.t, 2), [run.q, run.qd, run.qdd], rtol=1e-12, atol=1e-11)
    assert reference.duration == run.t[-1]
    assert reference.space == "joint"


def test_the_stated_error_covers_what_lies_between(run: mp.Result) -> None:
    """The same motion recorded twenty times as densely is the judge; the statement shrinks with the samples as it should."""
    dense = mp.simulate(FREE.replace(sample=0.001))
    reference = run.to_reference()
    off = np.abs(reference.derivatives(dense.t, 2) - [dense.q, dense.qd, dense.qdd]).max(axis=(1, 2))
    assert np.all(off <= reference.accuracy)
    assert np.all(off > 1e-4 * np.array(reference.accuracy))
    finer = mp.simulate(FREE.replace(sample=0.01)).to_reference()
    assert np.all(np.array(reference.accuracy) / finer.accuracy > [40, 20, 10])


def test_the_tip_moves_as_it_did(run: mp.Result) -> None:
    task = run.to_reference(space="task")
    assert task.space == "task"
    np.testing.assert_allclose(task.position(run.t), run.tip, atol=1e-12)
    J = mp.compile(ARM).jacobian(run.q)[:, :3]
    np.testing.assert_allclose(task.velocity(run.t), np.einsum("sij,sj->si", J, run.qd), atol=1e-11)


@pytest.mark.parametrize("ending", [".nc", ".npz", ".csv"])
def test_stored_runs_give_the_same(run: mp.Result, tmp_path: Path, ending: str) -> None:
    run.save(tmp_path / f"run{ending}")
    loaded = mp.load_result(tmp_path / f"run{ending}")
    for space in ("joint", "task"):
        assert loaded.to_reference(space=space) == run.to_reference(space=space)
    assert loaded.to_reference().accuracy == run.to_reference().accuracy


def test_a_controller_follows_it(run: mp.Result, tmp_path: Path) -> None:
    """Started on it, computed torque stays on it: what is left is the error of the reference itself."""
    reference = run.to_reference()
    following = mp.Scenario(
        ARM, reference, controller=mp.control.ComputedTorque(100.0, 20.0), sample=0.02, q0=run.q[0], qd0=run.qd[0]
    )
    result = mp.simulate(following).check()
    assert np.abs(result.q - run.q).max() < reference.accuracy[0]
    following.save(tmp_path / "follow.toml")
    assert mp.Scenario.load(tmp_path / "follow.toml").reference == reference


def test_a_program_becomes_a_reference() -> None:
    motion = mp.programmed_motion(ARM, constraints=["y - 0.9 - 0.05*sin(3*t)"], drives={0: "0.5*cos(2*t)"})
    program = motion.run([0.5, 0.6], duration=0.3, step=1e-3, start="project")
    reference = program.to_reference()
    given = mp.simulate(mp.Scenario(ARM, reference, kind="inverse_dynamics")).check()
    np.testing.assert_allclose(given.q, program.q, atol=1e-9)


def test_what_cannot_be_followed_is_refused(run: mp.Result) -> None:
    batch = mp.simulate(FREE.replace(q0=[[0.3, -0.8], [0.1, 0.2]], qd0=None))
    with pytest.raises(mp.DescriptionError, match=r"result\.run\(i\)"):
        batch.to_reference()
    assert batch.run(1).to_reference().position(0.0) == pytest.approx([0.1, 0.2])
    with pytest.raises(mp.DescriptionError, match=r"recorded until 0\.6 s"):
        run.to_reference(until=0.7)
    with pytest.raises(mp.DescriptionError, match="until"):
        run.to_reference(until=0.001)
    for bad in (-1.0, np.nan, "x", [1.0], True):
        with pytest.raises(mp.ManipulaError, match="until"):
            run.to_reference(until=bad)  # type: ignore[arg-type]
    with pytest.raises(mp.DescriptionError, match="joint, task"):
        run.to_reference(space="tool")  # type: ignore[arg-type]
    with pytest.raises(mp.DescriptionError, match="has no qdd"):
        mp.Result(run.t, {"q": run.q, "qd": run.qd}, "finished", "").to_reference()
    assert run.to_reference(until=0.31).duration == pytest.approx(0.3)


def test_a_run_is_followed_as_far_as_it_is_trusted(run: mp.Result) -> None:
    import dataclasses

    half: Any = dataclasses.replace(run, status="inaccurate", reason="chaos", trusted_until=0.3)
    with pytest.raises(mp.SolveError, match=r"'inaccurate' \(chaos\) and is trusted until 0\.3 s"):
        half.to_reference()
    assert half.to_reference(until=0.3).duration == pytest.approx(0.3)


def test_the_chain_from_a_program_to_a_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers of docs/programmed_motion.md, from the example itself, which writes its reports where it is run."""
    monkeypatch.chdir(tmp_path)
    root = Path(__file__).parents[2]
    found = runpy.run_path(str(root / "examples" / "program_to_tracking.py"))
    assert found["reference"].accuracy[0] < 4e-7
    errors = {words: row for words, (_, row) in found["runs"].items()}
    assert errors["no friction"].max() < 1e-4
    assert {words: run.feasible for words, (run, _) in found["runs"].items()} == {
        "no friction": True,
        "unmodelled LuGre": True,
        "compensated": False,
    }
    written = {p.name: p.stat().st_size for p in (tmp_path / "out" / "program_to_tracking").iterdir()}
    assert {"chain.md", "compensated.html", "no_friction.html", "unmodelled_LuGre.html", "torques.png"} == set(written)
    assert min(written.values()) > 300
    page = (root / "docs" / "programmed_motion.md").read_text(encoding="utf-8")
    for words, row in (("unmodelled LuGre", errors["unmodelled LuGre"]), ("fed forward", errors["compensated"])):
        line = next(line for line in page.splitlines() if line.startswith("|") and words in line)
        told = [float(cell) for cell in line.split("|")[2:6]]
        np.testing.assert_allclose(row, told, rtol=0.06)
