"""``manipula report RESULT … -o report.html``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manipula.cli.outputs import Force, check_targets


def report(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULT …",
            help="File of a result (.nc .npz .csv .parquet .mcap), or the folder of a study; several results are compared.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The report; beside the first result by default.")
    ] = None,
    run: Annotated[int | None, typer.Option(help="Only this run of a batch, from 0.")] = None,
    live: Annotated[
        bool,
        typer.Option("--live", help="The page computes the run again when the reader moves a gain or another number."),
    ] = False,
    number: Annotated[
        list[str] | None,
        typer.Option(help="With --live: a number that gets a slider, such as controller.kp; may be repeated."),
    ] = None,
    equations: Annotated[bool, typer.Option(help="Derive the equations of motion when they are short.")] = True,
    force: Force = False,
) -> None:
    """Write one HTML file about a result, or about several over each other: opens offline, can be mailed and printed."""
    from manipula.errors import DescriptionError
    from manipula.reports.report import write_report
    from manipula.reports.source import chosen_run
    from manipula.simulation.stored.store import load_result

    if len(results) == 1 and Path(results[0]).is_dir():
        if run is not None or live or number or not equations:
            raise DescriptionError(
                "The page of a study shows all its runs, and computes them where it can.",
                field="--run/--live/--no-equations",
            )
        from manipula.studies.opened import open_study

        target = output if output is not None else Path(results[0]) / "study.html"
        check_targets(force, output=target)
        open_study(results[0]).report(target)
        typer.echo(f"Wrote {target}")
        return
    ending = ".html" if len(results) == 1 else ".compared.html"
    target = output if output is not None else Path(results[0]).with_suffix(ending)
    if number and not live:
        raise DescriptionError("Numbers can be moved in a live report only; add --live.", field="--number")
    check_targets(force, output=target)
    loaded = [load_result(path) for path in results]
    chosen = loaded if run is None else [chosen_run(r, run) for r in loaded]
    try:
        write_report(chosen, target, equations=equations, live=number or live)
    except DescriptionError as error:
        if error.field == "live":
            raise type(error)(error.problem, field="--number" if number else "--live") from None
        raise
    typer.echo(f"Wrote {target}")
