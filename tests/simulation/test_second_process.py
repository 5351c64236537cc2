"""What one process compiled, the next one only reads; and a run of a robot in numbers imports nothing that it does not use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RUN_FILE = """
import json, sys
import manipula as mp

mp.run_file(sys.argv[1])
print(json.dumps(sorted(sys.modules)))
"""
RUN_ALL = """
import json, sys
import manipula as mp
from manipula.native.store import object_cache

compiled, compile_object = [], object_cache.compile_object

def counted(module):
    compiled.append(now)
    return compile_object(module)

object_cache.compile_object = counted
for now in sys.argv[1:]:
    mp.run_file(now)
print(json.dumps({"compiled": compiled, "entries": object_cache.contents().entries}))
"""
RUN_ONE = """
import json, sys
import manipula as mp

controller = mp.control.PDGravity(20.0, 4.0, goal=(0.1,) * 7)
run = mp.Scenario(mp.load("panda"), controller=controller, q0=(0.0,) * 7, duration=0.01, integrator="rk4")
mp.simulate(run)
print(json.dumps(sorted(sys.modules)))
"""
NEVER = (
    "sympy", "xarray", "matplotlib", "scipy.interpolate", "scipy.integrate", "numpy.ma", "numpy.random", "concurrent.futures",
    "manipula.motion.trajectory", "http", "ssl", "email",
)  # fmt: skip


COMMAND = """
import json, runpy, sys

sys.argv = ["manipula", "run", sys.argv[1], "--no-report", "-o", sys.argv[2]]
try:
    runpy.run_module("manipula", run_name="__main__")
except SystemExit as ended:
    assert not ended.code
sys.stdout = sys.__stdout__
print()
print(json.dumps(sorted(sys.modules)))
"""


def told(program: str, cache: Path, *arguments: str) -> Any:
    """What a process of its own prints as JSON."""
    environment = {k: v for k, v in os.environ.items() if k != "MANIPULA_CACHE"}
    environment |= {"MANIPULA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


SCENARIOS = [p for p in sorted((ROOT / "examples").glob("*.toml")) if "[study]" not in p.read_text(encoding="utf-8")]
FEW = ("planar5r_line", "program_line_speed", "scara_circle")


@pytest.mark.parametrize(
    "names", [FEW, pytest.param([p.stem for p in SCENARIOS], marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_a_second_process_compiles_nothing_for_an_example(names: list[str], tmp_path: Path) -> None:
    """In the other order: what is found does not depend on what was asked for before."""
    files = [str(path) for path in SCENARIOS if path.stem in names]
    assert len(files) == len(names)
    first = told(RUN_ALL, tmp_path / "objects", *files)
    assert set(first["compiled"]) == set(files)  # the counter counts
    second = told(RUN_ALL, tmp_path / "objects", *reversed(files))
    assert second["compiled"] == []
    assert second["entries"] == first["entries"]


def test_a_run_of_a_robot_in_numbers_imports_what_it_uses(tmp_path: Path) -> None:
    loaded = set(told(RUN_ONE, tmp_path / "objects"))
    assert "manipula.simulation.simulate" in loaded
    assert not [name for name in NEVER if name in loaded]


@pytest.mark.parametrize("name", ["scara_circle", "program_line_speed", "planar5r_line"])
def test_formulas_of_a_file_are_computed_without_symbols(name: str, tmp_path: Path) -> None:
    """Their robots state lengths and inertias as formulas of named numbers."""
    loaded = set(told(RUN_FILE, tmp_path / "objects", str(ROOT / "examples" / f"{name}.toml")))
    assert "manipula.algebra.expression" in loaded
    assert not loaded & {"sympy", "xarray", "matplotlib", "scipy.interpolate"}


def test_a_command_loads_its_own_file_and_what_that_uses(tmp_path: Path) -> None:
    """Neither the other commands, nor generators of random numbers for a few places, nor parsers of letters for the name of a version."""
    example = ROOT / "examples" / "planar5r_line.toml"
    loaded = set(told(COMMAND, tmp_path / "objects", str(example), str(tmp_path / "out")))
    assert {"manipula.cli.run", "manipula.simulation.simulate"} <= loaded
    assert not loaded & {
        "pydantic",
        "numpy.random",
        "importlib.metadata",
        "email",
        "manipula.cli.bench",
        "manipula.cli.tune",
    }


def test_idle_threads_of_blas_sleep_unless_somebody_wants_otherwise(tmp_path: Path, monkeypatch: Any) -> None:
    ask = "import json, os, manipula; print(json.dumps(os.environ['OPENBLAS_THREAD_TIMEOUT']))"
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    assert told(ask, tmp_path) == "4"
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "20")
    assert told(ask, tmp_path) == "20"
