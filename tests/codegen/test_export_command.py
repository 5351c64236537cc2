"""``manipula export``"""

from __future__ import annotations

from typer.testing import CliRunner

from manipula.cli.app import app
from manipula.codegen import NAMES

runner = CliRunner()


def test_files_are_written_and_named(tmp_path):
    done = runner.invoke(
        app, ["export", "planar-2r", "-l", "rust", "-o", str(tmp_path), "--functions", "gravity, pose"]
    )
    assert done.exit_code == 0, done.output
    text = (tmp_path / "planar_2r.rs").read_text()
    assert "pub fn gravity" in text
    assert "pub fn pose" in text
    assert "pub fn mass_matrix" not in text
    assert "planar_2r.rs" in done.output


def test_all_functions_with_a_struct(tmp_path):
    done = runner.invoke(
        app, ["export", "planar-2r", "-o", str(tmp_path), "--functions", "all", "--parameters", "struct"]
    )
    assert done.exit_code == 0, done.output
    header = (tmp_path / "planar_2r.h").read_text()
    assert "planar_2r_default_parameters" in header
    assert all(f"planar_2r_{name}(" in header for name in NAMES if name != "friction")


def test_the_list_of_functions_writes_nothing(tmp_path):
    done = runner.invoke(app, ["export", "planar-2r", "--functions", "list"])
    assert done.exit_code == 0
    assert done.output.split() == list(NAMES)
    refused = runner.invoke(app, ["export", "planar-2r", "-o", str(tmp_path / "out"), "--functions", "list"])
    assert refused.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_mistakes_end_in_one_message(tmp_path):
    twice = ["export", "planar-2r", "-o", str(tmp_path), "--functions", "gravity"]
    assert runner.invoke(app, twice).exit_code == 0
    for arguments in (twice, [*twice, "--language", "cobol"], [*twice, "--functions", "gravitas"]):
        done = runner.invoke(app, arguments)
        assert done.exit_code == 2
        assert "error:" in done.output
        assert "Traceback" not in done.output
    assert runner.invoke(app, [*twice, "--force"]).exit_code == 0


def test_files_stand_in_a_folder_of_their_own_where_none_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = runner.invoke(app, ["export", "planar-2r", "--language", "rust", "--functions", "gravity"])
    assert done.exit_code == 0, done.output
    assert [p for p in (tmp_path / "out" / "planar-2r-rust").iterdir() if p.suffix == ".rs"]
