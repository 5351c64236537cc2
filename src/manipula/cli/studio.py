"""``manipula studio``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def studio(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A scenario or a robot to begin with (.toml .urdf .xml .sdf .txt)."),
    ] = None,
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="Port on this machine; 0 takes 8423, or a free one where that is taken."),
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    studies: Annotated[Path, typer.Option(metavar="FOLDER", help="A study, or a folder with studies in it.")] = Path(
        "."
    ),
) -> None:
    """Open the studio: robots, tasks, control and runs in a page that only this machine can reach."""
    from manipula.studio.serving import serve

    serve(port, browser=browser, say=typer.echo, file=file, studies=studies)
