"""A reference or a table that does not last as long as its run is told, with what holds outside its times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control

ARM = mp.load("planar-2r")
MOVE = mp.trajectory(mp.paths.joint([[0.1, 0.2], [0.3, 0.1]]), mp.timing.quintic(0.1))
LONG = mp.trajectory(mp.paths.joint([[0.1, 0.2], [0.3, 0.1]]), mp.timing.quintic(0.3))
PUSH = [[1.0, 1.0, 0, 0, 0, 0], [2.0, 2.0, 0, 0, 0, 0]]
LAW = control.ComputedTorque(100.0, 20.0)


def notes(duration: float = 0.3, **given: Any) -> tuple[str, ...]:
    return mp.simulate(mp.Scenario(ARM, duration=duration, step=5e-3, verify=False, **given)).notes


HELD = "reference: it ends at t = 0.1 s, the run at 0.3 s; its last position is held from then on."


@pytest.mark.parametrize("given", [{"controller": LAW}, {"kind": "inverse_dynamics"}])
def test_a_reference_that_ends_before_the_run(given: dict[str, Any]) -> None:
    assert HELD in notes(reference=MOVE, **given)
    assert notes(reference=LONG, **given) == ()
    assert notes(0.1, reference=MOVE, **given) == ()
    assert notes(0.05, reference=MOVE, **given) == ()


def test_a_path_of_the_tip_that_ends_before_a_kinematic_run() -> None:
    line = mp.trajectory(mp.paths.line([1.2, 0.5, 0], [1.1, 0.5, 0]), mp.timing.quintic(0.1))
    assert HELD in notes(reference=line, kind="kinematic", q0=[0.1, 1.0], start="project")


def test_references_of_switches() -> None:
    both = {"reference": LONG, "controller": LAW}
    after = notes(switches=(mp.Switch(time=0.1, reference=MOVE),), **both)
    assert (
        "switches[0].reference: it ends at t = 0.2 s, the run at 0.3 s; its last position is held from then on."
        in after
    )
    assert not [n for n in notes(0.2, switches=(mp.Switch(time=0.1, reference=MOVE),), **both) if "held" in n]
    taken_over = notes(switches=(mp.Switch(time=0.1, reference=LONG),), reference=MOVE, controller=LAW)
    assert not [n for n in taken_over if n.startswith("reference")]
    event = notes(switches=(mp.Switch(when="q1 - 0.2", reference=MOVE),), **both)
    assert any("it lasts 0.1 s from the switch on" in n for n in event)


def test_a_table_of_torques() -> None:
    table = control.TorqueTable.of([0.05, 0.1], [[1.0, 1.0], [2.0, 2.0]], kp=10.0, kv=3.0)
    told = "controller.torques: the run lasts from 0 to 0.3 s; before t = 0.05 s the first torques are held, after t = 0.1 s the last torques are held."
    assert notes(reference=LONG, controller=table) == (told,)
    whole = control.TorqueTable.of([0.0, 0.3], [[1.0, 1.0], [2.0, 2.0]], kp=10.0, kv=3.0)
    assert notes(reference=LONG, controller=whole) == ()


def test_a_table_of_wrenches() -> None:
    told = "disturbances[0].table: the run lasts from 0 to 0.3 s; after t = 0.1 s no wrench acts."
    assert notes(disturbances=mp.WrenchTable.of([0.0, 0.1], PUSH)) == (told,)
    assert notes(disturbances=mp.WrenchTable.of(np.array([-0.1, 0.5]), PUSH)) == ()
    given = notes(kind="inverse_dynamics", reference=LONG, disturbances=mp.WrenchTable.of([0.0, 0.1], PUSH))
    assert given == (told,)
