"""Steps that end where something happens that depends on the state: a contact opens or closes, a joint comes to rest or breaks away.

A step is taken as if nothing happened; if something did, it is divided until the instant is known to rounding, and the run goes on from there with
what changed. Where nothing can happen none of this is part of the machine code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.simulation.integrators.base import AdaptiveStep
from manipula.simulation.plant.events import ROUNDING, breach, contact_sides, state_after_event, touched
from manipula.simulation.plant.plant import Plant
from manipula.simulation.plant.switch import happened
from manipula.simulation.stepping.grid import FAR, Grid, first_after, margin, stage_times, switching
from manipula.simulation.stepping.instants import in_order, table_marks

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory

Move = Callable[[Any, Any, Any], Any]

FINEST = 2.0  # margins: a step that is not divided any further
MOST = 200  # divisions of one step
BEHIND, WITHIN = 4.0, 2.0  # parts of a step behind an event; times as many parts of every step in a repetition


def error_scale(x: Any, tolerance: Any) -> Callable[[Any], Any]:
    """What an error of each state is divided by: tolerance·(1 + max(|x|, |new|))."""
    return lambda new: array([tolerance * (1.0 + ops.maximum(ops.abs(a), ops.abs(b))) for a, b in zip(x, new)])


def proposed_step(method: AdaptiveStep, error: Any, step: Any, rejected: Any) -> Any:
    r"""The next step, :math:`h\cdot\min(8, \max(0.2, 0.9\,e^{-1/(p+1)}))`; not longer after one that was rejected."""
    exponent = -1.0 / (method.error_order + 1)
    factor = ops.minimum(8.0, ops.maximum(0.2, 0.9 * ops.exp(exponent * ops.log(ops.maximum(error, 1e-12)))))
    factor = ops.where(native.is_finite(error), factor, 0.2)
    return step * ops.where(rejected > 0.5, ops.minimum(factor, 1.0), factor)


def following(plant: Plant, grid: Grid) -> Callable[[Any, Any], Any]:
    """``following(t, x)``: the first known instant after t; x says when switches happened."""
    own = [s.time for s in plant.switches if s.when is None]
    first = first_after(grid.marks, grid.ends, [*switching(plant.disturbances), *own])
    tables = [(s, _marks_of(s.reference)) for s in plant.switches if s.reference is not None]

    def after(t: Any, x: Any) -> Any:
        found = first(t)
        for switch, marks in tables:  # where the reference that a switch brought jumps
            on, instant = happened(plant, switch, t, x)
            since = ops.where(on, instant, t)
            found = ops.minimum(found, ops.where(on, since + marks(t - since), FAR))
        return found

    return after


def _marks_of(reference: Trajectory) -> Callable[[Any], Any]:
    """The first corner of a reference after a time of its own."""
    table = reference.to_piecewise(1e-12)
    found = table_marks(np.asarray(table.breaks, float), np.moveaxis(np.asarray(table.coefficients, float), 1, 2))
    marks = np.concatenate([[-FAR], in_order(found), [FAR]])
    return first_after(marks, marks[1:, None].copy())


def decide_contacts(plant: Plant, t: Any, x: Any, fresh: Any, *decided: Any) -> np.ndarray:
    """The state with rest and sliding decided anew where something has just happened (``fresh``, 1 or 0)."""
    state = native.until(
        lambda y, todo: (state_after_event(plant, t, y, *decided), 0.0 * todo),
        (x, fresh),
        lambda y, todo: todo < 0.5,
        1.0,
    ).state
    return state[0]


def located(plant: Plant, step: Callable[[Any], Any], t: Any, x: Any, h: Any, sides: list[Any], *decided: Any) -> tuple[Any, Any, Any]:  # fmt: skip
    """The length of a step that ends where something happens, at most h, the state there, and whether something did (1 or 0).

    Args:
        step: gives the state after a step of a length. sides: of every contact on which the arm is at its beginning.
    """
    finest = FINEST * margin(t)

    def turn(low: Any, high: Any, trial: Any, y: Any, happened: Any, done: Any) -> Any:
        new = step(trial)
        worst = ops.minimum(breach(plant, t + trial, new, *decided), touched(plant, t, x, trial, new, sides))
        bad = ops.where(worst < 0.0, 1.0, 0.0)
        whole = ops.where(trial >= h, 1.0, 0.0)
        low, high = ops.where(bad > 0.5, low, trial), ops.where(bad > 0.5, trial, high)
        y = array([ops.where(bad + whole > 0.5, a, b) for a, b in zip(new, y)])
        over = ((bad < 0.5) & (whole > 0.5)) | (high - low <= finest)
        return low, high, 0.5 * (low + high), y, ops.maximum(happened, bad), ops.where(over, 1.0, 0.0)

    done = native.until(turn, (0.0, h, h, x, 0.0, 0.0), lambda *state: state[-1] > 0.5, MOST)
    _, high, _, y, happened, _ = done.state
    return high, y, happened


def in_parts(moves: Sequence[Move], alone: Any, t: Any, x: Any, fresh: Any, ratio: Any) -> Callable[[Any], Any]:
    """``step(h)``: the state after a step of length h, taken in several parts behind an event, and in a repetition (``ratio`` < 1) in other ones.

    What lies between two events may be shorter than any step: divided nowhere else, it would be the same in a run and in its repetition.

    Args:
        moves: ``move(t, x, h)``, one step of the method; first, where there are two, one for arms that touch nothing and whose joints all move:
            where that is so at the beginning (``alone`` 1) it is so until the step ends, and contacts and reactions need not be computed.
    """
    parts = ops.where(fresh > 0.5, BEHIND, 1.0) * ops.where(ratio < 1.0, WITHIN, 1.0)

    def step(h: Any) -> Any:
        one, state = h / parts, (x, 0.0)
        *cheaper, general = moves
        for move in cheaper:
            over = lambda y, k: (k > parts - 0.5) | (alone < 0.5)  # noqa: E731
            state = native.until(_part(move, t, one), state, over, BEHIND * WITHIN).state
        return native.until(_part(general, t, one), state, lambda y, k: k > parts - 0.5, BEHIND * WITHIN).state[0]

    return step


def _part(move: Move, t: Any, h: Any) -> Callable[[Any, Any], Any]:
    """One part of a step of parts of length h: the state and the number of the part moved on."""
    return lambda y, k: (move(t + k * h, y, h), k + 1.0)


def advance_through_events(method: AdaptiveStep, plant: Plant, f: Callable[..., Any], after: Any, state: tuple[Any, ...], goal: Any,
                           tolerance: Any, largest: Any, arrived: Any, most: float) -> tuple[Any, ...]:  # fmt: skip
    """``(t, x, h, rejected, wall, usual, fresh)`` moved to the time ``goal``, or to where it goes no further; traced or on floats.

    ``wall`` is a time by which something has happened (far away: nothing has), ``usual`` the step to go on with behind it.
    """

    def attempt(t: Any, x: Any, h: Any, rejected: Any, wall: Any, usual: Any, fresh: Any) -> tuple[Any, ...]:
        x = decide_contacts(plant, t, x, fresh)
        sides, finest = contact_sides(plant, t, x), FINEST * margin(t)
        end = ops.minimum(goal, after(t, x))
        left, h, near = end - t, ops.minimum(h, largest), wall - t
        closing = wall < FAR
        trial = ops.where(closing, ops.where(near <= finest, near, 0.5 * near), h)
        hits = trial >= left * (1.0 - 1e-12)
        step = ops.where(hits, left, trial)
        inside = stage_times(t, step)
        new, error = method.attempt(lambda s, y: f(inside(s), y), t, x, step, error_scale(x, tolerance))
        fine = error <= 1.0
        worst = ops.minimum(breach(plant, t + step, new), touched(plant, t, x, step, new, sides))
        bad = fine & (worst < 0.0)
        small = (step <= finest) | (worst > -ROUNDING)  # slow: no step between here and there would change a distance
        landed = ops.where(bad & small, 1.0, 0.0)
        divided = ops.where(bad, 1.0, 0.0) - landed  # something happens within: not so far
        taken = ops.where(fine, 1.0, 0.0) - divided
        proposal = proposed_step(method, error, step, rejected)
        proposal = ops.where(fine & hits, ops.maximum(h, proposal), proposal)
        now = ops.where(taken > 0.5, ops.where(hits, end, t + step), t)
        usual = ops.where((divided > 0.5) & (wall >= FAR), h, usual)
        # behind it, or its estimate was not to be trusted
        passed = (now >= wall) | (landed > 0.5) | (taken + divided < 0.5)
        behind = ops.where(landed > 0.5, usual, ops.where(closing & (taken > 0.5), h, proposal))
        wall = ops.where(divided > 0.5, t + step, ops.where(passed, FAR, wall))
        x = array([ops.where(taken > 0.5, a, b) for a, b in zip(new, x)])
        return now, x, ops.where(divided > 0.5, h, behind), ops.where(fine, 0.0, 1.0), wall, usual, landed

    return native.until(attempt, state, arrived, most).state
