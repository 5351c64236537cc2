"""What a run did beside its state: accelerations, torques, poses, energies and works at every sample.

They follow from the recorded states by one compiled observer. Where a run is made of nothing but this package's own parts they are
computed when somebody first looks at one of them; user code may be other code by then, so its signals are computed at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.value import FrozenDict, LazyDict, handed_over
from manipula.simulation.loops.fixed import RunSamples
from manipula.simulation.loops.setup import Run
from manipula.simulation.loops.watching import payload_instants
from manipula.simulation.plant.disturbances import PayloadChange
from manipula.simulation.plant.numbers import paths_of
from manipula.simulation.plant.switch import SNAP

ROUNDING = 1e-9  # s, on either side of an instant


def observed(run: Run, samples: RunSamples, threads: int | None = None) -> FrozenDict:
    """Every signal of a result by name, (N, S, …), or (S, …) where the run is no batch."""
    state = {"q": run.plant.layout.q(samples.x), "qd": run.plant.layout.qd(samples.x)}
    later = lambda: _delivered(run, samples, _derived(run, samples, state, threads))  # noqa: E731
    if run.loop.parts is None or samples.commands is not None:
        return FrozenDict({**_delivered(run, samples, state), **later()})
    return LazyDict(_delivered(run, samples, state), (derived_names(run), later))


def derived_names(run: Run) -> list[str]:
    """Of the signals beside q and qd, in their order."""
    s, lay = run.scenario, run.plant.layout
    apart = ("pose", "kinetic", "potential", "drive_energy", "target", "target_rate")
    names = [name for name in run.loop.observe.graph.outputs if name not in apart]
    names += ["tip", "pose"] if s.robot.tip is not None else []
    names += ["target", "target_rate", "error"] if run.plant.controller is not None and s.reference is not None else []
    names += [
        "kinetic",
        "potential",
        "drive_energy",
        "energy",
        "work_drives",
        "work_friction",
        "work_external",
        "audit",
    ]
    names += ["work_contact", "contact_loss"] if s.contacts else []
    names += ["work_base"] if s.base_motion is not None else []
    names += ["work_payload"] if any(isinstance(d, PayloadChange) for d in s.disturbances) else []
    names += ["bristles"] if sum(lay.friction) else []
    names += ["motors"] if sum(lay.drives) else []
    names += ["controller_states"] if lay.controller else []
    return names + (["switched"] if run.plant.switches else [])


def _delivered(run: Run, samples: RunSamples, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays as a result holds them: nothing after an early end, read-only."""
    for k in np.flatnonzero(np.isfinite(samples.stopped)):
        after = np.isnan(samples.x[k]).any(axis=1)
        for values in arrays.values():
            if values.base is not samples.x:
                values[k, after] = np.nan
    one = not run.scenario.is_batch
    return {name: handed_over(value[0] if one else value) for name, value in arrays.items()}


def _derived(run: Run, samples: RunSamples, state: dict[str, np.ndarray], threads: int | None) -> dict[str, np.ndarray]:
    s, lay, x = run.scenario, run.plant.layout, samples.x
    kernel, more = (run.loop.observe, ()) if samples.commands is None else (run.loop.observe_given, (samples.commands,))
    seen = kernel(x, run.p[:, None], *run.inputs, samples.t, *more, threads=threads)
    named = dict(zip(kernel.graph.outputs, seen))
    pose = named.pop("pose")
    kinetic, potential, drive_energy = named.pop("kinetic"), named.pop("potential"), named.pop("drive_energy")
    target, target_rate = named.pop("target"), named.pop("target_rate")
    arrays: dict[str, np.ndarray] = named
    if s.robot.tip is not None:
        arrays["tip"], arrays["pose"] = pose[..., :3, 3], pose
    if run.plant.controller is not None and s.reference is not None:
        arrays["target"], arrays["target_rate"] = target, target_rate
        actual = _tip_in_base(arrays) if s.reference.space == "task" else state["q"]
        arrays["error"] = target - actual
    audit = lay.audit(x)
    arrays["kinetic"], arrays["potential"], arrays["drive_energy"] = kinetic, potential, drive_energy
    arrays["energy"] = kinetic + potential
    arrays["work_drives"], arrays["work_friction"], arrays["work_external"] = audit[:3]
    stored = arrays["energy"] - arrays["energy"][:, :1]
    arrays["audit"] = audit.drives - audit.friction + audit.external - stored
    if s.contacts:
        arrays["work_contact"] = audit.contact.copy()
        held = arrays["contact_energy"] - arrays["contact_energy"][:, :1]
        arrays["contact_loss"] = -audit.contact - held
        arrays["audit"] = arrays["audit"] + audit.contact
    if s.base_motion is not None:
        arrays["work_base"] = audit.base.copy()
        arrays["audit"] = arrays["audit"] + audit.base
    if samples.changed is not None:
        arrays["work_payload"], springs = _payload_energy(run, samples)
        arrays["audit"] = arrays["audit"] + arrays["work_payload"]
        if s.contacts:  # a tool that is put on inside a wall finds its spring pressed
            arrays["contact_loss"] = arrays["contact_loss"] + springs
    if sum(lay.friction):
        arrays["bristles"] = x[..., 2 * lay.n : 2 * lay.n + sum(lay.friction)].copy()
    if sum(lay.drives):
        start = 2 * lay.n + sum(lay.friction)
        arrays["motors"] = x[..., start : start + sum(lay.drives)].copy()
    if lay.controller:
        arrays["controller_states"] = np.asarray(lay.controller_states(x)).copy()
    if run.plant.switches:
        arrays["switched"] = switch_instants(run, x, samples.t)
    return arrays


def switch_instants(run: Run, x: np.ndarray, t: Any) -> np.ndarray:
    """When every switch happened, seen from states x (N, …, size) at times t (…); −1: not yet."""
    out = np.full((*x.shape[:-1], len(run.plant.switches)), -1.0)
    own = iter(range(run.plant.layout.switches))
    paths = paths_of(run.plant) if any(s.when is None for s in run.plant.switches) else []
    for i, switch in enumerate(run.plant.switches):
        if switch.when is not None:
            found = np.asarray(run.plant.layout.switch_states(x))[..., next(own)]
            out[..., i] = np.where(found < 0.0, -1.0, found)  # a state below zero says what it waits for
        else:
            time = run.p[:, paths.index(f"switches[{i}].time")].reshape(-1, *[1] * (x.ndim - 2))
            out[..., i] = np.where(t >= time - SNAP * (1.0 + np.abs(t)), time, -1.0)
    return out


def _tip_in_base(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """The tip as a reference sees it, in axes of the base."""
    if "base_pose" not in arrays:
        return arrays["tip"]
    X = arrays["base_pose"]
    return np.einsum("...ji,...j->...i", X[..., :3, :3], arrays["tip"] - X[..., :3, 3])


def _energy_beside(run: Run, x: np.ndarray, when: np.ndarray, beside: float) -> np.ndarray:
    """Energies of the arm and of the contacts just before or just after an instant, (N, 2).

    A moving base has changed them already by the time at which they are evaluated.
    """
    near, far = (run.loop.energy(x, run.p, *run.inputs, when + times * beside) for times in (1.0, 2.0))
    return np.asarray(2.0 * near - far)


def _payload_energy(run: Run, samples: RunSamples) -> np.ndarray:
    """Energy that payload changes bring into the arm and into the springs of contacts until each sample [J], (2, N, S).

    The new mass already moves with the tip. What is carried from the start on is no change.
    """
    t, total = samples.t, np.zeros((2, *samples.x.shape[:2]))
    for k, when in enumerate(payload_instants(run).T):
        x = samples.changed[:, k]  # pyright: ignore[reportOptionalSubscript]
        before, after = (_energy_beside(run, x, when, side * ROUNDING) for side in (-1.0, 1.0))
        reached = (t >= when[:, None] - 1e-3 * ROUNDING) & (when[:, None] > t[0])
        total += np.where(reached, (after - before).T[..., None], 0.0)
    return total
