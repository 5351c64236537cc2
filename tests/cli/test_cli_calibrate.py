"""``manipula calibrate``: measured poses become a robot."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("calibrate")
    arm = mp.planar([0.5, 0.4], [3.0, 2.0])
    mp.save(arm, place / "arm.toml")
    q = np.random.default_rng(1).uniform(-2.0, 2.0, (40, 2))
    tip = mp.compile(mp.planar([0.502, 0.399], [3.0, 2.0])).pose(q)[:, :3, 3]
    np.savetxt(place / "poses.csv", np.column_stack([q, 1e3 * tip]), delimiter=",", header="q1,q2,x,y,z", comments="")
    return place


def call(folder, *words):
    return CliRunner().invoke(app, ["calibrate", str(folder / "poses.csv"), str(folder / "arm.toml"), *words])


def test_poses_become_a_robot_and_a_page(folder):
    files = ("-o", str(folder / "found.toml"), "--report", str(folder / "found.html"))
    done = call(folder, "--units", "position=mm", "--what", "joints,tool", "--validate", "0.25", *files)
    assert done.exit_code == 0, done.output
    assert "after, others" in done.stdout
    found = mp.compile(mp.load(folder / "found.toml"))
    assert np.linalg.norm(found.pose([0.3, 0.4])[:2, 3]) == pytest.approx(
        np.linalg.norm(mp.compile(mp.planar([0.502, 0.399], [3.0, 2.0])).pose([0.3, 0.4])[:2, 3]), abs=1e-8
    )
    page = (folder / "found.html").read_text(encoding="utf-8")
    assert "What cannot be distinguished" in page


def test_json_holds_everything(folder):
    done = call(folder, "--units", "position=mm", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["after"]["position"] < 1e-9


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--what", "elbow"), "elbow"), (("--units", "position=mile"), "mile"), (("--report", "x.txt"), "html")],
)
def test_wrong_words_are_refused(folder, words, said):
    done = call(folder, *words)
    assert done.exit_code == 2
    assert said in done.stderr
