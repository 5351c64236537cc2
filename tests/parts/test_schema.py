"""The JSON Schemas accept every file of the package, refuse misspelt keys, and know the keys that the readers ask for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from manipula.errors import UnknownNameError
from manipula.formats.toml.fields import Document, Fields
from manipula.formats.toml.part_tables import read_part
from manipula.formats.toml.reader import from_toml
from manipula.formats.toml.schema import robot_schema
from manipula.registries import KINDS
from manipula.simulation.files.document import ScenarioDocument
from manipula.simulation.files.parts import read_criterion, read_task
from manipula.simulation.files.reference import read_law, read_path
from manipula.simulation.files.scenario_file import load_text
from manipula.simulation.files.schema import scenario_schema

ROOT = Path(__file__).parents[2]
ROBOT, SCENARIO = robot_schema(), scenario_schema()
VALID = {"robot": jsonschema.Draft202012Validator(ROBOT), "scenario": jsonschema.Draft202012Validator(SCENARIO)}
FILES = [("scenario", p) for p in sorted((ROOT / "examples").glob("*.toml"))]
FILES += [("robot", p) for p in sorted((ROOT / "src/manipula/robot/catalog").glob("*.toml"))]
FILES = [(kind, p) for kind, p in FILES if kind == "robot" or "robot" in tomllib.loads(p.read_text(encoding="utf-8"))]


def test_the_schemas_are_schemas() -> None:
    for schema in (ROBOT, SCENARIO):
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(("kind", "path"), FILES, ids=[p.stem for _, p in FILES])
def test_files_of_the_package_are_valid(kind: str, path: Path) -> None:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    problems = [f"{e.json_path}: {e.message[:300]}" for e in VALID[kind].iter_errors(content)]
    assert not problems
    content["nmae"] = "misspelt"
    assert not VALID[kind].is_valid(content)


def tables(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(t for v in value.values() for t in tables(v))]
    return [t for v in value for t in tables(v)] if isinstance(value, list) else []


FREE = {"constants", "parameters", "vary"}  # tables with names of the author's choice


@pytest.mark.parametrize(("kind", "path"), FILES, ids=[p.stem for _, p in FILES])
def test_a_misspelt_key_in_any_table_is_not_valid(kind: str, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    count = len(tables(tomllib.loads(text)))
    for i in range(min(count, 12)):
        content = tomllib.loads(text)
        own = [t for k, v in content.items() if k not in FREE and k != "program" for t in tables(v)]
        if i < len(own):
            own[i]["mispelt key"] = 1.0
            assert not VALID[kind].is_valid(content), own[i]


def asked(read: Any, monkeypatch: pytest.MonkeyPatch, of: type = Document) -> dict[str, set[str]]:
    """Keys that a reader asks for in documents of a kind, by table."""
    found: dict[str, set[str]] = {}
    original = Fields.close

    def close(self: Fields) -> None:
        if type(self.document) is of:
            found.setdefault(re.sub(r"\[\d+\]", "", self.path), set()).update(self._asked)
        original(self)

    monkeypatch.setattr(Fields, "close", close)
    read()
    return found


TREE = """
[[link]]
name = "a"
[[link]]
name = "b"
mass = 1.0
[[joint]]
name = "j"
type = "revolute"
parent = "a"
child = "b"
limits = { velocity = 1.0 }
[[frame]]
name = "f"
link = "b"
xyz = [0, 0, 1]
[payload]
mass = 1.0
"""
DH = '[dh]\nconvention = "standard"\nrows = [{ a = 1.0, mass = 1.0 }]\nframe = [{ name = "f", xyz = [0, 0, 1] }]\n'
PLANAR = "[planar]\nlengths = [1.0]\nmasses = [1.0]\nlimits = [{ velocity = 1.0 }]\n"


def test_readers_of_robots_ask_for_the_keys_of_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    defs = ROBOT["$defs"]
    tree, dh, planar = defs["robot"]["oneOf"]
    places = {
        "": tree,
        "link": defs["link"],
        "joint": defs["joint"],
        "joint.limits": defs["limits"],
        "payload": defs["payload"],
    }
    for text, known in (
        (TREE, places),
        (DH, {"": dh, "dh": dh["properties"]["dh"], "dh.rows": defs["dh_row"]}),
        (PLANAR, {"": planar, "planar": planar["properties"]["planar"], "planar.limits": defs["limits"]}),
    ):
        found = asked(lambda text=text: from_toml(text), monkeypatch)
        for path, schema in known.items():
            other = {"link", "dh", "planar"} - set(schema["properties"]) if not path else set()  # the other forms
            assert found[path] - other == set(schema["properties"]), path
        for path in {"frame", "dh.frame"} & found.keys():
            assert found[path] <= set(defs[path.replace(".", "_")]["properties"])


def test_readers_of_scenarios_ask_for_the_keys_of_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'robot = "planar-2r"\nduration = 1.0\nlimits = { velocity = 1.0, tip = { velocity = 0.5 } }\n'
    text += 'noise = { position = 1e-3 }\nactuator = { limit = 9.0 }\ncontroller = { law = "pd", kp = 9, kv = 3, goal = 0.1 }\n'
    found = asked(lambda: load_text(text), monkeypatch, ScenarioDocument)
    run = SCENARIO["else"]["properties"]
    assert found[""] == set(run)
    for name in ("limits", "noise", "actuator"):
        assert found[name] == set(run[name]["properties"])
    path = ROOT / "examples" / "program_line_speed.toml"
    found = asked(lambda: load_text(path.read_text(encoding="utf-8"), path.parent), monkeypatch, ScenarioDocument)
    programmed = SCENARIO["then"]["properties"]
    assert found[""] - {"gain"} == set(programmed)  # a gain is asked for in order to say where it belongs
    assert found["program"] == set(programmed["program"]["properties"])


PARTS = [(k, n) for k in KINDS.values() if k.key and k.name != "reference" for n in k.in_files]


@pytest.mark.parametrize(("kind", "name"), PARTS, ids=[f"{k.name} {n}" for k, n in PARTS])
def test_readers_of_parts_ask_for_the_keys_of_the_schema(kind: Any, name: str) -> None:
    readers = {"path": read_path, "time law": read_law, "criterion": read_criterion, "task": read_task}
    table = next(
        t
        for t in SCENARIO["$defs"][kind.name.replace(" ", "_")]["oneOf"]
        if t["properties"][kind.key] == {"const": name}
    )
    with pytest.raises(UnknownNameError) as error:
        read_part(
            ScenarioDocument(f'part = {{ {kind.key} = "{name}", zzz = 1 }}').fields().table("part"), kind, readers
        )  # pyright: ignore[reportArgumentType]
    known = set(str(error.value).partition("Known: ")[2].rstrip(".").split(", "))
    assert known == set(table["properties"])
