"""A run that ends at a limit between two samples is repeated up to its end: what ended it may be the integrator and not the motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis
SAMPLES = [None, 0.05, 0.5, 1.0]


def turned(**options: Any) -> mp.Result:
    common: dict[str, Any] = {"q0": [0.0], "qd0": [1.0], "duration": 1.0, "step": 2e-3, "stop_at_limits": True}
    return mp.simulate(mp.Scenario(ROD, limits={"position": [(-1.0, 1.0)]}, **common | options))


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("method", ["rk4", "midpoint", "semi_implicit"])
def test_a_stiff_run_that_explodes_passes_no_limit(method: str, sample: float | None) -> None:
    """Under 3000 N·m·s/rad the rod stops after a third of a milliradian."""
    result = turned(friction=mp.friction.Viscous(3000.0), integrator=method, sample=sample)
    assert result.status != "limit", result.reason
    assert not result.ok


@pytest.mark.parametrize("sample", SAMPLES)
def test_of_a_batch_each_run_is_repeated_up_to_its_own_end(sample: float | None) -> None:
    damping = np.array([0.0, 3000.0, 0.1, 3500.0])
    result = turned(
        friction=mp.friction.Viscous(1.0), q0=np.zeros((4, 1)), qd0=np.full((4, 1), 1.3), sample=sample, integrator="rk4",
        vary={"friction[0].damping": damping},
    )  # fmt: skip
    assert [s == "limit" for s in result.statuses] == [True, False, True, False]
    for k in (0, 2):  # 1.3 (1 − exp(−bt))/b = 1
        b = damping[k]
        passed = 1 / 1.3 if b == 0.0 else -np.log(1 - b / 1.3) / b
        assert float(result.reasons[k].split("t = ")[1].split(" s")[0]) == pytest.approx(passed, abs=2e-6)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("step", [0.02, 0.05])
def test_a_limit_passed_too_early_by_long_steps_is_not_the_answer(step: float, sample: float | None) -> None:
    """A swing of 4 Hz in long steps: RK4 loses amplitude, the implicit midpoint its phase."""
    spring = mp.drives.Spring(650.0, 0.0)
    result = turned(drives=spring, qd0=[26.0], integrator="midpoint", step=step, sample=sample)
    assert result.status == "inaccurate", result.reason


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("method", ["auto", "rk4", "dop853", "rodas"])
def test_what_ends_at_a_limit_still_does(method: str, sample: float | None) -> None:
    result = turned(qd0=[1.6], friction=mp.friction.Coulomb(0.3, width=0.01), integrator=method, sample=sample)
    assert result.status == "limit", result.reason
