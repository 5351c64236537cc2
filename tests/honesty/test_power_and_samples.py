"""Power and energy of a run are those of the run, not of the samples that were asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis
MOVE = mp.trajectory(mp.paths.joint([[0.0], [2.0]]), mp.timing.quintic(1.0))
TAKEN = 0.5 * (15.0 / 8.0 * 2.0) ** 2  # J: half the square of the largest speed, given back on the way to rest
KINDS: list[dict[str, Any]] = [{"controller": mp.control.ComputedTorque(100.0, 20.0)}, {"kind": "inverse_dynamics"}]


@pytest.mark.parametrize("kind", KINDS, ids=["dynamic", "inverse_dynamics"])
@pytest.mark.parametrize("sample", [1e-3, 0.01, 0.05, 0.1, 0.37, 0.5, 1.0])
def test_energy_is_right_to_what_is_said_or_refused(sample: float, kind: dict[str, Any]) -> None:
    result = mp.simulate(mp.Scenario(ROD, reference=MOVE, q0=[0.0], sample=sample, **kind))
    if sample >= 0.37:
        with pytest.raises(mp.DescriptionError, match="too few") as refused:
            mp.power_report(result)
        assert refused.value.field == "sample"
        return
    report = mp.power_report(result)
    allowed = 4.0 * report.accuracy * 2.0 * TAKEN + 1e-9
    assert report.taken[0] == pytest.approx(TAKEN, abs=allowed)
    assert report.given_back[0] == pytest.approx(TAKEN, abs=allowed)
    if sample <= 0.01:
        assert report.accuracy < 1e-2


def test_an_arm_at_rest_takes_nothing() -> None:
    hold = mp.control.PDGravity(kp=100.0, kv=20.0, goal=[0.3])
    result = mp.simulate(mp.Scenario(mp.planar([1.0], [3.0]), q0=[0.3], duration=1.0, sample=0.1, controller=hold))
    report = mp.power_report(result)
    assert float(np.abs(report.taken).max()) < 1e-12
    assert report.accuracy <= 0.1
