"""``manipula export ROBOT --language c -o DIR``, ``manipula export SCENARIO.toml --language javascript -o DIR``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manipula.cli.outputs import Force
from manipula.cli.robot_options import RobotOptions, Source, takes_robot


@takes_robot
def export(
    source: Source,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Folder for the files, made when needed.", show_default="out/NAME-LANGUAGE"
        ),
    ] = None,
    language: Annotated[
        str, typer.Option("--language", "-l", help="c, python, matlab, julia, rust or javascript.")
    ] = "c",
    functions: Annotated[
        str | None, typer.Option(help="Comma-separated names, or 'all'; 'list' shows them and writes nothing.")
    ] = None,
    parameters: Annotated[
        str, typer.Option(help="baked: numbers in the code. struct: an argument of every function.")
    ] = "baked",
    prefix: Annotated[str | None, typer.Option(help="Start of file names; the robot's name by default.")] = None,
    frame: Annotated[str, typer.Option(help="Frame of pose, position and Jacobian.", show_default="the tip")] = "",
    force: Force = False,
    *,
    options: RobotOptions,
) -> None:
    """Write functions of a robot as source code, with a test that compares stored numbers; or a whole scenario file as JavaScript that computes its run."""
    from manipula.codegen import NAMES
    from manipula.codegen import export as write
    from manipula.errors import DescriptionError

    if functions == "list":
        given = {"output": output, "prefix": prefix, "frame": frame, "force": force}
        for option in [*(f"--{name}" for name, value in given.items() if value), *options.given]:
            raise DescriptionError("This option does nothing here: 'list' writes nothing.", field=option)
        typer.echo("\n".join(NAMES))
        return
    output = output or Path("out") / f"{Path(source).stem}-{language}"
    if _is_scenario(source):
        from manipula.simulation.files.scenario_file import load_file

        for option in options.given:
            raise DescriptionError(
                "A scenario file says which robot it moves; this option is for robots.", field=option
            )
        if functions is not None:
            raise DescriptionError("Functions are chosen of a robot; a scenario is written whole.", field="--functions")
        given = (load_file(source), language, output, None, parameters, prefix)
        for path in write(*given, **({"frame": frame} if frame else {}), force=force):  # pyright: ignore[reportArgumentType]
            typer.echo(f"Wrote {path}")
        return
    robot = options.load(source)
    wanted = None if functions is None else [name.strip() for name in functions.split(",") if name.strip()]
    if wanted == ["all"]:
        friction = any(j.friction is not None for j in robot.joints)
        wanted = [name for name in NAMES if friction or name != "friction"]
    paths = write(robot, language, output, wanted, parameters, prefix, frame=frame, force=force)  # pyright: ignore[reportArgumentType]
    for path in paths:
        typer.echo(f"Wrote {path}")


def _is_scenario(source: str) -> bool:
    """Is this the file of a scenario? A file that cannot be read is left to the reader of robots, which says why."""
    if not source.lower().endswith(".toml"):
        return False
    import tomllib

    from manipula.errors import ManipulaError
    from manipula.formats.guard import read_text

    try:
        found = tomllib.loads(read_text(source))
    except (ManipulaError, ValueError, RecursionError):
        return False
    return "robot" in found and not any(key in found for key in ("link", "dh", "planar"))
