"""References ⇄ tables: a path under a time law, a motion by formulas, a joint move, or a table of polynomials."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, ManipulaError, unknown_name
from manipula.formats.toml.fields import Fields
from manipula.motion import paths, timing
from manipula.motion.formula_motion import formula_motion
from manipula.motion.joint_move import joint_move
from manipula.motion.piecewise import PiecewiseTrajectory
from manipula.motion.trajectory import Trajectory, trajectory
from manipula.simulation.files.document import ScenarioDocument

KINDS = ("path", "formula", "joint_move", "table")
TEXTS = frozenset(
    {"kind", "function", "shape", "ends", "spacing", "interpolation", "space", "delimiter", "columns", "text_or_function",
     "formula", "unit", "source", "synchronise", "method", "coordinates", "orientation"}
)  # fmt: skip
FILES = {"from_csv": lambda text: "\n" not in text, "from_svg": lambda text: text.lower().endswith(".svg")}
FAILURES = (ManipulaError, TypeError, ValueError, ArithmeticError, IndexError, KeyError, AttributeError)


def read_reference(table: Fields) -> Trajectory:
    """The reference of a run; the table is closed."""
    document: Any = table.document
    kind = table.choice("kind", KINDS, "path")
    if kind == "path":
        path_table, law_table = table.table("path"), table.table("timing")
        for key, sub in (("path", path_table), ("timing", law_table)):
            if sub is None:
                raise table.error(f"The table [{table.where(key)}] is missing.")
        table.close()
        assert path_table is not None
        assert law_table is not None
        path = _made(document, path_table, paths.from_description, paths.REGISTRY, "path")
        law = _made(document, law_table, timing.from_description, timing.REGISTRY, "timing")
        return _tried(document, lambda: trajectory(path, law), table.path, "timing")
    makers: dict[str, Callable[..., Any]] = {"formula": formula_motion, "joint_move": joint_move, "table": polynomials}
    arguments = _arguments(document, {k: table.raw(k) for k in table.names()}, makers[kind], table.path)
    arguments.pop("kind", None)
    known = inspect.signature(makers[kind]).parameters
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in arguments:
            raise table.missing(name, f"A reference of kind '{kind}' needs '{name}'.")
    return _tried(document, lambda: makers[kind](**arguments), table.path, None)


def polynomials(breaks: Any, coefficients: Any, space: str = "task") -> PiecewiseTrajectory:
    """A table: breaks (pieces + 1,), coefficients (pieces, degree + 1, dimension)."""
    if space not in ("task", "joint"):
        raise DescriptionError(f"'space' is '{space}'; allowed: task, joint.", field="space")
    return PiecewiseTrajectory(breaks, np.asarray(coefficients, float), space)  # pyright: ignore[reportArgumentType]


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


def _check_names(description: Mapping[str, Any], reference: Any) -> None:
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


def _made(
    document: ScenarioDocument, table: Fields, make: Callable[..., Any], registry: Mapping[str, Any], title: str
) -> Any:
    description = _described(document, {k: table.raw(k) for k in table.names()}, registry, table.path, title)
    return _tried(document, lambda: make(description), table.path, title)


def _described(
    document: ScenarioDocument, raw: dict[str, Any], registry: Mapping[str, Any], path: str, title: str
) -> dict[str, Any]:
    """The description with formulas evaluated, degrees turned into radians, files found; nested ones as well."""
    kind = raw.get("kind")
    if not isinstance(kind, str):
        raise DescriptionError(f"A {title} is a table with a 'kind': {', '.join(registry)}.", **document.place(path))
    if kind not in registry:
        raise unknown_name(
            "time law" if title == "timing" else "path", kind, registry, **document.place(f"{path}.kind")
        )
    out = _arguments(document, raw, registry[kind], path, registry, title)
    source = out.get("source")
    if isinstance(source, str) and kind in FILES and FILES[kind](source):
        out["source"] = str(document.beside(source, f"{path}.source"))
    return out


def _arguments(document: ScenarioDocument, raw: dict[str, Any], function: Callable[..., Any], path: str,
               registry: Mapping[str, Any] | None = None, title: str = "reference") -> dict[str, Any]:  # fmt: skip
    known = [*inspect.signature(function).parameters, "kind"]
    if "text_or_function" in known:
        known = ["formula" if k == "text_or_function" else k for k in known]
    out: dict[str, Any] = {}
    for key, value in raw.items():
        name = key.removesuffix("_deg") if key not in known else key
        place = f"{path}.{key}"
        if name not in known:
            raise unknown_name("key", key, known, **document.place(place))
        if name in out:
            raise DescriptionError(f"Give '{name}' or '{name}_deg', not both.", **document.place(place))
        if name in TEXTS:
            out[name] = value
        elif name == "constants" and isinstance(value, dict):
            out[name] = {k: document.scalar(v, f"{place}.{k}") for k, v in value.items()}
        elif isinstance(value, dict) and registry is not None:
            out[name] = _described(document, value, registry, place, title)
        elif isinstance(value, list) and value and isinstance(value[0], dict) and registry is not None:
            out[name] = [_described(document, v, registry, f"{place}[{i}]", title) if isinstance(v, dict) else v
                         for i, v in enumerate(value)]  # fmt: skip
        elif isinstance(value, bool) or (isinstance(value, int) and name in ("degree", "index")):
            out[name] = value
        else:
            out[name] = _lists(document.numbers(value, place, degrees=name != key))
    return out


def _lists(value: Any) -> Any:
    return [_lists(v) for v in value] if isinstance(value, tuple) else value


def _tried(document: ScenarioDocument, make: Callable[[], Any], path: str, title: str | None) -> Any:
    try:
        return make()
    except DescriptionError as error:
        field = (error.field or "").removeprefix(f"{title}.")
        inside = f"{path}.{field}" if field and f"{path}.{field}" in document.lines else path
        if error.field == field or error.field:
            error.field = None
        raise document.explain(error, inside) from None
    except FAILURES as error:
        raise document.explain(error, path) from None
