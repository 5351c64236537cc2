"""``manipula report RESULT … -o report.html``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULT …", help="File of a result (.nc .npz .csv .parquet .mcap); several are compared."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The report; beside the first result by default.")
    ] = None,
    run: Annotated[int | None, typer.Option(help="Only this run of a batch, from 0.")] = None,
    equations: Annotated[bool, typer.Option(help="Derive the equations of motion when they are short.")] = True,
) -> None:
    """Write one HTML file about a result, or about several over each other: opens offline, can be mailed and printed."""
    from manipula.reports.report import write_report
    from manipula.reports.source import chosen_run
    from manipula.simulation.stored.store import load_result

    loaded = [load_result(path) for path in results]
    chosen = loaded if run is None else [chosen_run(r, run) for r in loaded]
    ending = ".html" if len(chosen) == 1 else ".compared.html"
    target = output if output is not None else Path(results[0]).with_suffix(ending)
    write_report(chosen, target, equations=equations)
    typer.echo(f"Wrote {target}")
