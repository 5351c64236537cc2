"""What disturbs a run: external wrenches, payload changes, measurement noise, real actuators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeGuard

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.arguments import finite_array
from manipula.algebra.expression import parse
from manipula.algebra.fields import freeze
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar
from manipula.errors import DescriptionError, LengthError, UnphysicalError
from manipula.lazy import cached_property
from manipula.parts.checks import check_part
from manipula.parts.field import Choice, File, Formulas, Frame, Number, PerJoint, VectorField, Whole
from manipula.parts.registry import PartKind
from manipula.robot.link import TIP

COLUMNS = ("t", "fx", "fy", "fz", "mx", "my", "mz")
PUSH = f"{','.join(COLUMNS)}\n0,0,0,0,0,0,0\n0.5,10,0,0,0,0,0\n1,0,0,0,0,0,0\n"  # to begin with


def _plain(value: Any) -> TypeGuard[float]:
    """Is it a number that can be looked at, and not one that is being traced?"""
    return isinstance(value, (int, float))


STATE_NAMES = ("x", "y", "z", "vx", "vy", "vz", "roll", "pitch", "yaw", "wx", "wy", "wz")
Axes = Annotated[str, Choice("axes of force and moment: those of the world (the base, where it stands still) or of the frame", "base", "body")]  # fmt: skip


@dataclass(frozen=True)
class Wrench:
    """A force and moment on a frame during an interval, force first: numbers, formulas, or a function of time, pose and velocity.

    Formulas may use t, the frame's origin x, y, z, its velocity vx, vy, vz, its roll, pitch, yaw and its angular velocity wx, wy, wz, all
    in axes of the base (of the world under a moving base). A Python function ``f(t, pose, twist)`` gets the pose 4 × 4 and the twist
    (6,), linear part first, and is traced: it uses ``manipula.algebra.ops`` for sin, where and so on.
    """

    wrench: Annotated[
        Any,
        Formulas(
            "N, N·m",
            "force x, y, z and moment x, y, z: numbers, or formulas in t, x, y, z, vx, vy, vz, roll, pitch, yaw, wx, wy, wz",
            lengths=(6,),
            names=("t", *STATE_NAMES),
            example=(10.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        ),
    ]
    frame: Annotated[str, Frame("where it acts")] = TIP
    start: Annotated[Any, Number("s", "when it begins to act")] = 0.0
    stop: Annotated[Any, Number("s", "when it ceases to act", infinite=True)] = float("inf")
    axes: Axes = "base"
    part: ClassVar[str] = "disturbance"
    name: ClassVar[str] = "wrench"

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)
        if _plain(self.start) and _plain(self.stop) and self.start >= self.stop:
            raise DescriptionError(
                f"It would never act: it starts at {self.start:g} s and stops at {self.stop:g} s.", field="stop"
            )

    @property
    def needs_state(self) -> bool:
        """Does it depend on where the frame is or how it moves?"""
        return callable(self.wrench) or self.axes == "body" or self.follows_state

    @property
    def follows_state(self) -> bool:
        """Does a formula of it name where the frame is or how it moves?"""
        formulas = () if callable(self.wrench) else (v for v in self.wrench if isinstance(v, str))
        return any(set(parse(text, ("t", *STATE_NAMES)).names) - {"t"} for text in formulas)


@dataclass(frozen=True)
class WrenchTable:
    """A force and moment on a frame by a table in time, such as a measured one: linear between its times or held; zero outside them.

    The table is a CSV file or its text: seven columns t (or time), fx, fy, fz, mx, my, mz, in any order below a line of these names, in
    this order without one. In Python
    ``WrenchTable.of(times, values)`` makes one from arrays (k,) and (k, 6).
    """

    table: Annotated[
        Any, File("a CSV file with the columns t, fx, fy, fz, mx, my, mz, or its text", of=".csv", example=PUSH)
    ]
    frame: Annotated[str, Frame("where it acts")] = TIP
    axes: Axes = "base"
    interpolation: Annotated[str, Choice("between the times", "linear", "held")] = "linear"
    scale: Annotated[Any, Number("1", "factor on all values")] = 1.0
    part: ClassVar[str] = "disturbance"
    name: ClassVar[str] = "wrench_table"

    @classmethod
    def of(cls, times: Any, values: Any, **options: Any) -> WrenchTable:
        """From times (k,) [s] and values (k, 6) [N, N·m]; ``options`` are the other fields."""
        t, v = finite_array(times, "times"), finite_array(values, "values")
        if t.ndim != 1 or v.shape != (len(t), 6):
            raise LengthError(
                f"Times (k,) and values (k, 6) are needed, found {t.shape} and {v.shape}.", field="values"
            )
        return cls("\n".join(",".join(map(repr, row)) for row in np.column_stack([t, v]).tolist()) + "\n", **options)

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)
        name, rows = _measured(self.table)
        if name is not None:
            object.__setattr__(self, "table", "\n".join(",".join(map(repr, row)) for row in rows.tolist()) + "\n")
        falls = np.flatnonzero(np.diff(rows[:, 0]) <= 0.0)
        if len(falls):
            k = int(falls[0]) + 1
            raise DescriptionError(
                f"Times must increase; {rows[k, 0]:g} s follows {rows[k - 1, 0]:g} s.", file=name, field="table"
            )

    @cached_property
    def rows(self) -> np.ndarray:
        """t and six components, (k, 7)."""
        return _measured(self.table)[1]

    @property
    def times(self) -> np.ndarray:
        """When the values hold, (k,) [s]."""
        return self.rows[:, 0]

    @property
    def needs_state(self) -> bool:
        """Does it depend on where the frame is?"""
        return self.axes == "body"

    def at(self, t: Scalar) -> np.ndarray:
        """The six components at time t in the table's axes."""
        times, values = self.times, self.rows[:, 1:]
        coefficients = np.zeros((len(times) - 1, 6, 2))
        coefficients[:, :, 0] = values[:-1]
        if self.interpolation == "linear":
            coefficients[:, :, 1] = np.diff(values, axis=0) / np.diff(times)[:, None]
        inside = (t >= times[0]) & (t <= times[-1])
        return array([ops.where(inside, self.scale * v, 0.0) for v in native.table(times, coefficients)(t)])


@dataclass(frozen=True)
class PayloadChange:
    """From a time on the tip carries another load: a point mass, or a body with inertia; with a tool the tip itself moves.

    Mass, centre and inertia are in the robot's own tool frame. ``tool`` and ``tool_rpy`` place the new tip against that frame: from then on
    "tip" means the new tool's tip in results, wrenches and contacts. A controller keeps believing the robot (or model) it was given.
    """

    time: Annotated[Any, Number("s", "from when on")]
    mass: Annotated[Any, Number("kg", "mass that the tip carries", least=0.0)]
    com: Annotated[Any, VectorField("m", "where it is, in the tool frame")] = (0.0, 0.0, 0.0)
    inertia: Annotated[
        Any,
        VectorField(
            "kg·m²", "about its centre: Ixx, Iyy, Izz, or these and Ixy, Ixz, Iyz; none is a point", lengths=(3, 6)
        ),
    ] = None
    tool: Annotated[Any, VectorField("m", "the new tip in the robot's tool frame; none leaves the tip where it is")] = None  # fmt: skip
    tool_rpy: Annotated[Any, VectorField("rad", "roll, pitch, yaw of the new tip against the tool frame")] = (0.0, 0.0, 0.0)  # fmt: skip
    part: ClassVar[str] = "disturbance"
    name: ClassVar[str] = "payload"

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)
        if self.inertia is not None and all(_plain(v) for v in self.inertia):
            moments = np.linalg.eigvalsh(np.asarray(inertia_matrix(self.inertia), float))
            if moments[0] < 0.0 or moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9):
                told = ", ".join(f"{m:g}" for m in moments)
                raise UnphysicalError(
                    f"No body has the principal moments {told} kg·m²: none is negative, and none exceeds the sum of the others.",
                    field="inertia",
                )
        if self.tool is None and any(not _plain(v) or v != 0.0 for v in self.tool_rpy):
            raise DescriptionError(
                "Where is the new tip? Give 'tool' as well: (0, 0, 0) leaves its origin.", field="tool"
            )


def _measured(source: Any) -> tuple[str | None, np.ndarray]:
    """The name of a CSV file (none for a text), and its rows of t and six components, (k, 7)."""
    from manipula.motion.paths.csv_file import csv_text, in_time, read_named_rows  # and with it every path

    try:
        name, text = csv_text(source)
        names, rows = read_named_rows(text, name, ",", None)
        rows = in_time(names, rows, COLUMNS[1:], name)
    except DescriptionError as error:
        raise error.at(field="table") from None
    if rows.shape[1] != len(COLUMNS) or len(rows) < 2:
        raise LengthError(
            f"At least two rows of seven columns are needed ({', '.join(COLUMNS)}), found {len(rows)} of {rows.shape[1]}.",
            file=name, field="table",
        )  # fmt: skip
    return name, rows


def inertia_matrix(entries: Any) -> list[list[Any]]:
    """3 × 3 from Ixx, Iyy, Izz and perhaps Ixy, Ixz, Iyz."""
    xx, yy, zz, xy, xz, yz = (*entries, 0.0, 0.0, 0.0)[:6]
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def is_wrench(d: Any) -> TypeGuard[Wrench | WrenchTable]:
    """Is a disturbance a force on a frame?"""
    return isinstance(d, (Wrench, WrenchTable))


@dataclass(frozen=True)
class Noise:
    """Normal measurement noise, fresh every step and held during it."""

    position: Annotated[float, Number("rad or m", "standard deviation of the positions", least=0.0, degrees=True)] = 0.0
    velocity: Annotated[float, Number("rad/s or m/s", "standard deviation of the speeds", least=0.0, degrees=True)] = (
        0.0
    )
    seed: Annotated[
        int, Whole("the noise of run i in a batch is drawn from (seed, i), whatever the order", least=0)
    ] = 0

    def __post_init__(self) -> None:
        check_part(self)
        for name in ("position", "velocity"):
            object.__setattr__(self, name, float(getattr(self, name)))


@dataclass(frozen=True)
class Actuator:
    """Limits between command and drive.

    The command decided at the beginning of a step acts from ``delay`` later on, for one step; any time is allowed. Until the first
    one arrives the command decided at the start is held. Torques that are played back come later by ``delay``, and are not held in steps.
    """

    limit: Annotated[
        Any,
        PerJoint(
            "N·m or N",
            'largest torque commanded; "effort" takes the robot\'s effort limits, none no limit',
            least=0.0,
            choices=("effort",),
        ),
    ] = None
    delay: Annotated[float, Number("s", "time between decision and action", least=0.0)] = 0.0
    structure: ClassVar[frozenset[str]] = frozenset({"delay"})

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)


Disturbance = Wrench | WrenchTable | PayloadChange
DISTURBANCES = {d.name: d for d in (Wrench, WrenchTable, PayloadChange)}
KIND = PartKind("disturbance", "kind", DISTURBANCES, "manipula.simulation.plant.disturbances.DISTURBANCES", public="mp")
IDEAL = Actuator()
QUIET = Noise()
