"""``manipula check SCENARIO``"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from manipula.analysis.feasibility import Feasibility
    from manipula.simulation.result import Result


def check(
    scenario: Annotated[
        Path,
        typer.Argument(metavar="SCENARIO", help="A scenario file, or a stored result (.nc .npz .csv .parquet .mcap)."),
    ],
    robot: Annotated[
        str | None, typer.Option(help="Another robot, whose limits take the place of those in the file.")
    ] = None,
    run: Annotated[int | None, typer.Option(help="Only this run of a batch, from 0.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Say whether the machine can do it: position, velocity, acceleration, jerk, torque and power against limits.

    Limits come from [limits] in the file, else from the robot; a stored result carries both. Of a batch the first run that breaks a limit
    is shown. Exit code 0 when everything is feasible and the numbers can be trusted, 1 when not, 2 for wrong input.
    """
    from manipula.cli.live import live

    with live(quiet=json) as state:
        state.phase("reading")
        result, verdict, batch, trusted = state.background(lambda: judged(scenario, robot, run))
    if json:
        from json import dumps

        told = {"status": result.status, "status_reason": result.reason, "batch": batch or None, **verdict.to_dict()}
        typer.echo(dumps(told, indent=2, ensure_ascii=False))
    else:
        _show(result, verdict, batch)
    if not (verdict.feasible and trusted):
        raise typer.Exit(1)


def judged(path: Path, robot_name: str | None, run_number: int | None = None) -> tuple[Result, Feasibility, str, bool]:
    """Run the scenario (or read the result) and hold its motion against the limits.

    Returns:
        The run that is judged, the verdict, a sentence about the other runs of a batch, and whether all that was asked about can be trusted.
    """
    from dataclasses import replace

    from manipula.analysis.feasibility import feasibility
    from manipula.errors import DescriptionError
    from manipula.formats.load import load
    from manipula.simulation.files.scenario_file import load_file
    from manipula.simulation.recorded import limits_of
    from manipula.simulation.run_file import run
    from manipula.simulation.stated_limits import stated_limits
    from manipula.simulation.stored.store import load_result

    own: Any = None
    if path.suffix.lower() == ".toml":
        described = load_file(path)
        own = described.limits
        result = run(described)
    else:
        result = load_result(path)
    robot = None if robot_name is None else load(robot_name)
    if robot is not None:
        if robot.n != result.arrays["q"].shape[-1]:
            raise DescriptionError(
                f"Robot '{robot.name}' has {robot.n} joints, the result {result.arrays['q'].shape[-1]}.", field="robot"
            )
        result = replace(result, meta={**result.meta, "limits": stated_limits(robot, own)})
    if not limits_of(result):
        raise DescriptionError(
            "No limits are stated: give the robot limits, or the file a table [limits].", file=str(path), field="limits"
        )
    batch, trusted = "", result.ok
    if result.arrays["q"].ndim == 3:
        if run_number is not None:
            trusted = True  # decided by that run alone
        else:
            runs = result.feasibility.runs
            failed = [k for k, kept in enumerate(runs) if kept is False]
            run_number = failed[0] if failed else 0
            batch = f"{len(failed)} of {len(runs)} runs break a limit; this is run {run_number}."
        if not 0 <= run_number < len(result.arrays["q"]):
            raise DescriptionError(f"Runs 0 to {len(result.arrays['q']) - 1} exist, found {run_number}.", field="run")
        result = result.run(run_number)
    try:
        return result, feasibility(result, robot=robot), batch, trusted and result.ok
    except DescriptionError as error:
        raise error.at(file=str(path)) from None


def _show(result: Result, verdict: Feasibility, batch: str = "") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from manipula.errors import printable

    console = Console(soft_wrap=True)
    if not result.ok:
        console.print(
            Text(f"The run itself ended as '{result.status}': {printable(result.reason, 500)}", style="bold red")
        )
    if batch:
        console.print(Text(batch))
    word, style = ("feasible", "bold green") if verdict.feasible else ("not feasible", "bold red")
    console.print(Text(word, style=style) + Text(f": {printable(verdict.reason, 500)}"))
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("joint", "quantity", "worst", "at [s]", "limit", "use"):
        table.add_column(title, justify="left" if title in ("joint", "quantity") else "right")
    rows = [(j.name, c) for j in verdict.joints for c in j.checks if c.limit is not None] + [
        ("tip", c) for c in verdict.tip
    ]
    for name, c in rows:
        limit = "{:.6g} … {:.6g}".format(*c.limit) if isinstance(c.limit, tuple) else f"{c.limit:.6g}"
        use = Text(f"{100 * c.use:.0f} %", style="" if c.ok else "bold red")
        table.add_row(printable(name, 40), c.quantity, f"{c.worst:.6g}", f"{c.time:.4g}", limit, use)
    console.print(table)
    for remark in verdict.remarks:
        console.print(Text(printable(remark, 500), style="dim"))
    if verdict.slow_down not in (1.0, float("inf")):
        console.print(Text(f"Stretching time by {verdict.slow_down:.4g} makes it feasible."))
    console.print(Text(f"work of the drives: {verdict.energy:.6g} J", style="dim"))
