"""Whatever part somebody chooses in a form: the document can then run, or what is missing is told with its field."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette", reason="the studio is an extra")

from manipula.errors import DescriptionError, ManipulaError
from manipula.parts.declared import declared
from manipula.studio.documents import from_catalog, scenario_from
from manipula.studio.first_values import ALONG, KINDS, TABLES, chosen
from manipula.studio.runs import error_in_words

ROBOTS = ("planar-3r", "panda")
PLACES = {
    "controller": ["controller"], "criterion": ["criteria", 0], "task": ["tasks", 0], "disturbance": ["disturbances", 0], "contact": ["contacts", 0],
    "path": ["reference", "path"], "time_law": ["reference", "timing"], "friction_law": ["friction"], "drive": ["drives"], "reference": ["reference"],
}  # fmt: skip
# parts that need more of the arm or of the rest of the document than a form can choose for somebody; each says which place is to be filled in
ASK_FOR_MORE = {
    "flexible_computed_torque": "controller", "flexible": "drives", "frame_orientation": "tasks[0].goal", "frame_pose": "tasks[0].goal",
    "joint_posture": "reference", "least_torque": "reference", "switches": "switches[0]", "hybrid_force_position": "reference",
    "joint_limits": "criteria", "model_predictive": "reference",
}  # fmt: skip
EVERY = [(kind, name) for kind, registry in KINDS.items() for name in registry.in_files] + [("reference", ALONG)]


def document(robot: str, kind: str) -> dict:
    """Where a part of this kind has something to do."""
    begun = from_catalog(robot)
    if kind in ("path", "time_law"):
        return chosen(begun, "reference", ALONG, ["reference"])["document"]
    if kind in ("criterion", "task"):
        along = chosen(begun, "reference", ALONG, ["reference"])["document"]
        return {**{k: v for k, v in along.items() if k != "controller"}, "kind": "kinematic"}
    return begun


def problem(found: dict) -> dict | None:
    """What is wrong with a document, as the page is told it."""
    try:
        scenario_from(found)
    except ManipulaError as error:
        return error_in_words(error)
    return None


@pytest.mark.parametrize(("kind", "name"), EVERY)
@pytest.mark.parametrize("robot", ROBOTS)
def test_a_part_that_is_chosen_can_run_or_says_what_is_missing(robot, kind, name):
    begun = document(robot, kind)
    found = chosen(begun, kind, name, PLACES[kind])
    other = {key for key in {*begun, *found["document"]} if begun.get(key) != found["document"].get(key)}
    assert other <= {PLACES[kind][0], *found["also"]}  # nothing else changed but what is told
    missing = problem(found["document"])
    if missing is not None:
        assert name in ASK_FOR_MORE, missing
        assert missing["field"].startswith(ASK_FOR_MORE[name])
        assert len(missing["problem"]) > 20


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_is_added_can_run_or_says_what_is_missing(name):
    place = [name, 0] if name == "switches" else [name]
    found = chosen(from_catalog("planar-3r"), name, None, place)["document"]
    missing = problem(found)
    assert missing is None or missing["field"].startswith(ASK_FOR_MORE[name])


def test_values_of_the_same_meaning_are_kept_and_others_are_not():
    begun = from_catalog("planar-2r")
    begun["controller"] = {"law": "pd", "kp": 77.0, "kv": 7.0}
    kept = chosen(begun, "controller", "pd_gravity", ["controller"])["document"]["controller"]
    assert kept["law"] == "pd_gravity"
    assert kept["kp"] == 77.0
    other = chosen(begun, "controller", "computed_torque", ["controller"])["document"]["controller"]
    assert other["kp"] != 77.0  # 1/s², no N·m/rad


def test_a_task_space_law_brings_a_path_along_and_tells():
    found = chosen(from_catalog("planar-3r"), "controller", "task_space_computed_torque", ["controller"])
    assert found["also"] == ["reference"]
    assert "path" in found["document"]["reference"]


def test_examples_lie_within_the_ranges_of_their_fields():
    parts = [part for registry in KINDS.values() for part in registry.in_files.values()]
    fields = [d.field for part in parts for d in declared(part) if isinstance(d.field.example, float)]
    assert len(fields) >= 10
    for f in fields:
        assert f.least is None or f.example >= f.least
        assert f.above is None or f.example > f.above
        assert f.most is None or f.example <= f.most


@pytest.mark.parametrize(
    "arguments",
    [
        {"kind": "nothing", "name": "pd", "place": ["controller"]},
        {"kind": "controller", "name": "nothing", "place": ["controller"]},
        {"kind": "controller", "name": None, "place": ["controller"]},
        {"kind": "controller", "name": ["pd"], "place": ["controller"]},
        {"kind": ["controller"], "name": "pd", "place": ["controller"]},
        {"kind": "controller", "name": "pd", "place": []},
        {"kind": "controller", "name": "pd", "place": "controller"},
        {"kind": "controller", "name": "pd", "place": ["a"] * 50},
    ],
)
def test_nonsense_is_refused(arguments):
    with pytest.raises(DescriptionError):
        chosen(from_catalog("planar-2r"), **arguments)


def test_a_circle_that_is_chosen_lies_where_the_arm_reaches_it():
    """Also for an arm that is almost stretched out."""
    from manipula.studio.documents import from_catalog
    from manipula.studio.first_values import chosen
    from manipula.studio.verbs.moving import path

    document = from_catalog("planar-3r")
    for kind, name, place in (("reference", "path", ["reference"]), ("path", "circle", ["reference", "path"])):
        document = chosen(document, kind, name, place, document["q0"])["document"]
    assert document["reference"]["path"]["kind"] == "circle"
    assert all(path(None, document)["reached"])  # pyright: ignore[reportArgumentType]
