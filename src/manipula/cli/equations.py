"""``manipula equations ROBOT``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from manipula.cli.outputs import Force, check_targets
from manipula.cli.robot_options import RobotOptions, Source, takes_robot


@takes_robot
def equations(
    robot: Source,
    level: Annotated[str, typer.Option(help="raw, compact, lumped, base or recursive.")] = "compact",
    format: Annotated[str, typer.Option(help="text, unicode, latex, html, matlab or json.")] = "text",
    only: Annotated[
        str | None,
        typer.Option(
            help="Parts, such as M,g: M C h g tau T V friction pose jacobian, of links poses rotations positions "
            "angular_velocities com com_velocities U pseudo_inertia energies, christoffel, or all."
        ),
    ] = None,
    symbolic_inertia: Annotated[
        bool, typer.Option("--symbolic-inertia", help="Ten symbols per link in place of its masses and inertias.")
    ] = False,
    given_angles: Annotated[
        bool,
        typer.Option(
            "--given-angles", help="Keep angles that are 1e-9 rad from a right angle as the file states them."
        ),
    ] = False,
    names: Annotated[
        str,
        typer.Option(
            help="What joint variables are called: numbered (q1, dq1), joints (th1, th1d), or file (columns 8 to 10 of a 13-column file)."
        ),
    ] = "numbered",
    digits: Annotated[
        str | None,
        typer.Option(
            help="Significant digits of decimals, or exact; 6 in latex and html, 15 in text, exact elsewhere."
        ),
    ] = None,
    standalone: Annotated[
        bool, typer.Option("--standalone", help="With --format latex: a whole document, for pdflatex.")
    ] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to a file.")] = None,
    force: Force = False,
    *,
    options: RobotOptions,
) -> None:
    """Write the equations of motion of a robot."""
    from rich.console import Console
    from rich.progress import Progress

    from manipula.formats.table import variable_names
    from manipula.formats.whole_file import write_whole
    from manipula.symbolic.equations import Equations
    from manipula.symbolic.render import render

    check_targets(force, output=output)
    model = options.load(robot)
    called = variable_names(robot) if names == "file" else names
    figures: Any = (
        int(digits) if digits is not None and digits.isascii() and digits.isdigit() and len(digits) < 9 else digits
    )
    with Progress(console=Console(stderr=True), transient=True) as bar:
        tasks = {}

        def tell(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=of)
            bar.update(tasks[what], completed=done)

        inertia = "symbolic" if symbolic_inertia else "given"
        angles = "given" if given_angles else "nearest"
        found = Equations(model, level, inertia=inertia, right_angles=angles, names=called, progress=tell)  # pyright: ignore[reportArgumentType]
        text = render(found, format, only, digits=figures, standalone=standalone)
    if output is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(f"{write_whole(output, text)}")
