"""The closed loop of a run as functions of (t, x, p) that other languages can hold, with all that is needed to compute the run there.

The same plant that becomes machine code is traced once more, with gains, friction constants, payload and start as inputs. The steps are those of
``integrators/stepping.mjs``, which takes the coefficients of its methods from here. What has no such form is refused with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy

from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.codegen.base import Routine, RoutineVariable, SourceProgram
from manipula.control.base import Controller
from manipula.errors import CompileError, DescriptionError, ManipulaError, printable
from manipula.native import Graph, trace
from manipula.robot.link import Payload
from manipula.simulation.exported.numbers import PAYLOAD, SYMBOL, ChangeableNumber, changeable_numbers
from manipula.simulation.integrators import FIXED, tableaus
from manipula.simulation.loops.adaptive import compiled
from manipula.simulation.loops.fixed import grid_of, how_to_run
from manipula.simulation.loops.setup import Run, prepare_run
from manipula.simulation.numeric_robot import numeric_robot
from manipula.simulation.plant.disturbances import PayloadChange
from manipula.simulation.plant.layout import StateLayout
from manipula.simulation.plant.sticking import sticky
from manipula.simulation.recorded import scenario_of
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.stepping.grid import switching

MOST_SLIDERS = 16
MOST_OPERATIONS = 60_000  # of the flow and of what is observed together, so that files stay small
INTEGRATORS = ("rk4", "semi_implicit", "dopri5", "dop853")


@dataclass(frozen=True, eq=False)
class ExportedLoop:
    """Everything that another program needs to compute a run.

    Attributes:
        flow, observed: the rate of the state, and what is seen of it, as functions of (t, x, p).
        signals: place among the observed numbers, and columns, by name. numbers: those that may be changed.
        stepping: n, step, integrator, tableau, tolerance, marks, low and high, as ``stepping.mjs`` reads them.
    """

    scenario: Scenario
    flow: Graph
    observed: Graph
    signals: dict[str, tuple[int, int]]
    numbers: tuple[ChangeableNumber, ...]
    p: np.ndarray
    x0: np.ndarray
    times: np.ndarray
    stepping: dict[str, Any]

    def program(self, prefix: str, header: tuple[str, ...]) -> SourceProgram:
        """The two functions as a program to write."""
        routines = tuple(
            Routine(
                graph.name, summary, graph, tuple(RoutineVariable(k, k, tuple(s)) for k, s in graph.inputs.items()),
                tuple(RoutineVariable(k, "out", tuple(s)) for k, s in graph.outputs.items()), (), False,
            )
            for graph, summary in ((self.flow, "the rate of the state"), (self.observed, "what is seen of it"))
        )  # fmt: skip
        return SourceProgram(prefix, header, (), np.zeros(0), routines)


def exported_loop(result: Result, wanted: Sequence[str] | None = None, most: int = MOST_SLIDERS) -> ExportedLoop:
    """The loop of a run that has been computed.

    Args:
        wanted: paths of the numbers that may be changed, such as "controller.kp", "friction[0].damping", "payload.mass", "q0[1]"; None: gains,
            friction, payload and start, as many as ``most``.

    Raises:
        DescriptionError, CompileError: says why this run cannot leave Python.
    """
    scenario = _scenario(result)
    run, with_payload = _prepared(scenario, wanted)
    flow, observed, signals = _graphs(run, scenario)
    count = len(flow.operations) + len(observed.operations)
    if count > MOST_OPERATIONS:
        raise CompileError(f"The equations have {count} operations; at most {MOST_OPERATIONS} are written.")
    numbers = changeable_numbers(run, scenario, with_payload, wanted, most)
    name = scenario.integrator
    grid, unseen = grid_of(run, scenario.step if name in FIXED else None)
    if unseen:
        raise DescriptionError(f"The run holds what no step resolves: {unseen[0]}")
    instants = sorted({float(t) for t in (*grid.marks[1:-1], *switching(run.plant.disturbances)) if math.isfinite(t)})
    stepping = {
        "n": scenario.robot.n, "step": float(scenario.step), "integrator": name, "tableau": _tableau(name),
        "tolerance": max(1e-6 * float(scenario.tolerance), 2e-15), "marks": instants, "low": _finite(grid.low), "high": _finite(grid.high),
    }  # fmt: skip
    return ExportedLoop(
        scenario, flow, observed, signals, tuple(numbers), run.p[0], run.x0[0], np.asarray(grid.times, float), stepping
    )


def _finite(values: np.ndarray) -> list[float | None]:
    return [float(v) if math.isfinite(v) else None for v in values]


def _scenario(result: Result) -> Scenario:
    """The scenario of a run that a page can compute."""
    if result.arrays["q"].ndim == 3:
        raise DescriptionError("One run is computed outside Python and this is a batch; choose one: result.run(0).")
    scenario = scenario_of(result)
    if scenario is None:
        raise DescriptionError("The result does not carry the scenario that it was made from.")
    if not isinstance(scenario, Scenario) or result.meta.get("kind") not in ("dynamic", "free", "playback"):
        raise DescriptionError(
            f"Runs in which forces move an arm (dynamic, free, playback) can leave Python, not '{result.meta.get('kind')}'."
        )
    chosen = str(result.meta.get("integrator"))
    if chosen not in INTEGRATORS:
        known = ", ".join(INTEGRATORS)
        raise DescriptionError(
            f"The integrator '{chosen}' has no form in JavaScript; those that have: {known}.", field="integrator"
        )
    held = {
        "noise": scenario.noise.position > 0.0 or scenario.noise.velocity > 0.0,
        "actuator.delay": scenario.actuator.delay > 0.0,
    }
    held |= {"encoder": scenario.encoder.acts, "control_period": scenario.control_period is not None}
    if any(held.values()):
        raise DescriptionError(
            "Measurement noise, encoders, delays and control periods are not computed outside Python.",
            field=next(name for name, given in held.items() if given),
        )
    if any(isinstance(d, PayloadChange) for d in scenario.disturbances):
        raise DescriptionError("Payloads that change during the run are not computed outside Python.")
    if scenario.contacts or scenario.switches:
        raise DescriptionError("Contacts and switches end steps where they happen, which is not done outside Python.")
    return scenario.replace(integrator=chosen, verify=False)


def _prepared(scenario: Scenario, wanted: Sequence[str] | None) -> tuple[Run, bool]:
    """The run with the mass at its tip as an input, where that is possible."""
    robot = scenario.robot
    asked = wanted is not None and PAYLOAD in wanted
    if (wanted is None or asked) and robot.tip is not None and not scenario.is_batch:
        carried = robot.payload or Payload(0.0)
        free = replace(carried, mass=sympy.Symbol(SYMBOL))
        known = numeric_robot(robot, scenario.parameters, None)
        mass = float((known.payload if known is not None and known.payload is not None else carried).mass)
        laden = robot.replace(payload=free)
        values = {k: v for k, v in (scenario.parameters or {}).items() if k in laden.parameters} | {SYMBOL: mass}
        try:
            run = prepare_run(scenario.replace(robot=laden, parameters=values))
            return _checked(run), True
        except ManipulaError:
            if asked:
                raise
    if asked and robot.tip is None:
        raise DescriptionError("The robot has no tip that could carry a payload.", field=PAYLOAD)
    return _checked(prepare_run(scenario)), False


def _checked(run: Run) -> Run:
    if sticky(run.plant.friction):
        raise DescriptionError(
            "Joints that friction can hold end steps where they stick, which is not done outside Python.",
            field="friction",
        )
    controller = run.plant.controller
    if controller is not None and type(controller).prepare is not Controller.prepare:
        raise DescriptionError(
            f"The controller '{controller.name}' computes its gains before every run, which is not done outside Python.",
            field="controller",
        )
    chosen = run.scenario.integrator
    calls = how_to_run(run, (lambda: run.loop.run) if chosen in FIXED else (lambda: compiled(run.loop, chosen)))
    if run.loop.sampled or calls.python or calls.once_a_step:
        raise DescriptionError(
            f"The controller is asked by Python, which a page or another program has not. {calls.note}",
            field="controller",
        )
    return run


def _graphs(run: Run, scenario: Scenario) -> tuple[Graph, Graph, dict[str, tuple[int, int]]]:
    """The rate of the state and the signals of a result as functions of (t, x, p)."""
    loop, lay = run.loop, run.plant.layout
    inputs = {"t": (), "x": (lay.size,), "p": (run.p.shape[1],)}
    places: dict[str, tuple[int, int]] = {}

    def flow(t: Any, x: Any, p: Any) -> Any:
        return loop.traced(p, *run.inputs).flow(t, x).rate

    def observed(t: Any, x: Any, p: Any) -> Any:
        found = _signals(loop.observed(loop.traced(p, *run.inputs), t, x), x, scenario, lay)
        row: list[Any] = []
        for name, values in found.items():
            places[name] = len(row), len(values)
            row += list(values)
        return array(row)

    try:
        return trace(flow, inputs, "flow"), trace(observed, inputs, "observe"), places
    except ManipulaError:
        raise
    except Exception as error:  # a user's controller in plain Python
        raise CompileError(f"The loop cannot be written down: {type(error).__name__}: {printable(error, 200)}.") from error  # fmt: skip


def _signals(seen: dict[str, Any], x: Any, scenario: Scenario, lay: StateLayout) -> dict[str, Any]:
    """Signals by the names that results give them; "audit" is measured from its first value."""
    q = lay.q(x)
    works = lay.audit(x)
    energy = seen["kinetic"] + seen["potential"]
    out = {
        "q": q, "qd": lay.qd(x), "qdd": seen["qdd"], "tau": seen["tau"], "friction": seen["friction"], "power": seen["power"],
        "power.sum": [sum(seen["power"], 0.0)], "kinetic": [seen["kinetic"]], "potential": [seen["potential"]], "energy": [energy],
        "work_drives": [works.drives], "work_friction": [works.friction], "work_external": [works.external],
    }  # fmt: skip
    if not scenario.contacts and scenario.base_motion is None:
        out["audit"] = [works.drives - works.friction + works.external - energy]
    if scenario.robot.tip is not None:
        out["tip"] = seen["pose"][:3, 3]
    if scenario.controller is not None and scenario.reference is not None and scenario.base_motion is None:
        actual = out["tip"] if scenario.reference.space == "task" else q
        error = array(seen["target"] - actual)
        out |= {"target": seen["target"], "error": error, "error.norm": [ops.sqrt(sum(error * error, 0.0))]}
    if sum(lay.friction):
        out["bristles"] = x[2 * lay.n : 2 * lay.n + sum(lay.friction)]
    return out


def _tableau(name: str) -> dict[str, Any] | None:
    """Coefficients of an embedded method, as rows of [stage, weight]."""
    rows = lambda weights: [[int(k), float(w)] for k, w in weights.items()]  # noqa: E731
    if name == "dopri5":
        return {"nodes": tableaus.DOPRI5_NODES, "stages": [rows(r) for r in tableaus.DOPRI5_STAGES], "solution": rows(tableaus.DOPRI5_SOLUTION),
                "errors": [rows(tableaus.DOPRI5_ERROR)], "order": 4}  # fmt: skip
    if name == "dop853":
        return {"nodes": tableaus.DOP853_NODES, "stages": [rows(r) for r in tableaus.DOP853_STAGES], "solution": rows(tableaus.DOP853_SOLUTION),
                "errors": [rows(tableaus.DOP853_ERROR_5), rows(tableaus.DOP853_ERROR_3)], "order": 7}  # fmt: skip
    return None
