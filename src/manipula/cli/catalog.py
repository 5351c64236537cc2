"""``manipula catalog [NAME]``"""

from __future__ import annotations

from typing import Annotated

import typer


def catalog(
    name: Annotated[str | None, typer.Argument(help="Show this robot and where its numbers come from.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the robots that come with the package, or show one of them."""
    from dataclasses import asdict

    from manipula.formats.catalog import catalog as entries
    from manipula.formats.catalog import load_catalog

    if name is not None:
        load_catalog(name)  # says which names exist
    chosen = [e for e in entries() if name in (None, e.name)]
    if json:
        from json import dumps

        typer.echo(dumps([asdict(e) for e in chosen], indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if name is not None:
        entry, robot = chosen[0], load_catalog(name)
        console.print(Text(f"{entry.name}: {entry.description}", style="bold"))
        console.print(Text(f"joints: {', '.join(f'{j.name} ({j.kind})' for j in robot.joints)}"))
        console.print(Text(f"tip: {robot.tip}"))
        if robot.parameters:
            console.print(Text(f"free parameters: {', '.join(robot.parameters)}"))
        console.print(Text(f"source: {entry.source}", style="dim"))
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("name", no_wrap=True)
    table.add_column("n", justify="right")
    table.add_column("description")
    for e in chosen:
        table.add_row(e.name, str(e.n), e.description)
    console.print(table)
