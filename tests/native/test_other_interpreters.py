"""Interpreters whose objects are not laid out as expected, or that number no changes of dictionaries: slower, and the same bits."""

from __future__ import annotations

import subprocess
import sys
import types

import numpy as np
import pytest

from manipula.identity import package, versions
from manipula.native import binary_interface

ANSWERS = """
import sys
from manipula.native import binary_interface
if sys.argv[1] == "unknown":
    binary_interface.supported = lambda: False
import numpy as np
import manipula as mp
model = mp.compile(mp.load("planar-3r"))
q = np.linspace(0.1, 1.3, 3)
one = model.inverse_dynamics(q, -q, 2.0 * q)
several = model.forward_dynamics(np.stack([q, 2.0 * q]), q, one)
out = np.empty(3)
model.gravity(q, out=out)
for refused in (lambda: model.gravity(q[:2]), lambda: model.gravity("q")):
    try:
        refused()
    except mp.ManipulaError as error:
        print(type(error).__name__, error)
    else:
        print("taken")
print(b"".join(a.tobytes() for a in (one, several, out, np.asarray(model.kinetic_energy(q, q)))).hex())
"""


def test_an_unknown_layout_of_objects_is_never_touched() -> None:
    """As on a free-threaded build: neither gufunc nor fast entry is made, and calls through ctypes answer and refuse alike."""
    told = [
        subprocess.run([sys.executable, "-c", ANSWERS, kind], capture_output=True, text=True, check=True).stdout
        for kind in ("known", "unknown")
    ]
    assert told[0] == told[1]
    assert "ShapeError" in told[0]


def test_free_threaded_and_debug_builds_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary_interface.sysconfig, "get_config_var", lambda name: name == "Py_GIL_DISABLED")
    monkeypatch.setattr(binary_interface.sys, "version_info", (3, 14, 0))
    assert not binary_interface.supported.__wrapped__()


CHANGES = {
    "attribute": lambda m, c: setattr(m, "x", 2.0),
    "new": lambda m, c: setattr(m, "another", 1),
    "deleted": lambda m, c: delattr(m, "x"),
    "method": lambda m, c: setattr(c, "f", len),
    "inherited": lambda m, c: setattr(c, "g", len),
    "dictionary": lambda m, c: vars(m).update(x=3.0),
}


@pytest.mark.skipif(not versions.are_kept(), reason="this interpreter keeps no numbers")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_of_a_name_space_has_a_number(change: types.FunctionType) -> None:
    module = types.ModuleType("m")
    module.x = 1.0
    owner = type("Owner", (), {"f": lambda self: 0})
    seen = versions.Versions([module, owner])
    assert not seen.unchanged()  # nothing is known before a look
    seen.keep(seen.look())
    _ = module.x, owner.f, dir(owner), vars(module)
    assert seen.unchanged()
    change(module, owner)
    assert not seen.unchanged()


@pytest.mark.skipif(not versions.are_kept(), reason="this interpreter keeps no numbers")
def test_stores_that_the_interpreter_has_specialised_have_numbers_too() -> None:
    module = types.ModuleType("m")
    seen = versions.Versions([module])

    def store(k: int) -> None:
        module.x = k

    for k in range(2000):
        seen.keep(seen.look())
        store(k + 1000)
        assert not seen.unchanged()


def test_without_numbers_every_name_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """As from Python 3.14 on, where dictionaries have no version."""
    from manipula.algebra import linear

    monkeypatch.setattr(versions, "are_kept", lambda: False)
    monkeypatch.setattr(package, "_last", package._Snapshot(-1, {}, [], [], [], versions.Versions(()), True))
    assert package.is_untouched()
    assert package.is_untouched()
    with monkeypatch.context() as patched:
        patched.setattr(linear, "dot", np.dot)
        assert not package.is_untouched()
    assert package.is_untouched()
