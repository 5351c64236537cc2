"""``manipula tune STUDY --minimise COLUMN``: the numbers of a study that make a column small."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def tune(
    study: Annotated[Path, typer.Argument(help="The study, a TOML file; its distributions are searched.")],
    minimise: Annotated[
        list[str], typer.Option(help="A column to make small, such as error_rms; repeated: a trade-off front.")
    ],
    subject_to: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=LARGEST", help="A bound, such as tau_max=80; may be repeated.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder of the tuning; out/STUDY-tuned.")
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(help="A path that is searched, such as controller.kp; all distributions with bounds otherwise."),
    ] = None,
    over: Annotated[str, typer.Option(help="Over the conditions of a candidate: max, mean, median, p95.")] = "max",
    method: Annotated[str, typer.Option(help="differential_evolution or optuna.")] = "differential_evolution",
    evaluations: Annotated[int | None, typer.Option(help="Candidates at most.")] = None,
    population: Annotated[int | None, typer.Option(help="Candidates of a generation.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the search; that of the study otherwise.")] = None,
    engine: Annotated[str, typer.Option(help="serial, pool, or tcp://HOST:PORT of a Dask scheduler.")] = "serial",
    report: Annotated[bool, typer.Option(help="Write tuning.html.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Search for gains or numbers of the design. The folder keeps every run, so that an interrupted search goes on when it is called again; it ends
    with best.toml, the scenario with the best numbers, and tuning.html. Exit code 1: no candidate keeps every bound; 130: interrupted."""
    from manipula.cli.live import terminated_like_interrupted
    from manipula.simulation.files.scenario_file import save_scenario
    from manipula.studies.files import load_study
    from manipula.studies.tuning.tune import tune as search

    folder = output or Path("out") / f"{study.stem}-tuned"
    described = load_study(study)
    bounds = _bounds(subject_to or [])
    try:
        with terminated_like_interrupted():
            found = search(
                described, minimise, bounds, folder, parameters=parameter or None, over=over, method=method, evaluations=evaluations,
                population=population, seed=seed, engine=engine, progress=None if quiet else _told,
            )  # fmt: skip
    except KeyboardInterrupt:
        typer.echo(f"interrupted: what was made is kept; the same command goes on ({folder}).", err=True)
        raise typer.Exit(130) from None
    if report:
        from manipula.reports.studies.tuning import write_tuning_report

        write_tuning_report(found, folder / "tuning.html")
    if not found.found:
        typer.echo(f"None of {len(found.values)} candidates keeps every bound.")
        raise typer.Exit(1)
    _show(found)
    save_scenario(found.scenario(), folder / "best.toml")
    typer.echo(f"Wrote {folder / 'best.toml'}" + (f" and {folder / 'tuning.html'}" if report else ""))


def _bounds(given: list[str]) -> dict[str, float]:
    from manipula.errors import DescriptionError

    found: dict[str, float] = {}
    for text in given:
        name, equals, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise DescriptionError(
                f"A bound is written COLUMN=LARGEST, such as tau_max=80; found '{text}'.", field="--subject-to"
            )
    return found


def _told(state: Any) -> None:
    least = f"{state.least:.6g}" if state.least < float("inf") else "none keeps every bound yet"
    typer.echo(
        f"generation {state.generation}: {state.candidates} of {state.planned} candidates, least {least}", err=True
    )


def _show(found: Any) -> None:
    from manipula.cli.terminal import Terminal

    out = Terminal()
    for path, value in found.answer.items():
        out.say(f"{path} = {value:.8g}")
    for column, value in found.objective.items():
        out.say((f"{column} {value:.6g}", "bold"))
    if len(found.minimise) > 1:
        out.say(f"{len(found.front)} candidates on the front; shown is the one nearest to the least of each goal.")
