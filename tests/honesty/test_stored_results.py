"""A stored result loads equal to what was saved, or not at all: the digest is required and covers every number and every word."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError
from manipula.simulation.stored.store import FORMATS, load_result
from tampering import (
    REBUILT,
    changed_contents,
    changed_headers,
    csv_bytes,
    header_of,
    mcap_with,
    netcdf_with,
    npz_bytes,
    parquet_bytes,
    with_header,
)

DATA = Path(__file__).parents[1] / "data" / "results_0_1_0"
SCENARIO = mp.Scenario(
    robot=mp.load("planar-2r"), controller=control.PDGravity(30.0, 5.0, goal=[0.3, -0.2]), q0=[0.1, 0.2], duration=0.04,
    sample=0.01, step=1e-3, name="stored by 0.1.0",
)  # fmt: skip


@cache
def small() -> mp.Result:
    """Two samples with every kind of number, and words that files find difficult."""
    numbers = np.array([[0.1, -0.0], [np.nan, np.inf]])
    meta = {
        "joint_names": ("shoulder, left", 'elbow "2"'), "joint_kinds": ("revolute", "prismatic"), "name": "größe\n", "seed": 2**60,
        "deep": {"list": [1, 2.5, None, True, float("nan"), float("-inf")], "empty": {}, "none": ()},
    }  # fmt: skip
    return mp.Result(
        np.array([0.0, 0.5]), {"q": numbers, "qd": -numbers, "energy": np.array([1.0, 5e-324])}, "inaccurate", "a reason, with\ttabs",
        ("inaccurate",), ("a “reason”",), float("inf"), meta, ("A note.", "Another, 'quoted', note."),
    )  # fmt: skip


@pytest.mark.parametrize("suffix", FORMATS)
def test_what_is_loaded_equals_what_was_saved(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{suffix}"
    for result in (small(), mp.simulate(SCENARIO), mp.simulate(SCENARIO.replace(q0=[[0.1, 0.2], [0.0, 0.4]])).run(1)):
        result.save(path)
        again = load_result(path)
        assert again == result
        assert hash(again) == hash(result)
        assert again.scenario is None
        for field in dataclasses.fields(mp.Result):
            if field.name not in ("scenario", "arrays", "t"):
                assert repr(getattr(again, field.name)) == repr(getattr(result, field.name)), field.name
        for name in ("t", *result.signals):
            one, two = getattr(result, name), getattr(again, name)
            assert np.array_equal(np.copysign(one, 1), np.copysign(two, 1), equal_nan=True), name
            known = ~np.isnan(one)
            assert np.array_equal(np.signbit(one[known]), np.signbit(two[known])), name  # −0 stays −0
            assert not two.flags.writeable
        again.save(path)
        assert load_result(path) == result


@pytest.mark.parametrize("suffix", FORMATS)
def test_names_that_no_format_likes(suffix: str, tmp_path: Path) -> None:
    """Ends of strings, halves of surrogate pairs, nothing at all, the same name twice."""
    names = ("a\0", "\ud800", "", "\t", "same", "same")
    meta = {"joint_names": names, "joint_kinds": ("revolute",) * 6, "name": "\udcff\0"}
    result = mp.Result(np.arange(2.0), {"q": np.arange(12.0).reshape(2, 6)}, "finished", "\ud800\0", meta=meta)
    result.save(tmp_path / f"run{suffix}")
    assert load_result(tmp_path / f"run{suffix}") == result


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_word_is_covered(suffix: str, tmp_path: Path) -> None:
    path, spoiled = tmp_path / f"run{suffix}", tmp_path / f"spoiled{suffix}"
    small().save(path)
    text = header_of(path)
    spoiled.write_bytes(with_header(path, text))
    assert load_result(spoiled) == small(), "putting a file together again must not be what is refused"
    count = 0
    for what, header in changed_headers(text):
        spoiled.write_bytes(with_header(path, header))
        with pytest.raises(DescriptionError, match="spoiled"):
            pytest.fail(f"{what} was not noticed: {load_result(spoiled)}")
        count += 1
    assert count > 80


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_number_is_covered(suffix: str, tmp_path: Path) -> None:
    path, spoiled = tmp_path / f"run{suffix}", tmp_path / f"spoiled{suffix}"
    result = dataclasses.replace(
        small(), arrays={"q": np.array([[1.0, 2.0], [3.0, 4.0]]), "energy": np.array([5.0, 6.0])}
    )
    result.save(path)
    for what, content in changed_contents(path, ["t", "q", "energy"]):
        spoiled.write_bytes(content)
        with pytest.raises(DescriptionError, match="spoiled"):
            pytest.fail(f"{what} was not noticed: {load_result(spoiled)}")


def refused(path: Path, content: bytes, what: Any) -> None:
    path.write_bytes(content)
    with pytest.raises(DescriptionError, match=path.name):
        pytest.fail(f"{what} was not noticed: {load_result(path)}")


def test_every_attribute_label_and_dimension_of_netcdf_is_covered(tmp_path: Path) -> None:
    path, spoiled = tmp_path / "run.nc", tmp_path / "spoiled.nc"
    small().save(path)
    spoiled.write_bytes(netcdf_with(path))
    assert load_result(spoiled) == small()
    from scipy.io import netcdf_file

    with netcdf_file(path, mmap=False) as file:
        dims = list(file.dimensions)
        variables = {name: (list(v._attributes), v.typecode()) for name, v in file.variables.items()}
        own = [name for name in file._attributes if name != "manipula"]
    for name in own:
        refused(spoiled, netcdf_with(path, attributes={"": {name: "other"}}), name)
        refused(spoiled, netcdf_with(path, attributes={"": {name: None}}), name)
    refused(spoiled, netcdf_with(path, attributes={"": {"comment": "new"}}), "new attribute")
    for name, (attributes, kind) in variables.items():
        for attribute in attributes:
            refused(spoiled, netcdf_with(path, attributes={name: {attribute: "other"}}), (name, attribute))
            refused(spoiled, netcdf_with(path, attributes={name: {attribute: None}}), (name, attribute))
        refused(spoiled, netcdf_with(path, attributes={name: {"comment": "new"}}), name)
        refused(spoiled, netcdf_with(path, rename={name: "other"}), name)
        if kind == "c":
            refused(spoiled, netcdf_with(path, letters={name: b"?"}), name)
    for name in dims:
        refused(spoiled, netcdf_with(path, rename={name: "other"}), name)
    refused(spoiled, path.read_bytes() + b"\0\0\0\0", "more bytes")


def test_every_byte_of_netcdf_is_covered(tmp_path: Path) -> None:
    path, spoiled = tmp_path / "run.nc", tmp_path / "spoiled.nc"
    mp.Result(
        np.array([0.0, 0.5]), {"q": np.array([[1.0], [2.0]])}, "finished", "", meta={"joint_names": ("elbow",)}
    ).save(path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        content = bytearray(whole)
        content[place] ^= 1 << place % 8
        refused(spoiled, bytes(content), f"byte {place}")


def test_columns_and_members_are_covered(tmp_path: Path) -> None:
    import csv

    import pyarrow.parquet as pq

    small().save(tmp_path / "run.csv")
    with (tmp_path / "run.csv").open(newline="") as stream:
        rows = list(csv.reader(stream))
    spoiled = tmp_path / "spoiled.csv"
    for k in range(len(rows[0])):
        refused(spoiled, csv_bytes([[c + "x" * (i == k) for i, c in enumerate(rows[0])], *rows[1:]]), rows[0][k])
    refused(spoiled, csv_bytes([*rows, rows[-1]]), "a row twice")
    refused(spoiled, csv_bytes(rows[:-1]), "a row less")
    refused(spoiled, csv_bytes([row[1:] for row in rows]), "a column less")
    refused(spoiled, csv_bytes([*rows[:-1], [*rows[-1][:-1], "remark"]]), "a remark")

    small().save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as data:
        arrays = {k: data[k] for k in data.files}
    spoiled = tmp_path / "spoiled.npz"
    for name in arrays:
        refused(spoiled, npz_bytes({k: v for k, v in arrays.items() if k != name}), name)
        refused(spoiled, npz_bytes({f"{k}x" if k == name else k: v for k, v in arrays.items()}), name)
    refused(spoiled, npz_bytes({**arrays, "more": np.zeros(2)}), "a new array")
    refused(spoiled, npz_bytes({**arrays, "q": arrays["q"].astype("f4")}), "another type")
    refused(spoiled, npz_bytes({**arrays, "q": arrays["q"].T.copy()}), "another shape")

    small().save(tmp_path / "run.parquet")
    table = pq.read_table(tmp_path / "run.parquet")
    spoiled = tmp_path / "spoiled.parquet"
    for k, name in enumerate(table.column_names):
        names = [c + "x" * (i == k) for i, c in enumerate(table.column_names)]
        refused(spoiled, parquet_bytes(table.rename_columns(names)), name)
        field = table.schema.field(k).with_metadata({b"units": b"kg"})
        refused(spoiled, parquet_bytes(table.cast(table.schema.set(k, field))), f"unit of {name}")
    header = dict(table.schema.metadata)
    refused(spoiled, parquet_bytes(table.replace_schema_metadata({**header, b"more": b"x"})), "more metadata")
    refused(spoiled, parquet_bytes(table.replace_schema_metadata({})), "no metadata")
    refused(spoiled, parquet_bytes(table.slice(0, 1)), "a row less")


def test_records_of_mcap_are_covered(tmp_path: Path) -> None:
    path, spoiled = tmp_path / "run.mcap", tmp_path / "spoiled.mcap"
    small().save(path)
    for other in (
        {"schema": "x"},
        {"schema_data": b"{}"},
        {"topic": "/x"},
        {"record": "x"},
        {"key": "x"},
        {"late": 1},
        {"sequence": 7},
    ):
        refused(spoiled, mcap_with(path, **other), other)
    refused(spoiled, mcap_with(path, body=lambda values, last: {**values, "more": [1.0]}), "a new signal")
    refused(
        spoiled,
        mcap_with(path, body=lambda values, last: {k: v for k, v in values.items() if k != "q"}),
        "a lost signal",
    )


@pytest.mark.parametrize("suffix", FORMATS)
def test_files_of_the_first_version_still_load(suffix: str, tmp_path: Path) -> None:
    found = load_result(DATA / f"run{suffix}")
    now = mp.simulate(SCENARIO)
    assert (found.status, found.meta["versions"]["manipula"], found.meta["name"]) == (
        "finished",
        "0.1.0",
        SCENARIO.name,
    )
    assert found.joint_names == now.joint_names
    for name in ("t", "q", "qd", "tau", "tip", "energy"):
        assert np.allclose(getattr(found, name), getattr(now, name), rtol=0, atol=1e-9), name
    assert {"external", "drive_energy", "work_external"} <= set(found.signals)  # which had other names
    assert not {"outside", "held", "work_outside"} & set(found.signals)
    assert found == load_result(DATA / "run.npz")
    found.save(tmp_path / f"again{suffix}")
    assert load_result(tmp_path / f"again{suffix}") == found


@pytest.mark.parametrize("suffix", [".nc", ".npz"])
def test_batches_of_the_first_version_still_load(suffix: str) -> None:
    found = load_result(DATA / f"batch{suffix}")
    assert found.q.shape == (2, 5, 2)
    assert found == load_result(DATA / "batch.npz")
    assert np.array_equal(found.run(0).q, load_result(DATA / "run.nc").q)


@pytest.mark.parametrize("suffix", FORMATS)
def test_files_of_the_first_version_need_their_digest_too(suffix: str, tmp_path: Path) -> None:
    old, spoiled = tmp_path / f"old{suffix}", tmp_path / f"spoiled{suffix}"
    old.write_bytes((DATA / f"run{suffix}").read_bytes())
    if suffix == ".csv":
        first, _, rest = old.read_text().partition("\n")
        text = first.removeprefix("# manipula ")
        put = lambda header: f"# manipula {header}\n{rest}".encode()
    else:
        text = header_of(old)
        put = lambda header: with_header(old, header)
    entries = json.loads(text)
    spoiled.write_bytes(put(text))
    assert load_result(spoiled) == load_result(old)
    without = {k: v for k, v in entries.items() if k != "digest"}
    for header in ({**entries, "status": "inaccurate"}, without, {**without, "Digest": 1}, {**entries, "digest": None},
                   {**entries, "meta": {**entries["meta"], "seed": 5}}, {**entries, "format": 1}, {**entries, "format": 2}):  # fmt: skip
        refused(spoiled, put(json.dumps(header)), header)


def test_every_format_is_tampered_with() -> None:
    assert set(REBUILT) == set(FORMATS)


def test_what_no_file_can_hold_is_refused_when_it_is_saved(tmp_path: Path) -> None:
    t, q = np.arange(2.0), np.zeros((2, 1))
    cases: dict[str, dict[str, Any]] = {
        "meta.thing": {"meta": {"thing": object()}},
        "complex": {"arrays": {"q": q, "z": np.zeros(2, complex)}},
        "a b": {"arrays": {"q": q, "a b": t}},
        "manipula": {"arrays": {"q": q, "manipula": t}},
        "joint": {"arrays": {"q": q, "joint": t}, "meta": {"joint_names": ["a"]}},
        "shape": {"arrays": {"q": q, "z": np.zeros(3)}},
        "samples": {"t": np.zeros(0), "arrays": {"q": np.zeros((0, 1))}},
    }
    for word, changes in cases.items():
        result = mp.Result(**{"t": t, "arrays": {"q": q}, "status": "finished", "reason": "", **changes})
        for suffix in FORMATS:
            with pytest.raises(DescriptionError, match=word):
                result.save(tmp_path / f"run{suffix}")
    assert not list(tmp_path.iterdir())
