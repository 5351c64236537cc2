"""The types of messages: the page's are written from Python's, and real answers have the form that they promise."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

pytest.importorskip("starlette", reason="the studio is an extra")

from manipula.studio.messages import ANSWERS
from manipula.studio.runs import RunStore
from manipula.studio.verbs import VERBS, call

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "wire-types"


def wrong(value: Any, hint: Any, place: str = "answer") -> str | None:
    """Where a value does not have its type; none where it has."""
    if hint is Any:
        return None
    origin, inside = get_origin(hint), get_args(hint)
    if origin is NotRequired:
        return wrong(value, inside[0], place)
    if origin is Literal:
        return None if value in inside else f"{place}: {value!r}"
    if origin in (Union, UnionType):
        found = [wrong(value, one, place) for one in inside]
        return None if None in found else found[0]
    if is_typeddict(hint):
        if not isinstance(value, dict):
            return f"{place}: {type(value).__name__} is no table"
        known = get_type_hints(hint, include_extras=True)
        for name in value:
            if name not in known:
                return f"{place}.{name}: not declared"
        for name, kind in known.items():
            if name not in value:
                if get_origin(kind) is not NotRequired:
                    return f"{place}.{name}: missing"
                continue
            if found := wrong(value[name], kind, f"{place}.{name}"):
                return found
        return None
    if origin is list:
        if not isinstance(value, list):
            return f"{place}: {type(value).__name__} is no list"
        return next((w for i, v in enumerate(value) if (w := wrong(v, inside[0], f"{place}[{i}]"))), None)
    if origin is dict:
        return None if isinstance(value, dict) else f"{place}: no table"
    plain = {float: (int, float), int: (int,), str: (str,), bool: (bool,), NoneType: (NoneType,)}[hint]
    good = isinstance(value, plain) and (hint is bool or not isinstance(value, bool))
    return None if good else f"{place}: {type(value).__name__}, not {hint.__name__}"


@pytest.fixture(scope="module")
def answers():
    """One answer of every verb."""
    runs = RunStore()
    document = call("new", runs, {"robot": "planar-2r"})["document"]
    along = call("choose", runs, {"document": document, "kind": "reference", "name": "path", "place": ["reference"]})
    program = {
        "format": 1,
        "robot": "planar-3r",
        "duration": 0.1,
        "kind": "programmed",
        "q0": [0.3, 0.6, 0.5],
        "program": {"constraints": ["x = 0.5"]},
    }
    first = call("run", runs, {"document": document})
    second = call("run", runs, {"document": {**document, "duration": 1.0}})
    for one in (first, second):
        assert runs.find(one["id"]).over.wait(120)
    begun = {"document": document}
    run = {"run": first["id"]}
    given = {
        "hello": {}, "schema": {}, "choose": {**begun, "kind": "friction_law", "name": "viscous", "place": ["friction"]}, "new": {"robot": "scara-khang"},
        "open": {"name": "arm.toml", "text": call("write", runs, begun)["text"]}, "write": begun, "check": begun, "robot": begun, "as_dh": begun,
        "ik": {**begun, "target": [0.5, 0.3, 0.0], "q": [0.1, 0.2], "every": True}, "path": {"document": along["document"]},
        "residual": {"document": program, "q": [0.3, 0.6, 0.5]}, "equations": {**begun, "only": "g"}, "code": {**begun, "language": "python"},
        "studies": {}, "run": begun, "stop": run, "pause": run, "status": run, "runs": {}, "pin": run, "document": run, "judged": run,
        "view": {"ids": [first["id"], second["id"]], "charts": ["position", "spectrum", "phase", "energy", "torque"]},
    }  # fmt: skip
    assert set(given) == set(VERBS) - {"study", "study_run"}  # those need a study: test_studies
    yield {name: call(name, runs, arguments) for name, arguments in given.items()}
    runs.close()


def test_the_types_of_the_page_are_current():
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_verb_has_a_type():
    assert set(ANSWERS) == set(VERBS)


def test_answers_have_the_form_that_is_promised(answers):
    for name, answer in answers.items():
        assert wrong(answer, ANSWERS[name], name) is None, wrong(answer, ANSWERS[name], name)


def test_a_wrong_answer_would_be_seen(answers):
    assert wrong({**answers["run"], "n": "2"}, ANSWERS["run"])
    assert wrong({**answers["run"], "more": 1}, ANSWERS["run"])
    assert wrong({k: v for k, v in answers["run"].items() if k != "state"}, ANSWERS["run"])


def test_the_script_writes_types_of_typescript():
    written = runpy.run_path(str(SCRIPT))["written"]
    assert written(list[float | None]) == "(number | null)[]"
    assert written(dict[str, str]) == "Record<string, string>"
    with pytest.raises(TypeError, match="no TypeScript for set"):
        written(set[int])
