"""``manipula parts [KIND] [NAME]``"""

from __future__ import annotations

from typing import Annotated

import typer


def parts(
    kind: Annotated[str | None, typer.Argument(help="controller, friction-law, drive, path, time-law, plot …")] = None,
    name: Annotated[str | None, typer.Argument(help="Show the fields of this part.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the parts that runs and robots are made of, with unit, default and range of every field."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from manipula.errors import unknown_name
    from manipula.parts.registry import describe
    from manipula.parts.tables import allowed_text, default_text, plain_summary
    from manipula.registries import KINDS, find_kind

    chosen = list(KINDS.values()) if kind is None else [find_kind(kind)]
    if name is not None and name not in chosen[0].registry:
        raise unknown_name(chosen[0].name, name, chosen[0].registry)
    if json:
        from json import dumps

        found = describe(chosen)
        typer.echo(dumps(found if name is None else found[chosen[0].name]["parts"][name], indent=2, ensure_ascii=False))
        return
    console = Console()
    table = Table(box=None, padding=(0, 2, 0, 0))
    if name is not None:
        console.print(Text(f"{chosen[0].name} '{name}'", style="bold"))
        console.print(Text(plain_summary(chosen[0].summary(name))))
        for title in ("field", "kind", "unit", "default", "allowed", "meaning"):
            table.add_column(title)
        for d in chosen[0].fields(name):
            cells = (
                " or ".join(d.keys),
                d.field.kind_words,
                d.field.unit,
                default_text(d),
                allowed_text(d),
                d.field.meaning,
            )
            table.add_row(*map(Text, cells))
        if chosen[0].fields(name):
            console.print(table)
        return
    table.add_column("kind" if kind is None else chosen[0].name, no_wrap=True)
    table.add_column("parts" if kind is None else "what it is")
    for k in chosen:
        if kind is None:
            table.add_row(Text(k.name), Text(", ".join(k.registry)))
        else:
            for part in k.registry:
                table.add_row(Text(part), Text(plain_summary(k.summary(part))))
    console.print(table)
