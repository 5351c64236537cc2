"""``Study``: a base scenario, what varies, how often, and what is kept of every run."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.arguments import whole_number
from manipula.algebra.fields import check_field_names
from manipula.errors import BudgetError, DescriptionError, printable
from manipula.lazy import cached_property
from manipula.simulation import field_values
from manipula.simulation.frozen_mapping import Frozen
from manipula.simulation.plant.parameters import is_number
from manipula.simulation.programmed.scenario import ProgramScenario
from manipula.simulation.scenario import Scenario
from manipula.studies.axis_checks import check_axes
from manipula.studies.columns import chosen_columns
from manipula.studies.distributions import Distribution, distribution_of
from manipula.studies.draws import DESIGNS, unit_numbers
from manipula.studies.paths import AnyScenario
from manipula.verbs import notebook_html, verb

MOST_RUNS = 10**9
MOST_SEED = 2**63
EVERY = ("all", "failed", "none")


class Vary(Frozen):
    """What varies, by path: tuples of values, or distributions."""

    __slots__ = ()

    def __init__(self, axes: Mapping[str, Any]) -> None:
        self._entries = {path: axis_of(path, given) for path, given in axes.items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        own = other if isinstance(other, Vary) else Vary(other)
        return list(self.items()) == list(own.items())  # their order counts the runs

    def __hash__(self) -> int:
        return hash(tuple(self))


def axis_of(path: str, given: Any) -> Any:
    """A distribution, or a tuple of values: numbers, texts, flags, vectors, tables or parts."""
    field = f"vary.{path}"
    if isinstance(given, Distribution):
        return given
    if isinstance(given, Mapping):
        found = distribution_of(dict(given), field)
        if found is None:
            raise DescriptionError(
                "A list of values or a distribution is needed: [1, 2, 3], { uniform = [0, 5] }.", field=field
            )
        return found
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, (str, bytes)) or not isinstance(given, (list, tuple, range)):
        raise DescriptionError(
            f"A list of values or a distribution is needed, found {field_values.found(given)}.", field=field
        )
    if not given:
        raise DescriptionError("An empty list leaves nothing to run.", field=field)
    return tuple(_value(v, f"{field}[{i}]") for i, v in enumerate(given))


def _value(value: Any, field: str) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if is_number(value):
        return field_values.real(field, value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(_value(v, f"{field}[{i}]") for i, v in enumerate(np.asarray(value, object).tolist()))
    if isinstance(value, Mapping):
        return Frozen(value)
    if value is None:
        raise DescriptionError("None is no value that a run can have.", field=field)
    return value


@dataclass(frozen=True, repr=False)
class Study:
    """Many runs of one scenario, described: a frozen value that compares, is written as TOML and read back.

    Lists are the axes of a grid; distributions are drawn ``samples`` times at each of its points. The last list varies fastest but for the
    draws, which vary faster still. Run i and its random numbers depend on the study alone, not on how or where it is run.

    Attributes:
        base: a Scenario or a ProgramScenario, one run.
        vary: by path (``controller.kp``, ``friction[0].damping``, ``q0[1]``, ``robot.links[2].mass``, ``payload.mass``, ``parameters.m``,
            ``reference.timing.duration``, ``integrator``, ``controller``): a list of values, or a distribution of ``manipula.studies``.
        samples: draws at each point of the grid; needed with distributions.
        seed: of all random numbers.
        design: how distributions are drawn, "random", "latin_hypercube", "sobol", or "saltelli" (for Sobol indices: samples come in groups of
            d + 2, d the number of distributions); "grid" says that there are none, "list" runs the lists in step instead of crossing them.
        keep: which columns of the summary are kept (names, or beginnings such as "tau_max"); all when omitted.
        keep_series: signals whose samples are kept beside the summary, such as ("q", "tau").
        series_runs: of which runs: "all", "failed", or a number k for every k-th run.
        name: of the study.
    """

    base: AnyScenario
    vary: Any
    samples: int | None = None
    seed: int = 0
    design: str = "random"
    keep: tuple[str, ...] | None = None
    keep_series: tuple[str, ...] = ()
    series_runs: str | int = "all"
    name: str = "study"

    def __post_init__(self) -> None:
        set_ = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        if not isinstance(self.base, (Scenario, ProgramScenario)):
            raise DescriptionError(
                f"A Scenario or a ProgramScenario is needed, found {field_values.found(self.base)}.", field="base"
            )
        if isinstance(self.base, Scenario) and self.base.is_batch:
            raise DescriptionError("The base is a batch; a study needs one run, and varies it itself.", field="base")
        if not isinstance(self.vary, Mapping) or any(not isinstance(path, str) for path in self.vary):
            raise DescriptionError("Values by path are needed, {'controller.kp': [50, 100]}.", field="vary")
        if not self.vary:
            raise DescriptionError("Nothing varies: values by path are needed.", field="vary")
        set_("vary", Vary(self.vary))
        field_values.one_of("design", self.design, DESIGNS)
        set_("seed", whole_number(self.seed, "seed", 0, MOST_SEED - 1))
        field_values.text("name", self.name)
        self._check_samples()
        if self.keep is not None:
            set_("keep", _texts(self.keep, "keep"))
        set_("keep_series", _texts(self.keep_series, "keep_series"))
        if not (isinstance(self.series_runs, str) and self.series_runs in EVERY[:2]):
            if isinstance(self.series_runs, str):
                field_values.one_of("series_runs", self.series_runs, EVERY[:2])
            set_("series_runs", whole_number(self.series_runs, "series_runs", 1, MOST_RUNS))
        if self.series_runs != "all" and not self.keep_series:
            raise DescriptionError("No samples are kept of any run: keep_series names no signal.", field="series_runs")
        if self.runs > MOST_RUNS:
            raise BudgetError(f"{self.runs} runs; at most {MOST_RUNS}.", field="vary")
        check_axes(self)
        chosen_columns(self.base, self.keep)

    def _repr_html_(self) -> str | None:
        return notebook_html(self)

    def _check_samples(self) -> None:
        drawn = [path for path, axis in self.vary.items() if isinstance(axis, Distribution)]
        if drawn and self.design == "grid":
            raise DescriptionError(f"A grid has lists only; '{drawn[0]}' is a distribution.", field="design")
        if not drawn and self.design in ("latin_hypercube", "sobol", "saltelli"):
            raise DescriptionError(
                f"The design '{self.design}' draws from distributions; none is given.", field="design"
            )
        if drawn and self.samples is None:
            raise DescriptionError(f"'{drawn[0]}' is a distribution: say how many samples.", field="samples")
        if self.samples is not None:
            object.__setattr__(self, "samples", whole_number(self.samples, "samples", 1, MOST_RUNS))
            if not drawn and self.samples > 1:
                raise DescriptionError("Samples of nothing: no distribution is given.", field="samples")
        if self.design == "saltelli" and self.samples is not None and self.samples % (len(drawn) + 2):
            group = len(drawn) + 2
            near = max(group, group * round(self.samples / group))
            raise DescriptionError(
                f"Samples come in groups of {group} (two, and one per distribution); {self.samples} is none of their multiples, {near} is.",
                field="samples",
            )
        if self.design == "list":
            sizes = {path: len(axis) for path, axis in self.vary.items() if not isinstance(axis, Distribution)}
            if len(set(sizes.values())) > 1:
                told = ", ".join(f"'{printable(path, 40)}' {size}" for path, size in sizes.items())
                raise DescriptionError(f"Lists that run in step have one length; found {told}.", field="design")

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self.runs} runs, design={self.design!r}, vary={list(self.vary)})"

    @cached_property
    def axes(self) -> dict[str, tuple[Any, ...]]:
        """The lists, by path."""
        return {path: axis for path, axis in self.vary.items() if not isinstance(axis, Distribution)}

    @cached_property
    def distributions(self) -> dict[str, Distribution]:
        """The distributions, by path."""
        return {path: axis for path, axis in self.vary.items() if isinstance(axis, Distribution)}

    @cached_property
    def points(self) -> int:
        """Points of the grid, or entries of the lists that run in step."""
        sizes = [len(axis) for axis in self.axes.values()]
        return (sizes[0] if sizes else 1) if self.design == "list" else math.prod(sizes)

    @property
    def runs(self) -> int:
        """How many runs."""
        return self.points * (self.samples or 1)

    def __len__(self) -> int:
        return self.runs

    def values(self, first: int, last: int) -> dict[str, Any]:
        """What the runs ``first`` … ``last − 1`` have at every path: arrays of numbers, or lists."""
        return self.values_of(np.arange(first, last, dtype=np.int64))

    def values_of(self, runs: np.ndarray) -> dict[str, Any]:
        """The same for the given runs."""
        samples = self.samples or 1
        point = runs // samples
        if self.design == "list":
            at = dict.fromkeys(self.axes, point)
        else:
            sizes = [len(axis) for axis in self.axes.values()]
            at = dict(zip(self.axes, np.unravel_index(point, sizes))) if sizes else {}
        u = unit_numbers(self.design, self.seed, runs, samples, len(self.distributions))
        drawn = {path: self.drawn(path, u[:, k]) for k, path in enumerate(self.distributions)}
        out: dict[str, Any] = {}
        for path, axis in self.vary.items():
            if isinstance(axis, Distribution):
                out[path] = drawn[path]
            elif all(is_number(v) for v in axis):
                out[path] = np.asarray(axis, float)[at[path]]
            else:
                out[path] = [axis[k] for k in at[path]]
        return out

    def drawn(self, path: str, u: np.ndarray) -> np.ndarray:
        """What a distribution gives for numbers 0 ≤ u < 1; factors times the number of the base."""
        from manipula.studies.paths import prepared_for, resolved, value_at

        found = self.distributions[path].at(u)
        if not self.distributions[path].relative:
            return found
        ready = prepared_for(self.base, [path])
        return found * float(value_at(ready, resolved(ready, path)))

    def replace(self, **changes: Any) -> Study:
        """The same study with other values in some fields."""
        check_field_names(self, changes)
        return dataclasses.replace(self, **changes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the study as TOML, its base inside."""
        verb("Study.save")(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Study:
        """Read a study from TOML; its base is a file beside it, or inside."""
        return verb("Study.load")(path)


def _texts(given: Any, field: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, (list, tuple)) or any(not isinstance(v, str) for v in given):
        raise DescriptionError(f"A list of names is needed, found {field_values.found(given)}.", field=field)
    if len(set(given)) < len(given):
        raise DescriptionError(f"Every name stands once; found {printable(list(given), 80)}.", field=field)
    return tuple(given)
