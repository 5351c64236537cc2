"""``manipula bench``"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manipula.cli.outputs import Force, check_targets

if TYPE_CHECKING:
    from rich.status import Status

    from manipula.cli.terminal import Terminal


def bench(
    felt: Annotated[
        bool, typer.Option("--felt", help="Whole calls, new processes and commands instead of single functions.")
    ] = False,
    robots: Annotated[
        str | None, typer.Option("--robots", help="Catalog names, separated by commas.", show_default="panda")
    ] = None,
    peers: Annotated[bool, typer.Option(help="Time other libraries too, where they are installed.")] = True,
    planar: Annotated[
        bool | None,
        typer.Option(help="Also the planar family: cost against n, Table 1 of the n-R paper.", show_default="planar"),
    ] = None,
    largest: Annotated[int | None, typer.Option(help="Largest n of the planar family.", show_default="1000")] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write everything as JSON to this file.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write the tables as Markdown to this file.")
    ] = None,
    force: Force = False,
) -> None:
    """Time the compiled functions beside other libraries in one run, and print the ratios."""
    from manipula.cli.terminal import Terminal
    from manipula.errors import DescriptionError

    check_targets(force, json=json, markdown=markdown)
    if felt:
        for option, given in (("--robots", robots), ("--planar", planar), ("--largest", largest)):
            if given is not None:
                raise DescriptionError("The rows of --felt are given; this option changes none of them.", field=option)
        _felt(Terminal(), peers, json, markdown)
        return
    planar = planar is not False
    if largest is not None and not planar:
        raise DescriptionError(
            "The largest n belongs to the planar family, which --no-planar leaves out.", field="--largest"
        )
    _functions(Terminal(), "panda" if robots is None else robots, peers, planar, largest, json, markdown)


def _felt(out: Terminal, peers: bool, json: Path | None, markdown: Path | None) -> None:
    from manipula.bench.felt import table

    with _status() as status:
        found = table.measure(peers, status.update)
    colours = {True: "green", False: "red"}
    styles = {(i, 4): colours[row.holds] for i, row in enumerate(found["rows"]) if row.holds is not None}
    out.table(table.HEAD, [list(row.cells()) for row in found["rows"]], styles=styles)
    _finish(out, found["missing"], json, table.plain(found), markdown, table.markdown(found))


def _functions(
    out: Terminal, robots: str, peers: bool, planar: bool, largest: int | None, json: Path | None, markdown: Path | None
) -> None:
    from manipula.bench import ours, planar_family, tables

    names = tuple(name.strip() for name in robots.split(",") if name.strip())
    with _status() as status:
        found = tables.measure(names, peers, lambda text: status.update(text))
        status.update("first compile and cache")
        found["compile"] = {name: ours.first_and_cached(name) for name in names}
        if planar:
            status.update("planar family")
            found["table_1"] = planar_family.table_1()
            sizes = tuple(n for n in (2, 5, 10, 20, 50, 100, 200, 500, 1000) if n <= (largest or 1000))
            found["growth"] = planar_family.growth(sizes)
    for name in names:
        out.say((f"{name}: ratios in this run", "bold"))
        rows, styles = [], {}
        for label, mine, theirs, ratio, goal in tables.ratios(found, name):
            styles[len(rows), 3] = "green" if ratio >= goal else "red"
            rows.append([label, f"{mine:.1f}", f"{theirs:.0f}", f"{ratio:.1f}×", f"{goal:.0f}×"])
        out.table(("function", "ours [ns]", "theirs [ns]", "ratio", "must hold"), rows, styles=styles)
        c = found["compile"][name]
        out.say(
            f"first inverse dynamics in a fresh process: {1e3 * c['first_inverse_dynamics']:.0f} ms; from the cache: "
            f"{1e3 * c['cached_inverse_dynamics']:.1f} ms"
        )
    if planar:
        for row in found["table_1"]:
            out.say(
                f"planar {row['n']:>2}R complete model: {row['our_operations']} operations (bound {row['bound']}; paper {row['paper_operations']}, "
                f"{row['ratio']:.0f}×), {row['our_ns']:.0f} ns (paper {row['paper_ms']:.0f} ms on a Pentium/90)"
            )
        for key, what in (("batch", "run time"), ("compile_seconds", "compile time"), ("operations", "operations")):
            if len(found["growth"]) > 3:
                out.say(f"forward dynamics, {what} grows as n^{planar_family.exponent(found['growth'], key):.2f}")
    _finish(out, found["missing"], json, found, markdown, tables.markdown(found))


def _status() -> Status:
    """What is being timed, on standard error."""
    from rich.console import Console

    return Console(stderr=True).status("warming up")


def _finish(
    out: Terminal, missing: dict[str, str], json: Path | None, plain: dict[str, Any], markdown: Path | None, text: str
) -> None:
    """Say what was not measured, and write the files that were asked for."""
    from json import dumps

    from manipula.formats.whole_file import write_whole

    for peer, reason in missing.items():
        out.say((f"not measured: {peer}: {reason}", "dim"))
    if json is not None:
        write_whole(json, dumps(plain, indent=1, ensure_ascii=False) + "\n")
    if markdown is not None:
        write_whole(markdown, text)
