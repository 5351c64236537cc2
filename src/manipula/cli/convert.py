"""``manipula convert IN [OUT]``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manipula.cli.outputs import Force, check_targets
from manipula.cli.robot_options import RobotOptions, Source, takes_robot

OUT = Path("out")


@takes_robot
def convert(
    source: Source,
    target: Annotated[
        Path | None,
        typer.Argument(
            metavar="OUT", help="The file to write; its suffix says the format.", show_default="out/NAME.toml"
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The same as OUT.", show_default=False)] = None,
    dh: Annotated[
        str | None, typer.Option(metavar="CONVENTION", help="Write a TOML file in DH form: standard or modified.")
    ] = None,
    force: Force = False,
    *,
    options: RobotOptions,
) -> None:
    """Convert a robot description from one format to another; OUT appears whole or not at all."""
    from manipula.errors import DescriptionError
    from manipula.formats.load import to_text
    from manipula.formats.whole_file import write_whole

    if target is not None and output is not None:
        raise DescriptionError("The file to write is named twice, by OUT and by this option.", field="--output")
    target = target or output or OUT / f"{Path(source).stem}.toml"
    check_targets(force, OUT=target)
    suffix = target.suffix.lower()
    if dh is not None and suffix != ".toml":
        raise DescriptionError(f"Only TOML holds a DH table as such; '{suffix}' has its own form.", field="--dh")
    robot = options.load(source)
    if dh is None:
        text = to_text(robot, suffix, target.parent)
    else:
        from manipula.formats.dh import to_dh
        from manipula.formats.toml import dh_to_toml

        table = to_dh(robot, dh)  # pyright: ignore[reportArgumentType]
        text = dh_to_toml(table)
    if target.parent == OUT:
        OUT.mkdir(exist_ok=True)
    write_whole(target, text)
    typer.echo(f"Wrote {target} ({robot.n} joints).")
