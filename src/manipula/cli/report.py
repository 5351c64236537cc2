"""``manipula report RESULT -o report.html``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    result: Annotated[str, typer.Argument(metavar="RESULT", help="File of a result (.nc .npz .csv .parquet .mcap).")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The report; beside the result by default.")
    ] = None,
    run: Annotated[int | None, typer.Option(help="Only this run of a batch, from 0.")] = None,
    equations: Annotated[bool, typer.Option(help="Derive the equations of motion when they are short.")] = True,
) -> None:
    """Write one HTML file about a result: opens offline, can be mailed and printed."""
    from manipula.reports.report import write_report
    from manipula.reports.source import chosen_run
    from manipula.simulation.stored.store import load_result

    loaded = load_result(result)
    chosen = loaded if run is None else chosen_run(loaded, run)
    target = output if output is not None else Path(result).with_suffix(".html")
    write_report(chosen, target, equations=equations)
    typer.echo(f"Wrote {target}")
