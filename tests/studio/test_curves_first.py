"""A short run is answered with its curves; verdict and key numbers, which look between the samples, follow."""

from __future__ import annotations

import json
import struct
import threading

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="the studio is an extra")

from manipula.reports.packed import Packer
from manipula.studio import runs as module
from manipula.studio.documents import from_catalog
from manipula.studio.runs import OVER, RunStore
from manipula.studio.verbs import call
from manipula.studio.wire import with_bytes

CHARTS = ["position", "torque"]


@pytest.fixture
def store():
    found = RunStore()
    yield found
    found.close()


@pytest.fixture
def judge(monkeypatch):
    """A judge that waits until told."""
    go, real = threading.Event(), module.verdict_of
    monkeypatch.setattr(module, "verdict_of", lambda result: (go.wait(60), real(result))[1])
    yield go
    go.set()


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr("manipula.studio.verbs.running.AT_ONCE", 60.0)


def numbers_of(drawn, entry):
    at, size = entry["at"], entry["rows"] * entry["columns"]
    kind = {"f4": "<f4", "f8": "<f8", "u2": "<u2", "u4": "<u4"}[entry["type"]]
    return np.frombuffer(drawn["arrays"], kind, size, at).reshape(entry["columns"], entry["rows"]).T


def test_curves_come_before_the_verdict(store, judge, patient) -> None:
    begun = call("run", store, {"document": from_catalog("planar-2r"), "charts": CHARTS})
    assert begun["state"] not in OVER
    assert "status" not in begun
    assert [c["kind"] for c in begun["drawn"]["page"]["charts"]] == CHARTS
    run = store.find(begun["id"])
    q = numbers_of(begun["drawn"], begun["drawn"]["page"]["arrays"][begun["drawn"]["page"]["runs"][0]["q"]])
    assert np.array_equal(q, run.result.arrays["q"][: len(q)]) or np.isin(q[:, 0], run.result.arrays["q"][:, 0]).all()
    judge.set()
    judged = call("judged", store, {"run": begun["id"]})
    assert judged["summary"]["state"] == "done"
    assert judged["summary"]["status"] == run.result.status
    assert judged["cards"] == call("view", store, {"ids": [begun["id"]], "charts": CHARTS})["cards"] != [[]]


def test_a_run_that_takes_its_place_ends_the_judging(store, judge, patient) -> None:
    document = from_catalog("planar-2r")
    first = call("run", store, {"document": document, "charts": CHARTS})
    call("run", store, {"document": {**document, "duration": 1.0}, "charts": CHARTS, "replaces": first["id"]})
    assert store.find(first["id"])._called_off.is_set()


def test_what_is_compared_is_judged_together(store, patient) -> None:
    document = from_catalog("planar-2r")
    first = call("run", store, {"document": document, "charts": CHARTS})
    call("judged", store, {"run": first["id"]})
    second = call("run", store, {"document": {**document, "duration": 1.0}, "charts": CHARTS, "beside": [first["id"]]})
    assert len(second["drawn"]["page"]["runs"]) == 2
    judged = call("judged", store, {"run": second["id"], "beside": [first["id"]]})
    assert (len(judged["cards"]), len(judged["compared"]["names"])) == (2, 2)
    assert call("judged", store, {"run": second["id"], "beside": ["nobody"]})["cards"] == []


def test_bytes_stand_behind_the_answer() -> None:
    text, behind = with_bytes({"a": b"12345", "b": {"c": b"678", "d": "ä"}})
    length = struct.unpack("<I", text[:4])[0]
    found = json.loads(text[4:])
    assert ((len(text)) % 8, length) == (0, len(text) - 4)
    assert found["b"]["d"] == "ä"
    for (at, size), words in ((found["a"]["$bytes"], b"12345"), (found["b"]["c"]["$bytes"], b"678")):
        assert at % 8 == 0
        assert behind[at : at + size] == words
    assert with_bytes({"a": 1}) == (b'{"a": 1}', b"")
    with pytest.raises(TypeError):
        with_bytes({"a": object()})


def test_plain_numbers_stay_as_they_lie_in_memory() -> None:
    packer = Packer(plain=True)
    given = [(np.arange(6.0).reshape(3, 2), "f8"), (np.array([1.0, 1e300]), "f4"), (np.array([1, 2, 3]), "u2")]
    for values, kind in given:
        packer.add(values, kind)
    drawn = {"arrays": packer.bytes()}
    found = [numbers_of(drawn, entry) for entry in packer.arrays]
    assert all(entry["at"] % 8 == 0 for entry in packer.arrays)
    assert np.array_equal(found[0], given[0][0])
    assert found[1][0] == 1.0
    assert np.isnan(found[1][1])
    assert found[2][:, 0].tolist() == [1, 2, 3]
