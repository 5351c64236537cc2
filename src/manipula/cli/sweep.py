"""``manipula sweep``: every run of a study, into a folder that survives anything."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

INTERRUPTED = 130


def sweep(
    study: Annotated[Path, typer.Argument(help="The study, a TOML file.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder of the results; out/STUDY.")] = None,
    engine: Annotated[str, typer.Option(help="serial, pool, or tcp://HOST:PORT of a Dask scheduler.")] = "pool",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; one per core.")] = None,
    chunk: Annotated[int | None, typer.Option(min=1, help="Runs per part file; a few seconds of work.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a study that was begun in this folder.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how many runs, how long and how much disk; keep nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Make every run of a study.

    Exit code 0 when every run was made (whatever its status), 2 for wrong input, 130 when interrupted: what was made is kept, and
    --resume goes on from there.
    """
    from manipula.cli.live import terminated_like_interrupted
    from manipula.errors import DescriptionError
    from manipula.studies.files import load_study
    from manipula.studies.sweep import sweep as make

    folder = output or Path("out") / study.stem
    described = load_study(study)
    if dry_run:
        for option, given in (
            ("--output", output),
            ("--chunk", chunk),
            ("--resume", resume or None),
            ("--engine", engine != "pool" or None),
        ):
            if given is not None:
                told = "A dry run makes a pilot in this process and keeps nothing, so this would not act; leave it out."
                raise DescriptionError(told, field=option)
        return estimate(described, workers)
    try:
        with terminated_like_interrupted(), _progress(quiet) as told:
            found = make(described, folder, engine, workers, resume, chunk=chunk, progress=told)
    except KeyboardInterrupt:
        typer.echo(f"interrupted: what was made is kept; go on with --resume -o {folder}.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    show(found)


def estimate(study: Any, workers: int | None) -> None:
    """Print what the study would take."""
    from manipula.cli.terminal import Terminal
    from manipula.studies.dry_run import dry_run
    from manipula.studies.sweep import cores

    found = dry_run(study, workers or cores())
    out = Terminal()
    varied = ", ".join(found.alone)
    side = f"about {found.batch:.3g} runs of the pilot side by side" if found.batch > 1 else "every run by itself"
    why = f" (one loop for every value of {varied})" if varied else ""
    out.say((f"{found.runs} runs", "bold"), f", {side}{why}")
    out.say(
        f"time      {_time(found.total)} on {found.workers} cores ({found.seconds * 1e3:.3g} ms per run, {_time(found.compiling)} of compiling)"
    )
    out.say(f"disk      {_bytes(found.size)}")
    out.say("pilot     ", ", ".join(f"{n} {name}" for name, n in found.statuses.items()))


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000.0:
            return f"{size:.3g} {unit}"
        size /= 1000.0
    return f"{size:.3g} TB"


def show(found: Any) -> None:
    """How the runs ended, and where they are."""
    from manipula.cli.terminal import Terminal

    out = Terminal()
    statuses = found.statuses()
    total = sum(statuses.values())
    out.say((f"{total} of {found.runs} runs", "bold"), ": ", ", ".join(f"{n} {name}" for name, n in statuses.items()))
    out.say(f"table     {found.path}")


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Any], None]]:
    """A line with how far it is, the rate, the remaining time and the failures."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=30), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def told(state: Any) -> None:
            left = "" if state.remaining is None else f", {_time(state.remaining)} left"
            failed = f", {state.failed} not finished" if state.failed else ""
            text = f"{state.done} of {state.runs} runs, {state.rate:.3g}/s{left}{failed}"
            bar.update(task, total=state.runs, completed=state.done, description=text)

        yield told


def _time(seconds: float) -> str:
    """4 s, 3 min, 2.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
