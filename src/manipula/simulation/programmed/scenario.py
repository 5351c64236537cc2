"""A programmed motion described as a value: what the tip must do, with which drives and friction, from where, for how long."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import Any, ClassVar

from manipula.algebra.fields import check_field_names
from manipula.errors import DescriptionError, unknown_name
from manipula.lazy import cached_property
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot
from manipula.simulation import field_values as values
from manipula.simulation.frozen_mapping import Frozen, frozen
from manipula.simulation.integrators import FIXED
from manipula.simulation.plant.per_joint import each_joint
from manipula.simulation.programmed.constraint import Constraint, listed
from manipula.simulation.programmed.friction_comparison import FrictionComparison
from manipula.simulation.programmed.motion import (
    GAIN,
    STARTS,
    TOLERANCE,
    ProgrammedMotion,
    by_number,
    check_budget,
    check_stabilisation,
    chosen_joints,
    programmed_motion,
)
from manipula.simulation.result import Result
from manipula.simulation.stated_limits import stated_limits
from manipula.verbs import verb

FORMULATIONS = ("gpme", "multipliers")
STABILISATIONS = ("projection", "baumgarte", "none")


@dataclass(frozen=True)
class ProgramScenario:
    """A frozen description of one programmed motion; see ``programmed_motion`` for the meaning of its parts.

    Attributes:
        constraints: formulas equal to zero, or ``left = right``; texts or Constraint objects.
        q0, qd0: initial state. start: one that breaks the constraints is moved onto them by the smallest change of joints, up to 0.1 rad or
            0.05 m ("near"), by any distance ("project"), or refused ("refuse").
        independent: names, or numbers from 0, of the independent joints, or ``None`` to have them chosen; the formulation "multipliers" has none.
        drives: by joint name, or number from 0: torque (number or formula in t), or a drive; one drive for all joints.
        friction: one law for all joints, one per joint, or a mapping by joint name; ``()`` is none, ``None`` the robot's own.
        parameters: values of the names in the formulas.
        duration, step, sample [s]; tolerance: relative error up to which the answer counts as right; verify: repeat with
            other, finer steps and compare.
        limits: what the motion is compared with in place of the robot's own limits of the same quantity.
    """

    robot: Robot
    constraints: Any
    q0: Any
    qd0: Any = None
    duration: float = 1.0
    step: float = 1e-4
    independent: Any = None
    drives: Any = None
    friction: Any = None
    parameters: Any = None
    formulation: str = "gpme"
    stabilisation: str = "projection"
    gain: float = GAIN
    start: str = "near"
    sample: float | None = None
    integrator: str = "rk4"
    tolerance: float = TOLERANCE
    verify: bool = True
    limits: Any = None
    name: str = "programmed motion"
    kind: ClassVar[str] = "programmed"

    def __post_init__(self) -> None:
        set_ = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        if not isinstance(self.robot, Robot):
            raise DescriptionError(f"A Robot is needed, found {type(self.robot).__name__}.", field="robot")
        for name in ("parameters", "limits"):
            set_(name, frozen(values.mapping(name, getattr(self, name))))
        set_("parameters", self.parameters or Frozen({}))
        set_("drives", tuple(sorted(by_number(self.robot, self.drives).items())))
        set_("independent", chosen_joints(self.robot, self.independent))
        set_("friction", each_joint(self.robot, self.friction, FrictionLaw, "friction law", "friction"))
        given = listed(self.constraints)
        set_("constraints", tuple(c if isinstance(c, Constraint) else Constraint(c) for c in given))
        for name, known in (
            ("formulation", FORMULATIONS),
            ("stabilisation", STABILISATIONS),
            ("start", STARTS),
            ("integrator", FIXED),
        ):
            values.one_of(name, getattr(self, name), known)
        set_("tolerance", values.tolerance(self.tolerance))
        for name in ("duration", "step", "sample"):
            if name != "sample" or self.sample is not None:
                set_(name, values.positive(name, getattr(self, name)))
        set_("gain", values.not_negative("gain", self.gain))
        set_("verify", values.yes_or_no("verify", self.verify))
        values.text("name", self.name)
        for name in ("q0", "qd0"):
            set_(name, values.state(name, getattr(self, name), self.robot, batch=False))
        if self.q0 is None:
            raise DescriptionError(f"{self.robot.n} numbers are needed, one per joint.", field="q0")
        stated_limits(self.robot, self.limits)
        check_budget(self.robot, self.duration, self.step, self.sample)
        check_stabilisation(self.motion.constraints, self.stabilisation, self.gain)
        if self.independent is not None and self.formulation == "multipliers":
            raise DescriptionError(
                'The formulation "multipliers" chooses no independent coordinates; leave independent out, or take "gpme".',
                field="independent",
            )

    @cached_property
    def motion(self) -> ProgrammedMotion:
        """The derived equations."""
        return programmed_motion(
            self.robot, self.constraints, self.independent, dict(self.drives), self.friction, self.parameters
        )

    def run(self, *, friction: bool = True) -> Result:
        """Integrate; ``friction=False`` switches every law off."""
        return verb("ProgramScenario.run")(self, friction)

    def run_batch(self, q0: Any = None, qd0: Any = None, parameters: Any = None, *, friction: bool = True) -> Result:
        """The motion from several starts (N, n), or with N values of its parameters, as one result (``simulation.program_runs``)."""
        return verb("ProgramScenario.run_batch")(self, q0, qd0, parameters, friction)

    def realised(
        self, controller: Any = None, *, friction: bool = True, compensated: bool = True, **settings: Any
    ) -> Any:
        """The scenario of a controller that realises this motion on the arm itself (``simulation.program_runs``): torques of drives and multipliers
        fed forward, with feedback; friction acting and compensated or not; ``settings`` of the Scenario, such as several starts."""
        options = {"friction": friction, "compensated": compensated}
        return verb("ProgramScenario.realised")(self, controller, **options, **settings)

    def compare_friction(self) -> FrictionComparison:
        """The run with and without friction."""
        if all(law is None for law in self.motion.plant.friction):
            raise DescriptionError("No joint of this programmed motion has a friction law.", field="friction")
        return FrictionComparison(self.run(), self.run(friction=False))

    def replace(self, **changes: Any) -> ProgramScenario:
        """The same scenario with other values in some fields."""
        check_field_names(self, changes)
        return dataclasses.replace(self, **changes)

    def with_parameters(self, values: dict[str, float]) -> ProgramScenario:
        """The same motion with other values of its parameters; nothing is derived anew."""
        for name in values:
            if name not in self.parameters:
                raise unknown_name("parameter of the programmed motion", name, self.parameters, field="parameters")
        return self.replace(parameters={**self.parameters, **values})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as TOML."""
        verb("Scenario.save")(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ProgramScenario:
        """Read one from TOML."""
        return verb("ProgramScenario.load")(path)
