"""The closed loop of a run as JavaScript, so that a report can compute the run again in the page when somebody moves a number.

The same plant that becomes machine code is traced once more, with gains, friction constants, payload and start as inputs; ``codegen`` writes it as a module.
The integrators of the page (``web/src/integrate.ts``) take their coefficients from here. What has no such form is refused with the reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy

from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.codegen.base import Routine, RoutineVariable, SourceProgram
from manipula.codegen.javascript import JavaScript
from manipula.control.base import Controller
from manipula.errors import CompileError, DescriptionError, ManipulaError, printable, unknown_name
from manipula.native import Graph, trace
from manipula.reports.charts import Shown
from manipula.reports.source import is_batch
from manipula.robot.link import Payload
from manipula.simulation.integrators import FIXED, tableaus
from manipula.simulation.loops.adaptive import compiled
from manipula.simulation.loops.fixed import grid_of, how_to_run
from manipula.simulation.loops.setup import Run, prepare_run
from manipula.simulation.plant.disturbances import PayloadChange
from manipula.simulation.plant.numbers import columns_of, field_at, paths_of
from manipula.simulation.plant.parameters import settled
from manipula.simulation.recorded import scenario_of
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.stepping.grid import switching

PAYLOAD = "payload.mass"
SYMBOL = "live_payload_mass"
MOST_SLIDERS, MOST_PARAMETERS = 16, 200
MOST_OPERATIONS = 60_000  # of the flow and of what is observed together, so that the file stays small
INTEGRATORS = ("rk4", "semi_implicit", "dopri5", "dop853")
WIDEST = 3.0  # of a number: how far its slider goes


@dataclass(frozen=True)
class LiveNumber:
    """A number that the page may change: where it stands among p, or −1 − i for x0[i]."""

    path: str
    name: str
    unit: str
    value: float
    low: float
    high: float
    slots: tuple[int, ...]

    def told(self) -> dict[str, Any]:
        return {
            "path": self.path, "name": self.name, "unit": self.unit, "value": self.value, "low": self.low, "high": self.high, "log": False,
        }  # fmt: skip


def live_module(result: Result, wanted: Sequence[str] | None, shown: Shown) -> tuple[dict[str, Any], str]:
    """What the page needs to know about the run, and its equations as a module.

    Args:
        wanted: paths of the numbers that get sliders, such as "controller.kp", "friction[0].damping", "payload.mass", "q0[1]"; None: gains, friction,
            payload and start, as many as fit.

    Raises:
        DescriptionError, CompileError: says why this run cannot be computed in a page.
    """
    scenario = _scenario(result)
    run, with_payload = _prepared(scenario, result, wanted)
    flow, observed, signals = _graphs(run, scenario)
    count = len(flow.operations) + len(observed.operations)
    if count > MOST_OPERATIONS:
        raise CompileError(f"The equations have {count} operations; a live page takes at most {MOST_OPERATIONS}.")
    numbers = _numbers(run, scenario, with_payload, wanted)
    method = FIXED.get(str(result.meta.get("integrator")))
    grid, unseen = grid_of(run, scenario.step if method is not None else None)
    if unseen:
        raise DescriptionError(f"The run holds what no step resolves: {unseen[0]}")
    instants = sorted({float(t) for t in (*grid.marks[1:-1], *switching(run.plant.disturbances)) if math.isfinite(t)})
    packer = shown.packer
    told = {
        "parameters": [x.told() for x in numbers], "slots": [list(x.slots) for x in numbers], "p": run.p[0].tolist(), "x0": run.x0[0].tolist(),
        "n": scenario.robot.n, "step": float(scenario.step), "integrator": str(result.meta["integrator"]), "tableau": _tableau(str(result.meta["integrator"])),
        "tolerance": max(1e-6 * float(scenario.tolerance), 2e-15), "marks": instants, "low": _finite(grid.low), "high": _finite(grid.high),
        "times": packer.add(grid.times, "f8"), "index": packer.add(shown.index, "u4"), "signals": signals,
        "arrays": {str(at): name for (owner, name), at in packer.known.items() if owner == shown.run}, "status": result.status,
    }  # fmt: skip
    return told, _module(flow, observed)


def _finite(values: np.ndarray) -> list[float | None]:
    return [float(v) if math.isfinite(v) else None for v in values]


def _scenario(result: Result) -> Scenario:
    """The scenario of a run that a page can compute."""
    if is_batch(result):
        raise DescriptionError("One run is computed in a page and this is a batch; choose one: result.run(0).")
    scenario = scenario_of(result)
    if scenario is None:
        raise DescriptionError("The result does not carry the scenario that it was made from.")
    if not isinstance(scenario, Scenario) or result.meta.get("kind") not in ("dynamic", "free", "playback"):
        raise DescriptionError(
            f"Runs in which forces move an arm (dynamic, free, playback) can be live, not '{result.meta.get('kind')}'."
        )
    chosen = str(result.meta.get("integrator"))
    if chosen not in INTEGRATORS:
        known = ", ".join(INTEGRATORS)
        raise DescriptionError(
            f"The integrator '{chosen}' has no form in the page; those that have: {known}.", field="integrator"
        )
    if scenario.noise.position > 0.0 or scenario.noise.velocity > 0.0 or scenario.actuator.delay > 0.0:
        raise DescriptionError("Measurement noise and delays are not computed in a page.")
    if any(isinstance(d, PayloadChange) for d in scenario.disturbances):
        raise DescriptionError("Payloads that change during the run are not computed in a page.")
    return scenario.replace(integrator=chosen, verify=False)


def _prepared(scenario: Scenario, result: Result, wanted: Sequence[str] | None) -> tuple[Run, bool]:
    """The run with the mass at its tip as an input, where that is possible."""
    robot = scenario.robot
    asked = wanted is not None and PAYLOAD in wanted
    if (wanted is None or asked) and robot.tip is not None and not scenario.is_batch:
        carried = robot.payload or Payload(0.0)
        free = replace(carried, mass=sympy.Symbol(SYMBOL))
        values = {**(scenario.parameters or {}), SYMBOL: float(carried.mass)}
        try:
            run = prepare_run(scenario.replace(robot=robot.replace(payload=free), parameters=values))
            return _checked(run), True
        except ManipulaError:
            if asked:
                raise
    if asked and robot.tip is None:
        raise DescriptionError("The robot has no tip that could carry a payload.", field=PAYLOAD)
    return _checked(prepare_run(scenario)), False


def _checked(run: Run) -> Run:
    controller = run.plant.controller
    if controller is not None and type(controller).prepare is not Controller.prepare:
        raise DescriptionError(
            f"The controller '{controller.name}' computes its gains before every run, which a page cannot.",
            field="controller",
        )
    chosen = run.scenario.integrator
    calls = how_to_run(run, (lambda: run.loop.run) if chosen in FIXED else (lambda: compiled(run.loop, chosen)))
    if run.loop.sampled or calls.python or calls.once_a_step:
        raise DescriptionError(
            f"The controller is asked by Python, which a page has not. {calls.note}", field="controller"
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
    except Exception as error:  # somebody's controller in plain Python
        raise CompileError(f"The loop cannot be written down: {type(error).__name__}: {printable(error, 200)}.") from error  # fmt: skip


def _signals(seen: dict[str, Any], x: Any, scenario: Scenario, lay: Any) -> dict[str, Any]:
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


def _module(flow: Graph, observed: Graph) -> str:
    routines = tuple(
        Routine(
            graph.name,
            summary,
            graph,
            tuple(RoutineVariable(k, k, tuple(s)) for k, s in graph.inputs.items()),
            tuple(RoutineVariable(k, "out", tuple(s)) for k, s in graph.outputs.items()),
            (),
            False,
        )
        for graph, summary in ((flow, "the rate of the state"), (observed, "what is seen of it"))
    )
    program = SourceProgram("run", ("The closed loop of one run.",), (), np.zeros(0), routines)
    return JavaScript().module(program) + "\nglobalThis.manipulaLoop = { flow, observe };\n"


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


def _numbers(run: Run, scenario: Scenario, with_payload: bool, wanted: Sequence[str] | None) -> list[LiveNumber]:
    """Numbers with sliders: those that are asked for, or the usual ones."""
    paths = [*_groups(run), *([PAYLOAD] if with_payload else []), *_starts(run, scenario)]
    if wanted is None:
        return [_number(run, scenario, path) for path in paths[:MOST_SLIDERS]]
    if len(wanted) > MOST_PARAMETERS:
        raise DescriptionError(f"At most {MOST_PARAMETERS} numbers can be changed, found {len(wanted)}.", field="live")
    every = [*paths, *paths_of(run.plant)]
    for path in wanted:
        if path not in every and not (isinstance(path, str) and _columns(run, path)):
            raise unknown_name("number of the run", path, every, field="live")
    return [_number(run, scenario, path) for path in dict.fromkeys(wanted)]


def _columns(run: Run, path: str) -> list[int]:
    """Where the numbers of a path stand: ``controller.kp`` may be one number or one per joint, ``friction.damping`` is that of every joint."""
    names = paths_of(run.plant)
    each = re.fullmatch(r"(friction|drives)\.(\w+)", path)
    if each:
        return [k for k, name in enumerate(names) if re.fullmatch(rf"{each[1]}\[\d+\]\.{each[2]}", name)]
    try:
        return columns_of(run.plant, path)
    except ManipulaError:
        return []


def _groups(run: Run) -> list[str]:
    """Gains and friction constants: as one number where it is the same for all joints."""
    fixed = tuple(settled((run.plant.controller, run.plant.friction)))
    names, out = paths_of(run.plant), []
    values = dict(zip(names, run.p[0]))
    for name in names:
        if not name.startswith(("controller.", "friction[")) or any(part in name for part in fixed if part):
            continue
        whole = (
            re.sub(r"\[\d+\]$", "", name)
            if name.startswith("controller.")
            else re.sub(r"^friction\[\d+\]", "friction", name)
        )
        members = [values[names[k]] for k in _columns(run, whole)]
        same = len(set(members)) == 1
        path = whole if same else name
        if _columns(run, path) and path not in out:
            out.append(path)
    return out


def _starts(run: Run, scenario: Scenario) -> list[str]:
    """Initial positions, where nothing else begins in a state that follows from them."""
    lay = run.plant.layout
    if lay.controller or sum(lay.drives) or any(d is not None for d in run.plant.drives):
        return []
    return [f"q0[{i}]" for i in range(scenario.robot.n)]


def _number(run: Run, scenario: Scenario, path: str) -> LiveNumber:
    start = re.fullmatch(r"q0\[(\d+)\]", path)
    if start:
        i = int(start[1])
        joint, value = scenario.robot.joints[i], float(run.x0[0][i])
        low, high = (float(x) if x is not None and math.isfinite(float(x)) else None for x in (joint.limits.lower, joint.limits.upper))  # fmt: skip
        reach = math.pi if joint.is_revolute else 1.0
        low, high = (value - reach if low is None else low), (value + reach if high is None else high)
        unit = "rad" if joint.is_revolute else "m"
        return LiveNumber(path, f"start of {joint.name}", unit, value, min(low, value), max(high, value), (-1 - i,))
    if path == PAYLOAD:
        slot = len(run.loop.values) + run.loop.names.index(SYMBOL)
        value = float(run.p[0][slot])
        return LiveNumber(path, "mass of the payload", "kg", value, 0.0, max(5.0, WIDEST * value), (slot,))
    slots = _columns(run, path)
    value = float(run.p[0][slots[0]])
    _, declaration = field_at(run.plant, paths_of(run.plant)[slots[0]])
    f = declaration.field
    low = 0.0 if value >= 0.0 else WIDEST * value
    high = WIDEST * value if value > 0.0 else 1.0 if value == 0.0 else 0.0
    least = f.least if f.least is not None else f.above
    most = f.most if f.most is not None else f.below
    low, high = max(low, -math.inf if least is None else float(least)), min(high, math.inf if most is None else float(most))  # fmt: skip
    if f.above is not None and low <= f.above:
        low = f.above + 1e-3 * (high - f.above)
    return LiveNumber(path, path, f.unit, value, min(low, value), max(high, value), tuple(slots))
