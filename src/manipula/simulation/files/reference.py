"""References ⇄ tables: a path under a time law, a motion by formulas, a joint move, waypoints, or a table of polynomials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np

from manipula.errors import DescriptionError
from manipula.formats.toml.fields import Fields
from manipula.formats.toml.part_tables import FAILURES, constructed, read_fields, read_part
from manipula.motion import paths, timing
from manipula.motion.formula_motion import formula_motion
from manipula.motion.joint_move import joint_move
from manipula.motion.paths.base import Path
from manipula.motion.piecewise import PiecewiseTrajectory
from manipula.motion.pose_table import pose_table
from manipula.motion.shaped import shaped
from manipula.motion.timing.base import TimeLaw
from manipula.motion.trajectory import Trajectory, trajectory
from manipula.motion.waypoints import waypoints
from manipula.parts.checks import check_arguments
from manipula.parts.field import Choice, Numbers, Rows
from manipula.parts.registry import PartKind


def read_reference(table: Fields) -> Trajectory:
    """The reference of a run; the table is closed."""
    kind = table.choice("kind", ("path", *KIND.registry), "path")
    if kind != "path":
        return read_fields(table, KIND.registry[kind], f"reference of kind '{kind}'", {"reference": read_reference})
    tables = {key: table.table(key) for key in ("path", "timing")}
    for key, found in tables.items():
        if found is None:
            raise table.error(f"The table [{table.where(key)}] is missing.")
    table.close()
    path, law = read_path(tables["path"]), read_law(tables["timing"])  # pyright: ignore[reportArgumentType]
    return constructed(table, lambda: trajectory(path, law), "reference", {})


def read_path(table: Fields) -> Path:
    """A path, whose segments may be paths."""
    return read_part(table, paths.KIND, {"path": read_path})


def read_law(table: Fields) -> TimeLaw:
    """A time law, which may hold another one."""
    return read_part(table, timing.KIND, {"time law": read_law})


def polynomials(
    breaks: Annotated[Any, Numbers("s", "ends of the pieces, increasing", example=(0.0, 1.0))],
    coefficients: Annotated[Any, Rows("m or rad", "for every piece rows of coefficients, lowest power first")],
    space: Annotated[str, Choice("space of the motion", "task", "joint")] = "task",
) -> PiecewiseTrajectory:
    """A table of polynomials: breaks (pieces + 1,), coefficients (pieces, degree + 1, dimension)."""
    check_arguments(polynomials, {"breaks": breaks, "coefficients": coefficients, "space": space}, "a reference")
    return PiecewiseTrajectory(breaks, np.asarray(coefficients, float), space)  # pyright: ignore[reportArgumentType]


KIND = PartKind(
    "reference",
    "kind",
    {
        "formula": formula_motion,
        "joint_move": joint_move,
        "waypoints": waypoints,
        "shaped": shaped,
        "table": polynomials,
        "pose_table": pose_table,
    },
    "manipula.simulation.files.reference.KIND",
)


def reference_table(reference: Any) -> dict[str, Any] | None:
    """The reference as plain values, or an error when it holds Python objects."""
    if reference is None:
        return None
    try:
        description = reference.description
    except (AttributeError, TypeError):
        description = None
    if description is not None:
        _check_names(description, reference)
        return dict(description)
    if isinstance(reference, PiecewiseTrajectory):
        return {"kind": "table", "space": reference.space, "breaks": reference.breaks.tolist(),
                "coefficients": reference.coefficients.tolist()}  # fmt: skip
    if getattr(reference, "has_orientation", False):
        raise DescriptionError(
            "This reference says how the tool is turned by Python objects and cannot be written; a motion by formulas "
            "with its 'orientation' as texts can.",
            field="reference",
        )
    raise DescriptionError(
        "This reference holds Python objects and cannot be written; reference.to_piecewise() can.", field="reference"
    )


def _check_names(description: Mapping[str, Any], reference: Trajectory) -> None:
    """Refuse paths and time laws whose names in a file would not bring them back."""
    path, law = description.get("path"), getattr(reference, "law", None)
    for kind in _kinds(path):
        if kind not in paths.REGISTRY:
            raise DescriptionError(
                f"The path '{kind}' is not in manipula.motion.paths.REGISTRY, so a file with it could not be read again: "
                "register it there, or keep it in Python.",
                field="reference.path",
            )
    if law is not None:
        try:
            same = timing.from_description(law.description) == law
        except FAILURES:
            same = False
        if not same:
            raise DescriptionError(
                f"The time law '{law.kind}' ({type(law).__name__}) is not the one of that name in manipula.motion.timing.REGISTRY, so a "
                "file with it could not be read again: register it there, or keep it in Python.",
                field="reference.timing",
            )


def _kinds(value: Any) -> Iterator[str]:
    """Names of the paths in a description, nested ones as well."""
    if isinstance(value, Mapping):
        if isinstance(value.get("kind"), str):
            yield value["kind"]
        for inner in value.values():
            yield from _kinds(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _kinds(inner)
