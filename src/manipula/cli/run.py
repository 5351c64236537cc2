"""``manipula run SCENARIO [-o DIR]``"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manipula.cli.outputs import Force, check_free

if TYPE_CHECKING:
    from manipula.simulation.result import Result


def run(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file (.toml) of any kind.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the results, made when needed.", show_default="out/SCENARIO"),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Write result.csv as well.")] = False,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    force: Force = False,
    threads: Annotated[int | None, typer.Option(help="Threads that share a batch; all processors by default.")] = None,
) -> None:
    """Run a scenario and write result.nc, scenario.toml and report.html.

    A limit of the robot or of the file that the motion breaks is reported first. Exit code 0 when the run finished (trusted, unless verify = false),
    1 when it ended otherwise, 2 for wrong input, 130 when interrupted (then nothing is written); manipula check says by its exit code whether
    the machine can do it. A report that cannot be made is left out and said so: the numbers are written all the same.
    """
    from manipula.errors import DescriptionError
    from manipula.simulation.files.scenario_file import load_file
    from manipula.simulation.run_file import run as simulate

    names = ["result.nc", "scenario.toml", *(["result.csv"] if csv else []), *(["report.html"] if report else [])]
    output = output or Path("out") / scenario.stem
    check_free(output, names, force)

    def load() -> Any:
        described = load_file(scenario)
        if threads is not None and not getattr(described, "is_batch", False):
            raise DescriptionError("Threads share the runs of a batch; this is a single run.", field="--threads")
        return described

    execute(load, lambda s: simulate(s, threads), output, csv=csv, report=report, json=json)


def execute(load: Any, simulate: Any, output: Path, *, csv: bool, report: bool, json: bool) -> None:
    """Read, run, write and tell; shared by every command that runs something."""
    from time import perf_counter

    from manipula.cli.live import live
    from manipula.cli.outputs import write_all

    begin = perf_counter()

    with live(quiet=json) as state:
        state.phase("reading")
        described = load()
        result: Result = state.background(lambda: simulate(described))
        state.phase("writing")
        files, left_out = write_all(output, result, described, csv=csv, report=report)
    seconds = perf_counter() - begin
    if json:
        from json import dumps

        typer.echo(dumps(outcome(result, files, seconds, left_out), indent=2, ensure_ascii=False))
    else:
        show(result, files, seconds, left_out)
    if not result.ok:
        raise typer.Exit(1)


def outcome(result: Result, files: dict[str, Path], seconds: float, left_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """What happened, as plain values for JSON."""
    import math

    known = {name: result.meta.get(name) for name in ("name", "kind", "robot", "integrator", "step", "duration")}
    estimate = result.error_estimate
    verdict = result.feasibility
    return {
        "status": result.status, "reason": result.reason, "statuses": list(result.statuses), "notes": list(result.notes),
        "feasible": verdict.feasible, "feasibility": verdict.reason, "broken_limits": [c.sentence() for c in verdict.broken],
        "feasibility_remarks": list(verdict.remarks), **known,
        "error_estimate": estimate if math.isfinite(estimate) else None, "reached": result.reached, "samples": len(result.t), "signals": list(result.signals),
        "files": {name: str(path) for name, path in files.items()}, "left_out": list(left_out), "seconds": round(seconds, 3),
    }  # fmt: skip


def show(result: Result, files: dict[str, Path], seconds: float, left_out: tuple[str, ...] = ()) -> None:
    """Print the status of a run, its limits and the files that were written."""
    from manipula.cli.terminal import Terminal

    out = Terminal()
    verdict = result.feasibility
    if verdict.feasible is False:
        out.say(("not feasible", "bold yellow"), f": {verdict.reason}")
    out.say((result.status, "bold green" if result.ok else "bold red"), f": {result.reason} ({seconds:.1f} s)")
    if verdict.feasible is None and verdict.unchecked:
        out.say(("feasible or not is not known", "bold yellow"), f": {verdict.reason}")
    elif verdict.feasible is None:
        out.say((verdict.reason, "dim"))
    elif verdict.feasible and result.ok:
        out.say(("feasible", "bold green"), f": {verdict.reason}")
    for note in (*(r for r in verdict.remarks if r not in verdict.reason), *result.notes):
        out.say((note, "dim"))
    for said in left_out:
        out.say((said, "yellow"))
    for name, path in files.items():
        out.say(f"{name:<9} {path}")
