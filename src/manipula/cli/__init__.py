"""The command line: ``manipula doctor``, ``convert``, ``catalog`` … One file a command; each imports what it needs when it runs."""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``manipula`` command; signs that the terminal cannot show become question marks."""
    import sys

    from manipula.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # pyright: ignore[reportAttributeAccessIssue]

    app(prog_name="manipula")


__all__ = ["main"]
