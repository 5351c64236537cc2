"""``manipula ik ROBOT --position x y z``"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from manipula.cli.robot_options import RobotOptions, Source, takes_robot

if TYPE_CHECKING:
    from manipula.ik.base import IkResult


@takes_robot
def ik(
    robot: Source,
    position: Annotated[
        tuple[float, float, float] | None, typer.Option(metavar="X Y Z", help="Where the tip goes [m].")
    ] = None,
    rpy: Annotated[
        tuple[float, float, float] | None,
        typer.Option(metavar="ROLL PITCH YAW", help="How the tip is turned [rad], with --position."),
    ] = None,
    pose: Annotated[
        str | None, typer.Option(help="16 numbers of a 4×4 pose, row by row, or 6: x y z roll pitch yaw.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every distinct solution.")] = False,
    q0: Annotated[
        str | None, typer.Option(help="Posture to start from, numbers separated by spaces or commas.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="auto, geometric (closed form), elimination, continuation, newton_raphson, pseudoinverse, ccd, optimisation … (docs/ik.md)."
        ),
    ] = "auto",
    prefer: Annotated[
        str | None,
        typer.Option(help="Of all solutions the one nearest to the 'middle' of the ranges, or 'nearest' to --q0."),
    ] = None,
    frame: Annotated[str, typer.Option(help="Frame that goes to the target.", show_default="the tip")] = "",
    limits: Annotated[bool, typer.Option("--limits/--no-limits", help="Keep joint limits.")] = True,
    tolerance: Annotated[float, typer.Option(help="[m] and [rad].")] = 1e-8,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    *,
    options: RobotOptions,
) -> None:
    """Find the joint positions that bring the tip to a target. Exit code 1 when there are none."""
    from manipula.ik.solve import solve_ik

    model = options.load(robot, numbers=True)
    target = _target(position, rpy, pose)
    start = None if q0 is None else _numbers(q0, "--q0")
    found = solve_ik(model, target, method, all_, start, limits, frame=frame, tolerance=tolerance, prefer=prefer)
    if json:
        from json import dumps

        typer.echo(dumps(_plain(found, model.joint_names), indent=2, ensure_ascii=False))
    else:
        _show(found, model)
    if found.status != "solved":
        raise typer.Exit(1)


def _numbers(text: str, option: str) -> list[float]:
    from manipula.errors import DescriptionError, printable

    try:
        return [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise DescriptionError(
            f"{option} must be numbers separated by spaces or commas, found '{printable(text)}'."
        ) from None


def _target(position: Any, rpy: Any, pose: str | None) -> Any:
    import numpy as np

    from manipula.algebra.rotation import from_rpy
    from manipula.errors import DescriptionError

    if (position is None) == (pose is None):
        raise DescriptionError("Give one target: --position X Y Z (with --rpy for its orientation), or --pose.")
    if rpy is not None and position is None:
        raise DescriptionError("--pose says how the tip is turned; --rpy goes with --position.", field="--rpy")
    if pose is None:
        if rpy is None:
            return list(position)
        values = [*position, *rpy]
    else:
        values = _numbers(pose, "--pose")
        if len(values) == 16:
            return np.array(values).reshape(4, 4)
        if len(values) != 6:
            raise DescriptionError(f"--pose takes 16 numbers, or 6 (x y z roll pitch yaw); found {len(values)}.")
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = np.asarray(from_rpy(*values[3:]), float), values[:3]
    return X


def _plain(found: IkResult, names: tuple[str, ...]) -> dict[str, Any]:
    import numpy as np

    residual = np.asarray(found.residual, float)
    return {
        "status": found.status, "reason": found.reason, "method": found.method, "iterations": int(found.iterations),
        "joints": list(names), "q": np.where(np.isfinite(found.q), found.q, 0.0).tolist() if found.q.size else [],
        "residual": residual.tolist(),
    }  # fmt: skip


def _show(found: IkResult, robot: Any) -> None:
    import numpy as np

    from manipula.cli.terminal import Terminal

    out = Terminal()
    out.say(
        (f"{robot.name}: {found.status}", "bold green" if found.status == "solved" else "bold red"),
        f": {found.reason}" if found.reason else "",
    )
    q = np.atleast_2d(found.q)
    if not q.size or not np.isfinite(q).all() or (found.status != "solved" and not found.iterations):
        return  # nothing was searched: the posture is only where a search would start
    errors = [f"{residual:.1e}" for residual in np.atleast_1d(found.residual)]
    postures = [[f"{x:.5f}" for x in row] for row in q]
    if found.status != "solved":
        out.say("The nearest posture found:")
    if len(postures) == 1:
        out.table((*robot.joint_names, "error"), [[*postures[0], errors[0]]], left=0)
    else:
        heads = ["solution", *robot.joint_names, "error"]
        columns = [[str(k + 1), *row, error] for k, (row, error) in enumerate(zip(postures, errors))]
        for first, block in enumerate(_blocks(columns, out.width - max(map(len, heads)))):
            if first:
                out.say("")
            lines = [list(line) for line in zip(heads, *block)]
            out.table(lines[0], lines[1:])
    out.say((f"{found.method}, {int(found.iterations)} iterations; rad and m", "dim"))


def _blocks(columns: list[list[str]], room: int) -> list[list[list[str]]]:
    """Columns side by side, as many as fit into ``room`` letters, at least one."""
    from manipula.cli.terminal import GAP

    blocks: list[list[list[str]]] = []
    left = 0
    for column in columns:
        width = len(GAP) + max(map(len, column))
        if not blocks or width > left:
            blocks.append([])
            left = room
        blocks[-1].append(column)
        left -= width
    return blocks
