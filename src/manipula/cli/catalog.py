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
    from manipula.cli.terminal import Terminal

    out = Terminal()
    if name is not None:
        entry, robot = chosen[0], load_catalog(name)
        out.say((f"{entry.name}: {entry.description}", "bold"))
        out.say(f"joints: {', '.join(f'{j.name} ({j.kind})' for j in robot.joints)}")
        out.say(f"tip: {robot.tip}")
        if robot.parameters:
            out.say(f"free parameters: {', '.join(robot.parameters)}")
        out.say((f"source: {entry.source}", "dim"))
        return
    out.table(("name", "n", "description"), [[e.name, str(e.n), e.description] for e in chosen], sentences=True)
