"""Long work with a progress line, the elapsed time, and an end when the user asks for one."""

from __future__ import annotations

import contextlib
import contextvars
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from manipula.cli.terminal import is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")
INTERRUPTED = 130
PATIENCE = 0.05  # s between looks at the work
SOON = 0.3  # s of work before there is a line about it


class Live:
    """Which phase the work is in; ``background`` does work that an interruption need not wait for.

    Args:
        shown: makes the line about it, once the work turns out to be long.
    """

    def __init__(self, shown: Callable[[Live], object] | None = None) -> None:
        self.name = "starting"
        self._shown, self._soon = shown, monotonic() + SOON

    def phase(self, name: str) -> None:
        self.name = name

    def background(self, work: Callable[[], T]) -> T:
        """``work()`` in a thread of its own: Ctrl-C is heard even while machine code runs.

        The thread writes nothing and dies with the program. What must be cleaned up after an interruption (files) is done
        outside, in the main thread.
        """
        from manipula.simulation.progress import listening

        done: dict[str, Any] = {}

        def body() -> None:
            try:
                with listening(self.phase):
                    done["value"] = work()
            except BaseException as error:  # handed to the main thread
                done["error"] = error

        thread = threading.Thread(target=contextvars.copy_context().run, args=(body,), daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(PATIENCE)
            if self._shown is not None and monotonic() > self._soon:
                self._shown(self)
                self._shown = None
        if "error" in done:
            raise done["error"]
        return done["value"]


@contextlib.contextmanager
def live(quiet: bool = False) -> Iterator[Live]:
    """A progress line on standard error; Ctrl-C and SIGTERM end with exit code 130."""
    try:
        with terminated_like_interrupted(), contextlib.ExitStack() as lines:
            seen = not quiet and is_terminal(sys.stderr)
            yield Live((lambda state: lines.enter_context(_line(state))) if seen else None)
    except KeyboardInterrupt:
        typer.echo("interrupted: nothing was written.", err=True)
        raise typer.Exit(INTERRUPTED) from None


@contextlib.contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM raises KeyboardInterrupt, where handlers may be set."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _line(state: Live) -> Progress:
    """Phase, bar and time elapsed."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from manipula.simulation.progress import PHASES

    class Bar(Progress):
        def get_renderables(self) -> Any:
            for task in self.tasks:
                task.description = state.name
                task.completed = PHASES.index(state.name) if state.name in PHASES else 0
            yield from super().get_renderables()

    columns = (SpinnerColumn(), TextColumn("{task.description:<12}"), BarColumn(bar_width=24), TimeElapsedColumn())
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    bar.add_task("starting", total=len(PHASES))
    return bar
