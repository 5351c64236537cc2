"""What a run is made from is prepared once: the mechanism of its robot, the formulas in its parts. No room knows those above it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import expression
from manipula.physics import mechanism

PROGRAM = {"constraints": ["y - 0.9 - 0.0125*sin(t)"], "drives": {0: "2.5*cos(3.75*t)"}}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often mechanisms are prepared and regrouped, and each text is parsed."""
    found: Counter[str] = Counter()

    def count(owner: Any, name: str, key: Any) -> None:
        real = getattr(owner, name)

        def counting(*args: Any, **options: Any) -> Any:
            found[key(args)] += 1
            return real(*args, **options)

        for module in [m for n, m in sys.modules.items() if n.startswith("manipula")]:
            if vars(module).get(name) is real:
                monkeypatch.setattr(module, name, counting)

    count(mechanism, "prepare", lambda args: "prepare")
    count(mechanism, "regrouped", lambda args: "regrouped")
    count(expression, "_parsed", lambda args: args[0])
    return found


def arm(length: float) -> mp.Robot:
    """A robot that nobody has asked for yet."""
    return mp.planar(lengths=[length, 0.8], masses=[1.5, 1.0])


def test_a_dynamic_run_prepares_its_robot_once(counted: Counter[str]) -> None:
    controller = mp.control.PDGravity(kp=50.0, kv=10.0, goal=(0.2, 0.3))
    wrench = mp.Wrench(("3*sin(7.25*t)", 0, 0, 0, 0, 0))
    run = mp.Scenario(arm(0.9101), controller=controller, q0=(0, 0), duration=0.02, disturbances=(wrench,))
    result = mp.simulate(run).check()
    assert np.isfinite(result.tau).all()
    assert (counted["prepare"], counted["regrouped"]) == (1, 1)
    assert counted["3*sin(7.25*t)"] <= 1


def test_a_programmed_run_prepares_its_robot_once(counted: Counter[str]) -> None:
    motion = mp.programmed_motion(arm(0.9102), **PROGRAM)
    motion.run((0.2, 1.2), duration=0.02, step=1e-3, start="project").check()
    assert (counted["prepare"], counted["regrouped"]) == (1, 1)
    assert counted["2.5*cos(3.75*t)"] <= 1
    assert counted["y - 0.9 - 0.0125*sin(t)"] == 1


def test_programmed_motions_know_no_controllers() -> None:
    code = "import sys, manipula.simulation.programmed.scenario; print(*[m for m in sys.modules if m.startswith('manipula')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    rooms = ("manipula.control", "manipula.simulation.loops", "manipula.simulation.plant.plant", "manipula.reports")
    assert not [name for name in loaded if name.startswith(rooms)]
