"""``manipula equations``"""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from manipula.cli.app import app


def test_parts_and_formats() -> None:
    result = CliRunner().invoke(app, ["equations", "abdelsatar-2r", "--only", "M,g"])
    assert result.exit_code == 0
    assert "M12 = a2*m2*(2*a2 + 3*a1*c2)/6" in result.output
    assert "tau1" not in result.output


def test_output_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "scara.tex"
    result = CliRunner().invoke(
        app, ["equations", "scara-khang", "--format", "latex", "--level", "base", "-o", str(target)]
    )
    assert result.exit_code == 0
    assert r"\begin{align*}" in target.read_text()


def test_a_wrong_level_is_explained() -> None:
    result = CliRunner().invoke(app, ["equations", "planar-2r", "--level", "compakt"])
    assert result.exit_code != 0
    assert "Did you mean 'compact'" in result.output + (result.stderr or "")


def test_letters_of_the_file() -> None:
    result = CliRunner().invoke(app, ["equations", "scara-khang", "--symbolic", "--only", "M"])
    assert result.exit_code == 0
    assert "M33 = l3^2*m3 + I3z + a3^2*m4 + I4z\n" in result.stdout
    result = CliRunner().invoke(app, ["equations", "panda", "--symbolic"])
    assert result.exit_code != 0
    assert "Nothing stays symbolic" in result.output
