"""What is wrong in a cell of a DH table is told with the name of that cell, as the page knows it."""

from __future__ import annotations

import pytest

import manipula as mp
from manipula.errors import ManipulaError
from manipula.studio.runs import RunStore, error_in_words
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


@pytest.mark.parametrize("file", ["live.html", "film.gif", "result.csv"])
def test_what_a_batch_cannot_be_is_told_in_words_of_the_page(file, tmp_path):
    runs = mp.simulate(mp.Scenario(mp.load("planar-2r"), q0=[[0.1, 0.2], [0.3, 0.4]], duration=0.02, verify=False))
    make = {
        "live.html": lambda: runs.report(tmp_path / file, live=True),
        "film.gif": lambda: mp.animate(runs, tmp_path / file),
        "result.csv": lambda: runs.save(tmp_path / file),
    }
    with pytest.raises(ManipulaError) as refused:
        make[file]()
    words = error_in_words(refused.value)["message"]
    assert "one start (q0)" in words
    assert "result." not in words
