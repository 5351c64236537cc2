"""``manipula cache info|clear``"""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from manipula.cli.explain import explained

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
HELP = "Compiled code on disk: where it is, how much, and how to remove it."
VARIABLES = {
    "MANIPULA_CACHE": "'off' keeps nothing on disk",
    "MANIPULA_CACHE_DIR": "another folder",
    "MANIPULA_THREADS": "threads of a batch, at most",
    "MANIPULA_NO_LLVM": "'1' compiles nothing: everything is interpreted",
}


def facts() -> dict[str, Any]:
    """Plain values: folder, entries, bytes, budget, what is switched off, and the variables."""
    from manipula.native import has_compiler
    from manipula.native.store import object_cache

    held = object_cache.contents()
    return {
        "folder": None if held.folder is None else str(held.folder), "entries": held.entries, "bytes": held.size,
        "budget": object_cache.DISK_BUDGET, "enabled": object_cache.enabled(), "compiler": has_compiler(),
        "variables": {name: os.environ.get(name) for name in VARIABLES},
    }  # fmt: skip


def info(json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """Say where compiled code is kept, how much of it, and which variables have a say."""
    found = facts()
    if json:
        from json import dumps

        typer.echo(dumps(found, indent=2, ensure_ascii=False))
        return
    place = found["folder"] or "no folder that may be used; entries live in memory"
    typer.echo(f"folder    {place if found['enabled'] else f'{place} (switched off)'}")
    typer.echo(f"entries   {found['entries']}")
    typer.echo(
        f"size      {_mib(found['bytes'])} of {_mib(found['budget'])} MiB; beyond that the ones used longest ago go first"
    )
    if not found["compiler"]:
        typer.echo("compiler  none: nothing is compiled, everything is interpreted")
    width = max(map(len, VARIABLES))
    for name, meaning in VARIABLES.items():
        value = found["variables"][name]
        typer.echo(f"{name:<{width}}  {'not set' if value is None else repr(value)} ({meaning})")


def clear() -> None:
    """Remove all compiled code; the next run compiles again."""
    from manipula.native.store import object_cache

    before = object_cache.clear()
    typer.echo(f"Removed {before.entries} entries ({_mib(before.size)} MiB).")


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f}"


for _name, _function in (("info", info), ("clear", clear)):
    app.command(_name)(explained(_function))
