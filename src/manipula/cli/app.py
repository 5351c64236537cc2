"""All commands in one place. To add one: write ``cli/<name>.py`` with a function and add a line to ``COMMANDS``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from manipula.cli.bench import bench
from manipula.cli.cache import HELP as CACHE
from manipula.cli.cache import app as cache
from manipula.cli.calibrate import calibrate
from manipula.cli.catalog import catalog
from manipula.cli.certify import certify
from manipula.cli.check import check
from manipula.cli.cluster import HELP as CLUSTER
from manipula.cli.cluster import app as cluster
from manipula.cli.convert import convert
from manipula.cli.doctor import doctor
from manipula.cli.equations import equations
from manipula.cli.explain import explained
from manipula.cli.export import export
from manipula.cli.identify import identify
from manipula.cli.ik import ik
from manipula.cli.library import HELP as LIBRARY
from manipula.cli.library import app as library
from manipula.cli.paper import HELP as PAPER
from manipula.cli.paper import app as paper
from manipula.cli.parts import parts
from manipula.cli.plot import plot
from manipula.cli.report import report
from manipula.cli.run import run
from manipula.cli.schema import schema
from manipula.cli.studio import studio
from manipula.cli.sweep import sweep
from manipula.cli.tune import tune

COMMANDS: dict[str, Callable[..., Any]] = {
    "doctor": doctor,
    "certify": certify,
    "convert": convert,
    "catalog": catalog,
    "parts": parts,
    "schema": schema,
    "equations": equations,
    "export": export,
    "ik": ik,
    "identify": identify,
    "calibrate": calibrate,
    "run": run,
    "sweep": sweep,
    "tune": tune,
    "plot": plot,
    "report": report,
    "check": check,
    "studio": studio,
    "bench": bench,
}

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

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        from manipula import __version__

        typer.echo(f"manipula {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version.")
    ] = False,
) -> None:
    """From a robot table to torque."""
    if context.invoked_subcommand is None:
        typer.echo(FIRST)


for _name, _function in COMMANDS.items():
    app.command(_name)(explained(_function))
app.add_typer(cache, name="cache", help=CACHE)
app.add_typer(cluster, name="cluster", help=CLUSTER)
app.add_typer(library, name="library", help=LIBRARY)
app.add_typer(paper, name="paper", help=PAPER)
