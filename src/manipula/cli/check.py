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
        Path, typer.Argument(metavar="SCENARIO", help="A scenario file, or a stored result (.nc .npz .csv .parquet).")
    ],
    robot: Annotated[str | None, typer.Option(help="Robot of a stored result, and of its limits.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Say whether the machine can do it: position, velocity, acceleration, jerk, torque and power against limits.

    Limits come from [limits] in the file, else from the robot. Exit code 0 when feasible, 1 when not, 2 for wrong input.
    """
    from manipula.cli.live import live

    with live(quiet=json) as state:
        state.phase("reading")
        result, verdict = state.background(lambda: judged(scenario, robot))
    if json:
        from json import dumps

        told = {"status": result.status, "status_reason": result.reason, **verdict.to_dict()}
        typer.echo(dumps(told, indent=2, ensure_ascii=False))
    else:
        _show(result, verdict)
    if not (verdict.feasible and result.ok):
        raise typer.Exit(1)


def judged(path: Path, robot_name: str | None) -> tuple[Result, Feasibility]:
    """Run the scenario (or read the result) and hold its motion against the limits."""
    from manipula.analysis.feasibility import feasibility
    from manipula.errors import DescriptionError
    from manipula.formats.load import load
    from manipula.simulation.scenario_file import load_file, run
    from manipula.simulation.store import load_result

    robot = None if robot_name is None else load(robot_name)
    stated: dict[str, Any] = {}
    if path.suffix.lower() == ".toml":
        described = load_file(path)
        robot = robot or described.robot
        stated = dict(described.limits or {})
        result = run(described)
    else:
        result = load_result(path)
    if result.arrays["q"].ndim != 2:
        raise DescriptionError("Feasibility judges one run; this is a batch.", file=str(path))
    tip = stated.pop("tip", None)
    limits = merged(robot, stated)
    if not limits and not tip:
        raise DescriptionError(
            "No limits are stated: give the robot limits, or the file a table [limits].", file=str(path), field="limits"
        )
    try:
        return result, feasibility(result, limits, robot=robot, tip=tip)
    except DescriptionError as error:
        raise error.at(file=str(path)) from None


def merged(robot: Any, stated: dict[str, Any]) -> dict[str, Any]:
    """The robot's own limits with those of the file in their place; quantities that nobody limits are left out."""
    import math

    out: dict[str, Any] = {}
    if robot is not None and not robot.parameters:
        pairs = [tuple(float(v) for v in p) for p in robot.position_limits]
        if any(math.isfinite(v) for p in pairs for v in p):
            out["position"] = pairs
        for quantity, field in (("velocity",) * 2, ("acceleration",) * 2, ("jerk",) * 2, ("torque", "effort")):
            sizes = [getattr(j.limits, field) for j in robot.joints]
            if any(v is not None for v in sizes):
                out[quantity] = [math.inf if v is None else float(v) for v in sizes]
    return out | stated


def _show(result: Result, verdict: Feasibility) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from manipula.errors import printable

    console = Console(soft_wrap=True)
    if not result.ok:
        console.print(
            Text(f"The run itself ended as '{result.status}': {printable(result.reason, 500)}", style="bold red")
        )
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
    if verdict.slow_down not in (1.0, float("inf")):
        console.print(Text(f"Stretching time by {verdict.slow_down:.4g} makes it feasible."))
    console.print(Text(f"work of the drives: {verdict.energy:.6g} J", style="dim"))
