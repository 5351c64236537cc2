"""The largest values of a run against its limits, found on every step and at every known instant; they travel with the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manipula import native
from manipula.simulation.limit_checks import Peak, peaks_of
from manipula.simulation.loops.setup import Run, carrying_in
from manipula.simulation.numeric_robot import numeric_robot
from manipula.simulation.stated_limits import stated_limits
from manipula.simulation.stepping.grid import margin
from manipula.simulation.verdicts.extremes import JointLimitRows, extremes, held_limits, peak_rows
from manipula.simulation.verdicts.screening import suspects


class Peaks:
    """Collects what a run is found to do between its samples.

    Attributes:
        rows: see ``Peak``.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.rows: list[Peak] = []
        self.threads = threads

    def __call__(
        self, run: Run, members: Sequence[int], t: np.ndarray, x: np.ndarray, commands: np.ndarray | None, instants: np.ndarray
    ) -> None:  # fmt: skip
        s = run.scenario
        limits = stated_limits(s.robot, s.limits, parameters=s.parameters)
        by_points = bool(limits.get("tip") or limits.get("points"))
        left = list(range(len(members)))
        found: dict[int, list[Peak]] = {}
        if s.is_batch and not by_points and run.loop.parts is not None and native.has_compiler():
            held = held_limits(limits)
            if held.rows:
                found = _together(run, held, members, t, x, commands, instants, self.threads)
                left = [i for i in left if i not in found]
        if left:
            found |= self.one_by_one(run, limits, [members[i] for i in left], left, t, x, commands, s.is_batch)
        for i in sorted(found):
            self.rows += found[i]

    @staticmethod
    def one_by_one(run: Run, limits: Mapping[str, Any], members: Sequence[int], places: Sequence[int], t: np.ndarray,
                   x: np.ndarray, commands: np.ndarray | None, broken_only: bool) -> dict[int, list[Peak]]:  # fmt: skip
        """The same with NumPy, run after run; by their places."""
        s, lay = run.scenario, run.plant.layout
        x = x[places] if len(places) < len(x) else x
        commands = None if commands is None else commands[places]
        kernel, more = (run.loop.observe, ()) if commands is None else (run.loop.observe_given, (commands,))
        p = run.p[list(members)][:, None]

        def look(at: np.ndarray, *more: np.ndarray) -> dict[str, np.ndarray]:
            return dict(zip(kernel.graph.outputs, map(np.asarray, kernel(x, p, *run.inputs, at, *more))))

        later = t + 4.0 * margin(t)  # what ends at an instant may still act on it
        later[-1] = t[-1]
        seen, before = look(later, *more), None
        earlier_t = np.maximum(t - 4.0 * margin(t), 0.0)  # the other side of a jump
        if commands is None:
            before = look(earlier_t)
        elif run.loop.sampled:  # until then the command before this one was held
            before = look(earlier_t, np.concatenate([commands[:, :1], commands[:, :-1]], axis=1))
        out: dict[int, list[Peak]] = {}
        for i, k in enumerate(members):
            arrays = {"q": lay.q(x[i]), "qd": lay.qd(x[i]), **{name: seen[name][i] for name in ("qdd", "tau", "power")}}
            earlier = None if before is None else {name: before[name][i] for name in ("qdd", "tau", "power")}
            robot = numeric_robot(s.robot, s.parameters, int(k)) if limits.get("tip") or limits.get("points") else None
            moved = None if robot is None else carrying_in(run, int(k))
            out[places[i]] = peaks_of(robot, limits, t, arrays, earlier, int(k), broken_only, moved)
        return out


def _together(run: Run, held: JointLimitRows, members: Sequence[int], t: np.ndarray, x: np.ndarray, commands: np.ndarray | None, instants: np.ndarray,
              threads: int | None) -> dict[int, list[Peak]]:  # fmt: skip
    """The peaks of all runs but those with signals that are no numbers, by their places; a run that stays away from every limit has none."""
    found: dict[int, list[Peak]] = {}
    some: Sequence[int] = range(len(members))
    if commands is None:
        near = suspects(run, held, members, t, x, instants, threads)
        found, some = {i: [] for i in np.flatnonzero(~near).tolist()}, np.flatnonzero(near).tolist()
    if some:
        chosen = [members[i] for i in some]
        states = x if len(some) == len(x) else x[some]
        # all of them, where commands are given
        seen = extremes(run, held, chosen, t, states, commands, instants, threads)
        found |= {some[i]: rows for i, rows in peak_rows(held, seen, chosen, True)}
    return found
