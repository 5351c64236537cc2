"""``manipula bench``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def bench(
    robots: Annotated[str, typer.Option("--robots", help="Catalog names, separated by commas.")] = "panda",
    peers: Annotated[bool, typer.Option(help="Time other libraries too, where they are installed.")] = True,
    planar: Annotated[
        bool, typer.Option(help="Also the planar family: cost against n, Table 1 of the n-R paper.")
    ] = True,
    largest: Annotated[int | None, typer.Option(help="Largest n of the planar family.", show_default="1000")] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write everything as JSON to this file.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write the tables as Markdown to this file.")
    ] = None,
) -> None:
    """Time the compiled functions beside other libraries in one run, and print the ratios."""
    from json import dumps

    from manipula.bench import ours, planar_family, tables
    from manipula.cli.terminal import Terminal
    from manipula.errors import DescriptionError
    from manipula.formats.whole_file import write_whole

    if largest is not None and not planar:
        raise DescriptionError(
            "The largest n belongs to the planar family, which --no-planar leaves out.", field="--largest"
        )
    out = Terminal()
    console = out.console
    names = tuple(name.strip() for name in robots.split(",") if name.strip())
    with console.status("warming up") as status:
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
    for peer, reason in found["missing"].items():
        out.say((f"not measured: {peer}: {reason}", "dim"))
    if json is not None:
        write_whole(json, dumps(found, indent=1, ensure_ascii=False) + "\n")
    if markdown is not None:
        write_whole(markdown, tables.markdown(found))
