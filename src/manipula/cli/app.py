"""All commands in one place.

To add one: write ``cli/<name>.py`` with a function of that name and add it to ``COMMANDS`` with what the list of commands says of it.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from manipula.cli.explain import explained

COMMANDS = {
    "doctor": "Is a robot model physical, and what does it mean?",
    "certify": "How far do all routes to a robot's equations differ?",
    "convert": "A robot description in another format",
    "catalog": "The robots that come with the package",
    "parts": "The parts of runs and robots, with their fields",
    "schema": "JSON Schema: editors complete and check files",
    "equations": "The equations of motion of a robot",
    "export": "Functions of a robot as source code",
    "ik": "Joint positions that bring the tip to a target",
    "identify": "Masses, inertias and friction from a log",
    "calibrate": "Errors of a robot's geometry from measured poses",
    "run": "Run a scenario: results and a report",
    "sweep": "Make every run of a study",
    "tune": "Search for gains or numbers of the design",
    "plot": "Draw results into a figure or a film",
    "report": "One HTML file about one result or several",
    "check": "Can the machine do it? Limits against a motion",
    "studio": "All of it in a page of the browser",
    "bench": "Times beside other libraries, in one run",
}
GROUPS = {  # with commands of their own
    "cache": "Compiled code on disk: where, how much, clear",
    "cluster": "A Dask cluster on this machine",
    "library": "Programmed motions under a name",
    "paper": "Published papers run again, number by number",
}
COMPLETION = "_MANIPULA_COMPLETE"  # the variable by which a shell asks for completions

FIRST = """Manipula: from a robot table to torque. Try

  manipula studio
      a page in the browser: choose a robot, give it a task, run, watch
  manipula ik panda --position 0.4 0.1 0.5
      a robot of the catalog reaches for a point; manipula catalog lists all
  manipula doctor FILE
      is your robot (TOML, URDF, MJCF, SDF, table) physical, how is it read?
  manipula run SCENARIO.toml
      run a scenario: result, report and the moving arm in out/SCENARIO

manipula --help                 all commands
manipula COMMAND --help         one of them
manipula --install-completion   the shell completes them"""


def _version(wanted: bool) -> None:
    if wanted:
        from manipula import __version__

        typer.echo(f"manipula {__version__}")
        raise typer.Exit()


def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version.")
    ] = False,
) -> None:
    """From a robot table to torque."""
    if context.invoked_subcommand is None:
        typer.echo(FIRST)


class _Listed(TyperGroup):
    """All commands, listed with the sentences above, whichever of their files are loaded."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list((COMMANDS | GROUPS).items()))


def app_of(names: Iterable[str]) -> typer.Typer:
    """The command line with the commands of these names; only their files are loaded."""
    made = typer.Typer(cls=_Listed, invoke_without_command=True, rich_markup_mode=None, pretty_exceptions_enable=False)
    made.callback()(_options)
    for name in names:
        room = importlib.import_module(f"manipula.cli.{name}")
        if name in GROUPS:
            made.add_typer(room.app, name=name, help=room.HELP)
        else:
            made.command(name)(explained(getattr(room, name)))
    return made


def app_for(words: Sequence[str]) -> typer.Typer:
    """The command line that these words need: of one command if they begin with it, of none if they ask what there is, else of all."""
    every = (*COMMANDS, *GROUPS)
    if not words[1:] and COMPLETION not in os.environ and (not words or words[0] in ("--help", "--version")):
        return app_of(())
    return app_of([w for w in words[:1] if w in every] or every)


def __getattr__(name: str) -> Any:
    if name == "app":
        return globals().setdefault("app", app_of((*COMMANDS, *GROUPS)))
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
