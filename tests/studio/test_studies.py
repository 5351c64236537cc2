"""Studies as the studio lists and opens them: only those of its folder, two columns at a time, any run with the bits of the study."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the studio is an extra")
pytest.importorskip("pyarrow", reason="studies are an extra")

import manipula as mp
from manipula.errors import DescriptionError
from manipula.simulation.run_file import run as simulated
from manipula.studio.documents import scenario_from
from manipula.studio.runs import RunStore
from manipula.studio.verbs import call


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one study, one that is broken, and something else."""
    path = tmp_path_factory.mktemp("studies")
    move = mp.joint_move([0.3, 0.4], [0.9, 0.8], velocity=1.0, acceleration=4.0, jerk=40.0)
    law = mp.control.ComputedTorque(kp=100.0, kv=20.0)
    base = mp.Scenario(mp.load("planar-2r"), move, law, q0=[0.3, 0.4], duration=0.4, sample=0.01)
    vary = {"controller.kp": mp.uniform(20, 200), "controller.kv": mp.uniform(5, 40)}
    mp.sweep(mp.Study(base, vary=vary, samples=6, seed=1, name="gains"), path / "gains")
    mp.sweep(mp.Study(base, vary={"payload.mass": [0.5, 1.5]}, name="loads"), path / "loads")
    (path / "broken").mkdir()
    (path / "broken" / "study.json").write_text("{", encoding="utf-8")
    (path / "other").mkdir()
    return path


@pytest.fixture
def runs(folder):
    store = RunStore(None, folder)
    yield store
    store.close()


def test_studies_are_listed_and_a_broken_one_says_why(runs):
    found = {s["name"]: s for s in call("studies", runs, {})["studies"]}
    assert set(found) == {"gains", "loads", "broken"}
    assert found["gains"]["done"] == found["gains"]["runs"] == 6
    assert found["broken"]["problem"]


def test_two_columns_are_those_of_the_table(runs, folder):
    table = mp.open_study(folder / "gains").to_arrow(["run", "controller.kv", "tau_max"])
    found = call("study", runs, {"name": "gains", "x": "controller.kv", "y": "tau_max"})
    assert [p["x"] for p in found["points"]] == table.column("controller.kv").to_pylist()
    assert [p["y"] for p in found["points"]] == table.column("tau_max").to_pylist()
    assert call("study", runs, {"name": "gains"})["x"] == "controller.kp"


def test_a_run_with_another_load_is_a_document_that_runs(runs, folder):
    found = call("study_run", runs, {"name": "loads", "run": 1})
    wanted = mp.open_study(folder / "loads").run(1).q
    assert (
        np.abs(simulated(scenario_from(found["document"])).q - wanted).max() < 1e-12
    )  # its load is a number of the robot


def test_a_run_has_the_bits_of_the_study(runs, folder):
    found = call("study_run", runs, {"name": "gains", "run": 4})
    assert np.array_equal(simulated(scenario_from(found["document"])).q, mp.open_study(folder / "gains").run(4).q)
    assert found["row"]["run"] == 4


def test_answers_have_the_form_that_is_promised(runs):
    from manipula.studio.messages import ANSWERS

    given = {"studies": {}, "study": {"name": "gains"}, "study_run": {"name": "gains", "run": 0}}
    for verb, arguments in given.items():
        answer = call(verb, runs, arguments)
        assert set(answer) == set(ANSWERS[verb].__annotations__)


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("study", {"name": "../studies"}),
        ("study", {"name": "/etc"}),
        ("study", {"name": "other"}),
        ("study", {"name": ["gains"]}),
        ("study", {"name": "gains", "x": "nothing"}),
        ("study", {"name": "gains", "y": 3}),
        ("study_run", {"name": "gains", "run": 6}),
        ("study_run", {"name": "gains", "run": -1}),
        ("study_run", {"name": "gains", "run": True}),
        ("study_run", {"name": "gains", "run": "1"}),
        ("study_run", {"name": "nothing", "run": 0}),
    ],
)
def test_nothing_else_is_opened(runs, verb, arguments):
    with pytest.raises(DescriptionError):
        call(verb, runs, arguments)


def test_a_studio_without_a_folder_has_none():
    store = RunStore()
    assert call("studies", store, {}) == {"folder": "", "studies": []}
    store.close()


def test_links_to_other_folders_are_not_followed(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder / "gains", target_is_directory=True)
    store = RunStore(None, tmp_path)
    assert call("studies", store, {})["studies"] == []
    store.close()
