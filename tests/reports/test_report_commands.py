"""Films of the arm, and the commands ``plot`` and ``report``."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.errors import BudgetError, CompileError, DescriptionError, UnknownNameError
from manipula.reports.animation import animate
from manipula.reports.plots import PLOTS
from report_results import batch, planar, programmed, seven


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    made = {"planar": planar(), "batch": batch(), "with": programmed(), "without": programmed(friction=False)}
    for name, result in made.items():
        result.save(folder / f"{name}.nc")
    return folder


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(app, [str(w) for w in words])


def test_a_film_lasts_as_long_as_the_motion(tmp_path) -> None:
    for result, speed, fps in ((planar(), 1.0, 5), (seven(), 0.1, 2)):
        path = animate(result, tmp_path / "arm.gif", speed=speed, fps=fps, dpi=40)
        with Image.open(path) as film:
            pictures = getattr(film, "n_frames", 1)
            lasting = pictures * film.info["duration"] / 1000
            first = np.asarray(film.convert("RGB"), float)
            film.seek(pictures - 1)
            last = np.asarray(film.convert("RGB"), float)
        motion = (result.t[-1] - result.t[0]) / speed
        assert abs(lasting - motion) <= 1.5 / fps  # one picture more than intervals, and rounding to whole pictures
        assert np.abs(first - last).max() > 100  # the arm has moved


def test_nothing_of_a_film_is_cut_off_at_its_edge(tmp_path) -> None:
    robot = mp.load("panda")
    start = [0.0, 0.0, 0.0, -1.5708, 0.0, 0.0, 0.0]
    move = mp.joint_move(start, [q + 0.6 for q in start], velocity=1.0, acceleration=4.0, jerk=40.0)
    result = mp.simulate(
        mp.Scenario(robot, move, mp.control.ComputedTorque(100.0, 20.0), q0=start, duration=1.0, verify=False)
    )
    with Image.open(animate(result, tmp_path / "arm.gif", fps=2)) as film:
        picture = np.asarray(film.convert("RGB"), int)
    for edge in (picture[0], picture[-1], picture[:, 0], picture[:, -1]):
        assert np.abs(edge - picture[0, 0]).max() < 8


def test_films_that_cannot_be_made_say_why(tmp_path, monkeypatch) -> None:
    with pytest.raises(BudgetError, match="Raise speed or lower fps"):
        animate(planar(), tmp_path / "arm.gif", speed=1e-3)
    with pytest.raises(UnknownNameError, match="format of animations"):
        animate(planar(), tmp_path / "arm.avi")
    with pytest.raises(DescriptionError, match=r"choose one: result.run\(0\)"):
        animate(batch(), tmp_path / "arm.gif")
    with pytest.raises(DescriptionError, match="greater than 0"):
        animate(planar(), tmp_path / "arm.gif", speed=0)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(CompileError, match=r"needs the program ffmpeg.*\.gif works"):
        animate(planar(), tmp_path / "arm.mp4")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffmpeg is not installed")
def test_mp4_has_every_picture(tmp_path) -> None:
    path = animate(planar(), tmp_path / "arm.mp4", fps=10, dpi=40)
    asked = [
        "ffprobe",
        "-v",
        "error",
        "-count_frames",
        "-show_entries",
        "stream=nb_read_frames",
        "-of",
        "csv=p=0",
        str(path),
    ]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() == "11"


def test_plot_writes_figures(run, files, tmp_path) -> None:
    for words in (
        ["planar", "-k", "torque"],
        ["planar", "-k", "spectrum", "--signal", "q"],
        ["batch", "--run", "2", "-k", "position"],
    ):
        target = tmp_path / "figure.png"
        done = run("plot", files / f"{words[0]}.nc", *words[1:], "--force", "-o", target)
        assert done.exit_code == 0, done.stderr
        assert target.read_bytes().startswith(b"\x89PNG")
    pair = run("plot", files / "with.nc", files / "without.nc", "-k", "friction", "-o", tmp_path / "pair.svg")
    assert pair.exit_code == 0, pair.stderr
    assert "without friction" in (tmp_path / "pair.svg").read_text(encoding="utf-8")


def test_plot_lists_its_kinds(run, files) -> None:
    every = run("plot", "--list").stdout
    assert all(f"{name} " in every for name in PLOTS)
    some = run("plot", files / "planar.nc", "--list").stdout
    assert "torque" in some
    assert "residual" not in some


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["planar.nc", "-k", "torqe", "-o", "f.png"], "Did you mean 'torque'"),
        (["planar.nc", "-k", "torque", "--signal", "q", "-o", "f.png"], "takes no signal"),
        (["batch.nc", "--run", "99", "-o", "f.png"], "Runs 0 to 29 exist, found 99"),
        (["planar.nc", "--run", "0", "-o", "f.png"], "not a batch"),
        (["batch.nc", "-o", "f.png"], "this is a batch"),
        (["nothing.nc", "-o", "f.png"], "This file does not exist"),
    ],
)
def test_plot_explains_what_is_wrong(run, files, monkeypatch, words, said) -> None:
    monkeypatch.chdir(files)
    done = run("plot", *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not (files / "f.png").exists()


def test_a_figure_stands_beside_its_result_where_nothing_else_is_said(run, files, tmp_path) -> None:
    import shutil

    shutil.copy(files / "planar.nc", tmp_path / "mine.nc")
    for kind, name in ((None, "mine.joints.png"), ("torque", "mine.torque.png")):
        words = ["plot", tmp_path / "mine.nc", *(() if kind is None else ("-k", kind))]
        assert run(*words).exit_code == 0
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    again = run("plot", tmp_path / "mine.nc")
    assert again.exit_code == 2
    assert "--force replaces it" in again.stderr
    assert run("plot", tmp_path / "mine.nc", "--force").exit_code == 0


def test_report_command(run, files, tmp_path) -> None:
    done = run("report", files / "batch.nc", "--run", "3", "--no-equations", "-o", tmp_path / "r.html")
    assert done.exit_code == 0, done.stderr
    assert "run 3 of a batch" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_report_command_compares(run, files, tmp_path) -> None:
    done = run("report", files / "with.nc", files / "without.nc", "--no-equations", "-o", tmp_path / "compare.html")
    assert done.exit_code == 0, done.stderr
    assert "How far apart" in (tmp_path / "compare.html").read_text(encoding="utf-8")
    refused = run("report", files / "with.nc", files / "planar.nc", "-o", tmp_path / "other.html")
    assert refused.exit_code == 2
    assert "same number of joints" in refused.stderr
    assert not (tmp_path / "other.html").exists()
