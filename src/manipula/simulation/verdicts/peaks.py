"""The largest values of a run against its limits, found on every step and at every known instant; they travel with the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manipula.simulation.loops.setup import Run
from manipula.simulation.point_motion import point_rates
from manipula.simulation.stated_limits import limit_of, stated_limits
from manipula.simulation.stepping.grid import margin
from manipula.simulation.verdicts.limits import SIGNALS, TIP, Peak, filled, worst


class Peaks:
    """Collects what a run is found to do between its samples.

    Attributes:
        rows: ``(run, quantity, joint, lowest, its time, highest, its time, first)``; first: when the limit is passed (NaN: never). The tip
            has −1 in the place of a joint. Of a batch only those that break a limit, so that a file can hold them.
    """

    def __init__(self) -> None:
        self.rows: list[Peak] = []

    def __call__(
        self, run: Run, members: Sequence[int], t: np.ndarray, x: np.ndarray, commands: np.ndarray | None
    ) -> None:
        s, lay = run.scenario, run.plant.layout
        limits = stated_limits(s.robot, s.limits)
        kernel, more = (run.loop.observe, ()) if commands is None else (run.loop.observe_given, (commands,))
        p = run.p[list(members)][:, None]

        def look(at: np.ndarray) -> dict[str, np.ndarray]:
            return dict(zip(kernel.graph.outputs, map(np.asarray, kernel(x, p, *run.inputs, at, *more))))

        seen = look(t)
        before = None if commands is not None else look(t - 4.0 * margin(t))  # the other side of a jump
        for i, k in enumerate(members):
            arrays = {"q": lay.q(x[i]), "qd": lay.qd(x[i]), **{name: seen[name][i] for name in ("qdd", "tau", "power")}}
            earlier = None if before is None else {name: before[name][i] for name in ("qdd", "tau", "power")}
            self.rows += peaks_of(s.robot, limits, t, arrays, earlier, int(k), s.is_batch)


def peaks_of(robot: Any, limits: Mapping[str, Any], t: np.ndarray, arrays: Mapping[str, np.ndarray],
             before: Mapping[str, np.ndarray] | None = None, run: int = 0, broken_only: bool = False) -> list[Peak]:  # fmt: skip
    """Every limited quantity of one run whose signals are known at the times t, joint after joint.

    Args:
        before: the same signals just before the times t, where they may jump.
    """
    found: list[Peak] = []

    def add(quantity: str, joint: int, times: np.ndarray, values: np.ndarray, limit: Any) -> None:
        good = np.isfinite(values)
        if not good.any():
            return
        times, values = times[good], values[good]
        check = worst(quantity, values, times, limit)
        if not (broken_only and check.ok):
            low, high = int(np.argmin(values)), int(np.argmax(values))
            ends = float(values[low]), float(times[low]), float(values[high]), float(times[high])
            found.append((run, quantity, joint, *ends, check.first))

    for quantity, signal in SIGNALS.items():
        for i, entry in enumerate(limits.get(quantity) or ()):
            if entry is None or signal not in arrays:
                continue
            times, values = filled(quantity, t, arrays, i)
            if before is not None and signal in before:
                times, values = np.concatenate([times, t]), np.concatenate([values, before[signal][:, i]])
                order = np.argsort(times, kind="stable")
                times, values = times[order], values[order]
            add(quantity, i, times, values, limit_of(entry))
    tip = {key: size for key, size in (limits.get("tip") or {}).items() if key != "jerk"}
    if tip and robot.tip is not None and robot.is_numeric:
        _, v, a = point_rates(robot, "tip", *(np.asarray(arrays[name], float) for name in ("q", "qd", "qdd")))
        for key, size in tip.items():
            add(key, TIP, t, np.linalg.norm(v if key == "velocity" else a, axis=-1), float(size))
    return found
