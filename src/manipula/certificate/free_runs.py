r"""Energy of free motion: what is integrated must keep it.

Without friction and drives :math:`T + V` is constant; with them :math:`T + V` plus what drives and friction have taken is. Both are reported as a share of
the largest kinetic energy and of the range of the potential energy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.certificate.certificate import DISAGREES, CertifiedRow
from manipula.certificate.own_routes import Certified
from manipula.errors import ManipulaError
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.simulate import simulate

DURATION = 1.0  # s
RUN = 1e-9  # tolerance of the runs
# of the energies: ten times the tolerance of the run, whose error an energy doubles and sums over the joints
DRIFT = 1e-8
METHOD = (
    f"Free motion: {DURATION:g} s from the first state, integrated with a tolerance of {RUN:g}; the drift is a share of the "
    f"largest kinetic energy plus the range of the potential energy, and may be {DRIFT:g}."
)


def energy_rows(case: Certified) -> list[CertifiedRow]:
    """The drift of a run without friction and drives; where the robot has some, what is unaccounted for with them."""
    if case.reference.singular:
        return [CertifiedRow.left_out("motion", "free motion", "T + V without friction", case.reference.singular)]
    found = [_row(case, "T + V without friction", {"friction": (), "drives": ()})]
    if any(j.friction is not None or j.drive is not None for j in case.robot.joints):
        found.append(_row(case, "T + V + works, with friction and drives", {}))
    return found


def _row(case: Certified, name: str, parts: dict[str, Any]) -> CertifiedRow:
    try:
        return _measured(case, name, parts)
    except ManipulaError as problem:
        return CertifiedRow.left_out("motion", "free motion", name, str(problem))
    except Exception as problem:
        why = f"{type(problem).__name__}: {problem}"
        return CertifiedRow.left_out("motion", "free motion", name, why, DISAGREES)


def _measured(case: Certified, name: str, parts: dict[str, Any]) -> CertifiedRow:
    s = case.states
    run = simulate(Scenario(case.robot, q0=s.q[0], qd0=s.qd[0], duration=DURATION, sample=0.01, tolerance=RUN, **parts))
    kept = run.t <= (run.trusted_until if run.trusted_until > 0 else -1.0)
    if kept.sum() < 2:
        return CertifiedRow.left_out("motion", "free motion", name, f"The run is {run.status}: {run.reason}")
    note = "" if run.ok else f"Up to t = {run.t[kept][-1]:g} s; the run is {run.status}: {run.reason}"
    return CertifiedRow.of("motion", "free motion", name, _drift(case, run, kept, bool(parts)), DRIFT, 1, note)


def _drift(case: Certified, run: Result, kept: np.ndarray, conserved: bool) -> float:
    q, qd = run.q[kept], run.qd[kept]
    T, V = case.model.kinetic_energy(q, qd), case.model.potential_energy(q)
    size = float(T.max() + np.ptp(V)) or 1.0
    left = T + V - (T[0] + V[0]) if conserved else run.audit[kept]
    return float(np.abs(left).max() / size)
