"""Does the energy of a run with contacts or stiction add up? What steps pass over there, a repetition may pass over too; the energy does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.sticking import sticky
from manipula.simulation.result import RunVerdict

ALLOWED = 1e3  # tolerances, of the largest energy that was exchanged: an impact multiplies what a step commits
ROUNDING = 1e-12  # J, and of the mechanical energy


def with_energy_verdicts(run: Run, arrays: Mapping[str, Any], verdicts: Sequence[RunVerdict]) -> list[RunVerdict]:
    """The verdicts, those on finished runs replaced where energy is unaccounted for."""
    if not (run.plant.contacts or sticky(run.plant.friction)):
        return list(verdicts)
    rows = lambda name: np.abs(np.reshape(arrays[name], (len(verdicts), -1)))  # noqa: E731
    exchanged = [rows(name) for name in arrays if name == "kinetic" or name.startswith("work_")]
    lost, energy = rows("audit").max(axis=1), rows("energy").max(axis=1)
    largest = np.max([part.max(axis=1) for part in exchanged], axis=0)
    bound = ALLOWED * run.scenario.tolerance * largest + ROUNDING * (1.0 + energy)
    told = "{:.1e} J of energy are unaccounted for, of {:.1e} J exchanged: steps were too long for a contact or for stiction. Reduce the step."
    return [
        RunVerdict("inaccurate", told.format(lost[k], largest[k]))
        if v.status == "finished" and not lost[k] <= bound[k]
        else v
        for k, v in enumerate(verdicts)
    ]
