r"""Kinematic closed loop: resolved motion rate with null-space criteria, no dynamics in the loop.

.. math:: \dot q = J^+\left(\dot x_d + k(x_d - x)\right) + (1 - J^+J)\,z

Accelerations are the exact time derivative of this law along its own motion; torques follow from inverse dynamics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula import native
from manipula.algebra.jet import Jet
from manipula.algebra.linear import array
from manipula.control.arm import Arm, null_space_times, pseudoinverse_times
from manipula.control.null_space import combined
from manipula.errors import DescriptionError
from manipula.simulation.integrators import FIXED
from manipula.simulation.loop import ReferenceTable, within
from manipula.simulation.progress import phase
from manipula.simulation.scenario import Scenario

_KERNELS: dict[Any, tuple[native.Kernel, native.Kernel]] = {}  # runs of one robot and one law share machine code
_KEPT = 16


def law(s: Scenario, arm: Arm, q: Any, x: Any, v: Any) -> np.ndarray:
    """Joint rates at posture q for a target position x and velocity v of the task's coordinates."""
    J = arm.task_jacobian(q)
    rows = list(arm.task)
    rate = pseudoinverse_times(J, array(v + s.gain * (x - arm.position(q)[rows])))
    if s.criteria:
        rate = rate + null_space_times(J, combined(s.criteria, arm, q))
    return array(rate)


def kernels(s: Scenario) -> tuple[native.Kernel, native.Kernel]:
    """The compiled loop over q and the observer that gives qd, qdd at a sample."""
    arm = Arm(s.robot)
    rows = list(arm.task)
    n = s.robot.n
    method = FIXED[s.integrator]
    shapes: dict[str, tuple[Any, ...]] = {"q": (n,), "breaks": ("m+1",), "coefficients": ("m", 3, 6)}

    def target(breaks: Any, coefficients: Any) -> Any:
        table = native.table(breaks, coefficients)
        first, second = table.derivative(), table.derivative(2)
        return lambda t: (table(t)[rows], first(t)[rows], second(t)[rows])

    def loop(q: Any, breaks: Any, coefficients: Any, h: Any, steps: Any, every: Any) -> Any:
        at = target(breaks, coefficients)

        def step(i: Any, state: Any) -> Any:
            inside = within(i * h, h)
            f = lambda t, y: law(s, arm, y, *at(inside(t))[:2])  # noqa: E731
            return (method.step(f, i * h, state, h, 0),)

        done = native.repeat(step, (q,), steps, record=lambda i, state: state, every=every)
        return {"samples": done.samples, "last": done.state[0]}

    def observe(q: Any, breaks: Any, coefficients: Any, t: Any) -> Any:
        x, v, a = target(breaks, coefficients)(t)
        qd = law(s, arm, q, x, v)
        moving = lambda value, rate: np.array([Jet([c, r]) for c, r in zip(value, rate)], dtype=object)  # noqa: E731
        along = law(s, arm, moving(q, qd), moving(x, v), moving(v, a))
        qdd = array([y.derivative(1) if isinstance(y, Jet) else 0.0 for y in along])
        return {"qd": qd, "qdd": qdd}

    run = native.compile_function(
        loop, {**shapes, "h": (), "steps": (), "every": ()}, name=f"{s.robot.name}.kinematic",
        shared=("breaks", "coefficients", "steps", "every"),
    )  # fmt: skip
    look = native.compile_function(
        observe, {**shapes, "t": ()}, name=f"{s.robot.name}.kinematic_observer", shared=("breaks", "coefficients")
    )
    return run, look


def run_kinematic(s: Scenario, q0: np.ndarray) -> dict[str, Any]:
    """Samples t, q, qd, qdd of a kinematic run, (N, S, n), and the error estimate of a repetition with half the step."""
    if s.reference is None or s.reference.space != "task":
        raise DescriptionError("A kinematic run follows a task reference.", field="reference")
    if s.integrator not in FIXED:
        raise DescriptionError(
            f"A kinematic run takes fixed steps: {', '.join(FIXED)}; found '{s.integrator}'.", field="integrator"
        )
    table = ReferenceTable.of(s.reference, 3)
    key = (s.robot, s.criteria, s.gain, s.integrator)
    if key not in _KERNELS:
        while len(_KERNELS) >= _KEPT:
            del _KERNELS[next(iter(_KERNELS))]
        _KERNELS[key] = kernels(s)
    run, look = _KERNELS[key]
    phase("integrating")
    steps, every = s.steps, s.every
    h = float(s.duration or 0.0) / steps
    t = np.arange(steps // every + 1) * (every * h)
    q, _ = run(q0, table.breaks, table.coefficients, h, steps, every)
    estimate = float("nan")
    if s.verify:
        from manipula.simulation.judge import compare

        phase("verifying")
        fine, _ = run(q0, table.breaks, table.coefficients, h / 2, 2 * steps, 2 * every)
        estimate = compare(q, fine, FIXED[s.integrator].order)
    qd, qdd = look(q, table.breaks, table.coefficients, t)
    return {"t": t, "q": q, "qd": qd, "qdd": qdd, "estimate": estimate}
