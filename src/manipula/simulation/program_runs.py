"""Programmed motions in batches, and the runs of a controller that realises one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from contextvars import copy_context
from typing import Any

import numpy as np

from manipula.algebra.value import handed_over
from manipula.control.base import Controller
from manipula.control.torque_table import TorqueTable
from manipula.errors import DescriptionError, ShapeError
from manipula.identity import is_own
from manipula.native.calling.threads import available_cores
from manipula.simulation.assembly import WORST_FIRST, least
from manipula.simulation.programmed.scenario import ProgramScenario
from manipula.simulation.result import Result
from manipula.simulation.run_file import run_programmed_scenario
from manipula.simulation.scenario import Scenario

FEEDBACK = {"kp": 400.0, "kv": 40.0}  # 1/s², 1/s: errors decay with 20 1/s, critically damped


def run_batch(
    program: ProgramScenario,
    q0: Any = None,
    qd0: Any = None,
    parameters: Mapping[str, Any] | None = None,
    friction: bool = True,
) -> Result:
    """The programmed motion from several starts (``q0``, ``qd0`` (N, n)) or with several values of its parameters (N each), as one result.

    All runs share machine code; each is integrated, repeated and judged by itself, and is what it would be alone. The first one brings the machine code,
    the others go on all cores at once; where independent coordinates are chosen anew differs from run to run, so they do not go side by side in one vector.
    With user code in the program they go one after the other.

    Raises:
        DescriptionError, ShapeError: nothing has N entries, or not all the same N.
    """
    given = {"q0": q0, "qd0": qd0}
    many = {name: np.asarray(v, float) for name, v in given.items() if v is not None}
    lists = {name: np.asarray(v, float) for name, v in (parameters or {}).items()}
    sizes = {len(v) for v in many.values() if v.ndim == 2} | {len(v) for v in lists.values() if v.ndim == 1}
    if not sizes:
        raise DescriptionError(
            "A batch needs several starts, q0 or qd0 of shape (N, n), or parameters with N values; one motion is run().",
            field="q0",
        )
    if len(sizes) > 1:
        raise ShapeError(f"The batch has different sizes: {sorted(sizes)}.")

    def one(k: int) -> Result:
        now = program.with_parameters({name: float(v[k] if v.ndim else v) for name, v in lists.items()})
        now = now.replace(**{name: v[k] if v.ndim == 2 else v for name, v in many.items()})
        return run_programmed_scenario(now, friction)

    return _together(_on_all_cores(one, sizes.pop(), is_own(program.motion.plant)), lists)


def _on_all_cores(one: Callable[[int], Result], count: int, own: bool) -> list[Result]:
    """Results of the runs 0 … count − 1 in this order; an interruption ends what has not begun."""
    first = [one(0)]
    workers = min(available_cores(), count - 1) if own else 1
    if workers < 2:
        return first + [one(k) for k in range(1, count)]
    from concurrent.futures import ThreadPoolExecutor  # imports much

    pool = ThreadPoolExecutor(workers, thread_name_prefix="manipula-program")
    try:
        context = [copy_context() for _ in range(count)]  # who listens to the phases of a run
        waiting = [pool.submit(context[k].run, one, k) for k in range(1, count)]
        return first + [task.result() for task in waiting]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _together(runs: list[Result], parameters: dict[str, np.ndarray]) -> Result:
    """One result of several runs of the same program."""
    first = runs[0]
    arrays = {name: handed_over(np.stack([r.arrays[name] for r in runs])) for name in first.arrays}
    statuses, reasons = tuple(r.status for r in runs), tuple(r.reason for r in runs)
    errors, trusted = tuple(r.error_estimate for r in runs), tuple(r.trusted_until for r in runs)
    worst = min(range(len(runs)), key=lambda k: (WORST_FIRST.index(statuses[k]), -np.nan_to_num(errors[k], nan=-1.0)))
    peaks = tuple((k, *row[1:]) for k, r in enumerate(runs) for row in r.meta.get("peaks", ()))
    values = {name: np.broadcast_to(v, len(runs)).tolist() for name, v in parameters.items()}
    meta = {**first.meta, "scenario_toml": "", "parameters": {**first.meta.get("parameters", {}), **values}}
    meta |= {"peaks": peaks} if peaks else {}
    told = dict.fromkeys(note if len(runs) == 1 else f"Run {k}: {note}" for k, r in enumerate(runs) for note in r.notes)
    return dataclasses.replace(
        first, arrays=arrays, status=statuses[worst], reason=f"{statuses.count(statuses[worst])} of {len(runs)} runs: {reasons[worst]}",
        statuses=statuses, reasons=reasons, error_estimate=float(np.nanmax(errors)) if np.isfinite(errors).any() else float("nan"),
        error_estimates=errors, trusted_until=least(np.array(trusted)), trusted_untils=trusted, notes=tuple(told), meta=meta, scenario=None,
    )  # fmt: skip


def realised(
    program: ProgramScenario,
    controller: Controller | None = None,
    *,
    friction: bool = True,
    compensated: bool = True,
    **settings: Any,
) -> Scenario:
    r"""The scenario of a controller that realises a programmed motion on the arm itself, without constraints.

    The program is run; its motion becomes the reference, and the torques of its drives and multipliers, :math:`\tau = \tau_{applied} + A^T\mu`, are
    fed forward, with feedback :math:`M(q)(K_p e + K_v\dot e)` around them (kp = 400, kv = 40).

    Args:
        controller: another one that follows the motion in joint space (computed torque, say) in place of this.
        friction: does the friction of the program act on the arm, in the program and in the run? compensated: is it in the torques that are fed forward?
        settings: of the Scenario: ``q0`` (N, n) for a batch of starts, ``step``, ``sample``, ``contacts``, ``noise`` …
    """
    plan = run_programmed_scenario(program, friction).check()
    if controller is None:
        controller = TorqueTable.of(plan.t, plan.tau if compensated else plan.tau - plan.friction, **FEEDBACK)
    laws = program.friction if friction else ()
    given = {
        "q0": plan.q[0],
        "qd0": plan.qd[0],
        "sample": program.sample,
        "name": f"{program.name}, realised",
        "limits": program.limits,
    }
    free = {name: value for name, value in program.parameters.items() if name in program.robot.parameters}
    given |= {"parameters": free} if free else {}
    return Scenario(program.robot, plan.to_reference(), controller, friction=laws, drives=(), **{**given, **settings})
