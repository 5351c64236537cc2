"""Names, units and labels of the axes of a result's signals, as files and xarray show them.

Units are written as CF and UDUNITS do (``rad s-1``). Where joints of both kinds share a signal it has no single unit: the unit of each
joint is a label of the joint axis (``position_unit`` and its relatives).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, printable
from manipula.simulation.result import Result

# of a revolute joint, of a prismatic one
OF_KIND = {
    "position": ("rad", "m"),
    "velocity": ("rad s-1", "m s-1"),
    "acceleration": ("rad s-2", "m s-2"),
    "effort": ("N m", "N"),
}
JOINT = {
    "q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "effort", "command": "effort", "friction": "effort",
    "external": "effort", "contact_torque": "effort", "applied": "effort", "reaction": "effort", "power": "W", "loads": "N",
    "observed_torque": "effort", "integral": "effort", "speed_command": "velocity", "correction": "position",
}  # fmt: skip
OF_REFERENCE = {"target": "position", "target_rate": "velocity", "error": "position"}  # of the joints or of the tip
PLAIN = {
    "tip": "m", "admittance_offset": "m", "orientation_error": "rad", "task_bounds": "1", "task_margin": "1", "mpc_optimal": "1",
    "payload_mass": "kg", "payload_moment": "kg m",
    "kinetic": "J", "potential": "J", "drive_energy": "J", "energy": "J", "audit": "J", "work_drives": "J",
    "work_friction": "J", "work_external": "J", "work_payload": "J", "work_constraints": "J",
    "work_contact": "J", "work_base": "J", "contact_energy": "J", "contact_loss": "J", "contact_force": "N", "penetration": "m",
}  # fmt: skip
NAMED = {
    "tip": ("axis",), "orientation_error": ("axis",), "pose": ("row", "column"), "multipliers": ("constraint",), "residual": ("constraint",),
    "residual_rate": ("constraint",), "bristles": ("bristle",), "motors": ("motor",), "controller_states": ("controller_state",), "switched": ("switch",),
    "payload_moment": ("axis",),
    "admittance_offset": ("axis",), "measured_wrench": ("component",),
    "contact_force": ("contact",), "penetration": ("contact",), "contact_wrench": ("contact", "component"), "base_pose": ("row", "column"),
}  # fmt: skip
LONG = {
    "time": "time", "q": "joint position", "qd": "joint velocity", "qdd": "joint acceleration", "tau": "drive torque or force",
    "command": "commanded torque or force", "friction": "friction torque or force", "power": "mechanical power of the drives",
    "external": "torque or force of disturbances", "loads": "normal force in the joint", "tip": "position of the tip in base axes",
    "pose": "pose of the tip: rotation, and position [m] in the last column", "error": "target minus actual", "kinetic": "kinetic energy",
    "potential": "potential energy", "energy": "mechanical energy", "audit": "energy that is unaccounted for",
    "mpc_optimal": "1 where the quadratic program was solved",
    "task_bounds": "1 where the bounded tasks reached their minimum", "task_margin": "0 where the first priority is singular",
    "payload_mass": "estimated mass at the tip", "payload_moment": "estimated mass times its centre, in axes of the tip",
    "observed_torque": "external torque or force as the controller's observer sees it", "integral": "integral of the controller",
    "speed_command": "speed asked for by the outer loop", "correction": "what was learned: reference of this run minus wanted motion",
    "admittance_offset": "offset of the reference that gives way to the measured force, base axes",
    "measured_wrench": "force [N] and moment [N m] that the controller measures at the tip, base axes",
    "orientation_error": "rotation vector from the actual to the wanted orientation, base axes",
    "multipliers": "multipliers of the constraints", "residual": "residual of the constraints",
    "contact_force": "normal force of the contact (a torque at the end stop of a hinge)", "penetration": "depth of the contact, below zero apart",
    "contact_wrench": "force [N] and moment [N m] of the contact on the arm at its frame, in axes of the world",
    "contact_torque": "torque or force of the contacts", "contact_energy": "energy held by contacts", "contact_loss": "energy lost in contacts",
    "work_contact": "work of the contacts on the arm", "work_base": "work of the moving base", "base_pose": "pose of the base in the world",
}  # fmt: skip
RESERVED = frozenset({"t", "time", "run", "manipula"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_batch(result: Result) -> bool:
    """Does the result hold several runs?"""
    return "q" in result.arrays and result.arrays["q"].ndim == 3


def described(result: Result) -> dict[str, Any]:
    """``variables``: dimensions and attributes of each signal; ``labels``: texts along a dimension, by the name of the label.

    Of a single run also ``columns``: the names of its flat columns, in the order of its signals.
    """
    lead = ("run", "time") if is_batch(result) else ("time",)
    _check(result, lead)
    sizes = {"time": len(result.t)}
    kinds = _kinds(result)
    labels: dict[str, Any] = {}
    variables: dict[str, Any] = {"time": {"dims": ["time"], "attributes": {"units": "s", "long_name": LONG["time"]}}}
    for name, value in result.arrays.items():
        extra = _dimensions(result, name, value.shape[len(lead) :])
        if any(sizes.setdefault(d, size) != size for d, size in zip(extra, value.shape[len(lead) :])):
            extra = tuple(f"{name}_axis{k + 1}" for k in range(len(extra)))
            sizes |= dict(zip(extra, value.shape[len(lead) :]))
        attributes, needed = _attributes(name, extra, kinds)
        for kind in needed:
            labels[f"{kind}_unit"] = {"dim": "joint", "values": [OF_KIND[kind][slides] for slides in kinds]}
        variables[name] = {"dims": [*lead, *extra], "attributes": attributes}
    labels = {**_own_labels(result, sizes), **labels}
    clash = sorted((set(labels) | set(sizes)) & set(result.arrays))
    if clash:
        raise DescriptionError(
            f"A signal cannot be called '{clash[0]}' in a file: that is the name of an axis or label."
        )
    found: dict[str, Any] = {"variables": variables, "labels": labels}
    if lead == ("time",):
        found["columns"] = _columns(result, variables, labels)
    return found


def _check(result: Result, lead: tuple[str, ...]) -> None:
    if result.t.ndim != 1 or not len(result.t):
        raise DescriptionError(f"A result without samples cannot be stored (t has shape {result.t.shape}).")
    begin = result.arrays["q"].shape[: len(lead)] if len(lead) == 2 else result.t.shape
    for name, value in result.arrays.items():
        if not _NAME.fullmatch(name) or name in RESERVED:
            raise DescriptionError(
                f"A file cannot hold a signal called '{printable(name)}': letters, digits and _ are allowed, and not "
                f"{', '.join(sorted(RESERVED))}."
            )
        if value.dtype.kind not in "biuf":
            raise DescriptionError(f"Signal '{name}' is not made of real numbers ({value.dtype}); no file can hold it.")
        if value.shape[: len(lead)] != (*begin[:-1], len(result.t)) or 0 in value.shape:
            raise DescriptionError(
                f"Signal '{name}' has shape {value.shape}; it must begin with {(*begin[:-1], len(result.t))}, and no axis is empty."
            )


def _kinds(result: Result) -> tuple[bool, ...]:
    """Of every joint: does it slide? Nothing when that is not known."""
    kinds = tuple(result.meta.get("joint_kinds", ()))
    count = result.arrays["q"].shape[-1] if "q" in result.arrays else 0
    return tuple(kind == "prismatic" for kind in kinds) if len(kinds) == count else ()


def _dimensions(result: Result, name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the axes of a signal after run and time."""
    n = result.arrays["q"].shape[-1] if "q" in result.arrays else -1
    if name in JOINT and shape == (n,):
        return ("joint",)
    if name in OF_REFERENCE and shape in ((3,), (n,)):
        return ("axis",) if _of_tip(result, shape, n) else ("joint",)
    known = NAMED.get(name)
    if known and len(known) == len(shape) and {"tip": (3,), "pose": (4, 4)}.get(name, shape) == shape:
        return known
    return tuple(f"{name}_axis{k + 1}" for k in range(len(shape)))


def _of_tip(result: Result, shape: tuple[int, ...], n: int) -> bool:
    """Is the reference one of the tip? With three joints both have three numbers, and the error tells them apart."""
    if n != 3:
        return shape == (3,)
    parts = [result.arrays.get(name) for name in ("target", "error", "tip")]
    if any(part is None or part.shape[-1:] != (3,) for part in parts):
        return False
    target, error, tip = parts
    return bool(np.allclose(target - tip, error, equal_nan=True))  # pyright: ignore[reportOptionalOperand, reportArgumentType]


def _attributes(name: str, extra: Sequence[str], kinds: tuple[bool, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
    """CF attributes of a signal, and the labels of the joint axis that it needs."""
    attributes: dict[str, str] = {}
    needed: tuple[str, ...] = ()
    unit = JOINT.get(name, PLAIN.get(name, OF_REFERENCE.get(name)))
    if unit in OF_KIND and tuple(extra) == ("axis",):
        unit = OF_KIND[unit][1]
    if unit in OF_KIND:
        if tuple(extra) == ("joint",) and kinds:
            if len(set(kinds)) == 1:
                attributes["units"] = OF_KIND[unit][kinds[0]]
            needed = (unit,)
            attributes["coordinates"] = f"joint_kind {unit}_unit"
    elif unit is not None:
        attributes["units"] = unit
    if name in LONG:
        attributes["long_name"] = LONG[name]
    return attributes, needed


def _own_labels(result: Result, sizes: dict[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for label, dim, values in (
        ("joint", "joint", result.joint_names), ("joint_kind", "joint", result.meta.get("joint_kinds", ())), ("axis", "axis", ("x", "y", "z")),
        ("constraint", "constraint", result.meta.get("constraints", ())),
    ):  # fmt: skip
        if dim in sizes and len(values) == sizes[dim]:
            found[label] = {"dim": dim, "values": [legible(v) for v in values]}
    return found


def legible(text: object) -> str:
    """The text with control characters and halves of surrogate pairs escaped, so that every format can hold it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def _columns(result: Result, variables: dict[str, Any], labels: dict[str, Any]) -> list[str]:
    """``t, q_shoulder, q_elbow, tip_x, pose_11, …``; numbers from 1 where an axis has no short labels."""
    names = ["t"]
    for name, value in result.arrays.items():
        dims = variables[name]["dims"][1:]
        words = [labels[d]["values"] for d in dims if d in ("joint", "axis") and d in labels]
        if not dims:
            names.append(name)
        elif len(words) == len(dims) == 1:
            names += [f"{name}_{word}" for word in words[0]]
        else:
            mark = "" if max(value.shape[1:]) < 10 else "_"
            places = np.ndindex(*value.shape[1:])
            names += [f"{name}_{mark.join(str(i + 1) for i in place)}" for place in places]
    if len(set(names)) < len(names) or "manipula" in names:  # two names that look alike: count instead
        names = ["t"]
        for name, value in result.arrays.items():
            count = math.prod(value.shape[1:])
            names += [name] if value.ndim == 1 else [f"{name}[{k}]" for k in range(count)]
    return names
