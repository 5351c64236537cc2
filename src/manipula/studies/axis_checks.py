"""Every value of a study compared with what it will stand for, before anything runs."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.errors import DescriptionError, ManipulaError, printable, unknown_name
from manipula.parts.checks import check_numbers, label
from manipula.parts.declared import declared
from manipula.simulation.integrators import ADAPTIVE, FIXED
from manipula.simulation.plant.parameters import is_number
from manipula.simulation.scenario import Scenario
from manipula.studies.distributions import Distribution
from manipula.studies.paths import AnyScenario, prepared_for, resolved, tokens_of, value_at, with_value
from manipula.studies.tables import READERS, part_of

if TYPE_CHECKING:
    from manipula.studies.study import Study

ONE_BY_ONE = 500  # values of an axis that are set into the scenario one by one
NOT_VARIED = ("robot", "model", "name", "torques", "vary", "kind")


_BEFORE: ContextVar[bool] = ContextVar("checked_before", default=False)


@contextlib.contextmanager
def checked_before() -> Iterator[None]:
    """Studies that are read inside were made before: all their draws were looked at then."""
    token = _BEFORE.set(True)
    try:
        yield
    finally:
        _BEFORE.reset(token)


def check_axes(study: Study) -> None:
    """Do all paths exist, and may they have these values?

    Raises:
        DescriptionError: with the path, what was found and what is allowed; an unknown path with the nearest ones.
    """
    choices = {path: axis for path, axis in study.axes.items() if is_choice(axis)}
    for path in study.vary:
        if tokens_of(path)[:2] == ("noise", "seed"):
            told = "Every run has its own seed of the noise, from that of the study."
            raise DescriptionError(told, field=f"vary.{path}")
        if path in NOT_VARIED:
            raise DescriptionError(f"'{path}' as a whole is not varied.", field=f"vary.{path}")
    _check_apart(study, choices)
    scenarios = [study.base]
    for path, axis in choices.items():
        made = [_set(study.base, path, v, i) for i, v in enumerate(axis)]
        scenarios = [study.base, *made] if len(choices) == 1 else scenarios
    for path, axis in study.vary.items():
        if path not in choices:
            below = [p for p in choices if f"{path}.".startswith((f"{p}.", f"{p}["))]
            for scenario in scenarios[1:] if below and len(choices) == 1 else scenarios[:1]:
                _check_axis(study, scenario, path, axis)


def _check_apart(study: Study, choices: Mapping[str, Any]) -> None:
    """Does every path name a place of its own? What stands inside a part that is chosen may vary beside it."""
    places: dict[tuple[Any, ...], str] = {}
    for path in study.vary:
        try:
            place = resolved(prepared_for(study.base, [path]), path)
        except ManipulaError:
            place = tokens_of(path)  # inside a part that is chosen, or nowhere
        for k in range(1, len(place) + 1):
            if place[:k] in places and (k == len(place) or places[place[:k]] not in choices):
                raise DescriptionError(
                    f"'{printable(path, 60)}' is, or is part of, '{printable(places[place[:k]], 60)}', which varies too.",
                    field=f"vary.{path}",
                )
        for other, name in places.items():
            if other[: len(place)] == place and path not in choices:
                raise DescriptionError(
                    f"'{printable(name, 60)}' is part of '{printable(path, 60)}', which varies too.",
                    field=f"vary.{name}",
                )
        places[place] = path


def is_choice(axis: Any) -> bool:
    """Are the values of an axis parts or tables, whose fields others may vary?"""
    return not isinstance(axis, Distribution) and any(not _plain(v) for v in axis)


def _plain(value: Any) -> bool:
    return is_number(value) or isinstance(value, bool) or (isinstance(value, tuple) and all(map(_plain, value)))


def applied(scenario: AnyScenario, path: str, value: Any) -> AnyScenario:
    """The scenario with one value of an axis: a number, a text, a vector, a part or its table."""
    head = str(tokens_of(path)[0])
    if isinstance(value, tuple) or is_number(value) or isinstance(value, bool):
        tokens = resolved(scenario, path)
        _check_kind(scenario, tokens, path, value)
        return with_value(scenario, tokens, value)
    if path in READERS:
        made = part_of(path, value)
        if path == "reference" and isinstance(scenario, Scenario) and scenario.reference is not None:
            follows = scenario.duration == float(scenario.reference.duration)
            return scenario.replace(reference=made, **({"duration": None} if follows else {}))
        return scenario.replace(**{path: made})
    if head in READERS and not isinstance(value, str):
        return with_value(scenario, resolved(scenario, path), part_of(head, value))
    tokens = resolved(scenario, path)
    _check_kind(scenario, tokens, path, value)
    methods = ("auto", *FIXED, *ADAPTIVE)
    if path == "integrator" and value not in methods:
        raise unknown_name("integrator", str(value), methods, field=path)
    return with_value(scenario, tokens, value)


def _check_kind(scenario: AnyScenario, tokens: tuple[Any, ...], path: str, value: Any) -> None:
    """A number where a number stands, a text where a text does."""
    before = value_at(scenario, tokens)
    wrong = ""
    if dataclasses.is_dataclass(before) or (isinstance(before, tuple) and any(map(dataclasses.is_dataclass, before))):
        wrong = "a whole part; vary one of its numbers, or give names or tables of parts"
    elif isinstance(before, bool) != isinstance(value, bool) and before is not None:
        wrong = "a flag" if isinstance(before, bool) else "no flag"
    elif isinstance(before, str) and is_number(value):
        wrong = f"a text, {printable(repr(before), 40)}"
    elif is_number(before) and isinstance(value, str):
        wrong = "a number"
    elif isinstance(before, str) and "\n" in before and isinstance(value, str) and "\n" not in value:
        wrong = "a table, of which studies take the text, several lines: no file is opened for a value"
    elif isinstance(before, tuple) and isinstance(value, tuple) and len(before) != len(value):
        wrong = f"{len(before)} numbers"
    if wrong:
        shown = printable(repr(value), 60)
        raise DescriptionError(f"'{printable(path, 60)}' is {wrong}; found {shown}.", field=f"vary.{path}")


def _set(base: AnyScenario, path: str, value: Any, index: int) -> AnyScenario:
    try:
        return applied(prepared_for(base, [path]), path, value)
    except DescriptionError as error:
        place = f"vary.{path}[{index}]"
        inner = error.field if error.field and error.field not in (path, "vary", f"vary.{path}") else ""
        told = f"{error.problem}" if not inner or path.endswith(inner) else f"{inner}: {error.problem}"
        raise type(error)(told, field=place) from None
    except ManipulaError as error:
        raise DescriptionError(str(error), field=f"vary.{path}[{index}]") from None


def _check_axis(study: Study, base: AnyScenario, path: str, axis: Any) -> None:
    ready = prepared_for(base, [path])
    tokens = resolved(ready, path)
    if not isinstance(axis, Distribution):
        if len(axis) <= ONE_BY_ONE or not all(is_number(v) for v in axis):
            for i, value in enumerate(axis):
                _set(base, path, value, i)
        else:
            _set(base, path, axis[0], 0)
            _declared(ready, tokens, np.asarray(axis, float), path)
        return
    before: Any = value_at(ready, tokens)
    _check_kind(ready, tokens, path, 1.0)
    scale = 1.0
    if axis.relative:
        if before is None or not is_number(before):
            raise DescriptionError(f"'{path}' is not one number that a factor could act on.", field=f"vary.{path}")
        if float(before) == 0.0:
            raise DescriptionError(
                f"'{path}' is 0 in the base, and so it is times every factor; leave relative out.", field=f"vary.{path}"
            )
        scale = float(before)
    ends = sorted(scale * x for x in axis.support if math.isfinite(x))
    for end in ends:
        _set(base, path, end, 0)
    if len(ends) < 2 and not _BEFORE.get():  # nothing bounds the draws: look at them
        for first in range(0, study.runs, 65536):
            runs = np.arange(first, min(first + 65536, study.runs))
            _check_draws(study, base, path, runs)


def _check_draws(study: Study, base: AnyScenario, path: str, runs: np.ndarray) -> None:
    values = study.values_of(runs)[path]
    for k in (int(np.argmin(values)), int(np.argmax(values))):
        try:
            applied(prepared_for(base, [path]), path, float(values[k]))
        except ManipulaError as error:
            told = getattr(error, "problem", str(error))
            raise DescriptionError(
                f"Run {int(runs[k])} would have {values[k]:.6g}: {told} Bound the distribution: low=…, high=….",
                field=f"vary.{path}",
            ) from None


def _declared(scenario: AnyScenario, tokens: tuple[Any, ...], values: np.ndarray, path: str) -> None:
    """Many numbers against the declaration of the field they stand in."""
    names = [k for k, t in enumerate(tokens) if isinstance(t, str)]
    part = value_at(scenario, tokens[: names[-1]])
    for d in declared(type(part)) if dataclasses.is_dataclass(part) else ():
        if d.name == tokens[names[-1]]:
            try:
                check_numbers(values, d, label(part))
            except DescriptionError as error:
                raise DescriptionError(error.problem, field=f"vary.{path}") from None
            return
    for value in (float(values.min()), float(values.max())):
        applied(scenario, path, value)
