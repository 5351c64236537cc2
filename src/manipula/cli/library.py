"""``manipula library add|list|show|run|remove``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from manipula.cli.explain import explained
from manipula.cli.outputs import Force, check_free

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
HELP = "Programmed motions under a name: derived once, run with other parameters at once."


def add(
    name: Annotated[str, typer.Argument(help="Name for the programmed motion.")],
    program: Annotated[Path, typer.Argument(metavar="PROGRAM", help="A scenario file of kind 'programmed'.")],
    force: Annotated[bool, typer.Option("--force", help="Replace one of that name.")] = False,
) -> None:
    """Derive and compile a programmed motion and keep it under a name."""
    from manipula.cli.live import live
    from manipula.simulation.files import library

    with live() as state:
        made = state.background(lambda: library.add(name, program, replace=force))
    typer.echo(f"Added '{made.name}' ({made.path}).")


def list_(json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """List the stored programmed motions."""
    from manipula.simulation.files import library

    entries, broken = [], {}
    for name in library.names():
        try:
            entries.append(library.entry(name))
        except ValueError as error:
            broken[name] = str(error)
    if json:
        from json import dumps

        typer.echo(dumps([e.summary() for e in entries], indent=2, ensure_ascii=False))
        return
    from manipula.cli.terminal import Terminal

    rows = []
    for e in entries:
        parameters = ", ".join(f"{k} = {v:g}" for k, v in e.program.parameters.items())
        constraints = "; ".join(str(c.formula) for c in e.program.constraints)
        rows.append([e.name, e.program.robot.name, parameters, constraints])
    if rows:
        Terminal().table(("name", "robot", "parameters", "constraints"), rows, left=3, sentences=True)
    else:
        Terminal().say(f"The library is empty ({library.folder()}).")
    for name, problem in broken.items():
        typer.echo(f"'{name}' cannot be read: {problem}", err=True)


def show(
    name: Annotated[str, typer.Argument(help="Name of a stored programmed motion.")],
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show a stored programmed motion."""
    from manipula.simulation.files import library
    from manipula.simulation.files.scenario_file import file_text

    found = library.entry(name)
    if json:
        from json import dumps

        typer.echo(dumps(found.summary(), indent=2, ensure_ascii=False))
    else:
        typer.echo(file_text(found.program))


def run(
    name: Annotated[str, typer.Argument(help="Name of a stored programmed motion.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the results, made when needed.", show_default="out/NAME"),
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Another value of a parameter: --set a=0.6 (a formula is fine).")
    ] = None,
    duration: Annotated[float | None, typer.Option(help="Another duration [s].")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Write result.csv as well.")] = False,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    force: Force = False,
) -> None:
    """Run a stored programmed motion, with other parameters if wanted; nothing is derived anew."""
    from manipula.cli.run import execute
    from manipula.simulation.files import library

    names = ["result.nc", "scenario.toml", *(["result.csv"] if csv else []), *(["report.html"] if report else [])]
    library.entry(name)  # says which names exist
    output = output or Path("out") / name
    check_free(output, names, force)

    def load() -> Any:
        program = library.load(name).with_parameters(settings(set_ or []))
        return program if duration is None else program.replace(duration=duration)

    execute(load, lambda program: program.run(), output, csv=csv, report=report, json=json)


def settings(texts: list[str], option: str = "--set") -> dict[str, float]:
    """``["a=0.6", "b=pi/4"]`` as numbers; ``option`` is where they were given."""
    from manipula.algebra.expression import parse
    from manipula.errors import DescriptionError, printable

    out: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise DescriptionError(f"'{printable(text, 60)}' is not a setting such as a=0.6.", field=option)
        try:
            out[name.strip()] = float(parse(value, names=()).evaluate())
        except DescriptionError as error:
            raise DescriptionError(f"'{printable(text, 60)}': {error.problem}", field=option) from None
    return out


def remove(name: Annotated[str, typer.Argument(help="Name of a stored programmed motion.")]) -> None:
    """Take a programmed motion out of the library."""
    from manipula.simulation.files import library

    library.remove(name)
    typer.echo(f"Removed '{name}'.")


for _name, _function in (("add", add), ("list", list_), ("show", show), ("run", run), ("remove", remove)):
    app.command(_name)(explained(_function))
