"""``manipula identify LOG ROBOT``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manipula.cli.measurements import Json, Report, check_places, delivered, measured, robot_as
from manipula.cli.outputs import Force
from manipula.cli.robot_options import RobotOptions, Source, takes_robot


@takes_robot
def identify(
    log: Annotated[str, typer.Argument(metavar="LOG", help="Measurements (.csv .parquet .nc .npz): t, q1 …, tau1 …")],
    robot: Source,
    validate: Annotated[
        str | None,
        typer.Option(metavar="LOG|SHARE", help="Another log, or the share of this one that is kept, at its end."),
    ] = None,
    friction: Annotated[
        str, typer.Option(help="viscous, coulomb, stribeck, offset, armature, separated by commas; or auto, none.")
    ] = "auto",
    cutoff: Annotated[
        float | None,
        typer.Option(help="Of the zero-phase filter [Hz].", show_default="10 times the bandwidth of the motion"),
    ] = None,
    decimate: Annotated[
        int | None, typer.Option(help="Use one sample in this many.", show_default="those that are independent")
    ] = None,
    velocity: Annotated[str, typer.Option(help="measured, derived from the positions, or auto.")] = "auto",
    units: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIGNAL=UNIT",
            help="Units of t, q, qd, tau, for all joints or one per joint: q=deg, t=ms, q=deg,deg,mm; several times.",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIGNAL=PATTERN",
            help="Columns of a signal, {} is the joint's number: q=ang_{}, or one per joint: q=A,B; several times.",
        ),
    ] = None,
    output: Annotated[Path | None, robot_as("identified")] = None,
    report: Report = None,
    json: Json = False,
    force: Force = False,
    *,
    options: RobotOptions,
) -> None:
    """Find masses, inertias and friction of a robot from a log of its motion, with confidence intervals."""
    from manipula.analysis.identification.from_log import identify_log
    from manipula.analysis.identification.read_log import read_log

    model = options.load(robot, numbers=True)
    words = () if friction == "none" else tuple(w for w in friction.replace(",", " ").split() if w)
    check_places(output, report, force)
    data, other = measured(read_log, log, model, validate, column, units)
    found = identify_log(
        model, data, validate=other, extras="auto" if words == ("auto",) else words, cutoff=cutoff, decimate=decimate, velocity=velocity
    )  # fmt: skip
    written = delivered(found, output, report, json)
    if written is None:
        return
    from manipula.cli.terminal import Terminal

    out = Terminal()
    base = found.found.base
    out.say((f"{model.name}: {base.count} base parameters from {len(found.training.t)} samples", "bold"))
    out.say(f"{', '.join(found.extras) or 'links only'}; condition number {found.found.condition:.3g}; rms [N·m, N]:")
    out.table(found.heads(), found.rows())
    if found.extras:
        out.say(f"Beside the links, ± half of the {100 * found.found.confidence:g} % interval [SI]:")
        out.table(found.friction_heads(), found.friction_rows())
    out.say("Not excited, kept at the prior: ", ", ".join(found.not_excited) or "none")
    out.say("Hardly seen: ", ", ".join(found.weak) or "none")
    for note in found.notes:
        out.say((note, "dim"))
    if report is None:
        out.say(("All base parameters with their intervals: --report PAGE.html, or --json.", "dim"))
    for path in written:
        out.say(f"Wrote {path}")
