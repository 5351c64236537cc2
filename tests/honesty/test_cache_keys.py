"""Keys of compiled code mean the same in every process: no addresses, no hash seeds, no dates."""

from __future__ import annotations

import functools
import json
import math
import os
import subprocess
import sys
from collections import deque
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import manipula as mp
from manipula import native
from manipula.algebra import ops
from manipula.identity import identity
from manipula.native.store import object_cache as cache
from manipula.native.tracing.graph import Graph, Operation


def run_python(program: str, *arguments: str, **environment: str) -> Any:
    """What a new interpreter prints, read as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], env={**os.environ, **environment}, capture_output=True, text=True,
        timeout=1800, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


DIGESTS = """
import json, numpy as np
from manipula import native
from manipula.algebra import ops

def follow(t, x, breaks, coefficients):
    table = native.table(breaks, coefficients)
    slope = table.derivative()
    done = native.repeat(lambda i, y: (y + 0.1 * slope(t + i),), (x,), 5.0)
    return {"value": table(t), "end": done.state[0]}

inputs = {"t": (), "x": (2,), "breaks": ("m+1",), "coefficients": ("m", 2, 4)}
read = native.trace(follow, inputs, "follow", shared=("breaks", "coefficients"))
fixed = native.trace(lambda t: native.table(np.arange(4.0), np.ones((3, 1, 2)))(t), {"t": ()}, "fixed")
plain = native.trace(lambda x: ops.where(x[0] > 0, ops.sin(x[1]), np.float64(2.5) * x[0]), {"x": (2,)}, "plain")
print(json.dumps([g.digest().hex() for g in (read, fixed, plain)]))
"""


def test_a_graph_has_the_same_digest_in_every_process() -> None:
    first, second = (run_python(DIGESTS, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert first == second


def test_data_without_a_fingerprint_is_refused() -> None:
    """An object would enter the key through its address: another key in every process."""
    graph = Graph("odd", {}, (), [Operation("const", (), object())], [0], {"y": ()}, {"y": [0]}, {})
    with pytest.raises(TypeError, match="has no fingerprint"):
        graph.digest()


def test_the_package_is_known_by_the_content_of_its_files(tmp_path: Path) -> None:
    """Neither an equal size and date with other content, nor another date with equal content, deceives."""
    file = tmp_path / "part.py"

    def version(content: str, date: int) -> bytes:
        file.write_text(content)
        os.utime(file, ns=(date, date))
        return cache.sources(tmp_path)

    day = 10**18
    assert version("K = 3\n", day) == version("K = 3\n", 2 * day - day // 2)
    assert version("K = 3\n", day) != version("K = 4\n", day)
    before = version("K = 3\n", day)
    file.rename(tmp_path / "other.py")
    assert cache.sources(tmp_path) != before


def test_rooms_that_do_not_count_make_no_kernels() -> None:
    """Their files are not read for the key: none of them traces, and nothing that is traced imports them."""
    from manipula.identity.package import ROOMS
    from manipula.native.calling.kernel_cache import WITHOUT_KERNELS

    root = Path(mp.__file__).parent
    assert not set(WITHOUT_KERNELS) & set(ROOMS)
    for room in WITHOUT_KERNELS:
        assert not [
            f for f in (root / room).rglob("*.py") if "kernel_of(" in f.read_text() or "compile_known(" in f.read_text()
        ]
    below = [f for room in ROOMS for f in (root / room).rglob("*.py")]
    words = [f"{verb} manipula.{room}" for room in WITHOUT_KERNELS for verb in ("from", "import")]
    assert len(below) > 100
    assert not [f for f in below if any(word in f.read_text() for word in words)]


def test_folders_left_out_of_a_fingerprint(tmp_path: Path) -> None:
    for name in ("room", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part.py").write_text("K = 3\n")
        os.utime(tmp_path / name / "part.py", ns=(10**18, 10**18))
    before = cache.sources(tmp_path, but=("other",))
    assert before == cache.sources(tmp_path, but=("other",)) != cache.sources(tmp_path)
    (tmp_path / "other" / "part.py").unlink()
    assert before == cache.sources(tmp_path, but=("other",))
    (tmp_path / "room" / "part.py").unlink()
    assert before != cache.sources(tmp_path, but=("other",))


def test_files_changed_under_a_running_process_are_not_trusted(tmp_path: Path) -> None:
    """What runs is then perhaps not what the file says: a key that nobody finds again."""
    file = tmp_path / "part.py"
    file.write_text("K = 3\n")
    os.utime(file, (4e9, 4e9))
    assert cache.sources(tmp_path) != cache.sources(tmp_path)
    assert cache.sources(tmp_path / "missing") != cache.sources(tmp_path / "missing")


def test_equal_arrays_have_equal_digests() -> None:
    graphs = [
        native.trace(lambda t, k=k: native.table([0.0, 1.0, 2.0], [[[k]], [[2.0]]])(t), {"t": ()}, "f")
        for k in (1.0, 1.0, 3.0)
    ]
    assert graphs[0].digest() == graphs[1].digest() != graphs[2].digest()


class Counted(dict):
    """A class of somebody's that looks like data."""


def test_only_values_that_can_be_seen_are_known() -> None:
    """Two things that differ never share an identity; what hides its content has none."""
    two = [
        [1.0],
        (1.0,),
        {"a": 1.0},
        {"a": 1},
        {1.0},
        np.ones(1),
        np.ones(1, np.float32),
        np.ones((1, 1)),
        1.0,
        1,
        True,
    ]
    two += ["1.0", None, -0.0, 0.0, sympy.Symbol("m"), sympy.Symbol("m", positive=True), mp.friction.Viscous(0.1)]
    two += [mp.friction.Viscous(0.2), mp.friction.Viscous, ops.sin, ops.cos, functools.partial(ops.maximum, 1.0)]
    two += [
        functools.partial(ops.maximum, 2.0),
        mp.friction.Coulomb(0.1),
        mp.control.PD(1.0, 2.0),
        mp.control.PD(2.0, 1.0),
    ]
    two += [math.sin, math.cos, np.sin]
    known = [identity(x) for x in two]
    assert None not in known
    assert len(set(known)) == len(two)
    hidden = [
        [].append,
        np.random.default_rng(0).normal,
        deque([1.0]),
        Fraction(1, 2),
        iter([1.0]),
        lambda x: x,
        Counted(a=1.0),
        Counted,
    ]
    hidden += [
        functools.partial(lambda x: x, 1.0),
        np.ma.array([1.0]),
        object(),
        mp.control.UserFunction(lambda *x: x[1]),
    ]
    assert [identity(x) for x in hidden] == [None] * len(hidden)
    assert identity({"a": 1.0, "b": 2.0}) == identity({"b": 2.0, "a": 1.0})
    circle: list[object] = []
    circle.append(circle)
    assert identity(circle) is None


EVERY_MODULE = """
import importlib, json, pkgutil, warnings
warnings.simplefilter("ignore")
import manipula

for module in pkgutil.walk_packages(manipula.__path__, "manipula."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError:  # an optional library
            pass
"""
UNTOUCHED = """
from manipula.identity import constants, identity, is_untouched
from manipula.control import REGISTRY as controllers
from manipula.redundancy.null_space import REGISTRY as criteria
from manipula.ik.methods import REGISTRY as methods
from manipula.robot.drives import REGISTRY as drives
from manipula.robot.friction import REGISTRY as laws
from manipula.simulation.integrators import ADAPTIVE, FIXED

parts = {**controllers, **criteria, **methods, **drives, **laws, **ADAPTIVE, **FIXED}
parts |= {entry.name: manipula.load(entry.name) for entry in manipula.catalog()}
unknown = [name for name, part in parts.items() if identity(part) is None]
before, numbers = is_untouched(), constants()
manipula.friction.Coulomb.torque = lambda self, qd, state=(), load=0.0: 0.0
print(json.dumps([numbers, [before, unknown, is_untouched(), identity(manipula.friction.Coulomb(1.0)) is None]]))
"""


@pytest.fixture(scope="module")
def whole_package() -> list[Any]:
    """What a process knows that has imported everything."""
    return run_python(EVERY_MODULE + UNTOUCHED, PYTHONHASHSEED="1")


def test_everything_of_this_package_is_known_as_its_own(whole_package: list[Any]) -> None:
    """Otherwise all code would be traced in every process; and a replaced method is noticed."""
    assert whole_package[1] == [True, [], False, True]


FILES = (Path(__file__).parents[2] / "examples").glob("*.toml")
EXAMPLES = sorted(str(p) for p in FILES if "[study]" not in p.read_text(encoding="utf-8"))
KEYS = """
import gc, json, sys
from manipula import simulate
from manipula.native import Kernel
from manipula.native.calling import kernel_cache
from manipula.errors import DescriptionError
from manipula.simulation.scenario import Scenario
from manipula.simulation.files.scenario_file import load_file

for path in sys.argv[1:]:
    s = load_file(path)
    run = lambda s: simulate(s) if isinstance(s, Scenario) else s.run()
    try:
        run(s.replace(duration=3 * s.step, sample=None, verify=False))
    except DescriptionError:  # something happens later than that
        run(s.replace(verify=False))
kernels = [k for k in gc.get_objects() if isinstance(k, Kernel)]
graphs = sorted({f"{k.name} {k.graph.digest().hex()}" for k in kernels})
parts = sorted(f"{key[2]} {key[1].hex()}" for key, _ in kernel_cache.KERNELS.items() if key[0] == "parts")
compiled = sorted(k.name for k in kernels for code in k._codes.values() if not code.from_cache)
traced = sorted(k.name for key, k in kernel_cache.KERNELS.items() if key[0] == "parts" and not isinstance(k, kernel_cache.KnownKernel))
print(json.dumps([graphs, parts, compiled, traced]))
"""


CHOSEN = [x for x in EXAMPLES if Path(x).stem in ("planar5r_line", "scara_circle", "program_line_speed")]


@pytest.mark.parametrize("examples", [CHOSEN, pytest.param(EXAMPLES, marks=pytest.mark.slow)], ids=["some", "all"])
def test_every_kernel_of_an_example_has_the_same_keys_in_every_process(examples: list[str]) -> None:
    """Interpreted, because keys are made from what is traced; nothing has to be compiled to compare them."""
    alone = {"MANIPULA_NO_LLVM": "1", "MANIPULA_CACHE": "off"}
    first, second = (run_python(KEYS, *examples, PYTHONHASHSEED=seed, **alone) for seed in ("1", "2"))
    graphs, parts, *_ = first
    assert len(EXAMPLES) >= 10
    assert len(parts) >= len(examples) >= 3  # all are known by their parts: examples hold nobody's code
    assert len(graphs) >= len(parts)
    assert first == second


def test_a_second_process_traces_and_compiles_nothing(tmp_path: Path) -> None:
    """A run with a reference, one along a reference, and a programmed motion."""
    place = {"MANIPULA_CACHE_DIR": str(tmp_path / "cache"), "MANIPULA_CACHE": ""}
    _, _, compiled, traced = run_python(KEYS, *CHOSEN, PYTHONHASHSEED="1", **place)
    kept = sorted(p.name for p in (tmp_path / "cache").iterdir())
    assert len(CHOSEN) == 3
    assert len(compiled) >= 3
    assert len(traced) >= 3
    _, _, *again = run_python(KEYS, *CHOSEN, PYTHONHASHSEED="2", **place)
    assert again == [[], []]
    assert sorted(p.name for p in (tmp_path / "cache").iterdir()) == kept


def test_a_loop_found_by_its_structure_is_the_one_that_tracing_gives() -> None:
    """Other numbers share a loop; another structure, a law in its place, a patched method or a field set by force never do."""
    from manipula.simulation.loops.setup import prepare_run

    robot = mp.load("planar-2r")

    def made(controller: Any, **options: Any) -> Any:
        return mp.Scenario(robot, controller=controller, q0=[0.1, 0.1], duration=0.01, friction=(), **options)

    first = made(mp.control.PD(30.0, 5.0, goal=[0.2, 0.1]))
    loops = [prepare_run(first).loop for _ in range(4)]
    assert prepare_run(made(mp.control.PD(31.0, 6.0, goal=[0.3, 0.0]))).loop is loops[-1]
    others = (
        made(mp.control.PDGravity(30.0, 5.0, goal=[0.2, 0.1])),
        made(mp.control.PD((30.0, 20.0), 5.0, goal=[0.2, 0.1])),
        made(mp.control.PD(30.0, 5.0, goal=[0.2, 0.1]), integrator="midpoint"),
        made(mp.control.PD(30.0, 5.0, goal=[0.2, 0.1]), actuator=mp.Actuator(limit=3.0)),
        made(mp.control.PD(30.0, 5.0, goal=[0.2, 0.1]), actuator=mp.Actuator(delay=2e-3)),
        made(mp.control.PD(30.0, 5.0, goal=[0.2, 0.1]), noise=mp.Noise(1e-6, 1e-6)),
        made(mp.control.PD(30.0, 5.0, goal=[0.2, 0.1]), model=mp.load("planar-2r")),
    )
    for other in others:
        for _ in range(3):
            assert prepare_run(other).loop is not loops[-1]
    forced = mp.control.PD(30.0, 5.0, goal=[0.2, 0.1])
    object.__setattr__(forced, "torque", lambda *_: np.array([1.0, 2.0]))
    assert not prepare_run(made(forced)).own
    assert prepare_run(first).own


CONSTANTS = """
import json, sys
import manipula as mp
import manipula.simulation.plant.switch as module

if sys.argv[1] == "replaced":
    module.SNAP = 0.05
law = lambda kp: mp.control.PD(kp=kp, kv=5.0, goal=(0.6, 0.2))
switch = mp.Switch(time=0.02, controller=law(200.0))
run = mp.Scenario(mp.load("planar-2r"), None, law(50.0), q0=[0.3, 0.4], duration=0.03, switches=(switch,), verify=False)
print(json.dumps(mp.simulate(run).q[-1].tolist()))
"""


def test_constant_replaced_before_the_first_look_is_met_nowhere_else(tmp_path: Path) -> None:
    """Neither does its kernel reach a process that has the constant as it is, nor the other way round."""
    place = {"MANIPULA_CACHE_DIR": str(tmp_path / "cache"), "MANIPULA_CACHE": ""}
    replaced, plain, again, both = (
        run_python(CONSTANTS, how, **place) for how in ("replaced", "plain", "plain", "replaced")
    )
    assert replaced != plain
    assert (again, both) == (plain, replaced)


ALL_CONSTANTS = """
from manipula.identity import constants
print(json.dumps(constants()))
"""


def test_constants_are_the_same_in_every_process(whole_package: list[Any]) -> None:
    """One that is not (a time, an address) would make every kernel unknown in the next process."""
    first, second = whole_package[0], run_python(EVERY_MODULE + ALL_CONSTANTS, PYTHONHASHSEED="2")
    assert len(first) > 50
    assert [name for name in first if first[name] != second[name]] == []


def test_private_constant_that_is_replaced_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from manipula.algebra import rotation
    from manipula.identity import is_untouched

    assert is_untouched()
    monkeypatch.setattr(rotation, "_EXACT", 1e-3)
    assert not is_untouched()
    monkeypatch.undo()
    assert is_untouched()
