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
    from manipula.cli.terminal import Terminal
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
    out = Terminal()
    if name is not None:
        called = chosen[0].in_python(name)
        out.say((f"{chosen[0].name} '{name}'", "bold"), called and f", in Python {called}")
        out.say(plain_summary(chosen[0].summary(name)))
        rows = [
            [" or ".join(d.keys), d.field.kind_words, d.field.unit, default_text(d), allowed_text(d), d.field.meaning]
            for d in chosen[0].fields(name)
        ]
        if rows:
            titles = ("field", "kind", "unit", "default", "allowed", "meaning")
            out.table(titles, rows, left=5, sentences=True)
    elif kind is None:
        out.table(("kind", "parts"), [[k.name, ", ".join(k.registry)] for k in chosen], sentences=True)
    else:
        rows = [[part, plain_summary(chosen[0].summary(part))] for part in chosen[0].registry]
        out.table((chosen[0].name, "what it is"), rows, sentences=True)
