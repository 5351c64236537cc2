"""``manipula check SCENARIO``"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manipula.cli.robot_options import RobotOptions, takes_robot

if TYPE_CHECKING:
    from manipula.analysis.feasibility_verdict import Feasibility
    from manipula.robot.robot import Robot
    from manipula.simulation.result import Result


@takes_robot
def check(
    scenario: Annotated[
        Path,
        typer.Argument(metavar="SCENARIO", help="A scenario file, or a stored result (.nc .npz .csv .parquet .mcap)."),
    ],
    robot: Annotated[
        str | None, typer.Option(help="Another robot, whose limits take the place of those in the file.")
    ] = None,
    run: Annotated[int | None, typer.Option(help="Only this run of a batch, from 0.")] = None,
    point: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POINT:LIMITS",
            help="Limits of a frame, elbow:velocity=0.5, or of a place on a link, link3@0.1,0,0:acceleration=2,jerk=50. May be repeated.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
    *,
    options: RobotOptions,
) -> None:
    """Say whether the machine can do it: position, velocity, acceleration, jerk, torque and power against limits.

    Limits come from [limits] in the file, else from the robot; a stored result carries both. Of a batch the first run that breaks a limit
    is shown. Exit code 0 when everything is feasible and the numbers can be trusted (the run finished, and its accuracy was verified), 1 when
    not, 2 for wrong input.
    """
    from manipula.cli.live import live
    from manipula.errors import DescriptionError

    for option in options.given if robot is None else ():
        raise DescriptionError(
            "This option chooses about the robot of --robot; that of the file is chosen there.", field=option
        )
    with live(quiet=json) as state:
        state.phase("reading")
        result, verdict, batch, trusted = state.background(
            lambda: judged(scenario, None if robot is None else options.load(robot, numbers=True), run, _points(point))
        )
    if json:
        from json import dumps

        told = {"status": result.status, "status_reason": result.reason, "batch": batch or None, **verdict.to_dict()}
        told["feasible"] = verdict.feasible and (result.ok or None)  # an answer that is not right proves nothing
        told["trusted"] = trusted
        typer.echo(dumps(told, indent=2, ensure_ascii=False))
    else:
        _show(result, verdict, batch)
    if not (verdict.feasible and trusted):
        raise typer.Exit(1)


def _points(given: list[str] | None) -> dict[Any, dict[str, float]] | None:
    """``link3@0.1,0,0:velocity=0.5,jerk=9`` → ``{("link3", (0.1, 0, 0)): {"velocity": 0.5, "jerk": 9.0}}``"""
    from manipula.errors import DescriptionError, printable

    out: dict[Any, dict[str, float]] = {}
    for text in given or ():
        try:
            where, limits = text.rsplit(":", 1)
            name, at, place = where.partition("@")
            key = (name, tuple(float(v) for v in place.split(","))) if at else name
            pairs = (pair.split("=") for pair in limits.split(","))
            out.setdefault(key, {}).update({quantity.strip(): float(size) for quantity, size in pairs})
        except ValueError:
            raise DescriptionError(
                f"Limits of a point are written elbow:velocity=0.5 or link3@0.1,0,0:jerk=9; found '{printable(text, 80)}'.",
                field="--point",
            ) from None
    return out or None


def judged(
    path: Path, robot: Robot | None, run_number: int | None = None, points: dict[Any, dict[str, float]] | None = None
) -> tuple[Result, Feasibility, str, bool]:
    """Run the scenario (or read the result) and hold its motion against the limits; ``points``: of other points than the tip.

    Returns:
        The run that is judged, the verdict, a sentence about the other runs of a batch, and whether all that was asked about can be trusted.
    """
    from dataclasses import replace

    from manipula.analysis.feasibility import feasibility
    from manipula.errors import DescriptionError
    from manipula.reports.source import chosen_run, verified
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
    if robot is not None:
        if robot.n != result.arrays["q"].shape[-1]:
            raise DescriptionError(
                f"Robot '{robot.name}' has {robot.n} joints, the result {result.arrays['q'].shape[-1]}.", field="robot"
            )
        known = (
            tuple(result.meta.get("watched", result.meta.get("limits") or ())) if result.arrays["q"].ndim == 2 else ()
        )
        result = replace(result, meta={**result.meta, "limits": stated_limits(robot, own), "watched": known})
    if not limits_of(result) and not points:
        raise DescriptionError(
            "No limits are stated: give the robot limits, or the file a table [limits].", file=str(path), field="limits"
        )
    batch, trusted = "", result.ok and verified(result)
    if run_number is not None:
        chosen_run(result, run_number)  # refuses a single run, and numbers that do not exist
    if result.arrays["q"].ndim == 3:
        if run_number is not None:
            trusted = True  # decided by that run alone
        else:
            runs = result.feasibility.runs
            failed = [k for k, kept in enumerate(runs) if kept is False]
            open_ = [k for k, kept in enumerate(runs) if kept is None]
            run_number = (failed or open_ or [0])[0]
            unknown = f", of {len(open_)} it is not known" if open_ else ""
            batch = f"{len(failed)} of {len(runs)} runs break a limit{unknown}; this is run {run_number}."
        result = result.run(run_number)
    try:
        return (
            result,
            feasibility(result, robot=robot, points=points),
            batch,
            trusted and result.ok and verified(result),
        )
    except DescriptionError as error:
        raise error.at(file=str(path)) from None


def _show(result: Result, verdict: Feasibility, batch: str = "") -> None:
    from manipula.cli.terminal import Terminal
    from manipula.reports.source import verified
    from manipula.simulation.verdicts.limits import UNTRUSTED

    out = Terminal()
    out.say((result.status, "bold green" if result.ok else "bold red"), f": {result.reason}")
    if batch:
        out.say(batch)
    if result.ok and not verified(result):
        out.say(
            ("not trusted", "bold red"),
            ": the accuracy of this run was not verified (verify = false); run it with verify = true.",
        )
    if verdict.feasible is False:
        out.say(("not feasible", "bold red"), f": {verdict.reason}")
    elif verdict.feasible and result.ok:
        out.say(("feasible", "bold green"), f": {verdict.reason}")
    else:
        out.say(("not known", "bold yellow"), f": {UNTRUSTED if verdict.feasible else verdict.reason}")
    rows, styles = [], {}
    checks = [(j.name, c) for j in (*verdict.joints, *verdict.points) for c in j.checks if c.limit is not None]
    for name, c in [*checks, *(("tip", c) for c in verdict.tip)]:
        limit = "{:.6g} … {:.6g}".format(*c.limit) if isinstance(c.limit, tuple) else f"{c.limit:.6g}"
        if not c.ok:
            styles[len(rows), 5] = "bold red"
        rows.append([name, c.quantity, f"{c.worst:.6g}", f"{c.time:.4g}", limit, f"{100 * c.use:.0f} %"])
    out.table(("joint", "quantity", "worst", "at [s]", "limit", "use"), rows, left=2, styles=styles)
    for remark in verdict.remarks:
        if remark not in verdict.reason:
            out.say((remark, "dim"))
    out.say((f"work of the drives: {verdict.energy:.6g} J", "dim"))
