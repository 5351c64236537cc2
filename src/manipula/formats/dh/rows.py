r"""Denavit–Hartenberg rows ⇄ Robot, both conventions.

standard:  :math:`{}^{i-1}T_i = R_z(\theta)\,T_z(d)\,T_x(a)\,R_x(\alpha)`, the link frame sits at the far end of the link;
modified:  :math:`{}^{i-1}T_i = R_x(\alpha)\,T_x(a)\,R_z(\theta)\,T_z(d)`, the link frame sits on its own joint axis [Craig1989].

The joint variable is added to ``theta`` (revolute) or ``d`` (prismatic), so those entries are offsets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from manipula.algebra.inertia import inertia_from_six
from manipula.algebra.pose import IDENTITY, Pose, rotation_x, rotation_z, translation, vec3
from manipula.errors import DescriptionError, ShapeError, printable, unknown_name
from manipula.robot.build import FrameDraft, JointDraft, LinkDraft, build_robot, check_budget
from manipula.robot.limits import UNLIMITED, Limits
from manipula.robot.link import ZERO3, Balance, Payload
from manipula.robot.robot import STANDARD_GRAVITY, Robot

Convention = Literal["standard", "modified"]
CONVENTIONS = ("standard", "modified")
ROW_KEYS = (
    "a", "alpha", "d", "theta", "joint", "mass", "com", "inertia", "name", "link", "limits",
    "rotor_inertia", "gear_ratio", "friction", "drive", "balance", "follows", "ratio", "offset",
)  # fmt: skip


def check_convention(convention: str) -> None:
    """DH is always ``standard`` or ``modified``, never a default."""
    if convention not in CONVENTIONS:
        raise unknown_name("DH convention", convention, CONVENTIONS, field="convention")


def from_dh(
    rows: Sequence[Mapping[str, Any]],
    convention: Convention,
    gravity: Any = None,
    base: Any = None,
    tool: Any = None,
    *,
    name: str = "robot",
    base_name: str = "base",
    payload: Any = None,
    frames: Sequence[tuple[str, int, Any]] = (),
    file: str | None = None,
) -> Robot:
    """A serial chain from DH rows.

    Args:
        rows: mappings with ``a alpha d theta`` [m, rad]; ``joint`` "revolute" (default) or "prismatic"; ``mass`` [kg],
            ``com`` (3,) [m] in the row's frame, ``inertia`` about the centre of mass in the row's axes, 3×3,
            ``[Ixx, Iyy, Izz, Ixy, Ixz, Iyz]`` or ``[Ixx, Iyy, Izz]``; optional ``name``, ``link``, ``limits``, ``rotor_inertia``,
            ``gear_ratio``, ``friction``, ``drive``, ``balance``; and ``follows`` with ``ratio`` and ``offset`` for a joint that is coupled
            to another, q = offset + ratio · q[follows]. Every number may be a formula in text or a SymPy expression.
        convention: "standard" or "modified".
        gravity: acceleration vector in the frame that ``base`` refers to, default (0, 0, -9.81).
        base: pose of DH frame 0, 4×4. tool: pose of the tool in the last DH frame, 4×4.
        name, base_name: of the robot and of its unmoving link.
        payload: mass [kg] at the tool, or a Payload.
        frames: further named frames (name, 1-based row or 0 for the base, 4×4 in that row's frame).
    """
    check_convention(convention)
    if not isinstance(rows, Sequence) or isinstance(rows, (str, bytes)):
        raise DescriptionError(
            f"A DH table is a list of rows (mappings), found {type(rows).__name__}.", field="rows", file=file
        )
    check_budget(len(rows), field="rows", file=file)
    if not rows:
        raise DescriptionError("A DH table needs at least one row.", field="rows", file=file)
    links, joints = [LinkDraft(base_name, described=False)], []
    for i, row in enumerate(rows):
        try:
            link, joint = _row_drafts(row, i, links[-1].name, convention)
        except DescriptionError as error:
            raise error.at(file=file, field=f"row {i + 1}") from None
        links.append(link)
        joints.append(joint)
    for _, k, _ in frames:
        if not isinstance(k, int) or not 0 <= k <= len(rows):
            raise DescriptionError(
                f"A frame sits on row 1 to {len(rows)}, or 0 for the base; found {printable(k)}.",
                field="frames",
                file=file,
            )
    drafts = [FrameDraft(n, links[k].name, Pose.from_matrix(T)) for n, k, T in frames]
    if payload is not None and not isinstance(payload, Payload):
        mass = number(payload, "payload")
        payload = Payload(mass) if mass != 0 else None
    return build_robot(
        name, links, joints, frames=drafts, gravity=STANDARD_GRAVITY if gravity is None else _vector(gravity, "gravity"),
        base=IDENTITY if base is None else base, tool=IDENTITY if tool is None else tool,
        tip=links[-1].name, payload=payload, file=file,
    )  # fmt: skip


def dh_poses(a: Any, alpha: Any, d: Any, theta: Any, revolute: bool, convention: Convention) -> tuple[Pose, Pose]:
    """``(placement, frame)``: the constant parts of one row before and after the joint's own motion."""
    if convention == "modified":
        return rotation_x(alpha) @ translation(a, 0.0, 0.0) @ rotation_z(theta) @ translation(0.0, 0.0, d), IDENTITY
    del revolute  # a rotation about z and a shift along z commute, so both kinds of joint split alike
    return rotation_z(theta) @ translation(0.0, 0.0, d), translation(a, 0.0, 0.0) @ rotation_x(alpha)


def _row_drafts(row: Mapping[str, Any], i: int, parent: str, convention: Convention) -> tuple[LinkDraft, JointDraft]:
    if not isinstance(row, Mapping):
        raise DescriptionError(
            f"A DH row is a mapping with the keys {', '.join(ROW_KEYS[:8])}; found {type(row).__name__}."
        )
    for key in row:
        if key in ("alpha_deg", "theta_deg"):
            word = key.removesuffix("_deg")
            raise DescriptionError(
                f"Angles of rows in Python are radians: {word}=math.radians(…); '{key}' is a word of TOML files.",
                field=f"row {i + 1}.{key}",
            )
        if key not in ROW_KEYS:
            raise unknown_name("key of a DH row", key, ROW_KEYS, field=f"row {i + 1}")
    kind = row.get("joint", "revolute")
    if kind not in ("revolute", "prismatic"):
        raise unknown_name("joint type", kind, ("revolute", "prismatic"), field=f"row {i + 1}.joint")
    a, alpha, d, theta = (number(row.get(k, 0.0), f"row {i + 1}.{k}") for k in ("a", "alpha", "d", "theta"))
    placement, frame = dh_poses(a, alpha, d, theta, kind == "revolute", convention)
    described = any(row.get(k) is not None for k in ("mass", "com", "inertia"))
    link = LinkDraft(
        name=row.get("link", f"link{i + 1}"),
        mass=number(row.get("mass", 0.0), f"row {i + 1}.mass"),
        com=_vector(row.get("com", (0.0, 0.0, 0.0)), f"row {i + 1}.com"),
        inertia=inertia_matrix(row.get("inertia"), f"row {i + 1}.inertia"),
        described=described,
        balance=_balance(row.get("balance"), f"row {i + 1}.balance"),
        field=f"row {i + 1}",
    )
    joint = JointDraft(
        name=row.get("name", f"joint{i + 1}"), kind=kind, parent=parent, child=link.name, origin=placement,
        frame=frame, limits=_limits(row.get("limits"), f"row {i + 1}.limits"),
        rotor_inertia=number(row.get("rotor_inertia", 0.0), f"row {i + 1}.rotor_inertia"),
        gear_ratio=number(row.get("gear_ratio", 1.0), f"row {i + 1}.gear_ratio"),
        friction=row.get("friction"), drive=row.get("drive"), field=f"row {i + 1}", **_coupling(row, i),
    )  # fmt: skip
    return link, joint


def _balance(value: Any, field: str) -> Balance | None:
    """Weight of the row's link that something else carries: a Balance, or a mapping with ``mass`` [kg] and ``com`` [m]."""
    if value is None or isinstance(value, Balance):
        return value
    if not isinstance(value, Mapping) or "mass" not in value:
        raise DescriptionError("A balance is a mapping with 'mass' and 'com', or a Balance.", field=field)
    for key in value:
        if key not in ("mass", "com"):
            raise unknown_name("key of a balance", key, ("mass", "com"), field=field)
    return Balance(number(value["mass"], f"{field}.mass"), vec3(_vector(value.get("com", ZERO3), f"{field}.com")))


def _coupling(row: Mapping[str, Any], i: int) -> dict[str, Any]:
    """Which joint this one follows, and how."""
    leader = row.get("follows")
    stated = [key for key in ("ratio", "offset") if row.get(key) is not None]
    if leader is None:
        if stated:
            raise DescriptionError(
                "A ratio or offset couples a joint to another; name it: 'follows'.", field=f"row {i + 1}.{stated[0]}"
            )
        return {}
    if not isinstance(leader, str):
        raise DescriptionError(
            f"The name of a joint is needed, found {printable(repr(leader), 60)}.", field=f"row {i + 1}.follows"
        )
    return {"follows": leader} | {key: number(row[key], f"row {i + 1}.{key}") for key in stated}


def inertia_matrix(value: Any, field: str | None = None) -> np.ndarray:
    """3×3 tensor from 3×3, from ``[Ixx, Iyy, Izz, Ixy, Ixz, Iyz]``, from three moments along the axes, or zero from ``None``."""
    if value is None:
        return np.zeros((3, 3))
    raw = np.array(value, dtype=object)
    if raw.shape in ((3,), (6,)):
        return inertia_from_six(*(number(v, field) for v in raw), *[0.0] * (6 - len(raw)))
    if raw.shape != (3, 3):
        raise DescriptionError(
            f"An inertia is 3×3, [Ixx, Iyy, Izz, Ixy, Ixz, Iyz], or three moments along the axes; found shape {raw.shape}.",
            field=field,
        )
    out = np.empty((3, 3), dtype=object)
    for k in np.ndindex(3, 3):
        out[k] = number(raw[k], field)
    return out


def _limits(value: Any, field: str) -> Limits:
    if value is None:
        return UNLIMITED
    if isinstance(value, Limits):
        return value
    if isinstance(value, Mapping):
        known = ("lower", "upper", "velocity", "acceleration", "jerk", "effort")
        for key in value:
            if key not in known:
                raise unknown_name("limit", key, known, field=field)
        return Limits(**{k: None if v is None else number(v, field) for k, v in value.items()})
    pair = list(np.ravel(np.asarray(value, dtype=object)))
    if len(pair) != 2:
        raise DescriptionError("Limits are (lower, upper), a mapping or a Limits object.", field=field)
    return Limits(number(pair[0], field), number(pair[1], field))


def number(value: Any, field: str | None = None) -> Any:
    """A finite float, or an expression in free parameters."""
    from manipula.algebra.expression import scalar

    try:
        return scalar(value)
    except DescriptionError as error:
        if field is None:
            raise
        found = "" if error.field is None else f"{error.field}: "  # the formula itself
        raise type(error)(f"{found}{error.problem}", field=field) from None
    except (TypeError, OverflowError):  # SymPy's complex and infinite constants
        raise DescriptionError(f"A finite real number is needed, found {printable(value)}.", field=field) from None


def _vector(values: Any, field: str | None = None) -> list[Any]:
    raw = np.array(values, dtype=object).ravel()
    if raw.shape != (3,):
        raise ShapeError(f"{field or 'vector'}: 3 entries are needed, found {raw.size}.")
    return [number(v, field) for v in raw]
