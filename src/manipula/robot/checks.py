"""What every number, name, pose and body of a description must fulfil. Messages say what, which, found and allowed."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np

from manipula.algebra.arguments import LARGEST
from manipula.algebra.pose import IDENTITY, Pose, Vec3, mat3, plain, vec3
from manipula.algebra.rotation import ROTATION_ERROR, rotation_error
from manipula.algebra.symbols import is_symbolic, largest_number
from manipula.errors import BudgetError, DescriptionError, LengthError, UnphysicalError, printable
from manipula.robot.limits import Limits
from manipula.robot.link import NO_INERTIA, Balance, Link, Payload

MAX_LINKS = 2000
MAX_FRAMES = 5000  # beside those of links
MAX_NAME = 200


def check_budget(links: int, frames: int = 0, **place: Any) -> None:
    """Refuse more links, or frames beside them, than any manipulator has, before work is done."""
    for found, most, what in ((links, MAX_LINKS, "links"), (frames, MAX_FRAMES, "frames")):
        if found > most:
            raise BudgetError(f"{found} {what} are more than the {most} that one robot may have.", **place)


def check_name(kind: str, name: Any, **place: Any) -> str:
    """A usable name: text, not empty, printable, of sane length."""
    if not isinstance(name, str) or not name.strip():
        raise DescriptionError(f"A {kind} needs a name that is not empty.", **place)
    if len(name) > MAX_NAME or not name.isprintable():
        raise DescriptionError(
            f"The {kind} name '{printable(name, 40)}' must be printable and at most {MAX_NAME} characters.", **place
        )
    return name


def check_number(
    value: Any,
    what: str,
    *,
    at_least: float | None = None,
    above: float | None = None,
    largest: float = math.inf,
    **place: Any,
) -> Any:
    """A finite number (or a symbolic expression), optionally bounded."""
    if type(value) is float and 0.0 < value <= min(largest, LARGEST) and at_least in (None, 0.0) and not above:
        return value  # by far the most
    if is_symbolic(value):
        if largest < math.inf and (most := largest_number(value)) > largest:
            raise DescriptionError(
                f"{what} holds the number {most:.3g}; at most {largest:g} in size is allowed.", **place
            )
        return value
    if isinstance(value, (bool, np.bool_)):
        raise DescriptionError(f"{what} must be a finite number, found {value}.", **place)
    try:
        value = plain(value)
    except (TypeError, OverflowError):  # complex constants of SymPy, integers beyond the range of floats
        raise DescriptionError(f"{what} must be a finite number, found {printable(value)}.", **place) from None
    if not isinstance(value, float) or not math.isfinite(value):
        raise DescriptionError(f"{what} must be a finite number, found {printable(value)}.", **place)
    if abs(value) > largest:
        raise DescriptionError(f"{what} is {value:g}; at most {largest:g} in size is allowed.", **place)
    if at_least is not None and value < at_least:
        raise UnphysicalError(f"{what} must be at least {at_least:g}, found {value:g}.", **place)
    if above is not None and value <= above:
        raise UnphysicalError(f"{what} must be greater than {above:g}, found {value:g}.", **place)
    return value


def check_pose(X: Pose, what: str, **place: Any) -> Pose:
    """Finite numbers, and a rotation where one is stated (symbolic entries are taken on trust)."""
    if X is IDENTITY:
        return X
    for v in (*X.translation, *(x for row in X.rotation for x in row)):
        check_number(v, what, largest=LARGEST, **place)
    if X.R.dtype != object and rotation_error(X.R) > ROTATION_ERROR:
        error = float(np.max(np.abs(X.R @ X.R.T - np.eye(3))))
        raise DescriptionError(
            f"{what} contains a matrix that is not a rotation (R·Rᵀ − 1 is {error:.1e}, determinant "
            f"{np.linalg.det(X.R):.3g}).", **place)  # fmt: skip
    return X


def check_gravity(gravity: Any) -> Vec3:
    """Three finite components."""
    if np.size(np.asarray(gravity, dtype=object)) != 3:
        raise LengthError(
            f"Gravity is 3 numbers x, y, z [m/s²], found {printable(repr(gravity), 60)}.", field="gravity"
        )
    components = vec3(gravity)
    for component in components:
        check_number(component, "Every component of gravity", field="gravity")
    return components


def place_of_key(place: dict[str, Any], what: str) -> dict[str, Any]:
    """The place of a key of what stands at ``place``, where that place is a field."""
    return {**place, "field": f"{place['field']}.{what}"} if place.get("field") else place


def check_body(mass: Any, com: Any, inertia: Any, whose: str, **place: Any) -> None:
    """Finite numbers, a mass that is not negative, a symmetric inertia (whether it can be real is the doctor's question)."""
    check_number(mass, f"The mass of {whose}", at_least=0.0, largest=LARGEST, **place_of_key(place, "mass"))
    check_lengths(com, inertia, whose, **place)
    for v in np.asarray(com, dtype=object).ravel():
        check_number(v, f"The centre of mass of {whose}", largest=LARGEST, **place_of_key(place, "com"))
    tensor = np.asarray(inertia, dtype=object)
    for v in tensor.ravel():
        check_number(v, f"The inertia of {whose}", largest=LARGEST, **place_of_key(place, "inertia"))
    scale = max((abs(float(v)) for v in tensor.ravel() if not is_symbolic(v)), default=0.0)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        x, y = tensor[a, b], tensor[b, a]
        if not is_symbolic(x) and not is_symbolic(y) and abs(float(x) - float(y)) > 1e-9 * scale:
            raise UnphysicalError(
                f"The inertia of {whose} is not symmetric: {float(x):g} and {float(y):g}.",
                **place_of_key(place, "inertia"),
            )


def check_balance(balance: Balance | None, whose: str, **place: Any) -> None:
    """Finite numbers, which may be negative."""
    if balance is None:
        return
    if not isinstance(balance, Balance):
        raise DescriptionError(f"The balance of {whose} must be a Balance, found {type(balance).__name__}.", **place)
    check_number(balance.mass, f"The mass that is balanced of {whose}", largest=LARGEST, **place)
    check_lengths(balance.com, NO_INERTIA, whose, **place)
    for v in balance.com:
        check_number(v, f"The place of the balance of {whose}", largest=LARGEST, **place)


def check_lengths(com: Any, inertia: Any, whose: str, **place: Any) -> None:
    """Three coordinates and three rows of three numbers."""
    if np.size(np.asarray(com, dtype=object)) != 3:
        raise LengthError(
            f"The centre of mass of {whose} must be 3 numbers x, y, z [m], found {printable(repr(com), 60)}.",
            **place_of_key(place, "com"),
        )
    if np.shape(np.asarray(inertia, dtype=object)) != (3, 3):
        raise LengthError(
            f"The inertia of {whose} must be 3 rows of 3 numbers [kg·m²], ((Ixx, Ixy, Ixz), (Ixy, Iyy, Iyz), (Ixz, Iyz, Izz)); "
            f"found {printable(repr(inertia), 60)}.", **place_of_key(place, "inertia"))  # fmt: skip


def check_limits(limits: Limits, joint: str, **place: Any) -> None:
    """Finite numbers, of which only positions may be negative, and a lower one that is not above the upper."""
    for f in fields(limits):
        value = getattr(limits, f.name)
        if value is not None:
            least = None if f.name in ("lower", "upper") else 0.0
            check_number(value, f"The {f.name} limit of joint '{printable(joint)}'", at_least=least, **place)
    if limits.lower is None or limits.upper is None or is_symbolic(limits.lower) or is_symbolic(limits.upper):
        return
    if limits.lower > limits.upper:
        raise DescriptionError(
            f"The limits of joint '{printable(joint)}' are reversed: lower {limits.lower:g} > upper {limits.upper:g}.",
            **place,
        )


def check_gear(joint: Any, **place: Any) -> dict[str, Any]:
    """Rotor inertia and gear ratio of a joint or of its draft, as numbers that may be."""
    whose = f"of joint '{printable(joint.name)}'"
    numeric = not is_symbolic(joint.gear_ratio) and not is_symbolic(joint.rotor_inertia)
    if numeric and joint.gear_ratio == 0 and joint.rotor_inertia != 0:
        raise DescriptionError(
            f"The gear ratio {whose} is 0, so that its rotor would not act; it must be different from 0.",
            **place_of_key(place, "gear_ratio"),
        )
    return {
        "rotor_inertia": check_number(
            joint.rotor_inertia, f"The rotor inertia {whose}", at_least=0.0, largest=LARGEST, **place_of_key(place, "rotor_inertia")
        ),
        "gear_ratio": check_number(joint.gear_ratio, f"The gear ratio {whose}", largest=LARGEST, **place_of_key(place, "gear_ratio")),
    }  # fmt: skip


def checked_payload(payload: Any) -> Payload | None:
    """``None`` or a Payload whose numbers are a body's, as plain values."""
    if payload is None:
        return None
    if not isinstance(payload, Payload):
        raise DescriptionError(f"A payload is a Payload object, found {type(payload).__name__}.", field="payload")
    check_body(payload.mass, payload.com, payload.inertia, "the payload", field="payload")
    return Payload(plain(payload.mass), vec3(payload.com), mat3(payload.inertia))


def checked_links(links: Any) -> tuple[Link, ...]:
    """Links with the right count of numbers, as plain values (whether such bodies can be is the doctor's question)."""
    if not isinstance(links, (tuple, list)) or not all(isinstance(link, Link) for link in links):
        raise DescriptionError(f"Links are a list of Link objects, found {printable(repr(links), 60)}.", field="links")
    for link in links:
        check_lengths(link.com, link.inertia, f"link '{printable(link.name)}'", field="links")
        check_balance(link.balance, f"link '{printable(link.name)}'", field="links")
    return tuple(replace(k, mass=plain(k.mass), com=vec3(k.com), inertia=mat3(k.inertia)) for k in links)
