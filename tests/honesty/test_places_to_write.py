"""Saving and loading where that cannot be: a clear error, and nothing half written."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula.errors import BudgetError, DescriptionError
from manipula.formats.whole_file import whole_file
from manipula.simulation.files import library
from manipula.simulation.stored.store import FORMATS
from tools import ordinary_user

ARM = mp.planar([0.5], [1.0])
SCENARIO = mp.Scenario(ARM, q0=(0.1,), duration=0.02, step=0.01, verify=False)


@pytest.fixture(scope="module")
def result() -> mp.Result:
    return mp.simulate(SCENARIO)


def test_a_scenario_is_toml_and_says_so(tmp_path: Path) -> None:
    for name in ("s.json", "s", "s.yaml"):
        with pytest.raises(DescriptionError, match=r"written as TOML: 's\.toml'"):
            SCENARIO.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    SCENARIO.save(tmp_path / "s.toml")
    assert mp.Scenario.load(tmp_path / "s.toml") == SCENARIO


@pytest.mark.parametrize("path", [None, 3, "", b"x.nc", ["a"]])
def test_what_is_no_path(path, result: mp.Result) -> None:
    for use in (SCENARIO.save, result.save, result.report, mp.load_result, mp.Scenario.load, mp.run_file):
        with pytest.raises(DescriptionError, match="The path of a file is needed, found"):
            use(path)
    with pytest.raises(DescriptionError, match="The path of a file is needed, found"):
        mp.save(ARM, path)


@pytest.mark.parametrize("name", ["x" * 300, "é" * 200, "a/" * 3000 + "b", "a\0b", "\ud800"])
def test_a_name_that_no_folder_and_no_file_can_have(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / name
    study = mp.Study(SCENARIO, vary={"step": [0.01, 0.005]})
    program = mp.ProgramScenario(mp.planar([0.5, 0.5], [1.0, 1.0]), ["x - 0.7"], [0.8, -1.6])
    monkeypatch.setattr(library, "folder", lambda: place)
    for use in (
        lambda: mp.open_study(place),
        lambda: mp.sweep(study, place, workers=1),
        lambda: mp.tune(study, "error_rms", place),
        lambda: mp.load_result(f"{place}.nc"),
        lambda: library.add("motion", program, prepare=False),
        lambda: mp.export(ARM, "c", place),
        lambda: mp.from_urdf('<robot name="a"><link name="b"/></robot>', package_dirs=[place]),
    ):
        with pytest.raises(DescriptionError):
            use()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [*FORMATS, ".html", ".toml"])
def test_a_folder_in_the_place_of_a_file(suffix: str, tmp_path: Path, result: mp.Result) -> None:
    place = tmp_path / f"x{suffix}"
    place.mkdir()
    save = {".html": result.report, ".toml": SCENARIO.save}.get(suffix, result.save)
    with pytest.raises(DescriptionError, match="This is a folder"):
        save(place)
    with pytest.raises(DescriptionError, match="does not exist"):
        save(tmp_path / "nowhere" / f"x{suffix}")
    if suffix in FORMATS:
        with pytest.raises(DescriptionError, match="This is a folder"):
            mp.load_result(place)
    assert [p.name for p in tmp_path.iterdir()] == [place.name]


@pytest.mark.skipif(os.name != "posix", reason="rights of folders")
def test_a_folder_that_may_not_be_written(tmp_path: Path, result: mp.Result) -> None:
    result.save(tmp_path / "x.nc")  # what writing needs is imported
    with ordinary_user() as folder:
        result.save(folder / "x.nc")
        folder.chmod(0o500)
        with pytest.raises(DescriptionError, match="cannot be written"):
            result.save(folder / "y.nc")
        folder.chmod(0o700)
        assert [p.name for p in folder.iterdir()] == ["x.nc"]


def test_failures_while_writing_leave_nothing(tmp_path: Path) -> None:
    def interrupted(problem: BaseException) -> None:
        with whole_file(tmp_path / "x") as part:
            part.write_text("half")
            raise problem

    for problem in (OSError(28, "No space left on device"), UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogate")):
        with pytest.raises(DescriptionError, match="cannot be written"):
            interrupted(problem)
    with pytest.raises(KeyboardInterrupt):
        interrupted(KeyboardInterrupt())
    with pytest.raises(DescriptionError, match="cannot be written"):
        mp.save(ARM, tmp_path / ("x" * 300 + ".toml"))
    assert list(tmp_path.iterdir()) == []


def test_what_is_saved_can_be_loaded(tmp_path: Path) -> None:
    """A table of torques beyond what a scenario file may hold is refused when it is written, not when it is read."""
    t = np.linspace(0.0, 1.0, 130_000)
    played = mp.Scenario(ARM, torques=(t, np.sin(t)[:, None]), duration=1.0, verify=False)
    with pytest.raises(BudgetError, match=r"one robot needs far fewer|larger than"):
        played.save(tmp_path / "s.toml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("junk", [b"", b"junk", b"\x00" * 64, b"\xff" * 1000, b"PK\x03\x04 not a zip", b"PAR1abcdPAR1"])
def test_junk_is_no_result(suffix: str, junk: bytes, tmp_path: Path, result: mp.Result) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(junk)
    with pytest.raises(DescriptionError, match="x"):
        mp.load_result(path)
    result.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + junk + whole[len(whole) // 2 + len(junk) :])
    with contextlib.suppress(DescriptionError):
        assert mp.load_result(path) == result, "damage in what nobody reads does no harm, elsewhere it is refused"
