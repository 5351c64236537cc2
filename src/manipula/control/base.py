r"""What a controller is: torques from time, state and target, written over any scalar so that a whole loop is compiled.

The plant obeys :math:`M\ddot q + C\dot q + g + \tau_f = \tau`. A controller sees measured q, qd, the target of the moment and
an :class:`~manipula.redundancy.arm.Arm`, its own model of the robot (which may differ from the plant).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from manipula.algebra.arguments import whole_number
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.errors import DescriptionError, ShapeError, printable
from manipula.parts.checks import DeclaredPart, check_fit
from manipula.parts.field import Flag
from manipula.redundancy.arm import Arm
from manipula.redundancy.criterion import checked_criteria
from manipula.redundancy.orientation import TurnTarget, turn_target
from manipula.robot.robot import Robot

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory

MOST_STATES = 100_000
LATER = ("t", "q", "qd", "tip", "error", "energy", "audit", "contact_loss", "bristles", "motors", "controller_states", "switched")  # signals  # fmt: skip
MEASURED = ("motors", "wrench")
Space = Literal["joint", "task", "none"]
# the flag ``friction`` of controllers with a model
FrictionCompensation = Annotated[
    bool, Flag("compensate friction without state and load: that of the run, or that of the controller's own model")
]


class _Motion(NamedTuple):
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class Target(_Motion):
    """Where to be at this moment: position, velocity, acceleration, in joint space (n,) or of the tip (3,)."""

    # how the tool is to be turned, where the reference says so and the controller follows it
    turn: TurnTarget | None = None
    # derivatives of the third and higher orders, where there are any
    further: Callable[[int], np.ndarray] | None = None

    def derivative(self, order: int) -> np.ndarray:
        """The derivative of any order in time: 3 is the jerk, 4 the snap."""
        if order < 3:
            return self[order]
        return np.zeros(len(self.position)) if self.further is None else self.further(order)


def target_of(derivative: Callable[[int], np.ndarray], turned: bool = False) -> Target:
    """The target whose k-th derivative is ``derivative(k)``; those beyond the acceleration are computed when asked for.

    ``turned``: the rows are three coordinates of the tip, then a quaternion.
    """
    rows = [derivative(k) for k in range(3)]
    if not turned:
        target = Target(*rows)
        target.further = derivative
        return target
    target = Target(*(row[:3] for row in rows))
    target.further, target.turn = (lambda k: derivative(k)[:3]), turn_target(*(row[3:] for row in rows))
    return target


class Controller(DeclaredPart, ABC):
    """A frozen dataclass of gains with one method.

    ``space`` says which target it follows: "joint", "task" (tip position) or "none". Gains are numbers or one number per joint.
    ``measures`` says what it measures beside q and qd: with ``("motors",)`` the arm that it is given has ``arm.motors``, positions and
    speeds of the motors (joint side); behind a rigid drive they are those of the joint. With ``("wrench",)`` it has ``arm.wrench``, force and
    moment of all contacts on the tip in axes of the base, (6,).
    """

    part: ClassVar[str] = "controller"
    smooth: ClassVar[bool] = False  # are torques analytic in state and target, without corners and thin layers?
    name: ClassVar[str]
    space: ClassVar[Space]
    measures: ClassVar[tuple[str, ...]] = ()  # beside q and qd; "motors": arm.motors, "wrench": arm.wrench
    follows_orientation: ClassVar[bool] = False  # does it look at ``target.turn``?

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_criteria(getattr(self, "criteria", ()))

    def states(self, n: int) -> int:
        """How many states of its own the controller integrates (integrals, parameter estimates)."""
        return 0

    def prepare(self, arm: Arm) -> Controller:
        """The controller with everything that is computed once, before the run (a Riccati gain, say)."""
        return self

    def initial_state(self, arm: Arm) -> Vector:
        """The states of the controller at the start: zeros, unless a controller says otherwise."""
        return np.zeros(self.states(arm.n))

    def state_at(self, arm: Arm, q: Vector, qd: Vector, target: Target | None) -> Vector:
        """The same where it depends on the state of the arm and on the target there; ``initial_state`` unless a controller says otherwise."""
        return self.initial_state(arm)

    def facing(self, arm: Arm, reference: Trajectory) -> Controller:
        """The controller as it follows this reference; itself, unless what it controls depends on the reference."""
        return self

    def count(self, each: str, robot: Robot) -> int | None:
        """How many numbers a field needs that holds one per ``each``; ``None`` where only the controller itself knows."""
        return len(Arm(robot).task) if each == "coordinate" and self.space == "task" else None

    @abstractmethod
    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        """Commanded torques, (n,) [N·m or N]."""

    def state_rate(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        """Time derivative of the controller's states."""
        return np.zeros(self.states(arm.n))

    def signals(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> dict[str, Any]:
        """What it shows beside its torques, by the name of the signal in results: numbers or arrays of the state as it is, without noise."""
        return {}

    def update(
        self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector, period: Scalar
    ) -> Vector:
        """The states a control period later, from what is measured at t, in runs with a ``control_period``.

        One step of Euler's method, unless a controller says otherwise; one that has no ``state_rate`` needs such runs.
        """
        return array(state + period * self.state_rate(arm, t, q, qd, target, state))


def checked_torques(given: Any, n: int) -> np.ndarray:
    """What a controller gave, as (n,) numbers of any kind.

    Raises:
        ShapeError: for another length.
        DescriptionError: for what is no array of real numbers: masked entries, complex numbers, text, nothing.
    """
    if isinstance(given, np.ndarray) and hasattr(given, "mask"):  # numpy.ma itself takes long to import
        raise DescriptionError(
            "The controller gives a masked array; a torque cannot be missing. Fill it: tau.filled(0.0).",
            field="controller",
        )
    torques = array(given)
    if torques.shape != (n,):
        raise ShapeError(f"The controller gives torques of shape {torques.shape}, expected ({n},).")
    odd = next((v for v in torques.tolist() if v is None or isinstance(v, (str, bytes, complex))), 0.0)
    if torques.dtype.kind not in "fiubO" or odd != 0.0:
        raise DescriptionError(
            f"The controller gives torques that are no real numbers: {printable(repr(torques.tolist()), 80)}.",
            field="controller",
        )
    return torques


def check_controller(controller: Controller, n: int) -> None:
    """Does a controller that somebody wrote say what it follows, and how its states change?

    Raises:
        DescriptionError: with what is missing, and how it is written.
    """
    if not isinstance(getattr(controller, "name", None), str):
        kind = type(controller).__name__
        raise DescriptionError(f"{kind} needs a name: name: ClassVar[str] = 'mine'.", field="controller.name")
    space = getattr(controller, "space", None)
    if space not in get_args(Space):
        raise DescriptionError(
            f"'space' of controller '{controller.name}' says which target it follows: {', '.join(get_args(Space))}; "
            f"found {printable(repr(space), 40)}.",
            field="controller.space",
        )
    if not callable(controller.states):
        raise DescriptionError(
            f"'states' of controller '{controller.name}' is a method, for it may depend on the number of joints: "
            f"def states(self, n): return {printable(repr(controller.states), 20)}.",
            field="controller.states",
        )
    odd = [word for word in controller.measures if word not in MEASURED]
    if isinstance(controller.measures, str) or odd:
        raise DescriptionError(
            f"'measures' of controller '{controller.name}' is a tuple of what it measures beside q and qd, of "
            f"{', '.join(MEASURED)}; found {printable(repr(controller.measures), 40)}.",
            field="controller.measures",
        )
    kind, unmoved = type(controller), Controller.state_rate
    if state_count(controller, n) and kind.state_rate is unmoved and kind.update is Controller.update:
        raise DescriptionError(
            f"The controller '{controller.name}' has states but no method state_rate(arm, t, q, qd, target, state): they would never change.",
            field="controller.state_rate",
        )


def is_digital(controller: Controller, n: int) -> bool:
    """Do the states of a controller change at the instants of a control period only?"""
    return state_count(controller, n) > 0 and type(controller).state_rate is Controller.state_rate


def check_gains(controller: Controller, robot: Robot) -> None:
    """Fields of a controller, and the lengths of its gains: one per joint, per coordinate of the tip, per adapted parameter.

    Raises:
        LengthError, DescriptionError: with the field, what was found and what is allowed.
    """
    check_fit(controller, robot.n, "controller", lambda each: controller.count(each, robot))


def state_count(controller: Controller, n: int) -> int:
    """How many states a controller has on a robot with n joints."""
    return whole_number(controller.states(n), f"states of controller '{controller.name}'", 0, MOST_STATES)


def checked_states(given: Any, count: int, controller: Controller, what: str) -> np.ndarray:
    """What a controller gave for its states or their rates, as (count,) numbers of any kind."""
    if np.shape(given) != (count,):
        raise ShapeError(
            f"The {what} of controller '{controller.name}' has shape {np.shape(given)}; its states are {count}."
        )
    return array(given)


def shown_by(controller: Controller, signals: dict[str, Any], taken: dict[str, Any]) -> dict[str, Any]:
    """The signals of a controller, none of which takes the name of another one.

    Raises:
        DescriptionError: with the name.
    """
    for name in signals:
        if name in taken or name in LATER or str(name).startswith("work_"):
            raise DescriptionError(
                f"'signals' of controller '{controller.name}' gives '{printable(name)}', which a result has already; give it another name.",
                field="controller.signals",
            )
    return signals


def prepared(controller: Controller, arm: Arm) -> Controller:
    """The controller with everything that is computed once, before the run."""
    found = controller.prepare(arm)
    if not isinstance(found, Controller):
        raise DescriptionError(
            f"'prepare' of controller '{controller.name}' must return a controller; found {type(found).__name__}.",
            field="controller",
        )
    return found


def unwritable(v: Any) -> np.ndarray:
    """A copy that nobody can write to."""
    out = np.array(v)
    out.flags.writeable = False
    return out
