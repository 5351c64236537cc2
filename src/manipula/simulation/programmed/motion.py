"""``programmed_motion``: the user says what the tip must do; the motion, the friction and the torques behind it follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from manipula.errors import DescriptionError, ShapeError, unknown_name
from manipula.robot.drives.base import Drive
from manipula.robot.drives.gear import geared
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot
from manipula.simulation.integrators import FIXED
from manipula.simulation.plant.per_joint import each_joint
from manipula.simulation.programmed.constraint import Constraint, read_constraints
from manipula.simulation.programmed.equations import ProgrammedPlant
from manipula.simulation.programmed.friction_comparison import FrictionComparison
from manipula.simulation.programmed.run import run_programmed
from manipula.simulation.result import Result

Formulation = Literal["gpme", "multipliers"]
Stabilisation = Literal["none", "projection", "baumgarte"]
STARTS = ("near", "project", "refuse")


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
        independent: 0-based numbers of the independent joints, n minus the number of constraints; chosen by pivoting, and
            chosen again during the run where they become singular, when omitted.
        drives: torque of a joint: number, formula in ``t``, or a drive such as ``mp.drives.Flexible(…, motor="formula in t")``.
            One drive stands for all joints.
        friction: one law for all joints, one a joint, or a mapping by joint name; the robot's own when omitted, none with ``()``.
        parameters: values of the names in the formulas; a run may take others without deriving anew.
    """
    if robot.parameters:
        raise DescriptionError(
            f"Robot '{robot.name}' still has free parameters ({', '.join(robot.parameters)}).", field="robot"
        )
    if robot.tip is None:
        robot.tip_frame  # raises, naming the end links  # noqa: B018
    n = robot.n
    named = {k: float(v) for k, v in (parameters or {}).items()}
    read = read_constraints(constraints, n, named)
    given = each_joint(robot, friction, FrictionLaw, "friction law", "friction")
    laws = tuple(j.friction for j in robot.joints) if given is None else given or (None,) * n
    motors: list[Any] = [None] * n
    if isinstance(drives, Drive):
        drives = dict.fromkeys(range(n), drives)
    for i, drive in (drives or {}).items():
        if not 0 <= int(i) < n:
            raise DescriptionError(f"Joint number {i} does not exist; 0 to {n - 1} do.", field="drives")
        motor = float(drive) if isinstance(drive, (int, np.integer, np.floating)) else drive
        motors[int(i)] = (
            geared(motor, robot.joints[int(i)], field=f"drives[{i}]") if isinstance(motor, Drive) else motor
        )
    chosen = None if independent is None else tuple(int(i) for i in independent)
    if chosen is not None and (len(set(chosen)) != n - len(read) or any(not 0 <= i < n for i in chosen)):
        raise DescriptionError(
            f"{n} joints and {len(read)} constraints leave {n - len(read)} independent joints; found {list(chosen)}.",
            field="independent",
        )
    return ProgrammedMotion(ProgrammedPlant(robot, read, tuple(motors), laws, named), chosen)


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
        gain: float = 50.0,
        start: Literal["near", "project", "refuse"] = "near",
        sample: float | None = None,
        parameters: Mapping[str, float] | None = None,
        friction: bool = True,
        integrator: str = "rk4",
        tolerance: float = 1e-5,
        verify: bool = True,
    ) -> Result:
        """Integrate the programmed motion.

        Args:
            formulation: "gpme" (independent coordinates) or "multipliers"; they agree to rounding.
            stabilisation: "projection" after every step, "baumgarte" with ``gain`` [1/s], or "none".
            start: an initial posture that breaks the constraints is moved onto them by the smallest change of joints: up to 0.1 rad or
                0.05 m ("near"), by any distance ("project"), or not at all ("refuse"). ``notes`` of the result say how far.
            tolerance: relative error up to which the answer counts as right; verify: repeat with other, finer steps and compare.
            parameters: other values of the parameters. friction: False switches every law off.
        """
        if formulation not in ("gpme", "multipliers"):
            raise unknown_name("formulation", formulation, ("gpme", "multipliers"), field="formulation")
        if stabilisation not in ("none", "projection", "baumgarte"):
            raise unknown_name(
                "stabilisation", stabilisation, ("none", "projection", "baumgarte"), field="stabilisation"
            )
        if integrator not in FIXED:
            raise unknown_name("integrator of a programmed motion", integrator, FIXED, field="integrator")
        plant = self.plant
        for name in parameters or {}:
            if name not in plant.parameters:
                raise unknown_name("parameter", name, plant.parameters, field="parameters")
        values = {**plant.parameters, **{k: float(v) for k, v in (parameters or {}).items()}}
        laws = plant.friction if friction else (None,) * plant.robot.n
        plant = replace(
            plant,
            parameters=values,
            friction=laws,
            formulation=formulation,
            stabilisation=stabilisation,
            gain=float(gain),
            traced={},
        )
        n = plant.robot.n
        q = np.zeros(n) if q0 is None else np.asarray(q0, float)
        qd = None if qd0 is None else np.asarray(qd0, float)
        if start not in STARTS:
            raise unknown_name("start of a programmed motion", start, STARTS, field="start")
        for name, v in (("q0", q), ("qd0", qd)):
            if v is None:
                continue
            if v.shape != (n,):
                raise ShapeError(f"{name} of '{plant.robot.name}' has shape {v.shape}, expected ({n},).")
            if not np.isfinite(v).all():
                raise DescriptionError("Every entry must be finite.", field=name)
        for name, number in (("duration", duration), ("step", step)):
            if not np.isfinite(number) or number <= 0:
                raise DescriptionError(f"A finite number greater than 0 is needed, found {number}.", field=name)
        return run_programmed(
            plant, self.independent, q, qd, float(duration), float(step), start, sample, integrator, tolerance, verify
        )

    def compare_friction(
        self, q0: Any, qd0: Any = None, duration: float = 1.0, step: float = 1e-4, **options: Any
    ) -> FrictionComparison:
        """The motion with and without friction in one call; ``options`` are those of ``run``."""
        if all(law is None for law in self.plant.friction):
            raise DescriptionError("No joint of this programmed motion has a friction law.", field="friction")
        runs = [self.run(q0, qd0, duration, step, friction=on, **options) for on in (True, False)]
        return FrictionComparison(*runs)
