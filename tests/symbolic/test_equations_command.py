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


def test_parts_of_links_names_and_digits(tmp_path: Path) -> None:
    run = CliRunner().invoke
    result = run(
        app, ["equations", "abdelsatar-2r", "--names", "joints", "--only", "com,U,pseudo_inertia,christoffel,energies"]
    )
    assert result.exit_code == 0
    for line in (
        "rC1 = [a1*c1/2; a1*s1/2; 0]",
        "h112 = -a1*a2*m2*s2/2",
        "Ek1 = a1^2*m1*th1d^2/6",
        "Ep1 = a1*gc*m1*s1/2",
    ):
        assert line in result.stdout
    assert "M11 = 1.67 + 1.18*c2" in run(app, ["equations", "scara-khang", "--only", "M", "--digits", "3"]).stdout
    assert (
        "1.6708333333333334" in run(app, ["equations", "scara-khang", "--format", "latex", "--digits", "exact"]).stdout
    )
    refused = run(app, ["equations", "scara-khang", "--digits", "many"])
    assert refused.exit_code == 2
    assert "a whole number from 1 to 17, or 'exact'; found 'many'" in " ".join(refused.stderr.split())
    assert run(app, ["equations", "scara-khang", "--standalone"]).exit_code != 0
    assert run(app, ["equations", "scara-khang", "--names", "file"]).exit_code != 0
    file = tmp_path / "arm.txt"
    file.write_text("a1,0,0,w1,m1,[0 0 0; 0 0 0; 0 0 J],[0;0;0;1],w1,rate,grow,1,[0;-9.81;0],1\n")
    result = run(app, ["equations", str(file), "--names", "file", "--format", "matlab", "--only", "T,tau"])
    assert result.exit_code == 0, result.output
    assert "rate^2" in result.stdout
    assert "grow" in result.stdout


def test_a_document_for_pdflatex() -> None:
    result = CliRunner().invoke(app, ["equations", "planar-2r", "--format", "latex", "--standalone", "--only", "all"])
    assert result.exit_code == 0
    assert result.stdout.startswith(r"\documentclass")
    assert r"\end{document}" in result.stdout
