"""One run, described: what moves, where to, under which control, with what friction, for how long."""

from __future__ import annotations

import dataclasses
import math
import os
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from manipula.algebra.fields import check_field_names
from manipula.control.base import Controller, check_controller, check_gains
from manipula.errors import BudgetError, DescriptionError, ShapeError
from manipula.parts.checks import check_fit
from manipula.redundancy.criterion import Criterion
from manipula.redundancy.tasks.base import ArmTask
from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot
from manipula.simulation import field_values as values
from manipula.simulation.budgets import MAX_SAMPLES, MAX_STEPS
from manipula.simulation.frozen_mapping import frozen
from manipula.simulation.plant.base_motion import BaseMotion
from manipula.simulation.plant.contact import Contact
from manipula.simulation.plant.disturbances import (
    IDEAL,
    QUIET,
    Actuator,
    Disturbance,
    Noise,
    PayloadChange,
    Wrench,
    WrenchTable,
)
from manipula.simulation.plant.encoder import PERFECT, Encoder
from manipula.simulation.plant.per_joint import each_joint
from manipula.simulation.plant.switch import Switch, names_of
from manipula.simulation.run_kinds import RUN_KINDS
from manipula.simulation.stated_limits import stated_limits, with_named_points
from manipula.verbs import verb

Kind = Literal["auto", "dynamic", "free", "kinematic", "inverse_dynamics", "playback"]
KINDS = ("auto", *RUN_KINDS)
STARTS = ("given", "project")
BOUNDS = ("none", "motion")
UNCOUNTABLE = 1e18
WHOLE = 1e-12  # relative: a duration that is a whole number of samples but for rounding


def _intervals(length: float, part: float) -> int:
    """Parts in a length, the last one possibly shorter; a rest that only rounding left does not count."""
    count = min(length / part, UNCOUNTABLE)
    return max(1, math.ceil(count - WHOLE * max(1.0, count)))


def _check_switch(s: Scenario, switch: Switch, field: str) -> None:
    """Can a switch act in this run?"""
    if switch.when is not None:
        try:
            names = switch.formula(s.robot.n).names
        except DescriptionError as error:
            raise DescriptionError(f"{error.field}: {error.problem}", field=f"{field}.when") from None
        if not set(names) & set(names_of(s.robot.n)):
            raise DescriptionError("A formula without t, q1, qd1 … never crosses zero.", field=f"{field}.when")
    if switch.controller is not None:
        check_gains(switch.controller, s.robot)
    if switch.reference is None:
        return
    values.reference(f"{field}.reference", switch.reference)
    if s.reference is None:
        raise DescriptionError(
            "The run follows no reference that another one could replace.", field=f"{field}.reference"
        )
    for name in ("space", "dimension"):
        found, wanted = getattr(switch.reference, name), getattr(s.reference, name)
        if found != wanted:
            raise DescriptionError(
                f"The reference of the run has {name} {wanted}, that of the switch {found}.", field=f"{field}.reference"
            )


@dataclass(frozen=True, repr=False)
class Scenario:
    """A frozen description of one run (or of a batch: ``q0`` of shape (N, n)).

    What happens is its ``kind`` (``run_kinds.py``); "auto" decides by what is given. Settings that act in some kinds only are refused
    in others.

    Settings of every run:
        robot: the plant. name: of the run.
        q0, qd0: initial state (n,) or (N, n); the reference's start, or zero, when omitted.
        duration, step: [s]; fixed integrators step at multiples of ``step``, cut short where a sample, the end or a known jump
            divides one. Without a ``control_period`` it is also the period at which a controller with noise or delay decides.
        sample: time between recorded samples [s]; ``step`` when omitted. The end is always recorded.
        integrator: "rk4", "semi_implicit", "midpoint" (fixed step), "dopri5", "dop853", "rodas" (adaptive; rodas for stiff
            drives and friction); "auto" takes dop853 for free motion, and under control rk4, or rodas where
            the verification of rk4 fails.
        tolerance: relative error up to which the answer counts as right; adaptive integrators aim below it.
        verify: repeat the run with another step and compare, so that "finished" can be trusted.
        friction: replacing that of the robot: one law for all joints, one per joint, or a mapping by joint name; ``()`` is none.
        disturbances: wrenches on frames (numbers, formulas, functions, tables), payload and tool changes.
        parameters: values of the robot's free parameters, numbers or one number per run of the batch.
        vary: other numbers of the run by their path, such as {"controller.kp": (N,)}.
        stop_at_limits: end the run where a joint limit is crossed.
        limits: what the motion is compared with (``Result.feasible``) in place of the robot's own limits of the same quantity:
            "position", "velocity", "acceleration", "jerk", "torque", "power", one number or one per joint; "tip" with its own
            "velocity", "acceleration", "jerk", and "points" with those of other points by their names,
            {"elbow": {"velocity": 0.5}, "link3@0.1,0,0": {"jerk": 9}}.

    Runs that torques move ("dynamic", "free", "playback"):
        controller: from ``manipula.control`` (dynamic); without one the motion is free.
        model: the controller's own model of the robot, with the friction of its joints; the plant itself, with the friction that acts
            in this run, when omitted (dynamic).
        control_period: time between two decisions of a digital controller, whose command is held in between [s]; none: it acts
            continuously, with noise, delay or encoders once a ``step`` (dynamic).
        switches: other gains or another reference, from a time or an event on (dynamic).
        noise: of the measurements. encoder: how positions and speeds are measured (dynamic). actuator: limits and delay of the command (dynamic, playback).
        torques: (times, values), values (k, n), linear between the times (playback).
        drives: replacing those of the robot, given like ``friction``.
        contacts: what the arm may touch: planes, end stops.
        base_motion: of the base in the world (every kind); tip, wrenches and contacts are then in axes of the world, references stay in those of the base.

    Runs along a reference ("dynamic", "kinematic", "inverse_dynamics"):
        reference: a trajectory in joint or task space.
        start: "given" takes q0 as it is, "project" moves it by the smallest change of joints onto the start of a task reference.

    Runs whose motion is given ("kinematic": resolved motion rate, "inverse_dynamics": torques along the reference):
        criteria, gain: secondary criteria of a redundant arm, and the gain on the tip's error [1/s].
        tasks, bounds: tasks with strict priorities in the place of following the reference with one gain, and whether the stated limits
            of position and speed are hard bounds for them (kinematic).
        ik_solution: which solution of the inverse kinematics a task reference starts with (inverse_dynamics).
        actuator: limits that the torques are compared with.
    """

    robot: Robot
    reference: Any = None
    controller: Controller | None = None
    q0: Any = None
    qd0: Any = None
    duration: float | None = None
    step: float = 1e-3
    integrator: str = "auto"
    sample: float | None = None
    kind: Kind = "auto"
    torques: Any = None
    model: Robot | None = None
    friction: Any = None
    drives: Any = None
    disturbances: tuple[Disturbance, ...] = ()
    contacts: tuple[Contact, ...] = ()
    base_motion: BaseMotion | None = None
    noise: Noise = QUIET
    actuator: Actuator = IDEAL
    encoder: Encoder = PERFECT
    control_period: float | None = None
    switches: tuple[Switch, ...] = ()
    parameters: Any = None
    vary: Any = None
    tolerance: float = 1e-6
    stop_at_limits: bool = False
    verify: bool = True
    ik_solution: int = 0
    criteria: tuple[Any, ...] = ()
    tasks: tuple[ArmTask, ...] = ()
    bounds: Literal["none", "motion"] = "none"
    gain: float = 0.0
    start: Literal["given", "project"] = "given"
    limits: Any = None
    name: str = "run"

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise DescriptionError(f"A Robot is needed, found {type(self.robot).__name__}.", field="robot")
        set_ = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        values.one_of("kind", self.kind, KINDS, "kind of run")
        values.one_of("start", self.start, STARTS)
        values.one_of("bounds", self.bounds, BOUNDS)
        values.text("integrator", self.integrator)
        for name, kind in (
            ("controller", Controller),
            ("model", Robot),
            ("noise", Noise),
            ("actuator", Actuator),
            ("encoder", Encoder),
            ("base_motion", BaseMotion),
        ):
            given = getattr(self, name)
            if not isinstance(given, kind) and not (given is None and name in ("controller", "model", "base_motion")):
                article = "An" if kind in (Actuator, Encoder) else "A"
                how = " A function of (t, q, qd, target) becomes one by mp.control.UserFunction." * (kind is Controller)
                raise DescriptionError(
                    f"{article} {kind.__name__} is needed, found {values.found(given)}.{how * callable(given)}",
                    field=name,
                )
        if self.controller is not None:
            check_controller(self.controller, self.robot.n)
        values.reference("reference", self.reference)
        for name in ("q0", "qd0"):
            set_(name, values.state(name, getattr(self, name), self.robot))
        if self.duration is None:
            if self.reference is None:
                raise DescriptionError("A run without a reference needs a duration.", field="duration")
            set_("duration", float(self.reference.duration))
        for name in ("duration", "step", "sample", "control_period"):
            if name in ("duration", "step") or getattr(self, name) is not None:
                set_(name, values.positive(name, getattr(self, name)))
        set_("tolerance", values.tolerance(self.tolerance))
        for name in ("stop_at_limits", "verify"):
            set_(name, values.yes_or_no(name, getattr(self, name)))
        values.text("name", self.name)
        set_("ik_solution", values.whole("ik_solution", self.ik_solution))
        set_("gain", values.not_negative("gain", self.gain))
        for name, kind, what in (("friction", FrictionLaw, "friction law"), ("drives", Drive, "drive")):
            set_(name, each_joint(self.robot, getattr(self, name), kind, what, name))
        set_("limits", with_named_points(self.limits))
        for name in ("parameters", "vary", "limits"):
            set_(name, frozen(values.mapping(name, getattr(self, name))))
        set_("robot", self.robot.with_values(but=self.parameters or ()))
        set_("torques", frozen(self.torques))
        stated_limits(self.robot, self.limits, parameters=self.parameters)  # a quantity that does not exist is refused
        kinds = (Wrench, WrenchTable, PayloadChange)
        set_("disturbances", values.several("disturbances", self.disturbances, kinds, "Wrench or PayloadChange"))
        set_("contacts", values.several("contacts", self.contacts, (Contact,), "contacts of manipula.contact"))
        set_("tasks", values.several("tasks", self.tasks, (ArmTask,), "tasks of manipula.control"))
        set_("criteria", values.several("criteria", self.criteria, (Criterion,), "criteria of manipula.control"))
        if self.controller is not None:
            model = self.robot if self.model is None else self.model
            # a wrong number of joints is reported later
            check_gains(self.controller, model if model.n == self.robot.n else self.robot)
        set_("switches", values.several("switches", self.switches, (Switch,), "Switch"))
        for i, switch in enumerate(self.switches):
            _check_switch(self, switch, f"switches[{i}]")
        for name, usual in (("actuator", IDEAL), ("noise", QUIET), ("encoder", PERFECT)):
            if getattr(self, name) is not usual:
                check_fit(getattr(self, name), self.robot.n, name)
        for name in ("friction", "drives", "disturbances", "contacts", "criteria", "tasks"):
            for i, part in enumerate(getattr(self, name) or ()):
                if part is not None:
                    check_fit(part, self.robot.n, f"{name}[{i}]")
                    values.frames(part, self.robot, f"{name}[{i}]")
        if self.controller is not None:
            values.frames(self.controller, self.model or self.robot, "controller")
        values.check_batch(self)
        for name, count, length in (("step", self.steps, self.step), ("control_period", self.periods, self.period)):
            if count > MAX_STEPS:
                raise BudgetError(
                    f"{self.duration:g} s in steps of {length:g} s are {count} steps; at most {MAX_STEPS}: a shorter duration or a "
                    f"longer {name} is needed.",
                    field=name,
                )
        if self.samples * self.batch * self.robot.n > MAX_SAMPLES:
            raise BudgetError(
                f"{self.samples} samples of {self.batch} runs with {self.robot.n} joints exceed {MAX_SAMPLES} numbers; "
                f"record fewer: sample=…",
                field="sample",
            )

    def __repr__(self) -> str:
        chosen = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in ("robot", "kind")}
        defaults = {f.name: f.default for f in dataclasses.fields(self)}
        told = [
            f"{name}={values.found(v)}" for name, v in chosen.items() if v is not defaults[name] and v != defaults[name]
        ]
        return f"Scenario({', '.join([repr(self.robot.name), f'kind={self.resolved_kind()!r}', *told])})"

    @property
    def steps(self) -> int:
        """Steps of the fixed integrators; where ``step`` does not divide the duration the last one is shorter."""
        return _intervals(float(self.duration or 0.0), self.step)

    @property
    def period(self) -> float:
        """Time between two decisions of a controller whose command is held [s]."""
        return self.step if self.control_period is None else self.control_period

    @property
    def periods(self) -> int:
        """Control periods of the run; the last one may be shorter."""
        return _intervals(float(self.duration or 0.0), self.period)

    @property
    def samples(self) -> int:
        """How many samples are recorded, the start and the end among them."""
        return _intervals(float(self.duration or 0.0), self.sample or self.step) + 1

    @property
    def times(self) -> np.ndarray:
        """Times of the samples: multiples of ``sample`` (of ``step`` when it is omitted), and the end."""
        end = float(self.duration or 0.0)
        times = np.minimum(np.arange(self.samples) * (self.sample or self.step), end)
        times[-1] = end
        return times

    @property
    def batch(self) -> int:
        """How many runs stand side by side."""
        sizes = {np.shape(v)[0] for v in (self.q0, self.qd0) if v is not None and np.ndim(v) == 2}
        for group in (self.parameters, self.vary):
            for value in (group or {}).values():
                if np.ndim(value) >= 1:
                    sizes.add(len(value))
        if len(sizes) > 1:
            raise ShapeError(f"The run is a batch of different sizes: {sorted(sizes)}.")
        return sizes.pop() if sizes else 1

    @property
    def is_batch(self) -> bool:
        """Does the scenario hold several runs?"""
        return any(np.ndim(v) == 2 for v in (self.q0, self.qd0)) or any(
            np.ndim(v) >= 1 for group in (self.parameters, self.vary) for v in (group or {}).values()
        )

    @property
    def acting_criteria(self) -> tuple[Any, ...]:
        """The secondary criteria that act in the run: its own, or those of its controller."""
        return self.criteria or tuple(getattr(self.controller, "criteria", ()))

    def resolved_kind(self) -> str:
        """The kind of run, decided when it was left open."""
        if self.kind != "auto":
            return self.kind
        if self.torques is not None:
            return "playback"
        return "dynamic" if self.controller is not None else "free"

    def replace(self, **changes: Any) -> Scenario:
        """The same scenario with other values in some fields."""
        check_field_names(self, changes)
        return dataclasses.replace(self, **changes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the scenario as TOML."""
        verb("Scenario.save")(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Read a scenario from TOML."""
        return verb("Scenario.load")(path)
