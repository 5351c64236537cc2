"""``manipula plot RESULT --kind joints -o figure.png``"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manipula.cli.outputs import Force, check_targets


def plot(
    results: Annotated[
        list[str] | None,
        typer.Argument(metavar="RESULT…", help="Files of results; several for 'compare' and 'friction'."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Figure: .png .svg .pdf; film of the arm: .gif .mp4; beside the first result by default.",
        ),
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", "-k", help="What to draw; --list shows all kinds.", show_default="joints")
    ] = None,
    run: Annotated[int | None, typer.Option(help="Which run of a batch, from 0.")] = None,
    signal: Annotated[
        str | None, typer.Option(help="Signal for 'compare' and 'spectrum'; point for 'point', link3@0.1,0,0.")
    ] = None,
    speed: Annotated[
        float | None, typer.Option(help="Seconds of motion in one second of film.", show_default="1")
    ] = None,
    force: Force = False,
    listing: Annotated[
        bool, typer.Option("--list", help="List the kinds, or those a result has the signals for.")
    ] = False,
) -> None:
    """Draw a result, or several, into a figure or a film."""
    from manipula.errors import DescriptionError
    from manipula.reports.plots import PLOTS, drawable, find_plot
    from manipula.reports.source import chosen_run
    from manipula.simulation.stored.store import load_result

    film = output is not None and output.suffix.lower() in (".gif", ".mp4")
    _refuse_idle(listing, film, output=output, kind=kind, signal=signal, speed=speed, force=force or None)
    if not listing and output is not None:
        check_targets(force, output=output)
    loaded = [load_result(path) for path in results or ()]
    if run is not None:
        loaded = [chosen_run(r, run) for r in loaded]
    if listing:
        given = loaded[0] if len(loaded) == 1 else loaded
        shown = drawable(given) if loaded else list(PLOTS.values())
        for p in shown:
            typer.echo(f"{p.name:20}{p.summary}")
        return
    if not loaded:
        raise DescriptionError("A file with a result is needed; --list shows what can be drawn.", field="RESULT")
    if output is None:
        output = Path(results[0]).with_suffix(f".{kind or 'joints'}.png")  # pyright: ignore[reportOptionalSubscript]
        check_targets(force, output=output)
    if film:
        from manipula.reports.animation import animate

        if len(loaded) > 1:
            raise DescriptionError(f"A film shows one result, found {len(loaded)}.", field="RESULT")
        animate(loaded[0], output, speed=1.0 if speed is None else speed)
    else:
        from manipula.reports.figures import plot as draw

        kind = kind or "joints"
        several = find_plot(kind).takes == "several"
        options = {} if signal is None else {"signal": signal}
        if signal is not None and kind not in ("compare", "spectrum", "point"):
            raise DescriptionError(
                f"Kind '{kind}' takes no signal; 'compare', 'spectrum' and 'point' do.", field="--signal"
            )
        draw(loaded if several or len(loaded) > 1 else loaded[0], kind, path=output, **options)
    typer.echo(f"Wrote {output}")


def _refuse_idle(listing: bool, film: bool, **given: object) -> None:
    """Refuse options that nothing would come of."""
    from manipula.errors import DescriptionError

    idle = ("output", "kind", "signal", "speed", "force") if listing else ("kind", "signal") if film else ("speed",)
    why = "--list draws nothing" if listing else "a film shows the arm" if film else "a figure has no speed"
    for name in idle:
        if given[name] is not None:
            raise DescriptionError(f"This option does nothing here: {why}.", field=f"--{name}")
