"""What the commands that read measurements share: options that name columns and units, and what they write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from manipula.cli.outputs import check_targets

Report = Annotated[Path | None, typer.Option(help="One page about it (.html).")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def robot_as(found: str) -> Any:
    """The option that names the file of the robot as it was ``found``."""
    return typer.Option("-o", "--output", help=f"The robot as {found} (.toml .urdf .xml).")


def pairs(given: list[str] | None, option: str) -> dict[str, Any]:
    """``SIGNAL=VALUE`` options; a value with commas is one per joint."""
    from manipula.errors import DescriptionError, printable

    found = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not name or not value:
            raise DescriptionError(f"{option} takes SIGNAL=VALUE, found '{printable(text)}'.", field=option)
        found[name] = value.split(",") if "," in value and "{" not in value else value
    return found


def measured(read: Any, file: str, model: Any, validate: str | None, columns: Any, units: Any) -> tuple[Any, Any]:
    """What a file holds, and what the answer is tried on: another file, the share of this one that ``validate`` is the number of, or None."""
    how = {"columns": pairs(columns, "--column"), "units": pairs(units, "--units")}
    found = read(file, model, **how)
    if validate is None:
        return found, None
    try:
        return found, float(validate)
    except ValueError:
        return found, read(validate, model, **how)


def check_places(output: Path | None, report: Path | None, force: bool) -> None:
    """Refuse files that could not be written, or would replace others, before anything is computed."""
    check_targets(force, output=output, report=report)
    if report is not None:
        from manipula.reports.page import html_path

        html_path(report)


def delivered(found: Any, output: Path | None, report: Path | None, json: bool) -> list[Any] | None:
    """Write robot and page and give their paths; None when all was reported as JSON."""
    from manipula.formats.load import save

    written = [] if output is None else [save(found.robot, output)]
    written += [] if report is None else [found.report(report)]
    if not json:
        return written
    from json import dumps

    typer.echo(dumps(found.to_dict(), indent=2, ensure_ascii=False))
    return None
