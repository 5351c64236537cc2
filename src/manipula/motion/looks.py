r"""Places at which a function of one number has to be looked at, so that nothing that it does between breaks is passed over.

Tables of polynomials and arc lengths are refined where a few places of a piece say so; a bump that lies between these places would be lost.
So they are compared with the function itself at the places given here: many that follow no pattern, and those that ranges find
(:mod:`manipula.algebra.needles`), of the value and of its first two derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.jet import Jet
from manipula.algebra.needles import needles
from manipula.algebra.scattered import Scattered

PLACES = 4096  # where ranges tell what hides between them
MOST_PLACES = 65_536  # where they cannot
ORDERS = 3  # position, velocity, acceleration
BESIDE = 3  # places on either side of one that was missed


class LookPlaces(NamedTuple):
    """Places in order, and how wide a thing may be that is at none of them; 0 where ranges say that there is none."""

    places: np.ndarray
    hidden: float


NONE = LookPlaces(np.zeros(0), 0.0)


def looks_at(functions: Sequence[Callable[[Any], Any]], low: float, high: float) -> LookPlaces:
    """Between ``low`` and ``high``, of functions of any scalar."""
    places = _scattered(PLACES, low, high)
    found, hidden = [places], 0.0
    for f in functions:
        for order in range(ORDERS):
            g = partial(_derivative, f, low, order)
            seen = partial(_plain, g)
            try:
                with np.errstate(all="ignore"):
                    fine = needles(g, seen, high - low, places - low, seen(places - low))
            except Exception:  # a user's function that takes no ranges, or one without a value there
                return unsearched(low, high)
            found.append(low + fine.places)
            hidden = max(hidden, fine.hidden)
    return LookPlaces(np.unique(np.clip(np.concatenate(found), low, high)), hidden)


def joined(parts: Sequence[LookPlaces]) -> LookPlaces:
    """Those of several functions of one number, or of several pieces."""
    return LookPlaces(
        np.unique(np.concatenate([NONE.places, *(p.places for p in parts)])), max([0.0, *(p.hidden for p in parts)])
    )


def cuts_at(looks: np.ndarray, missed: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Cuts with the places of what was missed and their neighbours among them; where they are already, halfway to the next ones."""
    at = np.flatnonzero(missed)
    around = looks[np.clip(at[:, None] + np.arange(-BESIDE, BESIDE + 1), 0, len(looks) - 1)].ravel()
    more = _with(cuts, around)
    if len(more) > len(cuts):
        return more
    nearest = np.clip(np.searchsorted(cuts, looks[at]), 1, len(cuts) - 1)
    before, after = (0.5 * (looks[at] + cuts[np.clip(nearest + k, 0, len(cuts) - 1)]) for k in (-1, 1))
    return _with(cuts, np.concatenate([before, after]))


def _with(cuts: np.ndarray, more: np.ndarray) -> np.ndarray:
    """All of them in order, without those that are another one but for rounding."""
    more = more[(more > cuts[0]) & (more < cuts[-1])]
    beside = np.clip(np.searchsorted(cuts, more), 1, len(cuts) - 1)
    apart = np.minimum(more - cuts[beside - 1], cuts[beside] - more) > 4.0 * np.spacing(np.abs(cuts).max())
    return np.unique(np.concatenate([cuts, more[apart]]))


def _scattered(count: int, low: float, high: float) -> np.ndarray:
    return low + (high - low) / count * (np.arange(count) + Scattered(10).uniform(0.0, 1.0, count))


def _derivative(f: Callable[[Any], Any], low: float, order: int, x: Any) -> Any:
    if order == 0:
        return f(x + low)
    along = f(Jet.variable(x + low, order))
    return along.derivative(order) if isinstance(along, Jet) else 0.0


def _plain(g: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """g over numbers, zero where it is no number: whoever needs it there meets that itself."""
    with np.errstate(all="ignore"):
        out = np.broadcast_to(np.asarray(g(x), float), x.shape)
    return np.where(np.isfinite(out), out, 0.0)


def unsearched(low: float, high: float) -> LookPlaces:
    """Of a function of which nothing is known but its values."""
    return LookPlaces(_scattered(MOST_PLACES, low, high), (high - low) / MOST_PLACES)
