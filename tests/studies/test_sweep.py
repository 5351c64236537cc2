"""What a sweep leaves behind: rows with the bits of single runs, whatever the chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.errors import DescriptionError
from manipula.studies.axis_checks import checked_before
from manipula.studies.evaluate import Evaluator
from manipula.studies.files import study_of, study_text
from manipula.studies.part_files import listed
from studies.arms import MIXED, base


def test_the_digest_does_not_depend_on_the_chunks(tmp_path: Path) -> None:
    study = mp.Study(base(), MIXED, samples=6, seed=3)
    digests = {mp.sweep(study, tmp_path / str(n), engine="serial", chunk=n).digest() for n in (1, 5, 12)}
    assert len(digests) == 1
    other = mp.sweep(study.replace(seed=4), tmp_path / "other", engine="serial")
    assert other.digest() not in digests


def test_a_row_is_the_run_alone(tmp_path: Path) -> None:
    study = mp.Study(base(), MIXED, samples=3, seed=3)
    table = mp.sweep(study, tmp_path / "s", engine="serial")
    opened = mp.open_study(tmp_path / "s")
    assert opened.study == study
    for k in (0, 4):
        result, row = opened.run(k), opened.row(k)
        assert result.status == row["status"]
        assert result.error_estimate == row["error_estimate"]
        assert np.abs(result.tau).max() == row["tau_max"]
        assert result.q[0, 1] == row["q0[1]"]
    frame = table.to_pandas()
    assert frame["run"].tolist() == list(range(6))
    assert frame.attrs["units"]["tau_max"] == "N·m"
    assert frame["payload.mass"].between(0, 2).all()


def test_varied_masses_give_the_motion_of_that_robot(tmp_path: Path) -> None:
    """A free parameter in the place of a number is the same robot, to rounding."""
    free = base().replace(controller=None, reference=None, duration=0.2)
    study = mp.Study(free, {"robot.links[1].mass": [0.5, 2.0], "payload.mass": [0.0, 1.5]})
    table = mp.sweep(study, tmp_path / "s", engine="serial")
    for k in range(4):
        row = table.row(k)
        links = free.robot.links
        heavy = mp.studies.paths.with_value(free, ("robot", "links", 1, "mass"), row["robot.links[1].mass"])
        assert heavy.robot.links[0] == links[0]
        loaded = heavy.replace(robot=heavy.robot.replace(payload=row["payload.mass"]))
        result = mp.simulate(loaded)
        assert np.allclose([row["tip_x"], row["tip_y"]], result.tip[-1, :2], rtol=0, atol=1e-9)


def test_choices_make_groups_and_every_run_is_its_own(tmp_path: Path) -> None:
    tables = [{"law": "pd_gravity", "kp": 50.0, "kv": 9.0}, {"law": "computed_torque", "kp": 50.0, "kv": 9.0}]
    study = mp.Study(base(), {"controller": tables, "controller.kp": [40.0, 80.0], "duration": [0.1, 0.2]})
    table = mp.sweep(study, tmp_path / "s", engine="serial")
    frame = table.to_pandas()
    assert frame["reached"].tolist() == [0.1, 0.2] * 4
    assert frame["controller"].str.contains("computed_torque").sum() == 4
    for k in range(8):
        result = mp.simulate(table.scenario(k))
        assert np.abs(result.tau).max() == table.row(k)["tau_max"]


def test_noise_is_the_own_of_every_run(tmp_path: Path) -> None:
    study = mp.Study(base(noise=mp.Noise(position=1e-4)), {"controller.kp": [40.0, 40.0, 80.0]}, seed=9)
    table = mp.sweep(study, tmp_path / "a", engine="serial")
    again = mp.sweep(study, tmp_path / "b", engine="serial", chunk=1)
    assert table.digest() == again.digest()
    frame = table.to_pandas()
    assert frame["tau_max"][0] != frame["tau_max"][1]
    assert np.abs(table.run(1).tau).max() == frame["tau_max"][1]


@pytest.mark.parametrize(
    "more", [{}, {"control_period": 5e-3}, {"encoder": mp.Encoder(resolution=1e-4, velocity="difference")}]
)
def test_noisy_runs_go_side_by_side_with_the_bits_of_runs_alone(tmp_path: Path, more: dict[str, Any]) -> None:
    """One batch, each run with its own seed: rows, samples and verdicts are those of chunks of one, and of the scenario of the run."""
    noisy = base(noise=mp.Noise(position=1e-4, velocity=1e-3), limits={"torque": 9.0, "velocity": 2.0}, **more)
    vary = {"controller.kp": mp.uniform(40, 90), "payload.mass": mp.uniform(0, 1)}
    study = mp.Study(noisy, vary, samples=7, seed=5, keep_series=("q", "tau"))
    batches = Evaluator(study).plan.batches(np.arange(7), study.values_of(np.arange(7)))
    assert [len(b.runs) for b in batches] == [7]
    assert len(set(batches[0].noise_seeds)) == 7
    together = mp.sweep(study, tmp_path / "a", engine="serial", chunk=7)
    alone = mp.sweep(study, tmp_path / "b", engine="serial", chunk=1)
    assert together.digest() == alone.digest()
    for k in (0, 6):
        result = mp.simulate(together.scenario(k))
        assert np.array_equal(result.tau[:, 1], together.series(k)["tau[1]"])
        assert result.feasible == together.row(k)["feasible"]


def test_only_who_makes_a_study_looks_at_all_its_draws(tmp_path: Path) -> None:
    """A mass without a lower bound is refused where one of the draws is negative; who reads the study again need not look."""
    with pytest.raises(DescriptionError, match=r"Run [0-9]+ would have -"):
        mp.Study(base(), {"payload.mass": mp.normal(0.1, 1.0)}, samples=50, seed=1)
    study = mp.Study(base(), {"payload.mass": mp.normal(5.0, 0.1)}, samples=3, seed=1)
    with checked_before():
        again = study_of(study_text(study).replace("samples = 3", "samples = 1000000"))
    assert again.runs == 1000000
    assert mp.sweep(study, tmp_path / "s", engine="serial").study == study


def test_noise_may_vary_down_to_none(tmp_path: Path) -> None:
    study = mp.Study(base(), {"noise.position": [0.0, 1e-4], "controller.kp": [40.0, 60.0]}, seed=2)
    table = mp.sweep(study, tmp_path / "s", engine="serial")
    assert table.to_pandas()["status"].tolist() == ["finished"] * 4
    calm = mp.simulate(base().replace(controller=mp.control.PDGravity(kp=40.0, kv=15.0)))
    assert table.row(0)["tau_max"] == np.abs(calm.tau).max()


def test_what_is_wrong_together_is_a_row(tmp_path: Path) -> None:
    push = mp.Wrench((0.0, 5.0, 0.0, 0.0, 0.0, 0.0), start=0.01, stop=0.1)
    vary = {"disturbances[0].start": [0.02, 0.06], "disturbances[0].stop": [0.04, 0.1]}
    study = mp.Study(base(disturbances=(push,)), vary)
    frame = mp.sweep(study, tmp_path / "s", engine="serial").to_pandas()
    assert frame["status"].tolist() == ["finished", "finished", "refused", "finished"]
    assert "never act" in frame["reason"][2]


def test_a_programmed_motion_is_a_base(tmp_path: Path) -> None:
    program = mp.ProgramScenario(
        mp.load("planar-2r"), ["x - a"], [0.4, 0.8], duration=0.05, step=1e-3, sample=0.01, parameters={"a": 0.9},
        start="project",
    )  # fmt: skip
    table = mp.sweep(mp.Study(program, {"parameters.a": [0.9, 1.0]}), tmp_path / "s", engine="serial")
    frame = table.to_pandas()
    assert frame["status"].tolist() == ["finished", "finished"], frame["reason"].tolist()
    assert np.allclose(frame["tip_x"], [0.9, 1.0], atol=1e-6)
    assert mp.open_study(tmp_path / "s").run(1).status == "finished"


def test_resuming_makes_what_is_missing(tmp_path: Path) -> None:
    study = mp.Study(base(), MIXED, samples=5, seed=3)
    whole = mp.sweep(study, tmp_path / "s", engine="serial", chunk=2).digest()
    parts = listed(tmp_path / "s" / "parts")
    parts[1].path.unlink()
    parts[3].path.write_bytes(parts[3].path.read_bytes()[:-50])
    assert not mp.open_study(tmp_path / "s").complete
    table = mp.sweep(study, tmp_path / "s", engine="serial", chunk=3)
    assert table.digest() == whole
    assert [p.name for p in (tmp_path / "s" / "bad").iterdir()] == [parts[3].path.name]
    with pytest.raises(DescriptionError, match="already"):
        mp.sweep(study, tmp_path / "s", engine="serial", resume=False)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seed": 8}, "seed"),
        ({"samples": 6}, "runs"),
        ({"base": base(step=5e-4)}, r"base\.step is (0\.001|not given) there and 0\.0005 here"),
        ({"base": base(q0=[0.3, 0.25])}, r"base\.q0\[1\] is 0\.2 there and 0\.25 here"),
        ({"vary": {**MIXED, "controller.kp": [40.0, 81.0]}}, r"vary\.controller\.kp"),
        ({"design": "sobol"}, "design"),
    ],
)
def test_another_study_in_the_folder_is_refused(change: dict, field: str, tmp_path: Path) -> None:
    study = mp.Study(base(), MIXED, samples=1, seed=3)
    mp.sweep(study, tmp_path / "s", engine="serial")
    with pytest.raises(DescriptionError, match=field):
        mp.sweep(study.replace(**change), tmp_path / "s", engine="serial")


def test_another_version_is_refused(tmp_path: Path) -> None:
    study = mp.Study(base(), {"controller.kp": [40.0]})
    mp.sweep(study, tmp_path / "s", engine="serial")
    path = tmp_path / "s" / "study.json"
    path.write_text(path.read_text().replace(f'"numpy": "{np.__version__}"', '"numpy": "0.9"'))
    with pytest.raises(DescriptionError, match=r"numpy 0\.9"):
        mp.sweep(study, tmp_path / "s", engine="serial")


def test_views_of_the_table(tmp_path: Path) -> None:
    study = mp.Study(base(), {"controller.kp": [40.0, 60.0, 80.0]}, keep_series=("q", "tau"), series_runs=2)
    table = mp.sweep(study, tmp_path / "s", engine="serial", chunk=2)
    assert table.to_xarray()["tau_max"].attrs["units"] == "N·m"
    assert table.duckdb().sql("select count(*) from runs where status = 'finished'").fetchall() == [(3,)]
    assert np.array_equal(table.series(2).column("q[1]").to_numpy(), table.run(2).q[:, 1])
    with pytest.raises(DescriptionError, match="No samples"):
        table.series(1)
    with pytest.raises(DescriptionError, match=r"columns.*'error_rms'"):
        table.to_pandas(["error_rm"])
    with pytest.raises(DescriptionError, match="list of columns"):
        table.to_arrow("error_rms")  # pyright: ignore[reportArgumentType]
    for column in ("status", "controller.kp"):
        with pytest.raises(DescriptionError, match="need an answer"):
            table.sensitivity(column)
    with pytest.raises(DescriptionError, match="has a number in 'limit_use'"):
        table.plot("histogram", y="limit_use")
    assert table.failed.num_rows == 0
    assert table.verify() == []
    assert table.statuses() == {"finished": 3}


def test_samples_of_a_signal_that_no_run_has_are_refused(tmp_path: Path) -> None:
    laws = [{"law": "pd_gravity", "kp": 50.0, "kv": 9.0}, {"law": "pid", "kp": 50.0, "ki": 1.0, "kv": 9.0}]
    for vary, signal in (({"controller.kp": [40.0]}, "motors"), ({"controller": laws}, "tua")):
        with pytest.raises(DescriptionError, match=f"keep_series: No signal named '{signal}'"):
            mp.sweep(mp.Study(base(), vary, keep_series=("q", signal)), tmp_path / "s", engine="serial")
        assert not (tmp_path / "s").exists()
    made = mp.sweep(
        mp.Study(base(), {"controller": laws}, keep_series=("controller_states",)), tmp_path / "s", engine="serial"
    )
    assert made.series(1).num_rows == made.run(1).t.size


def test_limits_are_held_against_every_run(tmp_path: Path) -> None:
    """Each run of a batch has its own verdict: that of the run alone, whatever the chunk."""
    study = mp.Study(base(limits={"torque": [80.0, 40.0], "velocity": 4.0}), {"payload.mass": [0.0, 0.5, 1.0, 4.0]})
    table = mp.sweep(study, tmp_path / "a", engine="serial", chunk=4)
    assert table.digest() == mp.sweep(study, tmp_path / "b", engine="serial", chunk=1).digest()
    frame = table.to_pandas()
    assert set(frame["feasible"]) == {True, False}
    for k in range(4):
        assert table.run(k).feasible == frame["feasible"][k]
        assert (frame["limit_use"][k] > 1.0) == (not frame["feasible"][k])


def test_a_stiff_run_falls_back_by_itself(tmp_path: Path) -> None:
    """An open integrator is chosen again run by run: neighbours in the batch have no say."""
    study = mp.Study(base(), {"controller.kv": [15.0, 20.0, 4000.0]}, keep=("error_estimate", "tau_max"))
    alone = mp.sweep(study, tmp_path / "a", engine="serial", chunk=1)
    together = mp.sweep(study, tmp_path / "b", engine="serial", chunk=3)
    assert alone.digest() == together.digest()
    assert together.statuses() == {"finished": 3}
    result = together.run(2)
    assert any("rodas" in note or "dop853" in note for note in result.notes)
    assert result.error_estimate == together.row(2)["error_estimate"]


@pytest.mark.parametrize("option", ["--resume", "--chunk 2", "--output there", "--engine tcp://127.0.0.1:9"])
def test_options_that_a_dry_run_cannot_honour_are_refused(option: str, tmp_path: Path) -> None:
    mp.Study(base(), {"controller.kp": [40.0, 80.0]}).save(tmp_path / "s.toml")
    done = CliRunner().invoke(app, ["sweep", str(tmp_path / "s.toml"), "--dry-run", *option.split()])
    assert done.exit_code == 2
    assert f"{option.split()[0]}: A dry run" in done.stderr


def test_a_dry_run_keeps_nothing_and_says_what_stands_alone() -> None:
    from manipula.studies.dry_run import dry_run

    found = dry_run(mp.Study(base(), {"controller.kp": [40.0, 80.0], "duration": [0.1, 0.2]}), workers=2)
    assert found.runs == 4
    assert found.alone == ("duration",)
    assert found.batch == 2.0
    assert found.statuses == {"finished": 4}
    assert found.seconds > 0
    assert found.size > 0
