"""The library of programs: stored under a name, listed, reloaded equal, run with other parameters without deriving again."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.errors import DescriptionError, UnknownNameError
from manipula.native.calling import kernel_cache
from manipula.simulation.files import library
from manipula.simulation.files.scenario_file import load_file

EXAMPLE = Path(__file__).parents[2] / "examples" / "program_line_speed.toml"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("MANIPULA_LIBRARY", str(tmp_path / "programs"))
    return tmp_path


def test_a_program_is_stored_and_comes_back_equal():
    assert library.names() == ()
    stored = library.add("line", EXAMPLE)
    assert library.names() == ("line",)
    assert library.load("line") == load_file(EXAMPLE) == stored.program
    assert stored.summary()["parameters"] == {"speed": 0.12}
    library.remove("line")
    assert library.names() == ()


def test_a_reloaded_program_is_not_traced_again():
    """What another process would do: the kernels are gone from memory, their code is in the cache."""
    library.add("line", EXAMPLE)
    before = library.load("line").replace(duration=0.1, verify=False).run()
    kernel_cache.KERNELS.clear()
    again = library.load("line").replace(duration=0.1, verify=False).run()
    assert np.array_equal(before.q, again.q)
    faster = library.load("line").with_parameters({"speed": 0.2}).replace(duration=0.1, verify=False).run()
    speed = np.linalg.norm((faster.tip[-1] - faster.tip[0]) / faster.t[-1])
    assert speed == pytest.approx(0.2, rel=1e-12)
    assert len(kernel_cache.KERNELS.items()) >= 3
    for _, kernel in kernel_cache.KERNELS.items():
        assert not kernel_cache._LAZY & set(vars(kernel.graph)), f"{kernel.name} was traced again"


def test_a_lost_cache_only_costs_time(monkeypatch, tmp_path):
    program = load_file(EXAMPLE).replace(duration=0.05, verify=False)
    kernel_cache.KERNELS.clear()
    monkeypatch.setenv("MANIPULA_CACHE_DIR", str(tmp_path / "empty"))
    first = program.run()
    for entry in (tmp_path / "empty").glob("*.o"):
        if entry.stat().st_size > 2000:  # the object code; what kernels look like from outside stays
            entry.unlink()
    kernel_cache.KERNELS.clear()
    assert np.array_equal(first.q, program.run().q)


def test_mistakes_are_explained():
    library.add("line", EXAMPLE, prepare=False)
    with pytest.raises(DescriptionError, match="already"):
        library.add("line", EXAMPLE, prepare=False)
    library.add("line", load_file(EXAMPLE).with_parameters({"speed": 0.3}), replace=True, prepare=False)
    assert library.load("line").parameters["speed"] == 0.3
    with pytest.raises(UnknownNameError, match="'line'"):
        library.load("lime")
    for name in ("../line", "", "a/b", ".hidden", "x" * 65, "line\n"):
        with pytest.raises(DescriptionError):
            library.add(name, EXAMPLE, prepare=False)
        with pytest.raises(DescriptionError):
            library.remove(name)
    with pytest.raises(DescriptionError, match="programmed"):
        library.add("other", EXAMPLE.with_name("planar5r_line.toml"))
    impossible = load_file(EXAMPLE).replace(constraints=["x = 5"], parameters=None)
    with pytest.raises(DescriptionError, match="out of reach"):
        library.add("impossible", impossible)
    assert library.names() == ("line",)


def test_command_line(place):
    run = CliRunner().invoke
    assert "empty" in run(app, ["library", "list"]).output
    assert run(app, ["library", "add", "line", str(EXAMPLE)]).exit_code == 0
    assert run(app, ["library", "add", "line", str(EXAMPLE)]).exit_code == 2
    assert json.loads(run(app, ["library", "list", "--json"]).output)[0]["name"] == "line"
    assert 'kind = "programmed"' in run(app, ["library", "show", "line"]).output
    out = place / "out"
    options = ["-o", str(out), "--set", "speed=0.1*2", "--duration", "0.1", "--no-report", "--json"]
    told = run(app, ["library", "run", "line", *options])
    assert told.exit_code == 0, told.output
    result = mp.load_result(out / "result.nc")
    assert result.status == json.loads(told.output)["status"] == "finished"
    assert np.linalg.norm(result.tip[-1] - result.tip[0]) == pytest.approx(0.02, rel=1e-9)
    assert mp.ProgramScenario.load(out / "scenario.toml").parameters["speed"] == 0.2
    for wrong in (["library", "run", "lime", "-o", str(out / "a")], ["library", "show", "lime"], ["library", "remove", "lime"],
                  ["library", "run", "line", "-o", str(out / "a"), "--set", "sped=1"],
                  ["library", "run", "line", "-o", str(out / "a"), "--set", "speed"],
                  ["library", "run", "line", "-o", str(out / "a"), "--set", "speed=1+x"]):  # fmt: skip
        assert run(app, wrong).exit_code == 2, wrong
    assert run(app, ["library", "remove", "line"]).exit_code == 0
