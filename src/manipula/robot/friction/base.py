r"""What a friction law is.

Friction stands on the left of the equation of motion, :math:`M\ddot q + C\dot q + g + \tau_f = \tau`, with the sign of
:math:`\dot q`: it opposes motion. A law is a frozen dataclass of parameters with one method, :meth:`FrictionLaw.torque`,
and, when it remembers something (a bristle), the rate of that memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar

from manipula.algebra.ops import Scalar
from manipula.errors import printable
from manipula.identity import is_own
from manipula.parts.checks import check_part
from manipula.parts.field import Number

NOTHING = -1000.0  # a power of e that is zero, and known to be zero without an exponential
SLOWEST = 1e-300  # a speed whose reciprocal is a number

Damping = Annotated[Any, Number("N·m·s/rad or N·s/m", "viscous friction b", least=0.0)]
Width = Annotated[Any, Number("rad/s or m/s", "v_0, the speed at which 76 % of the dry friction acts", above=0.0)]
Offset = Annotated[
    Any,
    Number("N·m or N", "constant torque f_0, of a cable, a spring or the zero of a sensor; it does not oppose motion"),
]


def diameter_unfit(law: Any, revolute: bool) -> str:
    """Does a law whose load is a force [N] have the diameter that makes it a torque [N·m], where one is needed and only there?"""
    if revolute and law.diameter is None:
        return (
            f"'diameter' of friction law '{law.name}' is missing: in a revolute joint the load is a force [N], and d/2 makes its friction a "
            "torque [N·m]; give the diameter of the bearing [m]."
        )
    if not revolute and law.diameter is not None:
        return (
            f"'diameter' of friction law '{law.name}' is {printable(law.diameter)}, but the joint is prismatic, where friction is a force "
            "[N]; leave the diameter out."
        )
    return ""


class FrictionLaw(ABC):
    """One law for one joint. Written over ``ops``, so that it runs on floats and is compiled when traced."""

    part: ClassVar[str] = "friction law"
    smooth: ClassVar[bool] = False  # is the torque analytic in the speed, without corners and thin layers?
    name: ClassVar[str]
    states: ClassVar[int] = 0  # how many internal states (bristle deflections) the law has
    sticks: ClassVar[bool] = False  # does it hold a joint at rest? Then its one state is the direction of sliding

    def __post_init__(self) -> None:
        check_part(self)

    @property
    def needs_load(self) -> bool:
        """Does the torque depend on the normal force in the joint, which depends on the motion itself?"""
        return False

    @property
    def hold(self) -> Scalar:
        """The largest torque with which a law that sticks holds a joint at rest."""
        return 0.0

    def unfit(self, revolute: bool) -> str:
        """Why the law cannot act in a revolute (or else prismatic) joint, with what is allowed; empty when it can."""
        return ""

    @abstractmethod
    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        """Friction torque ``tau_f`` [N·m or N], with the sign of ``qd``.

        Args:
            qd: joint velocity [rad/s or m/s].
            state: the law's own states, ``states`` of them.
            load: normal force in the joint [N], for laws that depend on it.
        """

    def sliding(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        """The same where a law that sticks is known to slide, so that its state is -1 or 1; others slide always."""
        return self.torque(qd, state, load)

    @property
    def slides(self) -> bool:
        """May a run ask :meth:`sliding` in the place of :meth:`torque` at any time? Not where somebody gave the law another torque."""
        law = type(self)
        return not self.sticks and law.sliding is not FrictionLaw.sliding and is_own(law)

    def state_rate(self, qd: Scalar, state: tuple[Scalar, ...], load: Scalar = 0.0) -> tuple[Scalar, ...]:
        """Time derivative of the law's states; laws without states have none."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a file: the registry name under ``law`` and the parameters."""
        from dataclasses import fields

        return {"law": self.name} | {f.name: getattr(self, f.name) for f in fields(self)}  # pyright: ignore[reportArgumentType]
