"""Results come back from files as they went in, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError, UnknownNameError
from manipula.simulation.stored import store
from manipula.simulation.stored.store import FORMATS, load_result

RUN = mp.Scenario(
    robot=mp.load("planar-2r"), controller=control.PDGravity(30.0, 5.0, goal=[0.3, -0.2]), q0=[0.1, 0.2], duration=0.1, sample=0.01,
    step=1e-3, name="store me",
)  # fmt: skip


@pytest.fixture(scope="module")
def result() -> mp.Result:
    return mp.simulate(RUN)


@pytest.fixture(scope="module")
def batch() -> mp.Result:
    return mp.simulate(RUN.replace(q0=[[0.1, 0.2], [0.0, 0.4], [-0.2, 0.1]]))


@pytest.fixture(scope="module")
def broken() -> mp.Result:
    """A run that ended early: samples after the end are NaN."""
    return mp.simulate(RUN.replace(controller=control.PD(1e7, 0.0, goal=[0, 0])))


def assert_equal(a: mp.Result, b: mp.Result) -> None:
    assert a == b
    assert (a.status, a.reason, a.statuses, a.reasons, a.notes) == (b.status, b.reason, b.statuses, b.reasons, b.notes)
    assert a.meta == b.meta
    assert list(a.arrays) == list(b.arrays)
    assert a.t.tobytes() == b.t.tobytes()
    for name, value in a.arrays.items():
        assert np.array_equal(b.arrays[name], value, equal_nan=True), name


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("which", ["result", "broken"])
def test_round_trip(suffix: str, which: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    original: mp.Result = request.getfixturevalue(which)
    path = tmp_path / f"run{suffix}"
    original.save(path)
    again = load_result(path)
    assert_equal(original, again)
    again.save(path)  # a loaded result can be stored again
    assert_equal(original, load_result(path))
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", [".nc", ".npz"])
def test_batches_round_trip(suffix: str, tmp_path: Path, batch: mp.Result) -> None:
    batch.save(tmp_path / f"runs{suffix}")
    assert_equal(batch, load_result(tmp_path / f"runs{suffix}"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".mcap"])
def test_flat_formats_hold_one_run(suffix: str, tmp_path: Path, batch: mp.Result) -> None:
    with pytest.raises(DescriptionError, match="run"):
        batch.save(tmp_path / f"runs{suffix}")
    assert os.listdir(tmp_path) == []
    one = batch.run(1)
    one.save(tmp_path / f"run{suffix}")
    assert_equal(one, load_result(tmp_path / f"run{suffix}"))


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device"), MemoryError])
def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    suffix: str, failure: BaseException, tmp_path: Path, result: mp.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"run{suffix}"
    path.write_bytes(b"what was here before")

    def half(result: mp.Result, part: Path) -> None:
        part.write_bytes(b"half of it")
        raise failure

    monkeypatch.setattr(store.format_of(path), "write", half)
    with pytest.raises((KeyboardInterrupt, DescriptionError, MemoryError)):
        result.save(path)
    assert path.read_bytes() == b"what was here before"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", FORMATS)
def test_truncated_files_are_named(suffix: str, tmp_path: Path, result: mp.Result) -> None:
    path = tmp_path / f"run{suffix}"
    result.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for keep in (0, 1, len(whole) // 3, len(whole) * 2 // 3):
        path.write_bytes(whole[:keep])
        with pytest.raises(DescriptionError, match=path.name):
            load_result(path)
    for _ in range(5):
        path.write_bytes(rng.bytes(500))
        with pytest.raises(DescriptionError, match=path.name):
            load_result(path)


@pytest.mark.parametrize("suffix", FORMATS)
def test_flipped_bytes_are_noticed_or_harmless(suffix: str, tmp_path: Path, result: mp.Result) -> None:
    """A flipped bit is noticed, or it is one that carries no number (padding, a length that is stored twice)."""
    path = tmp_path / f"run{suffix}"
    result.save(path)
    whole = bytearray(path.read_bytes())
    rng = np.random.default_rng(2)
    for place in rng.integers(0, len(whole), 60):
        spoiled = bytearray(whole)
        spoiled[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(spoiled)
        try:
            found = load_result(path)
        except DescriptionError:
            continue
        assert_equal(result, found)


def test_wrong_names(tmp_path: Path, result: mp.Result) -> None:
    with pytest.raises(UnknownNameError, match=r"\.nc"):
        result.save(tmp_path / "run.xls")
    with pytest.raises(UnknownNameError, match=r"\.nc"):
        load_result(tmp_path / "run.xls")
    with pytest.raises(DescriptionError, match="This file does not exist"):
        load_result(tmp_path / "missing.nc")
    with pytest.raises(DescriptionError, match="does not exist"):
        result.save(tmp_path / "nowhere" / "run.nc")


def test_a_pickle_is_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    np.savez(path, manipula=np.array([{"a": 1}], dtype=object), t=np.zeros(3))
    with pytest.raises(DescriptionError, match=r"damaged|not a result"):
        load_result(path)


def test_xarray_view(result: mp.Result, batch: mp.Result) -> None:
    one, many = result.to_xarray(), batch.to_xarray()
    assert one["q"].dims == ("time", "joint")
    assert many["tau"].dims == ("run", "time", "joint")
    assert list(one["joint"].values) == list(result.joint_names)
    assert one["energy"].attrs["units"] == "J"
    assert np.array_equal(many["q"].sel(time=0.05, method="nearest").values, batch.q[:, 5])
