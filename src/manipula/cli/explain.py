"""Mistakes of users end in one clear message and exit code 2, never in a traceback."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import typer

from manipula.cli.terminal import in_commands
from manipula.errors import ManipulaError, printable

MISTAKE = 2  # exit code for wrong input; 1 is kept for "the answer is no"


def explained(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with ManipulaError and system errors turned into messages, in the words of the place where the robot is named."""
    known = inspect.signature(command).parameters
    in_file = "scenario" in known or "lock" not in known

    @functools.wraps(command)
    def wrapped(*args: Any, **options: Any) -> Any:
        try:
            return command(*args, **options)
        except ManipulaError as error:
            fail(str(error), in_file)
        except BrokenPipeError:  # whoever reads what is printed has read enough
            raise
        except OSError as error:
            name = printable(error.filename) if error.filename else "file"
            fail(f"{name}: {error.strerror or error}.")

    return wrapped


def fail(message: str, in_file: bool = False) -> None:
    """Print the message to standard error and leave with exit code 2."""
    typer.echo(f"error: {in_commands(message, in_file=in_file)}", err=True)
    raise typer.Exit(MISTAKE)
