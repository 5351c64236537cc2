"""Numbers are asked about while another thread is still loading SymPy."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from manipula.algebra import ops
from manipula.algebra.symbols import is_symbolic


class Angle:
    """A number of somebody's own."""

    def sin(self) -> float:
        return 0.5


@pytest.mark.parametrize("names", [(), ("Basic",)])
def test_a_module_that_is_half_loaded(names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    half = types.ModuleType("sympy")
    for name in names:
        setattr(half, name, type(name, (), {}))
    monkeypatch.setitem(sys.modules, "sympy", half)
    assert not is_symbolic(1.5)
    assert not is_symbolic(Angle())
    assert ops.sin(np.array([0.0], dtype=object))[0] == 0.0
    assert ops.sin(Angle()) == 0.5
