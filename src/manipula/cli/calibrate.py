"""``manipula calibrate POSES ROBOT``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manipula.cli.measurements import Json, Report, check_places, delivered, measured, robot_as
from manipula.cli.outputs import Force
from manipula.cli.robot_options import RobotOptions, Source, takes_robot


@takes_robot
def calibrate(
    poses: Annotated[
        str,
        typer.Argument(
            metavar="POSES", help="Measurements (.csv .parquet .nc .npz): q1 …, x, y, z, and qw qx qy qz if turned."
        ),
    ],
    robot: Source,
    what: Annotated[
        str, typer.Option(help="base, joints, tool or names of joints, separated by commas.")
    ] = "base,joints,tool",
    frame: Annotated[str, typer.Option(help="Frame that was measured.", show_default="the tip")] = "",
    validate: Annotated[
        str | None,
        typer.Option(metavar="POSES|SHARE", help="Other poses, or the share of these that is kept, at the end."),
    ] = None,
    position_noise: Annotated[
        float | None, typer.Option(help="Of the device [m].", show_default="from the residuals")
    ] = None,
    rotation_noise: Annotated[
        float | None, typer.Option(help="Of the device [rad].", show_default="from the residuals")
    ] = None,
    units: Annotated[
        list[str] | None, typer.Option(metavar="SIGNAL=UNIT", help="q=deg, position=mm, rotation=deg; several times.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="q=PATTERN", help="Columns of the joint positions, {} is the joint's number."),
    ] = None,
    output: Annotated[Path | None, robot_as("calibrated")] = None,
    report: Report = None,
    json: Json = False,
    force: Force = False,
    *,
    options: RobotOptions,
) -> None:
    """Find the errors of a robot's geometry from measured poses of its tip."""
    from manipula.analysis.identification.calibration import calibrate as found_by
    from manipula.analysis.identification.measured_poses import read_poses

    model = options.load(robot, numbers=True)
    check_places(output, report, force)
    data, other = measured(read_poses, poses, model, validate, column, units)
    words = tuple(w for w in what.replace(",", " ").split() if w)
    found = found_by(
        model, *data, what=words, frame=frame, position_noise=position_noise, rotation_noise=rotation_noise, validate=other
    )  # fmt: skip
    written = delivered(found, output, report, json)
    if written is None:
        return
    from manipula.cli.terminal import Terminal

    out = Terminal()
    out.say(
        (
            f"{model.name}: {len(found.names)} errors from {found.samples} poses, condition number {found.condition:.3g}",
            "bold",
        )
    )
    out.table(found.heads(), found.rows())
    out.say("")
    out.table(("error", "found", "deviation"), found.found())
    out.say("")
    for name, like in found.left_out:
        out.say((f"{name} cannot be distinguished from {', '.join(like) or 'anything: it moves nothing'}", "dim"))
    out.say("Hardly seen: ", ", ".join(found.weak) or "none")
    for path in written:
        out.say(f"Wrote {path}")
