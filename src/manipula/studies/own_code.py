"""A user's code inside a study, as a text that changes with it: rows made by other code are not continued.

A file names a user's registered part and not what it computes, so that its body may change while the file stays the same. What
it computes is the graph of the loop that is traced from it.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from manipula.errors import ManipulaError
from manipula.identity import identity, is_own, is_untouched
from manipula.simulation.integrators import ADAPTIVE, FIXED
from manipula.simulation.loops.setup import prepare_run
from manipula.simulation.scenario import Scenario

OURS = ""
TRACED = ("dynamic", "free", "playback")  # kinds of runs that go through a compiled loop


def code_of(base: Any) -> str | None:
    """Nothing for a base of this package's own parts; else the digest of what is traced from it, None where that cannot be said."""
    method = {**FIXED, **ADAPTIVE}.get(getattr(base, "integrator", "auto"))
    if is_untouched() and identity(base) is not None and (method is None or is_own(method)):
        return OURS
    if not isinstance(base, Scenario) or base.resolved_kind() not in TRACED:
        return None
    open_choice = base.integrator == "auto"
    try:
        run = prepare_run(base.replace(integrator="rk4") if open_choice else base)
        graphs = [run.loop.run.graph.digest, run.loop.observe.graph.digest]
    except (ManipulaError, ValueError, TypeError, ArithmeticError, LookupError):
        return None  # the run itself says what is wrong with it; a controller in Python is not traced
    table = hashlib.sha256(b"".join(np.ascontiguousarray(v, float).tobytes() for v in run.inputs)).hexdigest()
    return hashlib.sha256(" ".join(map(str, (*graphs, table))).encode()).hexdigest()
