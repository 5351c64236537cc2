r"""Windows of the state that steps pass over: does user code, or a formula of the state, do something between the ends of a step that no step saw?

Over every step the state lies in a box around its path, and the compiled code (commands, torques, friction, wrenches) and the conditions of
switches in ranges (:mod:`manipula.algebra.ranges`). A step is proven when these ranges hold nothing but what its two ends show; every other one is divided
along the path. What is then found, a push of :math:`\int\Delta\ddot q\,dt` inside a step, must be in the change of velocity over the
step; where it is not, it was missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra import ops
from manipula.algebra.ranges import Range, as_range
from manipula.identity import is_own
from manipula.native.tracing.graph import Graph
from manipula.native.tracing.tables import BakedArray
from manipula.simulation.loops.fixed import RunSamples
from manipula.simulation.loops.probing import by_state, foreign
from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.layout import StateLayout
from manipula.simulation.stepping.grid import margin
from manipula.simulation.stepping.verification import compare

DECIDED = ("command", "tau", "friction")
MOST_NUMBERS = 20_000_000  # of the states of one run that are looked at
MOST_STEPS, MOST_RUNS = 512, 64  # that are divided; runs of a batch that are looked at
OWN = 2  # times as many steps without user code, whose formulas are short
AT_ONCE = 8192  # parts of steps whose ranges are held at once
PARTS, LEVELS = 16, 6  # into which a step is divided, and how often again: 6e-8 of it
ALLOWED = 1e-2  # of the span of an output along the run
MOST_FOLLOWED, FOLLOWED = 4000, 0.05  # steps in which a window is followed, and of what is allowed: their error
SHOWN = 0.1  # of a value: a part over which it changes by less shows what is in it
CHANGES = 3.0  # times the change over a step: what ranges may be wider than the ends show
OPERATIONS: dict[str, Any] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b, "neg": lambda a: -a,
    "fma": lambda a, b, c: a * b + c, "fms": lambda a, b, c: a * b - c, "fnma": lambda a, b, c: c - a * b,
    "abs": abs, "pow": lambda a, b: a**b, "minimum": ops.minimum, "maximum": ops.maximum, "atan2": ops.atan2,
    "lt": lambda a, b: as_range(a) < b, "le": lambda a, b: as_range(a) <= b, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
    "not": lambda a: ~a, "select": lambda c, a, b: c.select(a, b),
    **{name: getattr(ops, name) for name in ("sqrt", "floor", "sign", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log")},
}  # fmt: skip
ROUNDING = 1e-12  # of the largest value of a condition
UNSEEN = (
    "{} in this run could not be searched for windows of the state that are narrower than a step; what happens there "
    "for less than a step may have been missed."
)
Look = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]  # times and states: outputs, accelerations


class Unsearchable(Exception):
    """The code holds a loop, or a comparison, that ranges cannot follow."""


class Searched(NamedTuple):
    """What was found in one run: a sentence about what steps passed over (empty: nothing), and one about what could not be searched."""

    missed: str
    doubt: str


def enclosed(graph: Graph, wanted: list[int], inputs: dict[str, Any]) -> list[Range]:
    """Ranges of some values of a graph whose inputs are numbers, arrays, or lists of ranges."""
    operations, values = graph.operations, {}
    needed, todo = set(), list(wanted)
    while todo:
        n = todo.pop()
        if n not in needed:
            needed.add(n)
            todo += operations[n].args
    for n in sorted(needed):
        code, args, data = operations[n]
        if code in OPERATIONS:
            values[n] = OPERATIONS[code](*(values[a] for a in args))
        elif code == "const":
            values[n] = as_range(data)
        elif code == "input":
            values[n] = as_range(inputs[data[0]][data[1]])
        elif code == "locate":
            breaks = _rows(data[0], inputs)[:, 0]
            at = values[args[0]]
            low, high = (np.clip(np.searchsorted(breaks, side, side="right") - 1, 0, len(breaks) - 2) for side in (at.low, at.high))  # fmt: skip
            values[n] = Range(low, high, at.torn | (low != high))
        elif code == "gather":
            column = _rows(data[0], inputs)[:, data[1]]
            row = values[args[0]]
            edges = np.stack(np.broadcast_arrays(row.low, row.high + 1.0), -1).astype(int).ravel()
            padded = np.append(column, column[-1])
            hull = [f.reduceat(padded, edges)[::2].reshape(np.shape(row.low)) for f in (np.minimum, np.maximum)]
            values[n] = Range(hull[0], hull[1], row.torn)
        else:
            raise Unsearchable(code)
    return [as_range(values[n]) for n in wanted]


def _rows(source: Any, inputs: dict[str, Any]) -> np.ndarray:
    numbers = source.numbers if isinstance(source, BakedArray) else np.asarray(inputs[source.name])
    return numbers.reshape(len(numbers), -1)


def searched(run: Run, k: int, t: np.ndarray, x: np.ndarray, tolerance: float) -> Searched:
    """Run number k, whose states x (S, size) are known at times t (S,) on every step."""
    kernel, lay = run.loop.observe, run.plant.layout
    graph, names, p = kernel.graph, list(kernel.graph.outputs), run.p[k]
    whole = np.isfinite(x).all(axis=1)
    if not whole.all():
        t, x = t[: int(np.argmin(whole))], x[: int(np.argmin(whole))]
    if len(t) < 2:
        return Searched("", "")
    outputs = _outputs(run)
    wanted = [n for name in outputs for n in graph.output_values[name]]

    def look(at: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen = dict(zip(names, kernel(x, p, *run.inputs, at)))
        values = [np.asarray(seen[name]) for name in outputs]
        return np.concatenate([np.empty((*np.shape(at), 0)), *values], axis=-1), np.asarray(seen["qdd"])

    def bounds(t: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lower and upper ends of all outputs, (m, outputs) each."""
        sides = np.empty((2, len(t), len(wanted)))
        given = {"p": p, "breaks": run.inputs[0], "coefficients": run.inputs[1]}
        for at in (slice(k, k + AT_ONCE) for k in range(0, len(t), AT_ONCE)):
            box = [Range(low[at, i], high[at, i]) for i in range(lay.size)]
            with np.errstate(all="ignore"):
                ranges = enclosed(graph, wanted, {**given, "x": box, "t": [Range(t[at, 0], t[at, 1])]})
            for j, found in enumerate(ranges):
                sides[0, at, j], sides[1, at, j] = found.low, found.high
        return sides[0], sides[1]

    inner = 1e-9 * np.diff(t)  # each step sees its own side of a jump on its border
    (after, qdd), (before, qdd_end) = look(t[:-1] + inner, x[:-1]), look(t[1:] - inner, x[1:])
    passed = _passed_conditions(run, t, x, (qdd, qdd_end))
    if not outputs or passed.missed or passed.doubt:
        return passed
    span = np.maximum(np.ptp(after, axis=0), 1e-9 * np.abs(after).max(axis=0))
    if not foreign(run):  # one wrench, seen from several joints
        span[:] = span.max()
    room = ALLOWED * span + CHANGES * np.abs(before - after)
    bottom, top = np.minimum(after, before) - room, np.maximum(after, before) + room
    rate, rate_end = (np.concatenate([lay.qd(y), a], axis=-1) for y, a in ((x[:-1], qdd), (x[1:], qdd_end)))
    path = _Path(t[:-1], np.diff(t), x[:-1], x[1:], rate, rate_end)
    steps = np.arange(len(t) - 1)
    open_, begin = steps, np.zeros(len(steps))
    found: list[tuple[int, float, float]] = []  # step, where in it, how wide
    for level in range(LEVELS + 1):
        width = float(PARTS) ** -level
        low, high = path.box(open_, begin, width)
        lows, highs = bounds(path.times(open_, begin, width), low, high)
        bad = ((highs > top[open_]) | (lows < bottom[open_])).any(axis=1)
        open_, begin, wide = open_[bad], begin[bad], (highs - lows)[bad]
        if not len(open_):
            break
        values = look(*path.at(open_, begin + 0.5 * width))[0]
        odd = ((values > top[open_]) | (values < bottom[open_])).any(axis=1)
        shown = odd & ((wide <= ALLOWED * span + SHOWN * np.abs(values)).all(axis=1) | (level == LEVELS))
        found += [(int(s), float(u), width) for s, u in zip(open_[shown], begin[shown])]
        open_, begin = open_[~shown], begin[~shown]
        if level == LEVELS:
            break
        if _too_many(open_, MOST_STEPS if foreign(run) else OWN * MOST_STEPS):
            return Searched("", UNSEEN.format(_actors(run)))
        open_, begin = _divided(open_, begin, width)
    for step in dict.fromkeys(s for s, _, _ in found):
        said = _missed(run, path, look, step, [(u, w) for s, u, w in found if s == step], x, tolerance)
        if said:
            return Searched(said, "")
    return Searched("", "")


def _too_many(open_: np.ndarray, most: int) -> bool:
    return len(np.unique(open_)) > most or len(open_) > most * PARTS


def _divided(open_: np.ndarray, begin: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Parts of steps, of this width, divided."""
    return np.repeat(open_, PARTS), (begin[:, None] + width / PARTS * np.arange(PARTS)).ravel()


def _passed_conditions(run: Run, t: np.ndarray, x: np.ndarray, qdd: tuple[np.ndarray, np.ndarray]) -> Searched:
    """Does the condition of a switch that has not happened come and go within a step? ``qdd``: after the beginning of each and before its end."""
    lay, n = run.plant.layout, run.plant.layout.n
    waiting = [(i, s) for i, s in enumerate(run.plant.switches) if s.when is not None]
    if not waiting:
        return Searched("", "")
    if run.loop.sampled:  # the commands behind these accelerations are not the ones that were held
        qdd = (np.diff(lay.qd(x), axis=0) / np.diff(t)[:, None],) * 2
    rates = (np.concatenate([lay.qd(y), a], axis=-1) for y, a in zip((x[:-1], x[1:]), qdd))
    path = _Path(t[:-1], np.diff(t), x[:-1], x[1:], *rates)
    first = lay.size - len(lay.works) - lay.switches
    for k, (i, switch) in enumerate(waiting):
        level = lambda t, y, switch=switch: switch.level(t, y[:n], y[n : 2 * n])  # noqa: E731
        value = np.broadcast_to(np.asarray(level(t, x.T), float), t.shape)
        slack, beyond = ROUNDING * np.abs(value).max(), value >= 0.0
        open_ = np.flatnonzero((beyond[1:] == beyond[:-1]) & (x[1:, first + k] < 0.0))
        begin, width = np.zeros(len(open_)), 1.0
        for _ in range(LEVELS + 1):
            low, high = path.box(open_, begin, width)
            ends = path.times(open_, begin, width)
            box = [Range(low[:, j], high[:, j]) for j in range(2 * n)]
            inside = as_range(level(Range(ends[:, 0], ends[:, 1]), box))
            may = np.where(beyond[open_], inside.low < -slack, inside.high > slack)
            open_, begin = open_[may], begin[may]
            when, y = path.at(open_, begin + 0.5 * width)
            now = np.broadcast_to(np.asarray(level(when, y.T), float), when.shape)
            other = np.where(beyond[open_], now < -slack, now > slack)
            if other.any():
                at, h = float(when[other][0]), float(path.h[open_[other][0]])
                why = f"The condition of switches[{i}] comes and goes within one step of {h:.3g} s at t = {at:.6g} s: no step met it. Reduce the step."
                return Searched(why, "")
            if _too_many(open_, OWN * MOST_STEPS):
                return Searched("", UNSEEN.format(f"The condition of switches[{i}]"))
            (open_, begin), width = _divided(open_, begin, width), width / PARTS
    return Searched("", "")


class _Path:
    """The state within steps: cubics through positions, velocities and accelerations at both ends, chords of everything else."""

    def __init__(self, t: np.ndarray, h: np.ndarray, a: np.ndarray, b: np.ndarray, rate: np.ndarray, rate_end: np.ndarray) -> None:  # fmt: skip
        self.t, self.h, self.a, self.b, self.rate, self.rate_end = t, h, a, b, rate, rate_end

    def times(self, step: np.ndarray, begin: np.ndarray, width: float) -> np.ndarray:
        """Both ends of parts of steps, (m, 2), kept off the borders of the steps."""
        ends = np.clip(np.stack([begin, begin + width], 1), 1e-9, 1.0 - 1e-9)
        return self.t[step, None] + self.h[step, None] * ends

    def at(self, step: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Times and states at the fraction u of steps, (m,) and (m, size)."""
        u, h = u[:, None], self.h[step, None]
        a, b = self.a[step], self.b[step]
        x = a + u * (b - a)
        m = self.rate.shape[1]
        v, w = h * self.rate[step], h * self.rate_end[step]
        d = (b - a)[:, :m]
        x[:, :m] = a[:, :m] + u * (v + u * ((3.0 * d - 2.0 * v - w) + u * (v + w - 2.0 * d)))
        return self.t[step] + h[:, 0] * np.clip(u[:, 0], 1e-9, 1.0 - 1e-9), x

    def box(self, step: np.ndarray, begin: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of the state over parts of steps; as much more as a cubic leaves the chord by."""
        x, y, z = (self.at(step, begin + part * width)[1] for part in (0.0, 0.5, 1.0))
        bulge = 1.5 * np.abs(y - 0.5 * (x + z))
        return np.minimum(x, z) - bulge, np.maximum(x, z) + bulge


def _missed(run: Run, path: _Path, look: Look, step: int, where: list[tuple[float, float]], x: np.ndarray, tolerance: float) -> str:  # fmt: skip
    """Is the push of what was found inside a step missing in its change of velocity?"""
    lay = run.plant.layout
    h = float(path.h[step])
    begin, width = np.array(sorted(where)).T
    quiet = 0.5 * (path.rate[step] + path.rate_end[step])[lay.n :]
    u = begin + 0.5 * width
    inside = look(*path.at(np.full(len(u), step), u))[1]
    push = ((inside - quiet) * width[:, None] * h).sum(axis=0)
    change = lay.qd(path.b[step]) - lay.qd(path.a[step]) - quiet * h
    size = np.maximum(1.0, np.abs(lay.qd(x)).max(axis=0))

    def gone(push: np.ndarray) -> np.ndarray:
        return (np.abs(push) > tolerance * size) & (np.abs(change - push) > 0.5 * np.abs(push))

    if not gone(push).any():
        return ""
    followed = _followed(lay, path, look, step, (begin, width), tolerance * size)
    if followed is not None:
        push = followed - quiet * h * (begin[-1] + width[-1] - begin[0])
        if not gone(push).any():  # it pushes itself out of the window
            return ""
    joint = int(np.argmax(np.where(gone(push), np.abs(push) / size, 0.0)))
    when = float(path.t[step] + h * u[0])
    return (
        f"{_actors(run)} pushes joint '{run.scenario.robot.joint_names[joint]}' at t = {when:.6g} s for about {width.sum() * h:.1g} s, "
        f"within one step of {h:.3g} s, and changes its velocity by about {push[joint]:.3g}: no step met it. Reduce the step."
    )


def _followed(lay: StateLayout, path: _Path, look: Look, step: int, where: tuple[np.ndarray, np.ndarray],
              allowed: np.ndarray) -> np.ndarray | None:  # fmt: skip
    """What the velocities change by when a part of a step is followed closely, by Heun's method in steps that keep what is allowed.

    Nothing where that takes too many steps.

    Args:
        where: begins and widths of parts in which something was found, in order. No step is longer than some of these parts, nor passes over one.
    """
    (begin, width), h = where, float(path.h[step])
    first, last = begin[0], begin[-1] + width[-1]
    t, x = (v[0] for v in path.at(np.array([step]), np.array([first])))
    end, start, dt = t + (min(1.0, last + 0.1 * (last - first)) - first) * h, lay.qd(x).copy(), (last - first) * h / 64
    edges = t + (begin - first) * h
    n, x = lay.n, x.copy()
    a = look(t, x)[1]
    for _ in range(MOST_FOLLOWED):
        part = int(np.searchsorted(edges, t, side="right")) - 1
        ahead = edges[part + 1] - t if part + 1 < len(edges) else end - t
        dt = min(dt, end - t, max(ahead, PARTS * width[part] * h))
        if dt <= 4.0 * np.spacing(end):
            break
        moved = x.copy()
        moved[:n] += dt * (x[n : 2 * n] + 0.5 * dt * a)
        moved[n : 2 * n] += dt * a
        b = look(t + dt, moved)[1]
        if (0.5 * dt * np.abs(b - a) > FOLLOWED * allowed).any() and dt > 8.0 * np.spacing(end):
            dt *= 0.25
            continue
        moved[n : 2 * n] = x[n : 2 * n] + 0.5 * dt * (a + b)
        t, x = t + dt, moved
        a, dt = look(t, x)[1], 2.0 * dt
    else:
        return None
    return lay.qd(x) - start


def _outputs(run: Run) -> tuple[str, ...]:
    """What is searched: what user code decides, and wrenches of user code or by formulas of the state."""
    plant = run.plant
    decided = foreign(run) and not (
        run.loop.sampled and is_own(plant.friction, plant.drives)
    )  # no command hides between two decisions
    touching = foreign(run) and bool(plant.contacts) and not is_own(plant.contacts)
    acting = by_state(run) or (foreign(run) and not is_own(plant.disturbances))
    return (*DECIDED * decided, *("external",) * acting, *("contact_torque",) * touching)


def _actors(run: Run) -> str:
    """What is searched, in words."""
    return (
        " or ".join(["User code"] * foreign(run) + ["a wrench" if foreign(run) else "A wrench"] * by_state(run))
        or "A condition"
    )


def _other(run: Run, made: RunSamples, every: RunSamples, k: int) -> Searched | None:
    """What is to be said when the run with a sample at every step is another motion."""
    n = 2 * run.plant.layout.n
    at = np.searchsorted(every.t, made.t - 4.0 * margin(made.t))
    both = np.abs(every.t[np.minimum(at, len(every.t) - 1)] - made.t) <= 4.0 * margin(made.t)
    pair = made.x[k, both, :n], every.x[k, at[both], :n]
    error, until = compare(*pair, made.t[both], run.scenario.tolerance)
    if not error > run.scenario.tolerance:
        return None
    return Searched(
        f"Repeated with steps of at most {run.scenario.step:g} s, the run differs from t = {float(until):.6g} s on, by {float(error):.1e}: "
        "something acts there within one step. Reduce the step.", "",
    )  # fmt: skip


def searched_runs(run: Run, made: RunSamples, asked: Sequence[bool], integrate: Callable[[Run], RunSamples]) -> Sequence[Searched]:  # fmt: skip
    """Every run of a batch with user code, formulas of the state or conditions of switches, searched.

    Args:
        made: the run. asked: which runs of the batch are; those that ended otherwise say so themselves.
        integrate: makes it again, with a sample at every step; where that is another motion, one of both passed over something.
    """
    s, count = run.scenario, len(run.x0)
    outputs, unseen = _outputs(run), Searched("", UNSEEN.format(_actors(run)))
    if not outputs and not run.plant.layout.switches:
        return ()
    held = run.loop.sampled and DECIDED[0] in outputs
    if made.calls.python or held or s.steps * run.plant.layout.size > MOST_NUMBERS or count > MOST_RUNS:
        return [unseen] * count
    try:
        every = integrate(replace(run, scenario=s.replace(sample=None, verify=False)))
        return [
            _other(run, made, every, k) or searched(run, k, every.t, every.x[k], s.tolerance)
            if asked[k]
            else Searched("", "")
            for k in range(count)
        ]
    except Unsearchable:
        return [unseen] * count
