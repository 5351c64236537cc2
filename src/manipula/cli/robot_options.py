"""The options of every command that loads a robot: which frame is the tip, which joints stand still or are left out."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from manipula.robot.robot import Robot

Source = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT", help="A file (.toml .urdf .xml .sdf .txt), a name of the catalog, or robot_descriptions:NAME."
    ),
]


@dataclass(frozen=True)
class RobotOptions:
    """What the command line says about the robot beside its name."""

    tip: Annotated[str | None, typer.Option(metavar="FRAME", help="Frame that is the tip.")] = None
    lock: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT=VALUE", help="Hold a joint at a position [rad or m]; can be given several times."),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Leave out a joint or link with everything beyond it; several times."),
    ] = None
    chain: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="BASE TIP", help="Only the joints between two links; other branches are left out."),
    ] = None
    symbolic: Annotated[
        bool, typer.Option("--symbolic", help="Keep the letters of [parameters] instead of their values.")
    ] = False
    xacro: Annotated[
        bool, typer.Option("--xacro", help="Expand a .xacro file. It holds Python expressions: only files you trust.")
    ] = False
    xacro_arg: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An argument of the xacro file; several times.")
    ] = None
    packages: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="Where packages of xacro and meshes lie, or a folder above an MJCF file that you trust; several times.",
        ),
    ] = None

    def load(self, source: str, *, numbers: bool = False) -> Robot:
        """The robot that is asked for; ``numbers``: the command computes with its numbers, and letters would be given them again."""
        from manipula.errors import DescriptionError
        from manipula.formats.load import load

        if numbers and self.symbolic:
            raise DescriptionError("This option does nothing here: the command needs numbers.", field="--symbolic")
        return load(source, self.tip, **self.words())

    def words(self) -> dict[str, Any]:
        """What is given, beside the tip, as ``load`` takes it."""
        from manipula.cli.library import settings
        from manipula.errors import DescriptionError

        given: dict[str, Any] = {}
        if self.lock:
            given["lock"] = settings(self.lock, "--lock")
        if self.drop:
            given["drop"] = self.drop
        if self.chain:
            given["chain"] = self.chain
        if self.symbolic:
            given["symbolic"] = True
        if self.xacro_arg and not self.xacro:
            raise DescriptionError("Arguments of a xacro file go with --xacro.", field="--xacro-arg")
        if self.xacro:
            pairs = [text.partition("=")[::2] for text in self.xacro_arg or ()]
            given["xacro"] = {name.removesuffix(":"): value for name, value in pairs} or True
        if self.packages:
            given["package_dirs"] = self.packages
        return given

    @property
    def given(self) -> list[str]:
        """The options that are given, as they are written."""
        return [f"--{name.replace('_', '-')}" for name, value in vars(self).items() if value]


def takes_robot(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with all these options; it gets them as its argument ``options``."""
    hints = get_type_hints(RobotOptions, include_extras=True)
    own = inspect.signature(command, eval_str=True)
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(RobotOptions, name), annotation=hint)
        for name, hint in hints.items()
    ]
    kept = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own.parameters.values() if p.name != "options"]

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        options = RobotOptions(**{name: given.pop(name) for name in hints})
        return command(**given, options=options)

    wrapped.__signature__ = own.replace(parameters=[*kept, *shared])  # pyright: ignore[reportAttributeAccessIssue]
    wrapped.__annotations__ = {p.name: p.annotation for p in (*kept, *shared)}
    return wrapped
