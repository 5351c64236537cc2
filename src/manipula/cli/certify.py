"""``manipula certify ROBOT``"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manipula.cli.outputs import Force, check_targets
from manipula.cli.robot_options import RobotOptions, Source, takes_robot

if TYPE_CHECKING:
    from manipula.certificate.certificate import Certificate


@takes_robot
def certify(
    robot: Source,
    states: Annotated[int, typer.Option(help="Random states at which everything is compared.")] = 20,
    seed: Annotated[int, typer.Option(help="They are drawn from.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="One page to attach to a publication (.html).")
    ] = None,
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Print the certificate as JSON.")] = False,
    *,
    options: RobotOptions,
) -> None:
    """Say how far all routes to the equations of a robot differ: Lagrange, Newton–Euler, machine code, exported C and JavaScript,
    Pinocchio and MuJoCo where they are installed; and whether the laws of mechanics hold. Exit code 1 when something disagrees."""
    from manipula.certificate.certify import certify as examine
    from manipula.reports.page import html_path

    if output is not None:
        html_path(output)
    check_targets(force, output=output)
    found = examine(options.load(robot), states=states, seed=seed)
    if output is not None:
        found.report(output)
    if json:
        from json import dumps

        typer.echo(dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        _show(found, output)
    if not found.ok:
        raise typer.Exit(1)


def _show(found: Certificate, written: Path | None) -> None:
    from manipula.certificate.certificate import GROUPS
    from manipula.cli.terminal import Terminal

    out = Terminal()
    out.say((found.verdict(), "bold green" if found.ok else "bold red"))
    out.say((f"{found.kind}; SHA-256 {found.digest}", "dim"))
    for group, title in GROUPS.items():
        heads, lines = found.table(group)
        if not lines:
            continue
        out.say("")
        out.say((title, "bold"))
        styles = {
            (i, k): "bold red"
            for i, line in enumerate(lines)
            for k, cell in enumerate(line)
            if cell.endswith((" !", "fails"))
        }
        extra = [["tolerance", *found.tolerances()]] if group == "routes" else []
        out.table(heads, [*lines, *extra], styles=styles)
    out.say("")
    for line in (*found.remarks(), *found.method):
        out.say((line, "dim"))
    if written is not None:
        out.say(f"Wrote {written}")
