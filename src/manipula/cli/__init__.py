"""The command line: ``manipula doctor``, ``convert``, ``catalog`` … One file a command; each imports what it needs when it runs."""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``manipula`` command."""
    from manipula.cli.app import app

    app(prog_name="manipula")


__all__ = ["main"]
