"""What is wrong in a cell of a DH table is told with the name of that cell, as the page knows it."""

from __future__ import annotations

import pytest

from manipula.studio.runs import RunStore
from manipula.studio.verbs import call

WRONG = {
    "mass": -3,
    "rotor_inertia": -1,
    "a": float("inf"),
    "com": [1, 2],
    "limits": {"lower": 2, "upper": 1},
    "kind": "revolute",
}


@pytest.mark.parametrize("key", WRONG)
@pytest.mark.parametrize("row", [0, 1])
def test_the_field_of_a_refusal_is_the_cell(row, key):
    rows = [{"a": 0.3, "mass": 1.0}, {"a": 0.2, "mass": 1.0}]
    rows[row][key] = WRONG[key]
    document = {
        "format": 1,
        "name": "x",
        "robot": {"name": "r", "dh": {"convention": "standard", "rows": rows}},
        "duration": 1,
    }
    told = call("check", RunStore(), {"document": document})["error"]
    assert told["field"] == f"robot.dh.rows[{row}].{key}"
    assert told["line"]
