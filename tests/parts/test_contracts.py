"""Every part of every registry: declared, checked in Python, in files and in batches."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError, ShapeError
from manipula.formats.toml.part_tables import read_fields, read_part
from manipula.motion import paths, timing
from manipula.parts.declared import declared
from manipula.parts.field import Number, PerJoint
from manipula.parts.registry import PartRegistry
from manipula.redundancy import null_space, tasks
from manipula.reports.plots import PLOTS
from manipula.robot import drives, friction
from manipula.robot.friction import FrictionLaw
from manipula.simulation.checks.rehearsal import rehearse
from manipula.simulation.files import reference
from manipula.simulation.files.document import ScenarioDocument
from manipula.simulation.files.parts import part_table, read_criteria, read_task
from manipula.simulation.files.scenario_file import load_text
from manipula.simulation.files.text import value_text
from manipula.simulation.plant import contact, disturbances
from parts.samples import bad, good

KINDS = {"friction": friction.KIND, "drives": drives.KIND, "controller": control.KIND, "criteria": null_space.KIND,
         "disturbances": disturbances.KIND, "contacts": contact.KIND, "tasks": tasks.KIND}  # fmt: skip
PARTS = [(group, name, part) for group, kind in KINDS.items() for name, part in kind.registry.items()]
PARTS += [("noise", "noise", mp.Noise), ("actuator", "actuator", mp.Actuator)]
FIELDS = [pytest.param(g, n, p, d, id=f"{n}.{d.name}") for g, n, p in PARTS for d in declared(p)]
TWO = mp.load("planar-2r")
BETWEEN = {
    "speed_limit": {"torque_limit": 5.0},
    "start": {"stop": 9.0},
    "obstacle": {"radius": 5.0},
    "approach": {"bounds": "motion"},
    "slip_speed": {"friction": 0.3},
}  # needs another field


def required(part: Any) -> dict[str, Any]:
    found = {d.name: good(d) for d in declared(part) if d.required and d.field.kind != "function"}
    return found | (
        {"function": lambda t, q, qd, target: q} if any(d.field.kind == "function" for d in declared(part)) else {}
    )


MOTIONS = [(kind, name, f) for kind in (paths.KIND, timing.KIND, reference.KIND) for name, f in kind.registry.items()]
ARGUMENTS = [pytest.param(k, n, f, d, id=f"{k.name} {n}.{d.name}") for k, n, f in MOTIONS for d in declared(f)]
PLAIN = paths.line([0, 0], [1, 0])
GIVEN = {  # arguments that belong together
    "formula": {"u": [0.0, 1.0], "breaks": [0.5]}, "polyline": {"points": [[0, 0], [1, 0]]}, "transform": {"pose": np.eye(4).tolist()},
    "piecewise_jerk": {}, "table": {"times": [0.0, 1.0], "s": [0.0, 1.0], "breaks": [0.0, 1.0], "coefficients": [[[0.0], [1.0]]]},
    "from_csv": {"source": "0,0\n1,1\n2,0\n"}, "from_svg": {"source": "M 0 0 L 1 0"}, "joint_move": {"goal": [0.1] * 3},
    "waypoints": {"times": [0.0, 1.0]},
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "function", "d"), ARGUMENTS)
def test_arguments_of_paths_and_time_laws(kind: Any, name: str, function: Any, d: Any) -> None:
    assert d.declared
    assert len(d.field.meaning) > 3
    if d.field.kind not in ("flag", "choice", "text", "texts", "file", "part", "parts", "constants"):
        assert d.field.unit
    parts = {"path": PLAIN, "time law": timing.quintic(1.0), "reference": mp.trajectory(PLAIN, timing.quintic(1.0))}
    known = GIVEN.get(name, {})
    others = {
        x.name: known[x.name] if x.name in known else parts[x.field.of] if x.field.kind == "part" else good(x)
        for x in declared(function)
        if x.required and x.name != d.name and x.field.kind != "parts"
    }
    for what, value in bad(d):
        with pytest.raises(DescriptionError, match=rf"\b{d.name}\b") as error:
            function(**{d.name: value}, **others)
        assert str(error.value.field).startswith(d.name), what


@pytest.mark.parametrize(("group", "name", "part", "d"), FIELDS)
def test_every_field_is_declared(group: str, name: str, part: Any, d: Any) -> None:
    assert d.declared, f"'{d.name}' needs Annotated[…] with kind, unit and meaning"
    assert len(d.field.meaning) > 3
    if d.field.kind not in ("flag", "frame", "choice", "text", "texts", "file", "parts", "function"):
        assert d.field.unit
    made = part(**required(part))
    if not d.required:
        assert getattr(made, d.name) == d.default  # and the default satisfied its own declaration


@pytest.mark.parametrize(("group", "name", "part", "d"), FIELDS)
def test_bad_values_are_refused_in_python(group: str, name: str, part: Any, d: Any) -> None:
    others = {k: v for k, v in (required(part) | BETWEEN.get(d.name, {})).items() if k != d.name}
    for what, value in bad(d):
        with pytest.raises(DescriptionError, match=rf"\b{d.name}\b") as error:
            part(**{d.name: value}, **others)
        assert error.value.field == d.name, what
    if d.required:
        with pytest.raises(DescriptionError):
            part(**{d.name: None}, **others)


def scenario_file(group: str, name: str, values: dict[str, Any]) -> str:
    kind = KINDS.get(group)
    table = ({} if kind is None else {kind.key: name}) | values
    text = value_text(table)
    text = {
        "criteria": f"[{text}]",
        "tasks": f"[{text}]",
        "disturbances": f"[{text}]",
        "contacts": f"[{text}]",
        "friction": f"[{text}, {{}}]",
        "drives": f"[{text}, {{}}]",
    }.get(group, text)
    return f'robot = "planar-2r"\nduration = 1.0\n{group} = {text}\n'


def writable(value: Any) -> bool:
    if isinstance(value, list):
        return all(writable(v) for v in value)
    return not isinstance(value, complex) and value == value


@pytest.mark.parametrize(("group", "name", "part", "d"), FIELDS)
def test_bad_values_are_refused_in_files(group: str, name: str, part: Any, d: Any) -> None:
    if name == "user":
        return
    others = {k: v for k, v in (required(part) | BETWEEN.get(d.name, {})).items() if k != d.name}
    for what, value in bad(d):
        if writable(value):
            with pytest.raises(DescriptionError) as error:
                load_text(scenario_file(group, name, {**others, d.name: value}), file="run.toml")
            told = str(error.value)
            assert d.name in told, (what, told)
            assert told.startswith("run.toml:3, "), (what, told)


@pytest.mark.parametrize(("group", "name", "part"), PARTS, ids=[n for _, n, _ in PARTS])
def test_every_part_is_written_and_read_again(group: str, name: str, part: Any) -> None:
    if name == "user":
        return
    values = {d.name: good(d) for d in declared(part)} | {
        "obstacle_distance": {"radius": 5.0},
        "wrench": {"stop": 8.0},
        "flexible": {"motor": None},  # in the place of its own motion
        "plane": {"points": [[0.1, 0.0, 0.2]]},
        "end_stop": {"low": [-1.0, -2.0]},
        "task_priorities": {"tasks": (control.JointPosture(0.1),)},
        "adaptive_payload": {"com": None},  # estimated
        "lqr": {"gain": None},  # in the place of the weights
    }.get(name, {})
    made = part(**values)
    kind = KINDS.get(group)
    table = part_table(made, group if kind else None)
    assert set(table) - {kind.key if kind else ""} == {k for k, v in values.items() if v not in ([], None)}
    root = ScenarioDocument(f"part = {value_text(table)}").fields()
    reader = (
        (lambda t: read_part(t, kind, {"criterion": read_criteria, "task": read_task}))
        if kind
        else lambda t: read_fields(t, part, name)
    )
    assert root.read("part", reader) == made


@pytest.mark.parametrize(("group", "name", "part", "d"), FIELDS)
def test_bad_values_are_refused_in_batches(group: str, name: str, part: Any, d: Any) -> None:
    if (
        d.field.kind not in ("number", "one per joint")
        or group in ("criteria", "noise", "tasks")
        or d.name in getattr(part, "structure", ())
    ):
        return
    values = required(part) | BETWEEN.get(d.name, {}) | {d.name: good(d)}
    if group == "friction" and any(x.name == "diameter" for x in declared(part)):
        values |= {"diameter": 0.1}  # the robot turns
    if name == "stiction" and d.name == "v_stribeck":
        values |= {"kinetic": 0.5}  # to fade to
    values |= {
        "end_stop": {"low": -1.0, "high": 2.0},
        "model_predictive": {
            "effort_limit": 500.0,
            "horizon": 2,
            "moves": 2,
        },  # the robot states none; rounding grows over long horizons
        "hybrid_force_position": {"force": [0.75, 0.0, 0.0], "directions": [[1.0, 0.0, 0.0]]},  # the robot is planar
        "adaptive_payload": {"estimates": "inertia"} if d.name in ("inertia_rate", "moment_rate") else {},
    }.get(name, {})
    made = part(**values)
    whole = (
        (made,) * 2 if group in ("friction", "drives") else (made,) if group in ("disturbances", "contacts") else made
    )
    task = getattr(part, "space", "joint") == "task"
    line = mp.trajectory(mp.paths.line([0.5, 0.5, 0], [0.6, 0.5, 0]), mp.timing.quintic(1.0))
    move = mp.joint_move([0.0, 0.5], [0.1, 0.6], velocity=1.0, acceleration=1.0, jerk=1.0)
    free = values.get("goal") is not None or getattr(part, "space", "joint") == "none"
    followed = None if free else line if task else move
    needs = {} if group == "controller" else {"controller": control.PD(1.0, 1.0)}
    robot = TWO
    if getattr(part, "measures", ()):
        robot = TWO.replace(joints=tuple(replace(j, rotor_inertia=0.1) for j in TWO.joints))
        needs = {"drives": drives.Flexible(800.0)}
    if d.field.each == "rotation":  # acts where the reference says how the tool is turned
        robot, made = mp.load("planar-3r"), part(**values | {k: 1.0 for k in vars(made) if k.endswith("_rotation")})
        whole, followed = made, mp.formula_motion(["0.5 + 0.1*t", "0.5"], 1.0, orientation=["0", "0", "0.3"])
    if d.name == "approach":
        robot = TWO.replace(joints=tuple(replace(j, limits=replace(j.limits, velocity=3.0)) for j in TWO.joints))
    if name == "task_priorities":
        whole, followed = part(**values | {"tasks": (control.JointPosture(0.1),)}), None
    if name == "cascade":
        needs = {"control_period": 1e-3}
    s = mp.Scenario(robot=robot, duration=0.01, reference=followed, **needs, **{group: whole})
    path = f"{group}[0].{d.name}" if isinstance(whole, tuple) else f"{group}.{d.name}"
    for what, value in bad(d):
        if what in ("nan", "out of range", "zero"):
            with pytest.raises(DescriptionError, match=re.escape(f"vary.{path}")):
                rehearse(s.replace(vary={path: np.array([0.75, value])}))


@pytest.mark.parametrize("controller", [control.PD([1.0] * 3, 1.0), control.PID(1, 1, [1] * 3), control.LQR([0.0] * 5)])
def test_a_gain_for_another_robot_is_refused(controller: Any) -> None:
    for kind in (DescriptionError, ShapeError):
        with pytest.raises(kind, match=r"one per joint is needed \(2\), found"):
            mp.Scenario(robot=TWO, controller=controller, duration=1.0)


def test_a_batch_with_a_wrong_value_does_not_run() -> None:
    s = mp.Scenario(robot=TWO, friction=friction.Viscous(0.1), q0=[0.1, 0.2], duration=0.01)
    with pytest.raises(
        DescriptionError, match=r"vary.friction\[1\].damping: 'damping' of friction law 'viscous' must be at least 0"
    ):
        mp.simulate(s.replace(vary={"friction[1].damping": [0.1, -0.1]}))
    with pytest.raises(DescriptionError, match=r"vary.friction\[1\].damping: One number per run is needed"):
        mp.simulate(s.replace(vary={"friction[1].damping": [[0.1, 0.2], [0.1, 0.2]]}))


def test_parts_of_a_user() -> None:
    @dataclass(frozen=True)
    class Plain(FrictionLaw):
        anything: Any
        name: ClassVar[str] = "plain"

        def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
            return self.anything * qd

    assert Plain(-1.0).anything == -1.0  # nothing is declared, so nothing is checked
    assert [d.name for d in declared(Plain)] == ["anything"]
    with pytest.raises(DescriptionError, match=r"'drag' of friction law 'own' must be at least 0 .N·m., found -1"):
        Own(-1.0)
    with pytest.raises(DescriptionError, match=r"friction\[0\].drag: 'drag' of friction law 'own'"):
        mp.Scenario(robot=TWO, friction=Careless(-1.0), duration=1.0)


def test_symbols_pass_and_their_numbers_do_not() -> None:
    import sympy

    b = sympy.Symbol("b")
    assert friction.Viscous(b).damping == b
    with pytest.raises(DescriptionError, match="at least 0"):
        friction.Viscous(sympy.Integer(-2))


@dataclass(frozen=True)
class Own(FrictionLaw):
    """A law with declarations."""

    drag: Annotated[Any, Number("N·m", "drag", least=0.0)]
    gains: Annotated[Any, PerJoint("1", "unused")] = 0.0
    name: ClassVar[str] = "own"

    def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
        return self.drag * qd


@dataclass(frozen=True)
class Careless(Own):
    """Its own ``__post_init__`` forgets the one of the base class; the scenario looks once more."""

    def __post_init__(self) -> None:
        pass


PLOT_OPTIONS = [pytest.param(p, d, id=f"{name}.{d.name}") for name, p in PLOTS.items() for d in p.options]


@pytest.mark.parametrize(("plot", "d"), PLOT_OPTIONS)
def test_options_of_plots(plot: Any, d: Any) -> None:
    assert d.declared
    assert len(d.field.meaning) > 3
    for _, value in bad(d):
        with pytest.raises(DescriptionError, match=rf"'{d.name}' of plot '{plot.name}'"):
            plot(None, **{d.name: value})
    with pytest.raises(DescriptionError, match=f"option of plot '{plot.name}'"):
        plot(None, **{f"{d.name}x": 1})


LAZY = {kind.name: kind for kind in KINDS.values() if isinstance(kind.registry, PartRegistry)}


@pytest.mark.parametrize("kind", LAZY)
def test_lines_of_registries_name_what_their_classes_say(kind: str) -> None:
    """The module of a part is loaded when it is asked for, so its name stands in the line as well."""
    registry = LAZY[kind].registry
    assert [part.name for part in registry.values()] == list(registry)
    folder = importlib.import_module(LAZY[kind].where.removesuffix(".REGISTRY"))
    assert all(getattr(folder, part.__name__) is part for part in registry.values())
    assert {part.__name__ for part in registry.values()} <= set(dir(folder))
    assert not hasattr(folder, "NoSuchPart")


def test_a_part_that_nobody_asks_for_is_not_loaded() -> None:
    program = "import sys, manipula as mp; mp.control.PDGravity, mp.Scenario; print([m for m in sys.modules if 'lqr' in m or 'lugre' in m])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "[]"
