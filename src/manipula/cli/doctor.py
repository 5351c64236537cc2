"""``manipula doctor ROBOT`` and ``manipula doctor FOLDER``"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from manipula.cli.robot_options import RobotOptions, Source, takes_robot

if TYPE_CHECKING:
    from manipula.robot.doctor import Diagnosis
    from manipula.robot.robot import Robot

COLOURS = {"error": "bold red", "warning": "yellow", "info": "cyan"}


@takes_robot
def doctor(
    robot: Source,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="What published robots often break is an error too.")
    ] = False,
    *,
    options: RobotOptions,
) -> None:
    """Say whether a robot model is physical and what it means; of a folder, which of its files are robots, as a table.

    Exit code 1 when there are errors, or when a file of the folder is refused.
    """
    import os

    if os.path.isdir(robot):
        from manipula.cli.doctor_folder import doctor_folder

        ok = doctor_folder(robot, json, strict, options)
    else:
        from manipula.robot.doctor import doctor as examine

        model = options.load(robot)
        diagnosis = examine(model, strict=strict)
        ok = diagnosis.ok
        if json:
            from json import dumps

            told = {
                **diagnosis.to_dict(),
                "joints": model.n,
                "tip": model.tip,
                "tip_open": _open(model),
                "notes": list(model.notes),
            }
            typer.echo(dumps(told, indent=2, ensure_ascii=False))
        else:
            _show(diagnosis, model)
    if not ok:
        raise typer.Exit(1)


def _open(model: Robot) -> str:
    """Which frames could be the tip of a robot that has none, and how to choose; else nothing."""
    from manipula.cli.terminal import in_commands
    from manipula.errors import DescriptionError

    try:
        _ = model.tip_frame
    except DescriptionError as error:
        return in_commands(str(error))
    return ""


def _show(diagnosis: Diagnosis, model: Robot) -> None:
    from manipula.cli.terminal import Terminal, in_commands

    out = Terminal()
    tip = model.tip or "not named"
    out.say(
        (f"{diagnosis.robot}: {model.n} joint{'s' * (model.n != 1)}, {len(model.frames)} frames, tip {tip}", "bold")
    )
    if model.n and model.tip is None:
        out.say((_open(model), "yellow"))
    if model.notes:
        out.say("How the description was read:")
        for note in model.notes:
            out.say((f"  {note}", "dim"))
    rows = [[f.severity, f.place, in_commands(f"{f.sentence} {f.advice}".strip())] for f in diagnosis.findings]
    styles = {(i, 0): COLOURS[f.severity] for i, f in enumerate(diagnosis.findings)}
    out.table(("", "", ""), rows, left=2, sentences=True, styles=styles)
    out.say((diagnosis.verdict(), "bold"))
