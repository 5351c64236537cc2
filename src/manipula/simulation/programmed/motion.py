"""``programmed_motion``: the user says what the tip must do; the motion, the friction and the torques behind it follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from manipula.algebra.expression import parse
from manipula.errors import BudgetError, DescriptionError, printable, unknown_name
from manipula.robot.drives.base import Drive
from manipula.robot.drives.dc_motor import DCMotor
from manipula.robot.drives.gear import geared
from manipula.robot.drives.rigid import Rigid
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot
from manipula.simulation import field_values as values
from manipula.simulation.budgets import MAX_SAMPLES, MAX_STEPS
from manipula.simulation.integrators import FIXED
from manipula.simulation.integrators.own_integrator import check_own_integrator
from manipula.simulation.plant.per_joint import each_joint
from manipula.simulation.programmed.constraint import Constraint, read_constraints
from manipula.simulation.programmed.equations import ProgrammedPlant
from manipula.simulation.programmed.friction_comparison import FrictionComparison
from manipula.simulation.programmed.run import run_programmed
from manipula.simulation.result import Result

Formulation = Literal["gpme", "multipliers"]
Stabilisation = Literal["none", "projection", "baumgarte"]
STARTS = ("near", "project", "refuse")
TOLERANCE = 1e-5  # relative error up to which an answer counts as right
GAIN = 50.0  # 1/s, of Baumgarte's stabilisation
NUMBERS = 20  # per joint that a sample keeps


def programmed_motion(
    robot: Robot,
    constraints: Any,
    independent: Sequence[int] | None = None,
    drives: Mapping[int, Any] | Drive | None = None,
    friction: Any = None,
    parameters: Mapping[str, float] | None = None,
) -> ProgrammedMotion:
    """The equations of a robot whose tip obeys constraints.

    Args:
        constraints: formulas equal to zero (see ``Constraint``), any number up to n.
        independent: names, or numbers from 0, of the independent joints, n minus the number of constraints; chosen by pivoting, and
            chosen again during the run where they become singular, when omitted.
        drives: torque of a joint: number, formula in ``t``, or a drive such as ``mp.drives.Flexible(…, motor="formula in t")``.
            One drive stands for all joints.
        friction: one law for all joints, one per joint, or a mapping by joint name; the robot's own when omitted, none with ``()``.
        parameters: values of the names in the formulas; a run may take others without deriving anew.
    """
    if not isinstance(robot, Robot):
        raise DescriptionError(f"A Robot is needed, found {type(robot).__name__}.", field="robot")
    if robot.parameters:
        raise DescriptionError(
            f"Robot '{robot.name}' still has free parameters ({', '.join(robot.parameters)}).", field="robot"
        )
    if robot.tip is None:
        robot.tip_frame  # raises, naming the end links  # noqa: B018
    n = robot.n
    named = numbers_by_name(parameters)
    read = read_constraints(constraints, n, named)
    for k, c in enumerate(read):
        try:
            robot.frame(c.where[0])
        except DescriptionError as error:
            raise error.at(field=f"constraints[{k}]") from None
    given = each_joint(robot, friction, FrictionLaw, "friction law", "friction")
    laws = tuple(j.friction for j in robot.joints) if given is None else given or (None,) * n
    motors: list[Any] = [None] * n
    for i, drive in by_number(robot, drives).items():
        motors[i] = _checked_drive(drive, robot, i, named)
    _check_used(read, motors, named)
    chosen = chosen_joints(robot, independent)
    if chosen is not None and (
        sorted(set(chosen)) != sorted(i for i in chosen if 0 <= i < n) or len(chosen) != n - len(read)
    ):
        left, m = n - len(read), len(read)
        raise DescriptionError(
            f"{n} joints and {m} constraint{'s' * (m != 1)} leave {left} independent joint{'s' * (left != 1)}; found {list(chosen)}.",
            field="independent",
        )
    return ProgrammedMotion(ProgrammedPlant(robot, read, tuple(motors), laws, named), chosen)


def _checked_drive(drive: Any, robot: Robot, i: int, parameters: Mapping[str, float]) -> Any:
    """A drive that acts without a command, since nothing commands it here; a torque in t and the parameters."""
    place = f"drives[{i}]"
    if isinstance(drive, Rigid) or (isinstance(drive, DCMotor) and drive.voltage is None):
        raise DescriptionError(
            f"A drive of kind '{drive.name}' makes the torque that it is commanded, and nothing commands it in a programmed motion: give "
            "the torque itself (a number, a formula in t), or a drive that acts by itself such as Flexible(…, motor=…).",
            field=place,
        )
    if isinstance(drive, str):
        try:
            parse(drive, ("t", *parameters))
        except DescriptionError as error:
            error.field = f"{place}, {error.field}"
            raise error.at() from None
    return geared(drive, robot.joints[i], field=place) if isinstance(drive, Drive) else drive


def numbers_by_name(parameters: Any) -> dict[str, float]:
    """Values of the parameters of a programmed motion as plain numbers."""
    given = values.mapping("parameters", parameters) or {}
    return {name: values.real(f"parameters.{name}", value) for name, value in given.items()}


def by_number(robot: Robot, drives: Any) -> dict[int, Any]:
    """Drives of a programmed motion, by joint name or number: each a number, a formula in t, a function of t, or a Drive."""
    if isinstance(drives, Drive):
        return dict.fromkeys(range(robot.n), drives)
    try:
        given = dict(() if drives is None else drives)
    except (TypeError, ValueError):
        raise DescriptionError(
            f"Drives by joint name or number are needed, {{'{robot.joint_names[0]}': 20.0}}, or one drive for all; "
            f"found {values.found(drives)}.",
            field="drives",
        ) from None
    found: dict[int, Any] = {}
    for joint, drive in given.items():
        i = joint_number(robot, joint, "drives")
        if i in found:
            raise DescriptionError(f"Joint '{robot.joint_names[i]}' has two drives.", field="drives")
        if isinstance(drive, (bool, float, int, np.integer, np.floating)):
            drive = values.real(f"drives[{i}]", drive)
        elif not isinstance(drive, (str, Drive)) and not callable(drive) and drive is not None:
            raise DescriptionError(
                f"A torque (number, formula in t, function of t) or a drive is needed, found {values.found(drive)}.",
                field=f"drives[{i}]",
            )
        if drive is not None:
            found[i] = drive
    return found


def joint_number(robot: Robot, joint: Any, field: str) -> int:
    """A joint by its name, or by its number from 0.

    Raises:
        UnknownNameError, DescriptionError: with the field and what is allowed.
    """
    if isinstance(joint, str):
        if joint not in robot.joint_names:
            raise unknown_name(f"joint of robot '{robot.name}'", joint, robot.joint_names, field=field)
        return robot.joint_names.index(joint)
    if isinstance(joint, (bool, np.bool_)) or not isinstance(joint, (int, np.integer)) or not 0 <= joint < robot.n:
        raise DescriptionError(
            f"Joint number {values.found(joint)} does not exist; 0 to {robot.n - 1} do.", field=field
        )
    return int(joint)


def chosen_joints(robot: Robot, independent: Any) -> tuple[int, ...] | None:
    """0-based numbers of the independent joints, from names or numbers; None leaves the choice open."""
    if independent is None:
        return None
    if not isinstance(independent, (list, tuple, range, np.ndarray)):
        raise DescriptionError(
            f"A list of joint names (or numbers from 0) is needed, found {values.found(independent)}.",
            field="independent",
        )
    return tuple(joint_number(robot, joint, f"independent[{k}]") for k, joint in enumerate(independent))


def check_stabilisation(constraints: tuple[Constraint, ...], stabilisation: str, gain: float) -> None:
    """Does the way back to the constraints that was asked for act in this motion?"""
    if gain != GAIN and stabilisation != "baumgarte":
        raise DescriptionError('A gain belongs to stabilisation="baumgarte"; nothing else uses it.', field="gain")
    if stabilisation == "baumgarte" and all(c.level == "acceleration" for c in constraints):
        raise DescriptionError(
            "Constraints on accelerations alone leave nothing that a gain could bring back to them; leave the stabilisation out.",
            field="stabilisation",
        )


def check_budget(robot: Robot, duration: float, step: float, sample: float | None) -> None:
    """Are there not too many steps, and not too many numbers to keep?"""
    if duration / MAX_STEPS > step:
        raise BudgetError(
            f"{duration:g} s in steps of {step:g} s are more than {MAX_STEPS} steps: a shorter duration or a longer step is needed.",
            field="step",
        )
    if duration / MAX_SAMPLES * NUMBERS * robot.n > (sample or step):
        raise BudgetError(
            f"The samples would be more than {MAX_SAMPLES} numbers; record fewer: sample=…", field="sample"
        )


def _check_used(constraints: tuple[Constraint, ...], drives: list[Any], parameters: Mapping[str, float]) -> None:
    """A parameter that no formula names is probably misspelt; a function may use any."""
    if any(not isinstance(c.formula, str) for c in constraints):
        return
    formulas = [str(c.formula) for c in constraints] + [d for d in drives if isinstance(d, str)]
    used = {name for text in formulas for name in parse(text).names}
    for name in parameters:
        if name not in used:
            raise DescriptionError(
                f"No formula of the programmed motion uses '{printable(name)}'.",
                field=f"parameters.{printable(name, 40)}",
            )


@dataclass(frozen=True)
class ProgrammedMotion:
    """Derived equations of a programmed motion; compiled at the first run and kept."""

    plant: ProgrammedPlant
    independent: tuple[int, ...] | None

    @property
    def robot(self) -> Robot:
        return self.plant.robot

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        return self.plant.constraints

    def run(
        self,
        q0: Any,
        qd0: Any = None,
        duration: float = 1.0,
        step: float = 1e-4,
        formulation: Formulation = "gpme",
        *,
        stabilisation: Stabilisation = "projection",
        gain: float = GAIN,
        start: Literal["near", "project", "refuse"] = "near",
        sample: float | None = None,
        parameters: Mapping[str, float] | None = None,
        friction: bool = True,
        integrator: str = "rk4",
        tolerance: float = TOLERANCE,
        verify: bool = True,
        limits: Mapping[str, Any] | None = None,
    ) -> Result:
        """Integrate the programmed motion.

        Args:
            formulation: "gpme" (independent coordinates) or "multipliers" (which chooses none); they agree to rounding.
            stabilisation: "projection" after every step, "baumgarte" with ``gain`` [1/s], or "none".
            start: an initial posture that breaks the constraints is moved onto them by the smallest change of joints: up to 0.1 rad or
                0.05 m ("near"), by any distance ("project"), or not at all ("refuse"). ``notes`` of the result say how far.
            tolerance: relative error up to which the answer counts as right; verify: repeat with other, finer steps and compare.
            parameters: other values of the parameters. friction: False switches every law off.
            limits: what the motion is compared with in place of the robot's own limits of the same quantity.
        """

        values.one_of("formulation", formulation, ("gpme", "multipliers"))
        values.one_of("stabilisation", stabilisation, ("none", "projection", "baumgarte"))
        values.one_of("integrator", integrator, FIXED, "integrator of a programmed motion")
        check_own_integrator(FIXED[integrator], integrator)
        values.one_of("start", start, STARTS, "start of a programmed motion")
        gain = values.not_negative("gain", gain)
        check_stabilisation(self.constraints, stabilisation, gain)
        plant = self.plant
        for name in numbers_by_name(parameters):
            if name not in plant.parameters:
                raise unknown_name("parameter", name, plant.parameters, field="parameters")
        n = plant.robot.n
        plant = replace(
            plant,
            parameters={**plant.parameters, **numbers_by_name(parameters)},
            friction=plant.friction if values.yes_or_no("friction", friction) else (None,) * n,
            formulation=formulation,
            stabilisation=stabilisation,
            gain=gain,
            traced={},
        )
        q = values.state("q0", np.zeros(n) if q0 is None else q0, plant.robot, batch=False)
        qd = values.state("qd0", qd0, plant.robot, batch=False)
        duration, step = values.positive("duration", duration), values.positive("step", step)
        tolerance = values.tolerance(tolerance)
        sample = None if sample is None else values.positive("sample", sample)
        check_budget(plant.robot, duration, step, sample)
        verify = values.yes_or_no("verify", verify)
        q, qd = np.array(q), None if qd is None else np.array(qd)
        with np.errstate(all="ignore"):  # numbers that are not finite are a status
            result = run_programmed(
                plant, self.independent, q, qd, duration, step, start, sample, integrator, tolerance, verify, limits
            )
        if verify or tolerance == TOLERANCE:
            return result
        idle = f"Nothing is repeated with verify = False: tolerance = {tolerance:g} did not act."
        return replace(result, notes=(*result.notes, idle))

    def compare_friction(
        self, q0: Any, qd0: Any = None, duration: float = 1.0, step: float = 1e-4, **options: Any
    ) -> FrictionComparison:
        """The motion with and without friction in one call; ``options`` are those of ``run``."""
        if all(law is None for law in self.plant.friction):
            raise DescriptionError("No joint of this programmed motion has a friction law.", field="friction")
        runs = [self.run(q0, qd0, duration, step, friction=on, **options) for on in (True, False)]
        return FrictionComparison(*runs)
