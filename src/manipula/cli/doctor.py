"""``manipula doctor ROBOT``"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from manipula.robot.doctor import Diagnosis

COLOURS = {"error": "bold red", "warning": "yellow", "info": "cyan"}


def doctor(
    robot: Annotated[str, typer.Argument(help="A file (.toml .urdf .xml .txt) or a name of the catalog.")],
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="What published robots often break is an error too.")
    ] = False,
    tip: Annotated[str | None, typer.Option(help="Frame that is the tip.")] = None,
) -> None:
    """Say whether a robot model is physical and what it means. Exit code 1 when there are errors."""
    from manipula.formats.load import load
    from manipula.robot.doctor import doctor as examine

    model = load(robot, tip)
    diagnosis = examine(model, strict=strict)
    if json:
        from json import dumps

        typer.echo(dumps(diagnosis.to_dict(), indent=2, ensure_ascii=False))
    else:
        _show(diagnosis, f"{model.n} joints, {len(model.frames)} frames, tip {model.tip or 'not named'}", model.notes)
    if not diagnosis.ok:
        raise typer.Exit(1)


def _show(diagnosis: Diagnosis, summary: str, notes: tuple[str, ...]) -> None:
    from manipula.cli.terminal import Terminal

    out = Terminal()
    out.say((f"{diagnosis.robot}: {summary}", "bold"))
    for note in notes:
        out.say((note, "dim"))
    rows = [[f.severity, f.place, f"{f.sentence} {f.advice}".strip()] for f in diagnosis.findings]
    styles = {(i, 0): COLOURS[f.severity] for i, f in enumerate(diagnosis.findings)}
    out.table(("", "", ""), rows, left=2, sentences=True, styles=styles)
    out.say((diagnosis.verdict(), "bold"))
