r"""Learning from run to run: a motion that is repeated is followed better each time.

.. math:: r_{k+1}(t) = r_k(t) + \gamma\,e_k(t + \delta),\qquad e_k = q_d - q_k

The controller is left as it is and sees another reference each time [Arimoto, Kawamura & Miyazaki 1984]. With the closed loop G from reference to motion the
errors shrink where :math:`|1 - \gamma e^{j\omega\delta}G(j\omega)| < 1`; a lead δ of about the lag of the loop widens that range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from manipula.algebra.arguments import finite_array, whole_number
from manipula.algebra.value import FrozenDict, Value, handed_over
from manipula.errors import DescriptionError
from manipula.motion.waypoints import waypoints
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.simulate import simulate

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory

MOST = 1000  # runs
WORSE = 1.1  # times the smallest error of a joint: what is reported
NOTHING = 1e-9  # rad or m, below which errors are those of the numbers


@dataclass(frozen=True, eq=False, repr=False)
class Learned(Value):
    """What was learned.

    Attributes:
        results: of every run, the first with the reference as it was given; their signal ``correction`` is what was learned until then, the reference
            of the run minus q_d. reference: with which the last run was made.
        errors: root mean square of q_d − q over all samples, one row per run and one number per joint.
        notes: for whoever reads it: which joints had been followed better before the last run.
    """

    results: tuple[Result, ...]
    reference: Trajectory
    errors: np.ndarray
    notes: tuple[str, ...] = ()


def iterative_learning(scenario: Scenario, iterations: int = 10, gain: float = 0.5, lead: float = 0.0) -> Learned:
    """Repeat a run along a joint reference and correct the reference from run to run.

    Args:
        scenario: one run of kind "dynamic" along one joint reference, without switches to others. Its samples are the points at which is learned.
        iterations: corrections; there is one run more.
        gain: γ, above 0 and at most 2. lead: δ, how much later errors are looked at [s].

    Raises:
        DescriptionError: the scenario is no such run, or a number is out of range. SolveError: a run did not finish.
    """
    if not isinstance(scenario, Scenario) or scenario.resolved_kind() != "dynamic":
        raise DescriptionError("Learning needs a Scenario of kind 'dynamic'.", field="scenario")
    if scenario.is_batch or getattr(scenario.reference, "space", "") != "joint":
        raise DescriptionError("Learning needs one run along a joint reference.", field="scenario")
    if any(switch.reference is not None for switch in scenario.switches):
        raise DescriptionError(
            "Learning corrects one reference; this run switches to another. Put both into one reference, or leave the switch out.",
            field="scenario.switches",
        )
    count = whole_number(iterations, "iterations", 1, MOST)
    rate, ahead = (float(finite_array(v, name).reshape(())) for v, name in ((gain, "gain"), (lead, "lead")))
    if not 0.0 < rate <= 2.0:
        raise DescriptionError(f"A gain above 0 and at most 2 is needed, found {rate:g}.", field="gain")
    if not 0.0 <= ahead < float(scenario.duration or 0.0):
        raise DescriptionError(f"A lead from 0 to the duration of the run is needed, found {ahead:g} s.", field="lead")
    start = scenario.replace(q0=scenario.q0 if scenario.q0 is not None else scenario.reference.position(0.0))
    t = start.times
    wanted = np.asarray(start.reference.position(t), float)
    points, reference = wanted.copy(), start.reference
    results: list[Result] = []
    for k in range(count + 1):
        found = simulate(start.replace(reference=reference)).check()
        results.append(replace(found, arrays=FrozenDict({**found.arrays, "correction": handed_over(points - wanted)})))
        if k < count:
            error = wanted - results[-1].q
            later = np.array([np.interp(t + ahead, t, column) for column in error.T]).T
            points = points + rate * later
            reference = waypoints(t, points, ends="natural")
    errors = np.array([np.sqrt(np.mean((wanted - r.q) ** 2, axis=0)) for r in results])
    return Learned(tuple(results), reference, errors, _worse_again(errors, start.robot.joint_names))


def _worse_again(errors: np.ndarray, names: Sequence[str]) -> tuple[str, ...]:
    """Joints whose errors (runs, n) had been smaller before the last run."""
    best = np.argmin(errors, axis=0)
    least = errors[best, range(len(names))]
    worse = [i for i in range(len(names)) if errors[-1, i] > max(WORSE * least[i], NOTHING)]
    if not worse:
        return ()
    told = ", ".join(f"{names[i]} ({least[i]:.3g} in run {best[i]}, {errors[-1, i]:.3g} in the last)" for i in worse)
    note = (
        f"The errors do not shrink any more: {told}. Where |1 − γ exp(jωδ) G(jω)| > 1 they grow from run to run: take fewer iterations, a "
        "smaller gain, a lead of about the lag of the loop, or a stiffer controller."
    )
    return (note,)
