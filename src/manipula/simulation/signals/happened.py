"""What the state decided during a run, in sentences: when switches happened, whether anything was touched, whether wrenches did any work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from manipula.simulation.loops.interpreted import python_plant
from manipula.simulation.plant.contact import EndStop
from manipula.simulation.plant.disturbances import is_wrench
from manipula.simulation.plant.events import contact_sides
from manipula.simulation.signals.observed import switch_instants

if TYPE_CHECKING:
    from manipula.simulation.loops.fixed import RunSamples
    from manipula.simulation.loops.setup import Run


def happened_notes(run: Run, samples: RunSamples) -> tuple[str, ...]:
    """A sentence on every switch, and on what was given but did nothing in this run."""
    return (*_switches(run, samples), *_contacts(run, samples), *_wrenches(run, samples))


def _switches(run: Run, samples: RunSamples) -> tuple[str, ...]:
    if not run.plant.switches:
        return ()
    found = []
    ends = np.where(np.isfinite(samples.stopped), samples.stopped, samples.t[-1])
    for index, instants in enumerate(switch_instants(run, samples.last, ends).T):
        when = instants[instants >= 0.0]
        if not len(when):
            found.append(f"switches[{index}] never happened.")
        elif len(instants) == 1:
            found.append(f"switches[{index}] happened at t = {when[0]:.9g} s.")
        else:
            found.append(
                f"switches[{index}] happened in {len(when)} of {len(instants)} runs, from t = {when.min():.6g} s on."
            )
    return tuple(found)


def _contacts(run: Run, samples: RunSamples) -> tuple[str, ...]:
    """Their work is integrated along every step: it is exactly zero where nothing was touched, or touched without moving from the start on.

    End stops are there to be stayed away from, and are not spoken of.
    """
    if all(isinstance(c, EndStop) for c in run.plant.contacts):
        return ()
    idle = ~_worked(run.plant.layout.audit(samples.x).contact)
    if idle.any():
        idle &= ~_pressed(run, samples)
    return _told("contacts", "the arm touched none of them", idle)


def _pressed(run: Run, samples: RunSamples) -> np.ndarray:
    """In which runs does the arm touch something at the start?"""
    if samples.commands is not None:  # a controller in Python: one run after the other
        sides = [contact_sides(python_plant(run, k), 0.0, x) for k, x in enumerate(run.x0)]
        return np.array([min(s, default=1.0) < 0.0 for s in sides])
    kernel = run.loop.observe
    start = dict(zip(kernel.graph.outputs, kernel(run.x0, run.p, *run.inputs, 0.0)))
    return np.any(np.asarray(start["contact_force"], float) != 0.0, axis=-1)


def _wrenches(run: Run, samples: RunSamples) -> tuple[str, ...]:
    if not any(is_wrench(d) for d in run.plant.disturbances):
        return ()
    idle = ~_worked(run.plant.layout.audit(samples.x).external)
    return _told("disturbances", "their wrenches did no work at all on the arm", idle)


def _worked(work: np.ndarray) -> np.ndarray:
    """In which runs is the work (N, S) anywhere else than at exactly zero?"""
    return np.any(np.nan_to_num(work) != 0.0, axis=1)


def _told(field: str, what: str, idle: np.ndarray) -> tuple[str, ...]:
    if not idle.any():
        return ()
    return (f"{field}: {what}." if len(idle) == 1 else f"{field}: in {idle.sum()} of {len(idle)} runs {what}.",)
