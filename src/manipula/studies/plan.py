"""Which runs share a compiled loop, and the scenario of every run.

Numbers of controllers, friction, drives and the like are inputs of the compiled loop; numbers of the robot become free parameters of it, so that
one loop serves all their values; initial states differ anyway. Runs that differ in nothing else form a batch. Whatever else varies (choices,
times, references) makes a batch for every combination. A run computed alone from ``Plan.scenario`` has the bits of the run in its batch.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manipula.algebra.expression import scalar
from manipula.errors import ManipulaError, unknown_name
from manipula.simulation.checks.requests import check_requests
from manipula.simulation.loops.setup import prepare_run
from manipula.simulation.plant.numbers import HEADS, columns_of, varied
from manipula.simulation.plant.parameters import is_number
from manipula.simulation.plant_of_scenario import plant_of
from manipula.simulation.scenario import Scenario
from manipula.simulation.signals.observed import derived_names
from manipula.simulation.stored.axes import JOINT, NAMED, OF_REFERENCE, PLAIN
from manipula.studies.axis_checks import applied, is_choice
from manipula.studies.draws import noise_seed
from manipula.studies.own_code import TRACED
from manipula.studies.paths import AnyScenario, Token, prepared_for, resolved, tokens_of, value_at, with_value
from manipula.studies.study import Study

TEMPLATES = 64  # combinations of choices that are kept
OF_ROBOT = ("links", "payload", "gravity", "joints")
OF_JOINT = ("rotor_inertia", "gear_ratio")


@dataclass(frozen=True)
class Template:
    """The scenario of one combination of choices, and how each varied number reaches its runs.

    Attributes:
        state: places in q0 and qd0. vary: paths of the loop's inputs. parameters: names of free parameters of the robot.
        alone: what needs a batch of its own for every value.
    """

    scenario: AnyScenario
    state: dict[str, tuple[Token, ...]] = field(default_factory=dict)
    vary: dict[str, tuple[Token, ...]] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    alone: dict[str, tuple[Token, ...]] = field(default_factory=dict)

    @property
    def batched(self) -> bool:
        """May several runs go through the loop side by side?"""
        return bool(self.state or self.vary or self.parameters)


@dataclass(frozen=True)
class Batch:
    """Runs (by their number) that go through one loop, and the scenario of all of them but for their numbers."""

    runs: np.ndarray
    template: Template
    scenario: AnyScenario
    values: dict[str, Any]  # of the batched paths, one entry per run
    noise_seeds: tuple[int, ...] = ()  # of every run, where there is noise


class Plan:
    """How the runs of a study are made."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.choices = [
            path
            for path, axis in study.axes.items()
            if is_choice(axis) or any(isinstance(v, (str, bool)) for v in axis)
        ]
        self.numbers = [path for path in study.vary if path not in self.choices]
        self._templates: OrderedDict[Any, Template] = OrderedDict()
        noise = getattr(study.base, "noise", None)
        self.noisy = noise is not None and (
            noise.position > 0.0 or noise.velocity > 0.0 or any(str(p).startswith("noise.") for p in study.vary)
        )

    def batches(self, runs: np.ndarray, values: dict[str, Any]) -> list[Batch]:
        """The runs, whose values are given, in batches; those that may not be made are reported by the error of their template."""
        found: OrderedDict[Any, list[int]] = OrderedDict()
        for k in range(len(runs)):
            found.setdefault(self._key(values, k), []).append(k)
        out: list[Batch] = []
        for members in found.values():
            template = self.template(values, members[0])
            out += self._parted(template, runs, values, members)
        return out

    def _key(self, values: dict[str, Any], k: int) -> Any:
        return tuple(self.study.vary[path].index(values[path][k]) for path in self.choices)

    def _parted(self, template: Template, runs: np.ndarray, values: dict[str, Any], members: list[int]) -> list[Batch]:
        parted: OrderedDict[Any, list[int]] = OrderedDict()
        for k in members:
            own = tuple(float(v) if isinstance(v := values[path][k], np.floating) else v for path in template.alone)
            if not template.batched:
                own = (*own, int(runs[k]))
            parted.setdefault(own, []).append(k)
        out = []
        for some in parted.values():
            scenario = self._set_alone(template, values, some[0], int(runs[some[0]]))
            rest = {p: _chosen(values[p], some) for p in (*template.state, *template.vary, *template.parameters)}
            seeds = tuple(noise_seed(self.study.seed, int(run)) for run in runs[some]) if self._drawn(scenario) else ()
            out.append(Batch(runs[some], template, scenario, rest, seeds))
        return out

    def _drawn(self, scenario: AnyScenario) -> bool:
        """Is noise drawn in runs of this scenario?"""
        if not self.noisy or not isinstance(scenario, Scenario):
            return False
        return scenario.noise.position > 0.0 or scenario.noise.velocity > 0.0

    def _set_alone(self, template: Template, values: dict[str, Any], k: int, run: int) -> AnyScenario:
        scenario = template.scenario
        for path, tokens in template.alone.items():
            scenario = with_value(scenario, tokens, _plain(values[path][k]))
        if self.noisy and isinstance(scenario, Scenario):
            seed = noise_seed(self.study.seed, run) if self._drawn(scenario) else 0
            scenario = scenario.replace(noise=dataclasses.replace(scenario.noise, seed=seed))
        return scenario

    def template(self, values: dict[str, Any], k: int) -> Template:
        """The template of the choices of one run."""
        key = self._key(values, k)
        found = self._templates.get(key)
        if found is None:
            scenario = self.study.base
            for path in self.choices:
                scenario = applied(prepared_for(scenario, [path]), path, values[path][k])
            found = self._made(scenario)
            self._templates[key] = found
            if len(self._templates) > TEMPLATES:
                self._templates.popitem(last=False)
        else:
            self._templates.move_to_end(key)
        return found

    def _made(self, scenario: AnyScenario) -> Template:
        scenario = prepared_for(scenario, self.numbers)
        places = {path: resolved(scenario, path) for path in self.numbers}
        if not isinstance(scenario, Scenario):
            return Template(scenario, alone=places)
        found = Template(scenario)
        for path, tokens in places.items():
            found = _with_path(found, path, tokens)
        return found

    def scenario(self, run: int, values: dict[str, Any]) -> AnyScenario:
        """The scenario of one run, whose values are given (lists of one entry)."""
        template = self.template(values, 0)
        scenario = self._set_alone(template, values, 0, run)
        for path, tokens in (*template.state.items(), *template.vary.items()):
            scenario = with_value(scenario, tokens, _plain(values[path][0]))
        if template.parameters:
            own = {name: float(values[path][0]) for path, name in template.parameters.items()}
            scenario = scenario.replace(parameters={**(scenario.parameters or {}), **own})
        return scenario


def batch_scenario(batch: Batch, members: slice) -> AnyScenario:
    """The scenario of some members of a batch, side by side."""
    scenario, template = batch.scenario, batch.template
    count = len(batch.runs[members])
    changes: dict[str, Any] = {}
    for name in ("q0", "qd0"):
        own = {path: tokens for path, tokens in template.state.items() if tokens[0] == name}
        if own:
            rows = np.tile(np.asarray(getattr(scenario, name), float), (count, 1))
            for path, tokens in own.items():
                rows[:, int(tokens[1]) if len(tokens) > 1 else slice(None)] = np.asarray(
                    batch.values[path][members], float
                )
            changes[name] = rows
    if template.vary:
        of = {path: np.asarray(batch.values[path][members], float) for path in template.vary}
        changes["vary"] = {_written(template.vary[path]): values for path, values in of.items()}
    if template.parameters:
        own = {name: np.asarray(batch.values[p][members], float) for p, name in template.parameters.items()}
        changes["parameters"] = {**(scenario.parameters or {}), **own}
    return scenario.replace(**changes)


def _with_path(template: Template, path: str, tokens: tuple[Token, ...]) -> Template:
    """The template with one more number that varies."""
    scenario = template.scenario
    if tokens[0] in ("q0", "qd0") and getattr(scenario, str(tokens[0])) is not None:
        return dataclasses.replace(template, state={**template.state, path: tokens})
    if tokens[0] in HEADS and isinstance(scenario, Scenario) and _is_input(scenario, tokens):
        return dataclasses.replace(template, vary={**template.vary, path: tokens})
    if tokens[0] == "parameters" and len(tokens) == 2:
        return dataclasses.replace(template, parameters={**template.parameters, path: str(tokens[1])})
    if tokens[0] == "robot" and is_number(value_at(scenario, tokens)) and _of_mechanism(tokens):
        found = _with_symbol(scenario, tokens) if isinstance(scenario, Scenario) else None
        if found is not None:
            made, name = found
            return dataclasses.replace(template, scenario=made, parameters={**template.parameters, path: name})
    return dataclasses.replace(template, alone={**template.alone, path: tokens})


def _of_mechanism(tokens: tuple[Token, ...]) -> bool:
    return tokens[1] in OF_ROBOT and (tokens[1] != "joints" or tokens[-1] in OF_JOINT)


def _is_input(scenario: Scenario, tokens: tuple[Token, ...]) -> bool:
    """Is a number an input of the compiled loop, so that runs which differ in it share the loop?"""
    if scenario.resolved_kind() not in TRACED:
        return False
    name, value = _written(tokens), value_at(scenario, tokens)
    try:
        plant = plant_of(scenario)[0]
        columns_of(plant, name)
        varied(plant, name, [value])
        check_requests(scenario.replace(vary={name: [value]}))
    except (ManipulaError, TypeError, ValueError):
        return False
    return True


def _with_symbol(scenario: Scenario, tokens: tuple[Token, ...]) -> tuple[Scenario, str] | None:
    """The scenario with a free parameter of the robot in the place of one of its numbers, and its name; None where it does not go."""
    base = "_".join(str(t) for t in tokens_of(_written(tokens[1:]))[1:])
    name = f"{base}" if base.isidentifier() else "varied"
    taken = {*scenario.robot.parameters, *(scenario.parameters or {})}
    while name in taken:
        name += "_"
    value = float(value_at(scenario, tokens))
    try:
        robot = with_value_in_robot(scenario.robot, tokens[1:], scalar(name))
        given = {**(scenario.parameters or {}), name: value}
        made = dataclasses.replace(scenario, robot=robot, parameters=given)
        check_requests(made)
        plant_of(made)
    except (ManipulaError, TypeError, ValueError):
        return None
    return made, name


def with_value_in_robot(robot: Any, tokens: tuple[Token, ...], value: Any) -> Any:
    """The robot with a symbol in the place of one number."""
    node = getattr(robot, str(tokens[0]))
    return robot.replace(**{str(tokens[0]): _inside(node, tokens[1:], value)})


def _inside(node: Any, tokens: tuple[Token, ...], value: Any) -> Any:
    if not tokens:
        return value
    if isinstance(node, tuple):
        k = int(tokens[0])
        return (*node[:k], _inside(node[k], tokens[1:], value), *node[k + 1 :])
    name = str(tokens[0])
    return dataclasses.replace(node, **{name: _inside(getattr(node, name), tokens[1:], value)})


def _written(tokens: tuple[Token, ...]) -> str:
    from manipula.studies.paths import written

    return written(tokens)


def _chosen(values: Any, members: list[int]) -> Any:
    return values[members] if isinstance(values, np.ndarray) else [values[k] for k in members]


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, (np.floating, np.integer)) else value


def check_base(study: Study) -> None:
    """Is the first run of the study one that may begin? A mistake of the base is reported before anything is written."""
    plan = Plan(study)
    scenario = plan.scenario(0, study.values(0, 1))
    if isinstance(scenario, Scenario):
        check_requests(scenario)
        if scenario.resolved_kind() in TRACED:
            plant_of(scenario)
    wanted = [name for name in study.keep_series if name not in ("q", "qd", "qdd", "tau")]
    if wanted:
        others = [applied(prepared_for(study.base, [p]), p, v) for p in plan.choices for v in study.vary[p]]
        known = set().union(*map(_signals, [scenario, *others]))
        for name in wanted:
            if name not in known:
                raise unknown_name("signal", name, sorted(known), field="keep_series")


def _signals(scenario: AnyScenario) -> set[str]:
    """The signals of a run, or where that is not known before it is made, those of any run."""
    if isinstance(scenario, Scenario) and scenario.resolved_kind() in TRACED:
        open_choice = scenario.integrator == "auto"
        try:
            return {
                "q",
                "qd",
                *derived_names(prepare_run(scenario.replace(integrator="rk4") if open_choice else scenario)),
            }
        except ManipulaError:  # which the run itself will say
            return set()
    return {*JOINT, *OF_REFERENCE, *PLAIN, *NAMED}
