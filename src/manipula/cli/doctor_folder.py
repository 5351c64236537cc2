"""A whole folder before the doctor: which files are robots, which are refused, and why."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import typer

from manipula.cli.robot_options import RobotOptions

COLOURS = {"refused": "bold red", "errors": "bold red", "warnings": "yellow", "ok": "green"}
MOST_FILES = 10_000
BEGINNING = 65536  # bytes that are looked at to see what a file is
LOOKS = {  # what a robot's file of that suffix has near its beginning; other programs use the suffixes too
    ".xml": re.compile(rb"<mujoco[\s>]|<sdf[\s>]|<robot[\s>](?s:.*)<link[\s>]"),
    ".toml": re.compile(rb"(?m)^\s*\[+\s*(dh|planar|link|dh\.rows)\s*\]"),
    ".txt": re.compile(rb"(?m)^[^%\n]*,[^%\n]*\[[^\]\n]*\][^\n]*,[^\n]*\["),
}


def doctor_folder(folder: str, json: bool, strict: bool, options: RobotOptions) -> bool:
    """Examine every robot file in and below a folder and print the table; is all well?

    Raises:
        DescriptionError: there is none, an option that is meant for one robot, or more files than anybody would read about.
    """
    from manipula.errors import DescriptionError

    for option in options.given:
        if option not in ("--xacro", "--xacro-arg", "--packages"):
            raise DescriptionError("This option is for one robot; a folder has many.", field=option)
    rows = [_examined(path, folder, strict, options) for path in robot_files(folder)]
    if not rows:
        raise DescriptionError("There is no robot file in this folder (.toml .urdf .xml .sdf .txt).", file=folder)
    counts = Counter(row["verdict"] for row in rows)
    if json:
        from json import dumps

        typer.echo(dumps({"folder": folder, "counts": dict(counts), "files": rows}, indent=2, ensure_ascii=False))
    else:
        _show(rows, counts)
    return not counts["refused"] and not counts["errors"]


def robot_files(folder: str) -> Iterator[str]:
    """Paths of what looks like a robot, sorted; links to folders are not followed."""
    from manipula.errors import BudgetError

    found = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            if _looks_like_a_robot(path):
                found += 1
                if found > MOST_FILES:
                    raise BudgetError(
                        f"More than {MOST_FILES} robot files; choose a folder below this one.", file=folder
                    )
                yield path


def _looks_like_a_robot(path: str) -> bool:
    suffix = os.path.splitext(path)[1].lower()
    if suffix in (".urdf", ".sdf", ".xacro"):
        return True
    if suffix not in LOOKS or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as stream:
            return LOOKS[suffix].search(stream.read(BEGINNING)) is not None
    except OSError:
        return False


def _examined(path: str, folder: str, strict: bool, options: RobotOptions) -> dict[str, Any]:
    from manipula.errors import ManipulaError
    from manipula.robot.doctor import doctor as examine

    shown = os.path.relpath(path, folder)
    try:
        model = (options if path.lower().endswith(".xacro") else RobotOptions()).load(path)
        diagnosis = examine(model, strict=strict)
    except ManipulaError as error:
        reason = str(error).replace(path, "", 1).lstrip(":, ")
        return {"file": shown, "joints": None, "tip": None, "verdict": "refused", "reason": reason, "notes": []}
    verdict = "errors" if diagnosis.errors else "warnings" if diagnosis.warnings else "ok"
    first = next((f.sentence for f in diagnosis.findings if f.severity in ("error", "warning")), "")
    return {
        "file": shown,
        "joints": model.n,
        "tip": model.tip,
        "verdict": verdict,
        "reason": first,
        "notes": list(model.notes),
    }


def _show(rows: list[dict[str, Any]], counts: Counter[str]) -> None:
    from manipula.cli.terminal import Terminal, in_commands

    out = Terminal()
    cells = [
        [row["file"], "" if row["joints"] is None else str(row["joints"]), row["verdict"], in_commands(row["reason"])]
        for row in rows
    ]
    styles = {(i, 2): COLOURS[row["verdict"]] for i, row in enumerate(rows)}
    out.table(("file", "joints", "verdict", "first reason"), cells, left=1, sentences=True, styles=styles)
    told = ", ".join(f"{counts[word]} {word}" for word in COLOURS if counts[word])
    out.say((f"{len(rows)} files: {told}.", "bold"))
