"""``manipula paper list|run``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from manipula.cli.explain import explained
from manipula.cli.outputs import Force, check_free

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
HELP = "Published papers run again: what they print beside what is computed here."
ALL = "all"


def list_(json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """List the papers that can be run."""
    from manipula.papers.run import papers

    found = papers()
    if json:
        from dataclasses import asdict
        from json import dumps

        typer.echo(dumps([asdict(paper) for paper in found], indent=2, ensure_ascii=False))
        return
    from manipula.cli.terminal import Terminal

    rows = [[paper.name, paper.authors, paper.shows] for paper in found]
    Terminal().table(("name", "authors", "what is run"), rows, left=2, sentences=True)


def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A paper of 'manipula paper list', or all.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the pages NAME.html, made when needed.")
    ] = Path("out/papers"),
    json: Annotated[bool, typer.Option("--json", help="Print every row and every erratum as JSON.")] = False,
    force: Force = False,
) -> None:
    """Run everything that a paper shows, write one page about it, and say row by row whether it agrees; exit status 1 when something does not."""
    from manipula.errors import unknown_name
    from manipula.papers.run import PAPERS

    if name != ALL and name not in PAPERS:
        raise unknown_name("paper", name, [*PAPERS, ALL], field="NAME")
    chosen = list(PAPERS) if name == ALL else [name]
    check_free(output, [f"{one}.html" for one in chosen], force)
    output.mkdir(parents=True, exist_ok=True)
    found = [_reproduced(one, output, quiet=json) for one in chosen]
    if json:
        from json import dumps

        plain = [{**one.plain(), "page": str(output / f"{one.paper.name}.html")} for one in found]
        typer.echo(dumps(plain[0] if name != ALL else plain, indent=2, ensure_ascii=False))
    if not all(one.passed for one in found):
        raise typer.Exit(1)


def _reproduced(name: str, output: Path, quiet: bool) -> Any:
    from manipula.cli.live import live
    from manipula.cli.terminal import Terminal
    from manipula.papers.page import write_page
    from manipula.papers.run import run_paper

    with live() as state:
        found = state.background(lambda: run_paper(name))
    path = write_page(found, output / f"{name}.html")
    if quiet:
        return found
    from manipula.papers.base import shown
    from manipula.papers.typeset import spoken

    out = Terminal()
    out.say((found.paper.title, "bold"), f" · {found.paper.authors}")
    rows, styles = [], {}
    for title, good, count, words, ok in found.verdicts():
        styles[len(rows), 2] = "green" if ok else "red"
        rows.append([title, f"{good} of {count}", "pass" if ok else "FAILS", spoken(words)])
    out.table(("part", "pass", "verdict", "nearest to its tolerance"), rows, left=1, sentences=True, styles=styles)
    for row in found.rows:
        if not row.passed:
            against = row.corrected or row.printed or "–"
            out.say(
                ("fails: ", "red"),
                f"{spoken(row.quantity)}: {spoken(row.computed)} instead of {spoken(against)}, off by {shown(row.difference)} of {shown(row.tolerance)}",
            )
    for erratum in found.errata:
        if not erratum.proven:
            out.say(("not proven: ", "red"), f"{erratum.where}: {spoken(erratum.printed)} → {spoken(erratum.correct)}")
    out.say(f"Wrote {path}")
    return found


for _name, _function in (("list", list_), ("run", run)):
    app.command(_name)(explained(_function))
