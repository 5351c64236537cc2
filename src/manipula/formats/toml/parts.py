"""The parts that every form of our TOML shares: poses, bodies, limits, friction, drives, payload.

Each function reads one table and leaves unknown keys to the caller, who closes the table.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.inertia import inertia_from_six, steiner
from manipula.algebra.linear import array
from manipula.algebra.pose import IDENTITY, Pose, mat3, vec3
from manipula.algebra.symbols import is_symbolic
from manipula.formats.toml.fields import Fields, is_matrix, radians
from manipula.formats.toml.part_tables import read_part
from manipula.robot.drives import KIND as DRIVES
from manipula.robot.friction import KIND as FRICTION
from manipula.robot.limits import UNLIMITED, Limits
from manipula.robot.link import Balance, Payload

ROTATIONS = ("rpy", "rpy_deg", "rotation", "quaternion_wxyz")


def pose(table: Fields) -> Pose:
    """``xyz`` [m] with one of ``rpy`` [rad], ``rpy_deg``, ``rotation`` (3×3), ``quaternion_wxyz``; or ``matrix`` (4×4)."""
    if table.has("matrix"):
        table.either("matrix", "xyz")
        table.either("matrix", *ROTATIONS)
        T = table.matrix("matrix", 4)
        assert T is not None
        if [T[3, k] for k in range(4)] != [0.0, 0.0, 0.0, 1.0]:
            raise table.error("The last row of a 4×4 pose must be 0 0 0 1.", "matrix")
        return Pose.of(_checked_rotation(table, T[:3, :3], "matrix"), T[:3, 3])
    xyz = table.scalars("xyz", 3) or [0.0, 0.0, 0.0]
    key = table.either(*ROTATIONS)
    R: Any = None
    if key == "rpy":
        R = rotation.from_rpy(*(table.scalars(key, 3) or ()))
    elif key == "rpy_deg":
        R = rotation.from_rpy(*(radians(v) for v in table.scalars(key, 3) or ()))
    elif key == "rotation":
        R = _checked_rotation(table, table.matrix(key, 3), key)
    elif key == "quaternion_wxyz":
        q = table.scalars(key, 4) or []
        if all(isinstance(v, float) for v in q) and sum(v * v for v in q) < 1e-12:
            raise table.error("A quaternion of length zero is no rotation.", key)
        R = rotation.from_quaternion_wxyz(q)
    return Pose.of(R, xyz)


def _checked_rotation(table: Fields, R: Any, key: str) -> Any:
    if any(is_symbolic(v) for v in np.ravel(R)):
        return R
    if rotation.rotation_error(np.asarray(R, float)) > rotation.ROTATION_ERROR:
        raise table.error(
            "This is not a rotation matrix (orthonormal rows, determinant +1); 'rpy_deg' is easier to write.", key
        )
    return R


def body(table: Fields) -> dict[str, Any]:
    """``mass`` [kg], ``com`` [m], ``inertia`` [kg·m²]; empty when the table says nothing about them.

    ``inertia`` is 3×3, or ``[Ixx, Iyy, Izz, Ixy, Ixz, Iyz]`` as tensor entries, or three principal moments along the
    link axes; about the centre of mass unless ``inertia_about = "origin"``.
    """
    about = table.choice("inertia_about", ("com", "origin"), "com")
    stated = [key for key in ("mass", "com", "inertia") if table.has(key)]
    if not stated:
        if table.has("inertia_about"):
            raise table.error("'inertia_about' is given, but no 'inertia'.", "inertia_about")
        return {}
    mass = table.scalar("mass", 0.0)
    com = vec3(table.scalars("com", 3) or (0.0, 0.0, 0.0))
    tensor = _inertia(table)
    if about == "origin":
        tensor = array(tensor) - mass * steiner(com)
    return {"mass": mass, "com": com, "inertia": mat3(tensor)}


def coupling(table: Fields) -> dict[str, Any]:
    """``follows`` with ``ratio`` and ``offset``; empty for a joint that moves on its own."""
    for word, own in (("mimic", 'follows = "…", ratio = …, offset = …'), ("multiplier", "ratio = …")):
        if word in table.names():
            raise table.error(f"'{word}' is a word of URDF; here a coupling is {own}.", word)
    leader, ratio, offset = table.text("follows"), table.scalar("ratio"), table.angle("offset")
    if leader is None and (ratio is not None or offset is not None):
        raise table.error(
            'A ratio or offset couples a joint to another; name it: follows = "…".',
            "ratio" if offset is None else "offset",
        )
    if leader is None:
        return {}
    return {"follows": leader, "ratio": 1.0 if ratio is None else ratio, "offset": 0.0 if offset is None else offset}


def balance(table: Fields) -> Balance | None:
    """``balance = { mass = …, com = […] }``: weight of the link that something else carries."""

    def inside(own: Fields) -> Balance:
        mass = own.scalar("mass")
        if mass is None:
            raise own.missing("mass", "A balance needs the 'mass' whose weight it carries.")
        return Balance(mass, vec3(own.scalars("com", 3) or (0.0, 0.0, 0.0)))

    return table.read("balance", inside)


def _inertia(table: Fields) -> Any:
    value = table.raw("inertia")
    if value is None:
        return np.zeros((3, 3))
    if is_matrix(value, 3):
        return table.matrix("inertia", 3)
    if not isinstance(value, list) or len(value) not in (3, 6) or any(isinstance(v, (list, dict)) for v in value):
        raise table.error(
            "An inertia is 3 rows of 3 numbers, [Ixx, Iyy, Izz, Ixy, Ixz, Iyz], or three principal moments.", "inertia"
        )
    entries = table.scalars("inertia") or []
    return inertia_from_six(*entries, *([0.0] * (6 - len(entries))))


def payload(table: Fields) -> Payload | None:
    """A body carried at the tip."""
    parts = body(table)
    if "mass" not in parts:
        raise table.missing("mass", "A payload needs a 'mass'.")
    if isinstance(parts["mass"], float) and parts["mass"] < 0:
        raise table.error(f"The mass of the payload must be at least 0, found {parts['mass']:g}.", "mass")
    return None if parts["mass"] == 0 else Payload(parts["mass"], parts["com"], parts["inertia"])


def limits(table: Fields) -> Limits:
    """``position = [lower, upper]`` or ``lower``/``upper``; ``velocity``, ``acceleration``, ``jerk``, ``effort``.

    Every key but ``effort`` also exists with ``_deg`` for revolute joints.
    """
    pair = table.either("position", "position_deg")
    lower, upper = (table.angle(key, largest=math.inf) for key in ("lower", "upper"))
    if pair is not None:
        if lower is not None or upper is not None:
            raise table.error(f"Give '{pair}' or 'lower' and 'upper', not both.", pair)
        values = table.scalars(pair, 2, math.inf) or []
        lower, upper = (radians(v) for v in values) if pair == "position_deg" else values
    if isinstance(lower, float) and isinstance(upper, float) and lower > upper:
        raise table.error(f"The limits are reversed: lower {lower:g} > upper {upper:g}.")
    sizes = {key: table.angle(key, largest=math.inf) for key in ("velocity", "acceleration", "jerk")}
    sizes["effort"] = table.scalar("effort", largest=math.inf)
    for key, size in sizes.items():
        if isinstance(size, float) and size < 0:
            raise table.error(f"The {key} limit is a size, at least 0; found {size:g}.", key)
    return Limits(lower=lower, upper=upper, **sizes)


def refuse_degrees(table: Fields) -> None:
    """A joint that slides has no angles: its keys are in metres."""
    for key in table.names():
        if key.endswith("_deg"):
            raise table.error(
                f"'{key}' is an angle in degrees, but the joint slides; give '{key.removesuffix('_deg')}' in metres.",
                key,
            )


def drivetrain(table: Fields, slides: bool = False) -> dict[str, Any]:
    """What drives and resists a joint: limits, rotor, gear, friction, drive."""

    def of_joint(inside: Fields) -> Limits:
        if slides:
            refuse_degrees(inside)
        return limits(inside)

    return {
        "limits": table.read("limits", of_joint, UNLIMITED),
        "rotor_inertia": table.scalar("rotor_inertia", 0.0),
        "gear_ratio": table.scalar("gear_ratio", 1.0),
        "friction": table.read("friction", lambda t: read_part(t, FRICTION)),
        "drive": table.read("drive", lambda t: read_part(t, DRIVES)),
    }


def base_and_tool(table: Fields) -> tuple[Pose, Pose]:
    """The poses ``[base]`` and ``[tool]``; identity where a file gives none."""
    return table.read("base", pose, IDENTITY), table.read("tool", pose, IDENTITY)
