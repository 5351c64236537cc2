"""One run, described: what moves, where to, under which control, with what friction, for how long."""

from __future__ import annotations

import dataclasses
import math
import os
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from manipula.control.base import Controller
from manipula.errors import BudgetError, DescriptionError, ShapeError, unknown_name
from manipula.parts.checks import check_fit
from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot
from manipula.simulation.budgets import MAX_SAMPLES, MAX_STEPS
from manipula.simulation.frozen_mapping import frozen
from manipula.simulation.plant.disturbances import IDEAL, QUIET, Actuator, Noise, PayloadChange, Wrench
from manipula.simulation.plant.per_joint import each_joint
from manipula.simulation.stated_limits import stated_limits
from manipula.verbs import verb

Kind = Literal["auto", "dynamic", "free", "kinematic", "inverse_dynamics", "playback"]
KINDS = ("auto", "dynamic", "free", "kinematic", "inverse_dynamics", "playback")
STARTS = ("given", "project")
UNCOUNTABLE = 1e18
WHOLE = 1e-12  # relative: a duration that is a whole number of samples but for rounding


def _intervals(length: float, part: float) -> int:
    """Parts in a length, the last one possibly shorter; a rest that only rounding left does not count."""
    count = min(length / part, UNCOUNTABLE)
    return max(1, math.ceil(count - WHOLE * max(1.0, count)))


@dataclass(frozen=True)
class Scenario:
    """A frozen description of one run (or of a batch: ``q0`` of shape (N, n)).

    Attributes:
        robot: the plant.
        reference: a trajectory in joint or task space, or ``None``.
        controller: from ``manipula.control``; ``None`` is free motion.
        q0, qd0: initial state (n,) or (N, n); the reference's start, or zero, when omitted.
        duration, step: [s]; fixed integrators step at multiples of ``step``, cut short where a sample, the end or a known jump
            divides one. ``step`` is also the period at which a controller with noise or delay decides.
        integrator: "rk4", "semi_implicit", "midpoint" (fixed step), "dopri5", "dop853", "rodas" (adaptive; rodas for stiff
            drives and friction); "auto" takes dop853 for free motion, and under control rk4, or rodas where
            the verification of rk4 fails.
        sample: time between recorded samples [s]; ``step`` when omitted. The end is always recorded.
        kind: "auto" decides by what is given; "kinematic" integrates resolved rates, "inverse_dynamics" evaluates torques
            along the reference, "playback" applies ``torques``.
        torques: (times, values) for playback, values (k, n), linear between the times.
        model: the controller's own model of the robot; the plant itself when omitted.
        friction, drives: replacing those of the robot: one law or drive for all joints, one a joint, or a mapping by joint name;
            ``friction=()`` switches friction off.
        disturbances: wrenches on frames and payload changes. noise: of the measurements. actuator: limits and delay.
        parameters: values of the robot's free parameters, numbers or one number a run of the batch.
        vary: other numbers of the run by their path, such as {"controller.kp": (N,)}.
        tolerance: relative error up to which the answer counts as right; adaptive integrators aim below it.
        stop_at_limits: end the run where a joint limit is crossed.
        verify: repeat the run with another step and compare, so that "finished" can be trusted.
        ik_solution: which solution of the inverse kinematics an inverse-dynamics run along a task reference starts with.
        criteria, gain: secondary criteria of a kinematic run, and its gain on the tip's error [1/s].
        start: "given" takes q0 as it is, "project" moves it by the smallest change of joints onto the start of a task reference.
        limits: what the motion is held against (``Result.feasible``) in place of the robot's own limits of the same quantity:
            "position", "velocity", "acceleration", "jerk", "torque", "power", one number or one a joint; "tip" with its own
            "velocity", "acceleration", "jerk".
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
    disturbances: tuple[Wrench | PayloadChange, ...] = ()
    noise: Noise = QUIET
    actuator: Actuator = IDEAL
    parameters: Any = None
    vary: Any = None
    tolerance: float = 1e-6
    stop_at_limits: bool = False
    verify: bool = True
    ik_solution: int = 0
    criteria: tuple[Any, ...] = ()
    gain: float = 0.0
    start: Literal["given", "project"] = "given"
    limits: Any = None
    name: str = "run"

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise DescriptionError(f"A Robot is needed, found {type(self.robot).__name__}.", field="robot")
        if self.kind not in KINDS:
            raise unknown_name("kind of run", self.kind, KINDS, field="kind")
        if self.controller is not None and not isinstance(self.controller, Controller):
            raise DescriptionError(
                f"A controller is needed, found {type(self.controller).__name__}.", field="controller"
            )
        set_ = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        for name in ("q0", "qd0"):
            set_(name, self._state(name, getattr(self, name)))
        if self.duration is None:
            if self.reference is None:
                raise DescriptionError("A run without a reference needs a duration.", field="duration")
            set_("duration", float(self.reference.duration))
        for name in ("duration", "step", "sample", "tolerance"):
            self._positive(name)
        for name, kind, what in (("friction", FrictionLaw, "friction law"), ("drives", Drive, "drive")):
            set_(name, each_joint(self.robot, getattr(self, name), kind, what, name))
        for name in ("parameters", "vary", "limits", "torques"):
            set_(name, frozen(getattr(self, name)))
        stated_limits(self.robot, self.limits)  # a quantity that does not exist is refused
        if self.start not in STARTS:
            raise unknown_name("start", self.start, STARTS, field="start")
        one = isinstance(self.disturbances, (Wrench, PayloadChange))
        set_("disturbances", (self.disturbances,) if one else tuple(self.disturbances))
        for d in self.disturbances:
            if not isinstance(d, (Wrench, PayloadChange)):
                raise DescriptionError(
                    f"Wrench or PayloadChange is needed, found {type(d).__name__}.", field="disturbances"
                )
        set_("criteria", tuple(self.criteria))
        for name in ("controller", "actuator", "noise"):
            if getattr(self, name) is not None:
                check_fit(getattr(self, name), self.robot.n, name)
        for name in ("friction", "drives", "disturbances", "criteria"):
            for i, part in enumerate(getattr(self, name) or ()):
                if part is not None:
                    check_fit(part, self.robot.n, f"{name}[{i}]")
        if self.steps > MAX_STEPS:
            raise BudgetError(
                f"{self.duration:g} s in steps of {self.step:g} s are {self.steps} steps; at most {MAX_STEPS}.",
                field="step",
            )
        if self.samples * self.batch * self.robot.n > MAX_SAMPLES:
            raise BudgetError(
                f"{self.samples} samples of {self.batch} runs with {self.robot.n} joints exceed {MAX_SAMPLES} numbers; "
                f"record fewer: sample=…",
                field="sample",
            )

    def _positive(self, name: str) -> None:
        value = getattr(self, name)
        if value is None:
            return
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise DescriptionError(f"A number of seconds is needed, found {value!r}.", field=name) from None
        if not np.isfinite(number) or number <= 0.0:
            raise DescriptionError(f"A finite number greater than 0 is needed, found {number:g}.", field=name)
        object.__setattr__(self, name, number)

    def _state(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        state = np.asarray(value, float)
        if state.ndim not in (1, 2) or state.shape[-1] != self.robot.n:
            raise ShapeError(
                f"{name} of '{self.robot.name}' has shape {state.shape}, expected ({self.robot.n},) or (N, {self.robot.n})."
            )
        if not np.isfinite(state).all():
            raise DescriptionError("Every entry must be finite.", field=name)
        return tuple(state.tolist()) if state.ndim == 1 else tuple(map(tuple, state.tolist()))

    @property
    def steps(self) -> int:
        """Steps of the fixed integrators; where ``step`` does not divide the duration the last one is shorter."""
        return _intervals(float(self.duration or 0.0), self.step)

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
        known = {f.name for f in dataclasses.fields(self)}
        for name in changes:
            if name not in known:
                raise unknown_name("field of Scenario", name, sorted(known))
        return dataclasses.replace(self, **changes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the scenario as TOML."""
        verb("Scenario.save")(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Read a scenario from TOML."""
        return verb("Scenario.load")(path)
