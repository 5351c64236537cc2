"""``manipula cluster``: a Dask scheduler and workers on this machine, for trying out."""

from __future__ import annotations

from typing import Annotated

import typer

from manipula.cli.explain import explained

HELP = "A Dask cluster on this machine, for trying out studies on one."
app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)


@app.command()
@explained
def start(
    workers: Annotated[int, typer.Option(min=1, max=256, help="Worker processes, one thread each.")] = 2,
    port: Annotated[int, typer.Option(min=1024, max=65535, help="Port of the scheduler on 127.0.0.1.")] = 8786,
) -> None:
    """Start a scheduler and workers, on 127.0.0.1 only and without a dashboard; Ctrl-C ends them."""
    import time

    from manipula.cli.live import terminated_like_interrupted
    from manipula.studies.local_cluster import local_cluster

    try:
        with terminated_like_interrupted(), local_cluster(workers, port) as cluster:
            typer.echo(
                f"scheduler {cluster.address}, {workers} workers; manipula sweep STUDY.toml --engine {cluster.address}"
            )
            while cluster.scheduler.poll() is None:
                time.sleep(0.2)
            typer.echo("the scheduler ended.", err=True)
            raise typer.Exit(1)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
