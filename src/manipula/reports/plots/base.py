"""What a plot is: a function of a result and axes, with a name, the panels it needs and the signals it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from manipula.errors import DescriptionError, ShapeError, unknown_name
from manipula.parts.checks import check_arguments
from manipula.parts.declared import FieldDeclaration, declared
from manipula.reports.source import is_batch, joint_count
from manipula.reports.theme import new_figure, themed
from manipula.simulation.result import Result

PANEL = (3.7, 2.35)  # inches of one panel in a grid
MOST_PANELS = 30


class Panels(NamedTuple):
    """Rows and columns of the figure, how many of these places are used (0: all); ``spatial`` panels are 3-D; size [inch]."""

    rows: int = 1
    columns: int = 1
    spatial: bool = False
    width: float = PANEL[0]
    height: float = PANEL[1]
    used: int = 0

    @property
    def places(self) -> int:
        """Number of axes."""
        return min(self.used or self.rows * self.columns, MOST_PANELS)


WIDE = Panels(width=7.4, height=3.6)


def grid(count: int, columns: int = 2) -> Panels:
    """Panels for ``count`` drawings, row by row."""
    columns = min(columns, count)
    return Panels(-(-count // columns), columns, used=count)


def joint_grid(result: Result) -> Panels:
    """One panel a joint."""
    return grid(joint_count(first(result)))


def first(result: Any) -> Result:
    """The result, or the first of several."""
    return result if isinstance(result, Result) else result[0]


def _listed(results: Any) -> list[Result]:
    """Several results, and nothing else."""
    listed = list(results) if isinstance(results, (list, tuple)) else [results]
    for r in listed:
        if not isinstance(r, Result):
            raise DescriptionError(
                f"A Result is needed, as simulate and load_result give it; found {type(r).__name__}."
            )
    return listed


@dataclass(frozen=True)
class Plot:
    """One kind of plot. Call it: ``axes = plots.joints(result)`` or ``plots.joints(result, ax=my_axes)``.

    Attributes:
        name: in the registry and on the command line. summary: one line for people.
        draw: ``draw(result, axes, **options)`` fills a list of axes.
        panels: how many axes it wants for this result.
        needs: signals without which there is nothing to draw. fits: a sentence when it cannot be drawn, else None.
        takes: "run" (one run), "batch" (a batch), "several" (a sequence of results) or "any" (run or batch).
    """

    name: str
    summary: str
    draw: Callable[..., None]
    panels: Callable[[Any], Panels]
    needs: tuple[str, ...] = ()
    fits: Callable[[Any], str | None] = lambda result: None
    takes: str = "run"

    @property
    def options(self) -> tuple[FieldDeclaration, ...]:
        """What may be given beside the result and the axes."""
        return declared(self.draw)[2:]

    def missing(self, result: Any) -> str | None:
        """Why this plot cannot be drawn from that result; None when it can."""
        if self.takes == "several":
            results = [result] if isinstance(result, Result) else _listed(result)
            if len(results) < 2:
                return f"'{self.name}' needs at least two results."
            if len({r.arrays["q"].shape[-1] for r in results}) > 1:
                return f"'{self.name}' needs results of robots with the same number of joints."
        else:
            if not isinstance(result, Result):
                return f"'{self.name}' draws one result, found {len(_listed(result))}."
            results = [result]
        if self.takes in ("run", "several") and any(is_batch(r) for r in results):
            return f"'{self.name}' draws one run and this is a batch; choose one: result.run(0)."
        if self.takes == "batch" and not is_batch(results[0]):
            return f"'{self.name}' draws a batch and this is a single run."
        for r in results:
            if len(r.t) < 2:
                return "The result has fewer than two samples."
            absent = [name for name in self.needs if name not in r.arrays]
            if absent:
                return f"The result has no signal '{absent[0]}'; recorded are {', '.join(r.signals)}."
            if not np.isfinite(r.arrays["q"]).all(axis=-1).any():
                return "No sample of the result is a finite number."
        return self.fits(result)

    def __call__(self, result: Any, ax: Any = None, **options: Any) -> Any:
        """Draw on ``ax`` (one axes, or as many as the plot has panels), or on a new figure; returns the axes.

        Raises:
            DescriptionError: when this result has nothing to draw here; says why.
            ShapeError: when the number of axes is wrong.
        """
        known = [d.name for d in self.options]
        for name in options:
            if name not in known:
                raise unknown_name(f"option of plot '{self.name}'", name, known, field=name)
        check_arguments(self.draw, options, f"plot '{self.name}'")
        said = self.missing(result)
        if said is not None:
            raise DescriptionError(said, field=f"plot '{self.name}'")
        want = self.panels(result)
        with themed():
            if ax is None:
                axes = _new_axes(want)
            else:
                axes = list(np.ravel(np.asarray(ax, dtype=object)))
                if len(axes) != want.places:
                    raise ShapeError(f"'{self.name}' draws on {want.places} axes, found {len(axes)}.")
            self.draw(result, axes, **options)
            _tidy(axes)
        if ax is not None:
            return ax
        return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


def _new_axes(want: Panels) -> list[Any]:
    rows = -(-want.places // want.columns)
    figure = new_figure(want.width * want.columns, want.height * rows)
    kind = {"projection": "3d"} if want.spatial else {}
    return [figure.add_subplot(rows, want.columns, i + 1, **kind) for i in range(want.places)]


def _tidy(axes: Sequence[Any]) -> None:
    """Panels that stayed empty (an odd number of joints in two columns) show nothing."""
    for ax in axes:
        if not ax.has_data():
            ax.set_axis_off()


def plot(name: str, summary: str, panels: Callable[[Any], Panels] | Panels = WIDE, needs: tuple[str, ...] = (),
         fits: Callable[[Any], str | None] | None = None, takes: str = "run") -> Callable[[Callable[..., None]], Plot]:  # fmt: skip
    """Make a plot of a drawing function."""
    laid = (lambda result: panels) if isinstance(panels, Panels) else panels

    def made(draw: Callable[..., None]) -> Plot:
        return Plot(name, summary, draw, laid, needs, fits or (lambda result: None), takes)

    return made
