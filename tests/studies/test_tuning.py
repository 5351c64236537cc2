"""Tuning: the answer against an exhaustive search, bounds, conditions, and searches that are interrupted and go on."""

import errno
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.errors import BudgetError, DescriptionError, UnknownNameError
from manipula.studies.evaluate import Evaluator
from tuned_arm import GAINS, one_joint


def study(**more):
    return mp.Study(one_joint(), vary=more.pop("vary", GAINS), samples=more.pop("samples", 1), seed=4, **more)


def test_the_answer_is_that_of_an_exhaustive_search():
    """No point of a fine grid that keeps the bound is better; the largest torque, kp × 0.3 rad, is as large as it may be."""
    found = mp.tune(study(), "error_rms", {"tau_max": 60.0}, evaluations=300)
    grid = mp.Study(
        one_joint(),
        vary={"controller.kp": np.linspace(20, 200, 25).tolist(), "controller.kv": np.linspace(2, 30, 40).tolist()},
    )
    rows = Evaluator(grid).rows(np.arange(grid.runs))[0]
    least = min(r["error_rms"] for r in rows if r["status"] == "finished" and r["tau_max"] <= 60.0)
    assert found.found
    assert found.objective["error_rms"] <= 1.002 * least
    assert found.answer["controller.kp"] == pytest.approx(200.0, rel=0.02)
    again = mp.simulate(found.scenario())
    square = (again.arrays["error"] ** 2).sum(axis=1)
    assert found.objective["error_rms"] == pytest.approx(
        np.sqrt(np.trapezoid(square, again.t) / again.t[-1]), rel=1e-12
    )
    assert np.abs(again.tau).max() <= 60.0


def test_a_trade_off_is_a_front():
    found = mp.tune(study(), ["error_rms", "tau_max"], evaluations=120)
    f = found.objectives[found.front]
    assert len(found.front) > 5
    for k in range(len(f)):
        assert not ((found.objectives <= f[k]).all(axis=1) & (found.objectives < f[k]).any(axis=1)).any()
    assert found.best in found.front
    table = found.to_pandas()
    assert table["front"].sum() == len(found.front)
    assert list(table.columns[:4]) == ["candidate", "generation", "controller.kp", "controller.kv"]


def test_bounds_that_nobody_keeps_are_told():
    found = mp.tune(study(), "qd_max", {"tau_max": 1e-3}, evaluations=40)
    assert not found.found
    assert found.best == -1
    with pytest.raises(DescriptionError, match=r"None of .* keeps every bound"):
        found.answer


def test_conditions_are_run_for_every_candidate_and_the_worst_counts():
    loaded = study(vary={**GAINS, "payload.mass": [0.0, 1.0, 3.0]})
    worst = mp.tune(loaded, "tau_max", evaluations=30, population=10)
    mean = mp.tune(loaded, "tau_max", evaluations=30, population=10, over="mean")
    assert worst.draws == mean.draws == 3
    k = int(np.flatnonzero(np.isfinite(worst.objectives[:, 0]))[0])
    assert np.array_equal(worst.values[:10], mean.values[:10])  # the first generation is the same
    each = []
    for mass in (0.0, 1.0, 3.0):
        s = one_joint()
        gains = worst.candidate(k)
        control = mp.control.PDGravity(kp=gains["controller.kp"], kv=gains["controller.kv"])
        run = mp.simulate(s.replace(controller=control, robot=s.robot.replace(payload=mass)))
        each.append(np.abs(run.tau).max())
    assert worst.objectives[k, 0] == pytest.approx(max(each), rel=1e-9)
    assert mean.objectives[k, 0] == pytest.approx(np.mean(each), rel=1e-9)


def test_uncertain_numbers_have_the_same_draws_for_every_candidate():
    vary = {**GAINS, "payload.mass": mp.normal(1.0, 0.3, low=0.0)}
    found = mp.tune(study(vary=vary, samples=4), "tau_max", parameters=list(GAINS), evaluations=20, population=10)
    assert found.draws == 4
    assert found.parameters == tuple(GAINS)
    first, second = (found.scenario(k).parameters for k in (0, 1))
    assert first == second  # the drawn mass, a free parameter of the robot


def test_an_interrupted_search_goes_on_where_it_was(tmp_path):
    whole = mp.tune(study(), "qd_max", {"tau_max": 60.0}, evaluations=60, population=12)

    class Enough(Exception):
        pass

    def stop(state):
        if state.generation == 2:
            raise Enough

    asked = {"minimise": "qd_max", "subject_to": {"tau_max": 60.0}, "evaluations": 60, "population": 12}
    with pytest.raises(Enough):
        mp.tune(study(), folder=tmp_path / "t", progress=stop, **asked)
    made = sorted((tmp_path / "t").glob("generation-*/parts/*"))
    before = {path: path.stat().st_mtime_ns for path in made}
    resumed = mp.tune(study(), folder=tmp_path / "t", **asked)
    assert {path: path.stat().st_mtime_ns for path in made} == before  # nothing was computed twice
    assert np.array_equal(resumed.values, whole.values)
    assert np.array_equal(resumed.objectives, whole.objectives)
    assert resumed.best == whole.best
    with pytest.raises(DescriptionError, match="another tuning: 'population' differs"):
        mp.tune(study(), folder=tmp_path / "t", **{**asked, "population": 10})
    with pytest.raises(DescriptionError, match="another tuning: 'study' differs"):
        mp.tune(study(vary={"controller.kp": mp.uniform(1, 2)}), folder=tmp_path / "t", **asked)


def test_factors_are_factors_on_the_base():
    """A search between half and twice the gain is the search between the two gains."""
    kp = float(one_joint().controller.kp)
    factors = mp.Study(one_joint(), {"controller.kp": mp.uniform(0.5, 2.0, relative=True)}, samples=1, seed=4)
    plain = mp.Study(one_joint(), {"controller.kp": mp.uniform(0.5 * kp, 2.0 * kp)}, samples=1, seed=4)
    found, same = (mp.tune(s, "qd_max", evaluations=20) for s in (factors, plain))
    np.testing.assert_allclose(found.values, same.values, rtol=1e-14)
    assert found.scenario().controller.kp == found.answer["controller.kp"]


@pytest.mark.parametrize("method", ["differential_evolution", "optuna"])
def test_a_disk_that_is_full_is_told_as_such(method, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "manipula.studies.part_files.os.link",
        lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")),
    )
    with pytest.raises(DescriptionError, match="No space left"):
        mp.tune(study(), "qd_max", folder=tmp_path / "t", evaluations=10, population=5, method=method)
    monkeypatch.undo()
    assert mp.tune(study(), "qd_max", folder=tmp_path / "t", evaluations=10, population=5, method=method).found


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(DescriptionError, match="a folder of its own"):
        mp.tune(study(), "qd_max", folder=tmp_path, evaluations=20)
    assert [p.name for p in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("asked", "kind", "said"),
    [
        ({"minimise": "error_rm"}, UnknownNameError, "error_rm"),
        ({"minimise": []}, DescriptionError, "a list of columns"),
        ({"minimise": "qd_max", "subject_to": {"tau": 3}}, UnknownNameError, "tau_max"),
        ({"minimise": "qd_max", "subject_to": {"tau_max": "80"}}, DescriptionError, "tau_max"),
        ({"minimise": "qd_max", "over": "least"}, DescriptionError, "over"),
        ({"minimise": "qd_max", "method": "bayes"}, UnknownNameError, "optuna"),
        ({"minimise": "qd_max", "parameters": ["controller.kd"]}, UnknownNameError, "controller.kp"),
        ({"minimise": "qd_max", "parameters": "controller.kp"}, DescriptionError, "list of paths"),
        ({"minimise": "qd_max", "evaluations": 3}, DescriptionError, "evaluations"),
        ({"minimise": "qd_max", "evaluations": 10**9}, DescriptionError, "evaluations"),
        ({"minimise": "qd_max", "population": 2}, DescriptionError, "population"),
        ({"minimise": "qd_max", "tolerance": -1}, DescriptionError, "tolerance"),
        ({"minimise": "qd_max", "engine": "pool"}, DescriptionError, "engine"),
    ],
)
def test_wrong_requests_are_refused(asked, kind, said):
    with pytest.raises(kind, match=said):
        mp.tune(study(), **asked)


def test_nothing_to_search_is_refused():
    with pytest.raises(DescriptionError, match="Nothing to search"):
        mp.tune(mp.Study(one_joint(), vary={"controller.kp": [1.0, 2.0]}), "qd_max")
    many = study(vary={**GAINS, "payload.mass": mp.uniform(0, 1)}, samples=100_000)
    with pytest.raises(BudgetError, match="runs each"):
        mp.tune(many, "qd_max", parameters=list(GAINS))


def test_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study().save("arm.toml")
    call = ["tune", "arm.toml", "--minimise", "qd_max", "--subject-to", "tau_max=60", "--evaluations", "30"]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    folder = tmp_path / "out" / "arm-tuned"
    best = mp.Scenario.load(folder / "best.toml")
    assert f"controller.kp = {float(best.controller.kp):.8g}" in done.output
    assert np.abs(mp.simulate(best).tau).max() <= 60.0
    assert "tuning" in (folder / "tuning.html").read_text().lower()
    assert json.loads((folder / "tuning.json").read_text())["minimise"] == ["qd_max"]
    refused = CliRunner().invoke(app, ["tune", "arm.toml", "--minimise", "qd_max", "--subject-to", "tau_max"])
    assert refused.exit_code == 2
    assert "COLUMN=LARGEST" in refused.output
