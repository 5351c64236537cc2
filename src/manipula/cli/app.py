"""All commands in one place. To add one: write ``cli/<name>.py`` with a function of that name and add the name to ``COMMANDS``."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from manipula.cli.explain import explained

COMMANDS = (
    "doctor", "certify", "convert", "catalog", "parts", "schema", "equations", "export", "ik", "identify", "calibrate", "run",
    "sweep", "tune", "plot", "report", "check", "studio", "bench",
)  # fmt: skip
GROUPS = ("cache", "cluster", "library", "paper")  # with commands of their own

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


def app_of(names: Iterable[str]) -> typer.Typer:
    """The command line with the commands of these names; only their files are loaded."""
    made = typer.Typer(invoke_without_command=True, rich_markup_mode=None, pretty_exceptions_enable=False)
    made.callback()(_options)
    for name in names:
        room = importlib.import_module(f"manipula.cli.{name}")
        if name in GROUPS:
            made.add_typer(room.app, name=name, help=room.HELP)
        else:
            made.command(name)(explained(getattr(room, name)))
    return made


def app_for(words: Sequence[str]) -> typer.Typer:
    """The command line that these words need: of one command if they begin with it, else of all."""
    named = [w for w in words[:1] if w in (*COMMANDS, *GROUPS)]
    return app_of(named or (*COMMANDS, *GROUPS))


def __getattr__(name: str) -> Any:
    if name == "app":
        return globals().setdefault("app", app_of((*COMMANDS, *GROUPS)))
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
