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
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from manipula.errors import printable

    console = Console()
    console.print(Text(f"{printable(diagnosis.robot)}: {printable(summary, 200)}", style="bold"))
    for note in notes:
        console.print(Text(printable(note, 1000), style="dim"))
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    table.add_column(ratio=1)
    for f in diagnosis.findings:
        words = Text(printable(f.sentence, 1000))
        if f.advice:
            words.append(f"\n{printable(f.advice, 500)}", style="dim")
        table.add_row(Text(f.severity, style=COLOURS[f.severity]), Text(printable(f.place, 40)), words)
    console.print(table)
    console.print(Text(printable(diagnosis.verdict(), 200), style="bold"))
