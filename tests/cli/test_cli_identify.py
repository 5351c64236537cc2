"""``manipula identify``: a log becomes a robot."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.model import Model
from measured_logs import motion, torques


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("identify")
    arm = Model(mp.planar([0.5, 0.4], [3.0, 2.0]))
    mp.save(arm.robot, place / "arm.toml")
    t, q, qd, qdd = motion(arm, rate=200.0)
    tau = torques(arm, q, qd, qdd, {"viscous": 0.4, "coulomb": 0.3, "v_0": 0.05})
    names = ",".join(["t", *(f"{s}{i}" for s in ("ang_", "tau") for i in (1, 2))])
    np.savetxt(
        place / "log.csv",
        np.column_stack([t, np.degrees(q), tau]),
        delimiter=",",
        header=names,
        comments="",
        fmt="%.12g",
    )
    return place


def call(folder, *words):
    return CliRunner().invoke(app, ["identify", str(folder / "log.csv"), str(folder / "arm.toml"), *words])


READ = ("--units", "q=deg", "--column", "q=ang_{}", "--cutoff", "15")


def test_a_log_becomes_a_robot_and_a_page(folder):
    files = ("-o", str(folder / "found.toml"), "--report", str(folder / "found.html"))
    done = call(folder, *READ, "--validate", "0.4", "--friction", "viscous,coulomb", *files)
    assert done.exit_code == 0, done.output
    assert "validation" in done.stdout
    assert "Not excited, kept at the prior: none" in done.stdout
    assert mp.load(folder / "found.toml").joints[0].friction.damping == pytest.approx(0.4, rel=0.1)
    assert (folder / "found.html").stat().st_size > 10_000


def test_json_holds_everything(folder):
    done = call(folder, *READ, "--json", "--friction", "none", "--validate", str(folder / "log.csv"))
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["extras"] == []
    assert len(found["validation_rms"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "columns={'q'"),
        ((*READ, "--friction", "glue"), "glue"),
        ((*READ, "--velocity", "measured"), "velocity"),
        ((*READ, "--units", "q"), "--units"),
        ((*READ, "--report", "x.pdf"), "html"),
        ((*READ, "--validate", "nothing.csv"), "does not exist"),
    ],
)
def test_wrong_words_are_refused(folder, words, said):
    done = call(folder, *words)
    assert done.exit_code == 2
    assert said in done.stderr
