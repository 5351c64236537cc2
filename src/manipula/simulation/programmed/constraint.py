"""Task constraints: what the tip must do, as formulas or functions, at position, velocity or acceleration level."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.expression import parse
from manipula.algebra.linear import array, cross
from manipula.algebra.ops import Scalar, Vector
from manipula.errors import DescriptionError, ManipulaError, printable
from manipula.physics import kinematics
from manipula.physics.constrained import ConstraintRows, acceleration_rows, holonomic_rows, nonholonomic_rows, stacked
from manipula.physics.mechanism import Mechanism
from manipula.robot.link import TIP
from manipula.simulation.point_motion import ORIGIN, Point, read_point

POSITION = ("x", "y", "z", "roll", "pitch", "yaw", *(f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)))
VELOCITY = ("vx", "vy", "vz", "wx", "wy", "wz")
ACCELERATION = ("ax", "ay", "az")
LEVELS = ("position", "velocity", "acceleration")
KINDS = {"position": "positions", "velocity": "velocities", "acceleration": "accelerations"}


@dataclass(frozen=True)
class Constraint:
    """One equation ``formula = 0``.

    Attributes:
        formula: text in ``x y z`` (tip), ``roll pitch yaw``, ``r11 … r33`` (its rotation), ``q1 …``, ``t`` and parameters; with
            ``vx … wz, qd1 …`` it is a velocity constraint, with ``ax ay az, qdd1 …`` one on accelerations. Or a function of a
            mapping with those names.
        level: "position", "velocity" or "acceleration"; found from the names a formula uses when omitted.
        name: for messages.
        frame: whose position, rotation and rates x y z … az mean; the tip when omitted.
        point: a place fixed to a link instead, ``("link3", (0.1, 0, 0))``, in its axes [m].
    """

    formula: str | Callable[[Mapping[str, Scalar]], Scalar]
    level: str = ""
    name: str = ""
    frame: str | None = None
    point: Any = None

    @property
    def where(self) -> Point:
        """The point that obeys the constraint: a frame and a place in its axes."""
        return read_point(self.frame, self.point) or (TIP, ORIGIN)

    @property
    def equation(self) -> str:
        """The equation as people write it: ``x = height``, ``z - 0.1 = 0``; its name first when it has one of its own."""
        text = self.formula
        if not isinstance(text, str):
            name = getattr(text, "__name__", "function")
            return f"{self.name or name}(…) = 0"
        sides = _sides(text)
        told = " = ".join(sides) if sides else text if "=" in text else f"{text} = 0"
        own = self.name and "".join(self.name.split()) not in ("".join(text.split()), "".join(told.split()))
        return f"{self.name}: {told}" if own else told


def _sides(text: str) -> tuple[str, str] | None:
    """Both sides of an equation that was read as ``(left) - (right)``."""
    depth, at = 0, None
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            at = i
            break
    if at is None or not text.startswith("(") or text[at + 1 : at + 5] != " - (" or not text.endswith(")"):
        return None
    right = text[at + 5 : -1]
    depth = 0
    for c in right:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return None
    return text[1:at].strip(), right.strip()


def listed(given: Any) -> tuple[Any, ...]:
    """One constraint or several as a tuple."""
    if isinstance(given, (str, Constraint)) or callable(given):
        return (given,)
    if not isinstance(given, (list, tuple)):
        raise DescriptionError(
            f"A formula, a function, or a list of them is needed; found {type(given).__name__}.", field="constraints"
        )
    return tuple(given)


def read_constraints(given: Any, n: int, parameters: Mapping[str, float]) -> tuple[Constraint, ...]:
    """Constraints from texts, functions or Constraint objects, with level and name filled in and every name checked."""
    words = (*POSITION, *VELOCITY, *ACCELERATION, "t", *(f"{k}{i + 1}" for k in ("q", "qd", "qdd") for i in range(n)))
    for name in parameters:
        if name in words:
            raise DescriptionError(
                f"'{name}' is a coordinate of the robot; give the parameter another name.", field=f"parameters.{name}"
            )
    known = (*words, *parameters)
    found = []
    for k, item in enumerate(listed(given)):
        place = f"constraints[{k}]"
        c = item if isinstance(item, Constraint) else Constraint(item)
        if c.level and c.level not in LEVELS:
            raise DescriptionError(f"The level is one of {', '.join(LEVELS)}; found '{c.level}'.", field=place)
        if isinstance(c.formula, str):
            text, names = _read(c.formula, known, place)
            level = LEVELS[max((_order(name) for name in names), default=0)]
            if c.level not in ("", level):
                raise DescriptionError(_misplaced(c, level, names), field=place)
        elif callable(c.formula):
            text, level = c.formula, c.level or "position"
        else:
            raise DescriptionError(
                f"A constraint is a formula or a function, found {type(c.formula).__name__}.", field=place
            )
        name = c.name or (
            c.formula if isinstance(c.formula, str) else getattr(c.formula, "__name__", f"constraint {k + 1}")
        )
        found.append(Constraint(text, level, name, c.frame, c.point))
    if not found:
        raise DescriptionError("At least one constraint is needed.", field="constraints")
    if len(found) > n:
        raise DescriptionError(f"{len(found)} constraints are more than the {n} joints can obey.", field="constraints")
    return tuple(found)


def _read(given: str, known: tuple[str, ...], place: str) -> tuple[str, tuple[str, ...]]:
    """The formula that is zero where ``left = right`` holds, and its names; errors count columns in the text as it was given."""
    left, equals, rest = given.partition("=")
    right = rest.removeprefix("=")
    sides = [left, " " * (len(given) - len(right)) + right] if equals else [given]
    try:
        if equals and not (left.strip() and right.strip()):
            raise DescriptionError("One side of the equation is empty.")
        names = [name for side in sides for name in parse(side, names=known).names]
        text = f"({left.strip()}) - ({right.strip()})" if equals else given
        parse(text, names=known)
    except DescriptionError as error:
        error.field = f"{place}, formula '{printable(given, 60)}'"
        raise error.at() from None
    return text, tuple(dict.fromkeys(names))


def _order(name: Any) -> int:
    if name in ACCELERATION or re.fullmatch(r"qdd\d+", str(name)):
        return 2
    return int(name in VELOCITY or bool(re.fullmatch(r"qd\d+", str(name))))


def _misplaced(c: Constraint, level: str, names: tuple[str, ...]) -> str:
    """A formula of another level than the one that was given for it."""
    order = LEVELS.index(level)
    if LEVELS.index(c.level) < order:
        high = next(name for name in names if _order(name) == order)
        why = f"names '{high}', so that it is a constraint on {KINDS[level]}, not on {KINDS[c.level]}"
    else:
        why = f"names no {c.level}, so that it is no constraint on {KINDS[c.level]}"
    return f"'{printable(c.formula, 60)}' {why}: leave the level out, or give level = '{level}'."


def values_at(mechanism: Mechanism, used: frozenset[str], q: Vector, qd: Vector | None, qdd: Vector | None, t: Scalar,
              parameters: Mapping[str, Scalar], where: Point = (TIP, ORIGIN)) -> dict[str, Scalar]:  # fmt: skip
    """Every name a constraint on a point may use; quantities nobody uses are not computed."""
    frame, moved = where[0], where[1] != ORIGIN
    out: dict[str, Scalar] = {"t": t, **parameters}
    for i in range(len(q)):
        out[f"q{i + 1}"] = q[i]
    if used & set(POSITION) or not used:
        X = kinematics.pose(mechanism, q, frame)
        p = X[:3, 3] + X[:3, :3] @ np.array(where[1], object) if moved else X[:3, 3]
        out |= {"x": p[0], "y": p[1], "z": p[2]}
        out |= {f"r{i + 1}{j + 1}": X[i, j] for i in range(3) for j in range(3)}
        if used & {"roll", "pitch", "yaw"} or not used:
            out["roll"], out["yaw"] = ops.atan2(X[2, 1], X[2, 2]), ops.atan2(X[1, 0], X[0, 0])
            out["pitch"] = ops.atan2(-X[2, 0], ops.sqrt(X[0, 0] * X[0, 0] + X[1, 0] * X[1, 0]))
    if qd is not None:
        out |= {f"qd{i + 1}": qd[i] for i in range(len(qd))}
        if used & (set(VELOCITY) | set(ACCELERATION)) or not used:
            J = kinematics.jacobian(mechanism, q, frame)
            v, a = J @ qd, None if qdd is None else J @ qdd + kinematics.jacobian_rate(mechanism, q, qd, frame) @ qd
            if moved:  # v + ω × r, a + α × r + ω × (ω × r)
                r = array(kinematics.pose(mechanism, q, frame)[:3, :3] @ np.array(where[1], object))
                turned = cross(v[3:], r)
                if a is not None:
                    a = [*(a[:3] + cross(a[3:], r) + cross(v[3:], turned)), *a[3:]]
                v = [*(v[:3] + turned), *v[3:]]
            out |= dict(zip(VELOCITY, v))
            if a is not None:
                out |= dict(zip(ACCELERATION, a[:3]))
    if qdd is not None:
        out |= {f"qdd{i + 1}": qdd[i] for i in range(len(qdd))}
    return out


def rows_of(constraints: tuple[Constraint, ...], mechanism: Mechanism, q: Vector, qd: Vector, t: Scalar,
            parameters: Mapping[str, Scalar]) -> ConstraintRows:  # fmt: skip
    """A, b and residuals of all constraints at a state, in their order; one differentiation a level."""
    parts: dict[int, ConstraintRows] = {}
    for level, where in dict.fromkeys(
        (c.level, c.where) for c in sorted(constraints, key=lambda c: LEVELS.index(c.level))
    ):
        chosen = [k for k, c in enumerate(constraints) if (c.level, c.where) == (level, where)]
        group = [constraints[k] for k in chosen]
        used = _names(group)

        def evaluate(
            q: Vector,
            qd: Vector | None,
            qdd: Vector | None,
            t: Scalar,
            group: Any = group,
            used: Any = used,
            where: Any = where,
        ) -> np.ndarray:
            values = values_at(mechanism, used, q, qd, qdd, t, parameters, where)
            return np.array([value_of(c, values) for c in group], dtype=object)

        if level == "position":
            rows = holonomic_rows(lambda q, t: evaluate(q, None, None, t), q, qd, t)
        elif level == "velocity":
            rows = nonholonomic_rows(lambda q, v, t: evaluate(q, v, None, t), q, qd, t)
        else:
            rows = acceleration_rows(lambda q, v, a, t: evaluate(q, v, a, t), q, qd, t)
        for i, k in enumerate(chosen):
            parts[k] = ConstraintRows(rows.A[i : i + 1], rows.b[i : i + 1], rows.value[i : i + 1], rows.rate[i : i + 1])
    return stacked([parts[k] for k in range(len(constraints))])


def value_of(c: Constraint, values: Mapping[str, Scalar]) -> Scalar:
    """What one constraint gives for these quantities; zero where it is obeyed."""
    if isinstance(c.formula, str):
        try:
            return parse(c.formula).evaluate(values)
        except DescriptionError as error:
            error.field = f"constraints, formula '{printable(c.equation, 60)}'"
            raise error.at() from None
    try:
        found = c.formula(values)
    except ManipulaError:
        raise
    except Exception as error:  # a user's function
        why = (
            _unknown(c, error.args[0]) if type(error) is KeyError and error.args else f"{type(error).__name__}: {error}"
        )
        raise DescriptionError(f"The function '{c.name}' fails: {why}.", field="constraints") from error
    if found is None or isinstance(found, (str, bytes, complex, Mapping)) or np.ndim(found):
        raise DescriptionError(
            f"The function '{c.name}' gives {type(found).__name__}; one number is needed, zero where the constraint is obeyed.",
            field="constraints",
        )
    return found


def _unknown(c: Constraint, name: Any) -> str:
    """Why a function finds no quantity of this name."""
    order = _order(name)
    if order > LEVELS.index(c.level):
        higher = LEVELS[order]
        return f"it uses '{name}', which a constraint on {KINDS[c.level]} does not know; give level = '{higher}'"
    return f"it uses {name!r}, which is no quantity of a programmed motion"


def _names(group: list[Constraint]) -> frozenset[str]:
    """Names used by a group; empty (meaning: all) when a function hides them."""
    if any(not isinstance(c.formula, str) for c in group):
        return frozenset()
    return frozenset(n for c in group for n in parse(str(c.formula)).names)


__all__ = ["Constraint", "read_constraints", "rows_of", "value_of", "values_at"]
