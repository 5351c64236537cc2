"""Disturbances whose numbers differ from run to run of a batch: would they act in every one of them?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from manipula.errors import DescriptionError
from manipula.simulation.checks.idle_parts import check_payload_times, disturbance_idle

if TYPE_CHECKING:
    from manipula.simulation.scenario import Scenario

INSTANTS = ("start", "stop", "time", "mass")


def check_runs(s: Scenario, paths: list[str], p: np.ndarray) -> None:
    """Is every disturbance that varies one that acts in every run?

    Args:
        paths: names of the columns of p. p: the numbers of all runs, (N, k).

    Raises:
        DescriptionError: with the path, the run, and why it would not.
    """
    for i, d in enumerate(s.disturbances):
        own = {name: paths.index(path) for name in INSTANTS if (path := f"disturbances[{i}].{name}") in paths}
        varied = [path for path in s.vary if path.startswith(f"disturbances[{i}].")]
        rows = np.unique(p[:, list(own.values())], axis=0, return_index=True)[1] if varied and own else ()
        for k in sorted(rows):
            numbers = {name: float(p[k, column]) for name, column in own.items()}
            if "stop" in numbers and numbers["start"] >= numbers["stop"]:
                why = f"the wrench starts at {numbers['start']:g} s and stops at {numbers['stop']:g} s: it would never act."
            else:
                why = disturbance_idle(replace(d, **numbers), float(s.duration or 0.0), s.robot)
            if why:
                raise DescriptionError(f"In run {k} {why}", field=f"vary.{varied[0]}")
    columns = {i: paths.index(f"disturbances[{i}].time") for i, d in enumerate(s.disturbances) if d.name == "payload"}
    for k, row in enumerate(p if len(columns) > 1 else ()):
        check_payload_times({i: float(row[column]) for i, column in columns.items()}, f"In run {k} ")
