"""What commands print for people: formulas in letters, tables that fit, advice in the words of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.parts.tables import plain_formula, plain_summary
from manipula.registries import KINDS

WIDTH = 80


def test_summaries_of_parts_have_no_latex() -> None:
    told = [plain_summary(kind.summary(name)) for kind in KINDS.values() for name in kind.registry]
    assert not [text for text in told if "\\" in text or ":math:" in text]
    assert plain_formula(r"\tau = K_p(q_d - q) + K_v\dot e") == "τ = K_p(q_d - q) + K_v e\N{COMBINING DOT ABOVE}"


def test_all_solutions_stand_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    words = ["ik", "ur5e", "--position", "0.4", "0.2", "0.3", "--rpy", "0", "0", "0", "--all"]
    lines = CliRunner().invoke(app, words).stdout.splitlines()
    heads = [line.split() for line in lines if line.startswith("solution")]
    assert heads == [["solution", *"123456"], ["solution", *"78"]]
    assert max(map(len, lines)) <= WIDTH


def test_an_unreachable_target_has_a_reason_and_no_posture() -> None:
    told = CliRunner().invoke(app, ["ik", "panda", "--position", "9", "9", "9"]).stdout
    assert told.startswith("panda: unreachable: The target is")
    assert "panda_joint1" not in told


def test_the_tip_has_its_name_in_reasons() -> None:
    assert "moves 'tip' in every direction" in str(mp.solve_ik(mp.load("planar-2r"), [1, 1, 0.1]).reason)


def test_a_plot_of_a_batch_names_the_option(tmp_path) -> None:
    batch = mp.Scenario(robot=mp.load("planar-2r"), q0=[[0.1, 0.2], [0.3, 0.4]], duration=0.1, step=0.01)
    mp.simulate(batch).save(tmp_path / "b.nc")
    told = CliRunner().invoke(app, ["plot", str(tmp_path / "b.nc"), "--kind", "tip", "-o", str(tmp_path / "f.png")])
    assert told.exit_code == 2
    assert "choose one: --run 0" in told.stderr


def test_a_folder_above_is_named_by_its_option(tmp_path: Path) -> None:
    """What the message advises works as it is printed."""
    (tmp_path / "arm").mkdir()
    (tmp_path / "link.xml").write_text('<mujoco><geom type="sphere" size="0.1"/></mujoco>')
    file = tmp_path / "arm" / "arm.xml"
    file.write_text(
        '<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/><include file="../link.xml"/></body></worldbody></mujoco>'
    )
    refused = CliRunner().invoke(app, ["doctor", str(file)])
    assert refused.exit_code != 0
    assert "--packages FOLDER" in refused.output
    assert "package_dirs" not in refused.output
    assert CliRunner().invoke(app, ["doctor", str(file), "--packages", str(tmp_path)]).exit_code == 0
