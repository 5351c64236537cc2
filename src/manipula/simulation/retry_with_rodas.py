"""Runs whose integrator was left open and whose first method failed, made again by methods whose step follows the error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from manipula.simulation.assembly import WORST_FIRST, least
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario

ENDS = ("finished", "limit")  # of a run that can be trusted to its end, or to the limit it was asked to stop at
NAMED = 6  # runs of a batch that a note names


def retry_with_rodas(s: Scenario, result: Result, simulate: Callable[[Scenario], Result]) -> Result:
    """The runs that are not finished, by methods whose step follows the error, where one can be trusted; else what the first gave.

    Light links under strong gains are the usual case: the answer is smooth, only the explicit method cannot take the step (rodas).
    What swings fast without damping needs short steps of a high order instead (dop853).
    """
    first = f"RK4 with a step of {s.step:g} s" if s.integrator == "rk4" else s.integrator
    for method in (m for m in ("rodas", "dop853") if m != s.integrator):
        if not s.is_batch:
            other = simulate(s.replace(integrator=method))
            if other.status in ENDS:
                note = f"{first} ended as '{result.status}', so the run was repeated with {method}, whose step follows the error."
                return replace(other, notes=(*other.notes, note))
            continue
        bad = [k for k, status in enumerate(result.statuses) if status not in (*ENDS, "singular")]
        if bad:
            other = simulate(chosen(s, bad).replace(integrator=method))
            cured = [(k, j) for j, k in enumerate(bad) if other.statuses[j] in ENDS]
            result = merged(result, other, cured, first, method) if cured else result
    return result


def chosen(s: Scenario, members: list[int]) -> Scenario:
    """The scenario with some runs of its batch only."""

    def of(value: Any, axes: int) -> Any:
        return [value[k] for k in members] if np.ndim(value) >= axes else value

    groups = {
        name: None if group is None else {key: of(value, 1) for key, value in group.items()}
        for name, group in (("parameters", s.parameters), ("vary", s.vary))
    }
    return s.replace(q0=of(s.q0, 2), qd0=of(s.qd0, 2), **groups)


def merged(result: Result, other: Result, cured: list[tuple[int, int]], first: str, method: str) -> Result:
    """The batch with the runs ``cured`` (number in the batch, number in ``other``) taken from the other result."""
    arrays = {name: values.copy() for name, values in result.arrays.items()}
    statuses, reasons = list(result.statuses), list(result.reasons)
    errors, trusted = list(result.error_estimates), list(result.trusted_untils)
    for k, j in cured:
        for name, values in arrays.items():
            values[k] = other.arrays[name][j]
        statuses[k], reasons[k] = other.statuses[j], other.reasons[j]
        errors[k], trusted[k] = other.error_estimates[j], other.trusted_untils[j]
    new = {j: k for k, j in cured}  # what was seen between samples goes with its run
    seen = [row for row in result.meta.get("peaks", ()) if row[0] not in dict(cured)]
    seen += [(new[row[0]], *row[1:]) for row in other.meta.get("peaks", ()) if row[0] in new]
    worst = min(range(len(statuses)), key=lambda k: WORST_FIRST.index(statuses[k]))
    count = statuses.count(statuses[worst])
    names = ", ".join(str(k) for k, _ in cured[:NAMED]) + (", …" if len(cured) > NAMED else "")
    note = (
        f"{len(cured)} of {len(statuses)} runs (number {names}), which {first} could not finish, "
        f"were repeated with {method}, whose step follows the error."
    )
    return replace(
        result, arrays=arrays, status=statuses[worst], reason=f"{count} of {len(statuses)} runs: {reasons[worst]}",
        statuses=tuple(statuses), reasons=tuple(reasons), error_estimates=tuple(errors), trusted_untils=tuple(trusted),
        meta={**result.meta, "peaks": tuple(seen)} if seen or "peaks" in result.meta else result.meta,
        error_estimate=float(np.nanmax(errors)), trusted_until=least(np.array(trusted)), notes=(*result.notes, note),
    )  # fmt: skip
