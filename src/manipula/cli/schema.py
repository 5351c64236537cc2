"""``manipula schema robot|scenario``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manipula.cli.outputs import Force, check_targets


def schema(
    of: Annotated[str, typer.Argument(metavar="robot|scenario", help="Of which files.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file.")] = None,
    force: Force = False,
) -> None:
    """Print the JSON Schema with which editors complete and check TOML files."""
    from json import dumps

    from manipula.errors import unknown_name
    from manipula.formats.toml.schema import robot_schema
    from manipula.formats.whole_file import write_whole
    from manipula.simulation.files.schema import scenario_schema

    schemas = {"robot": robot_schema, "scenario": scenario_schema}
    if of not in schemas:
        raise unknown_name("schema", of, schemas)
    check_targets(force, output=output)
    text = dumps(schemas[of](), indent=1, ensure_ascii=False) + "\n"
    if output is None:
        typer.echo(text, nl=False)
        return
    write_whole(output, text)
    typer.echo(f"Wrote {output}.")
