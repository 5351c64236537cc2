"""Places inside a scenario by name: ``controller.kp``, ``controller.kp[2]``, ``friction[0].damping``, ``q0[1]``, ``robot.links[2].mass``,
``robot.links.upper_arm.mass``, ``payload.mass``, ``parameters.m``, ``reference.timing.duration``.

Words are fields of parts, entries of mappings, or names of links and joints; numbers in brackets count from 0. What a reference holds is
named as in its file.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from manipula.errors import DescriptionError, printable, unknown_name
from manipula.robot.link import Payload
from manipula.robot.robot import Robot
from manipula.simulation.plant.parameters import is_number
from manipula.simulation.programmed.scenario import ProgramScenario
from manipula.simulation.scenario import Scenario

Token = str | int
AnyScenario = Scenario | ProgramScenario
# words that mean something of the robot
SHORT = {"payload": "robot", "gravity": "robot", "links": "robot", "joints": "robot"}
ROBOT = ("links", "joints", "payload", "gravity", "base", "tool", "frames", "base_link", "followers")
_TOKEN = re.compile(r"(?:^|\.)([^.\[\]]+)|\[([^\[\]]+)\]")
MOST_TOKENS = 24


def tokens_of(path: str) -> tuple[Token, ...]:
    """The words and numbers of a path, with ``robot`` written out.

    Raises:
        DescriptionError: for what is no path.
    """
    found: list[Token] = []
    at = 0
    while at < len(path):
        match = _TOKEN.match(path, at)
        if match is None or len(found) >= MOST_TOKENS:
            raise DescriptionError(
                f"'{printable(path, 80)}' is no path; write it like controller.kp, q0[1], robot.links[2].mass.",
                field="vary",
            )
        word = match[1] if match[1] is not None else match[2]
        found.append(int(word) if match[1] is None and word.isascii() and word.isdigit() else word)
        at = match.end()
    if not found:
        raise DescriptionError("An empty path names nothing.", field="vary")
    return (SHORT[found[0]], *found) if isinstance(found[0], str) and found[0] in SHORT else tuple(found)


def written(tokens: tuple[Token, ...]) -> str:
    """The tokens as text: ``friction[0].damping``."""
    text = ""
    for token in tokens:
        text += f"[{token}]" if isinstance(token, int) else f".{token}" if text else token
    return text


def index_in(node: tuple[Any, ...], token: Token, names: tuple[str, ...] | None = None) -> int:
    """The number of an entry, from its number or its name; LookupError where there is none."""
    if isinstance(token, int):
        if not token < len(node):
            raise LookupError(token)
        return token
    known = names if names is not None and len(names) == len(node) else tuple(str(getattr(v, "name", "")) for v in node)
    if known.count(token) != 1:
        raise LookupError(token)
    return known.index(token)


def resolved(scenario: AnyScenario, path: str) -> tuple[Token, ...]:
    """The tokens of a path with names of links and joints as numbers; UnknownNameError when nothing stands there."""
    tokens = tokens_of(path)
    out: list[Token] = []
    node: Any = scenario
    try:
        for token in tokens:
            node = _table(node)
            if isinstance(node, tuple):
                names = scenario.robot.joint_names if out and out[-1] in ("friction", "drives", "joints") else None
                token = index_in(node, token, names)
                node = node[token]
            elif isinstance(node, (Mapping, list)):
                node = node[token]  # pyright: ignore[reportCallIssue, reportArgumentType]
            elif dataclasses.is_dataclass(node) and not isinstance(node, type):
                if token not in {f.name for f in dataclasses.fields(node) if f.init}:
                    raise LookupError(token)
                node = getattr(node, str(token))
            else:
                raise LookupError(token)
            out.append(token)
    except (LookupError, TypeError):
        raise unknown_name("number of the run", path, list(all_paths(scenario)), field="vary") from None
    return tuple(out)


def value_at(scenario: AnyScenario, tokens: tuple[Token, ...]) -> Any:
    """What stands at a place."""
    node = scenario
    for token in tokens:
        node = _table(node)
        node = getattr(node, str(token)) if dataclasses.is_dataclass(node) else node[token]  # pyright: ignore[reportArgumentType]
    return node


def _table(node: Any) -> Any:
    """A reference as the table of its file; everything else as it is."""
    if hasattr(node, "derivatives") and hasattr(node, "space"):
        from manipula.simulation.files.reference import reference_table

        return reference_table(node)
    return node


def with_value(scenario: AnyScenario, tokens: tuple[Token, ...], value: Any) -> AnyScenario:
    """The scenario with another value at one place; each part on the way is made anew and looks at its numbers.

    Raises:
        DescriptionError: what the part says about the value.
    """
    if tokens[0] == "reference" and len(tokens) > 1:
        return _with_reference(scenario, tokens[1:], value)
    head = str(next(iter(tokens)))
    return scenario.replace(**{head: _changed(getattr(scenario, head), tokens[1:], value)})


def _changed(node: Any, tokens: tuple[Token, ...], value: Any) -> Any:
    if not tokens:
        return filled(node, value)
    head, rest = tokens[0], tokens[1:]
    if isinstance(node, tuple):
        k = int(head)
        return (*node[:k], _changed(node[k], rest, value), *node[k + 1 :])
    if isinstance(node, Mapping):
        return {**node, head: _changed(node[head], rest, value)}  # pyright: ignore[reportArgumentType]
    inner = _changed(getattr(node, str(head)), rest, value)
    if isinstance(node, Robot):
        return node.replace(**{str(head): inner}).with_parameters()  # which looks at every number of it
    return dataclasses.replace(node, **{str(head): inner})


def filled(before: Any, value: Any) -> Any:
    """One number in the place of several stands for all of them."""
    if isinstance(before, tuple) and before and all(is_number(v) for v in before) and is_number(value):
        return (value,) * len(before)
    return tuple(value) if isinstance(value, list) else value


def _with_reference(scenario: AnyScenario, tokens: tuple[Token, ...], value: Any) -> AnyScenario:
    """Another number in the table of the reference; a duration that was the reference's own follows it."""
    from manipula.simulation.files.reference import reference_table
    from manipula.studies.tables import reference_of

    assert isinstance(scenario, Scenario)
    table = reference_table(scenario.reference)
    assert table is not None
    made = reference_of(_in_table(table, tokens, value))
    follows = scenario.duration == float(scenario.reference.duration)
    return scenario.replace(reference=made, **({"duration": None} if follows else {}))


def _in_table(node: Any, tokens: tuple[Token, ...], value: Any) -> Any:
    if not tokens:
        return value
    head, rest = tokens[0], tokens[1:]
    if isinstance(node, Mapping):
        return {**node, head: _in_table(node[head], rest, value)}  # pyright: ignore[reportArgumentType]
    return [_in_table(v, rest, value) if k == head else v for k, v in enumerate(node)]


def all_paths(scenario: AnyScenario) -> Iterator[str]:
    """Every number, text and flag of a scenario that a study may vary, by its path; ``payload.mass`` among them."""
    robot = getattr(scenario, "robot", None)
    for field in dataclasses.fields(scenario):
        if field.name not in ("robot", "model", "torques", "vary", "name"):
            value = getattr(scenario, field.name)
            if value is None and field.name in ("friction", "drives") and robot is not None:
                value = tuple(j.friction if field.name == "friction" else j.drive for j in robot.joints)
            if value is not None:
                yield from _below(_described(value), field.name)
    if robot is not None:
        yield "payload.mass"
        for name in ROBOT[:4]:
            if getattr(robot, name) is not None and name != "payload":
                yield from _below(getattr(robot, name), f"robot.{name}")


def _described(value: Any) -> Any:
    try:
        return _table(value)
    except DescriptionError:
        return None


def _below(value: Any, path: str, depth: int = 0) -> Iterator[str]:
    if is_number(value) or isinstance(value, (bool, str)):
        yield path
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _below(inner, f"{path}.{key}", depth + 1)
    elif isinstance(value, (tuple, list)) and depth < MOST_TOKENS:
        if value and all(is_number(v) for v in value):
            yield path
        for k, inner in enumerate(value):
            yield from _below(inner, f"{path}[{k}]", depth + 1)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type) and depth < MOST_TOKENS:
        for field in dataclasses.fields(value):
            if field.init and field.name not in ("name", "appearance", "friction", "drive") and field.compare:
                yield from _below(getattr(value, field.name), f"{path}.{field.name}", depth + 1)


def prepared_for(scenario: AnyScenario, paths: list[str]) -> AnyScenario:
    """The scenario with what the paths name written out: the robot's own friction and drives as the scenario's, a payload of 0 kg where
    there is none, one number for all joints as one per joint where a path counts them."""
    from manipula.parts.declared import declared

    for path in paths:
        tokens = tokens_of(path)
        head = tokens[0]
        if head in ("friction", "drives") and getattr(scenario, str(head), 0) is None:
            own = tuple(j.friction if head == "friction" else j.drive for j in scenario.robot.joints)
            scenario = scenario.replace(**{str(head): own})
        if tokens[:2] == ("robot", "payload") and len(tokens) > 2 and scenario.robot.payload is None:
            scenario = scenario.replace(robot=scenario.robot.replace(payload=Payload(0.0)))
        if len(tokens) > 1 and isinstance(tokens[-1], int):
            try:
                outer = resolved(scenario, written(tokens[:-1]))
                part, name = value_at(scenario, outer[:-1]), outer[-1]
            except (DescriptionError, LookupError, TypeError):
                continue
            kinds = {d.name: d.field for d in declared(type(part))} if dataclasses.is_dataclass(part) else {}
            found = getattr(part, str(name), None) if name in kinds else None
            per_joint = name in kinds and kinds[str(name)].kind == "one per joint" and kinds[str(name)].each == "joint"
            if per_joint and found is not None and is_number(found):
                scenario = with_value(scenario, outer, (float(found),) * scenario.robot.n)
    return scenario
