"""Robots with numbers that have no value: the page says so in its own terms, and draws the arm as soon as they are entered."""

from __future__ import annotations

import pytest

from manipula.errors import DescriptionError
from manipula.studio.runs import RunStore, error_in_words
from manipula.studio.verbs import call

OPEN = {
    "format": 1,
    "name": "x",
    "robot": {"name": "s", "planar": {"lengths": ["L1", 0.4], "masses": ["m1", 1.5]}},
    "duration": 1,
}
TWO = {"L1": 0.5, "m1": 2.0}


@pytest.mark.parametrize("parameters", [None, {"L1": 0.5}], ids=["none", "one of two"])
@pytest.mark.parametrize("verb", ["robot", "run", "check", "code"])
def test_what_is_missing_is_told_in_terms_of_the_page(verb, parameters) -> None:
    document = OPEN if parameters is None else {**OPEN, "parameters": parameters}
    given = {"document": document, **({"language": "c"} if verb == "code" else {})}
    try:
        error = call(verb, RunStore(), given)["error"]
    except DescriptionError as problem:
        error = error_in_words(problem)
    assert error["field"].startswith("parameters")
    assert "m1" in error["problem"]
    assert "panel Robot" in error["problem"]
    assert "with_parameters(" not in error["problem"]
    assert "parameters={" not in error["problem"]


def test_the_arm_is_drawn_with_the_values_of_the_document() -> None:
    seen = call("robot", RunStore(), {"document": {**OPEN, "parameters": TWO}})
    assert seen["robot"]["n"] == 2
    assert seen["robot"]["drawn"] is not None
    many = call("robot", RunStore(), {"document": {**OPEN, "parameters": {"L1": [0.5, 0.6], "m1": 2.0}}})
    assert many["robot"]["drawn"] == seen["robot"]["drawn"]
    line = {"path": {"kind": "line", "a": [0.6, 0.1], "b": [0.5, 0.3]}, "timing": {"kind": "quintic", "duration": 1}}
    followed = call("path", RunStore(), {"document": {**OPEN, "parameters": TWO, "reference": line}})
    assert all(followed["reached"])
