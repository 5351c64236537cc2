"""Payload changes: the energy they bring is that at their own instant, whatever is sampled, and none of them is dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.simulation.plant.disturbances import PayloadChange

ROBOT = mp.load("planar-2r")


def free(*changes: PayloadChange, **settings: Any) -> mp.Result:
    start = {"q0": (0.3, 0.4), "qd0": (1.0, 0.0), "duration": 0.5}
    return mp.simulate(mp.Scenario(ROBOT, disturbances=changes, **{**start, **settings}))


@pytest.mark.parametrize("sample", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("integrator", ["auto", "rk4"])
def test_energy_is_conserved_whatever_is_sampled(sample: float, integrator: str) -> None:
    result = free(PayloadChange(0.31, 1.7), sample=sample, integrator=integrator)
    assert result.ok
    assert abs(result.audit).max() < 1e-8


def test_samples_are_the_same_with_and_without_a_sample_at_the_change() -> None:
    seldom, often = (free(PayloadChange(0.31, 1.7), sample=dt) for dt in (0.5, 0.01))
    assert np.allclose(seldom.q[-1], often.q[-1], rtol=0, atol=1e-9)
    assert np.isclose(seldom.work_payload[-1], often.work_payload[-1], rtol=1e-8)


@pytest.mark.parametrize("time", [0.0, -0.1])
def test_what_is_carried_from_the_start_brings_no_energy(time: float) -> None:
    result = free(PayloadChange(time, 1.7), sample=0.1)
    assert abs(result.audit).max() < 1e-8
    assert not result.work_payload.any()


def test_every_run_of_a_batch_has_its_own_instants() -> None:
    times = np.array([0.31, 0.123, 0.31, 0.2])
    both = (PayloadChange(0.31, 1.7), PayloadChange(0.4567, 0.3))
    result = free(*both, sample=0.1, vary={"disturbances[0].time": times})
    assert abs(result.audit).max() < 1e-8
    for k, time in enumerate(times):
        alone = free(PayloadChange(float(time), 1.7), both[1], sample=0.1)
        assert np.array_equal(alone.q, result.q[k])
        assert np.allclose(alone.work_payload, result.work_payload[k], rtol=1e-12, atol=0)


def test_two_changes_at_one_instant_are_refused() -> None:
    both = (PayloadChange(0.2, 1.0), PayloadChange(0.2, 3.0))
    with pytest.raises(
        DescriptionError, match=r"disturbances\[0\] and disturbances\[1\] both change the payload at 0.2 s"
    ):
        free(*both)
    with pytest.raises(DescriptionError, match=r"In run 1 disturbances\[0\] and disturbances\[1\]"):
        free(both[0], PayloadChange(0.3, 3.0), vary={"disturbances[0].time": [0.1, 0.3]})
    assert free(*both, vary={"disturbances[0].time": [0.1, 0.15]}).ok


def test_a_run_of_a_batch_is_asked_for_by_its_number() -> None:
    batch = free(q0=[(0.3, 0.4), (0.1, 0.2), (0.0, 0.1)])
    assert np.array_equal(batch.run(-1).q, batch.q[2])
    for wrong, message in (
        (3, "'run' is 3; allowed is -3 to 2"),
        (-4, "-3 to 2"),
        (1.5, "whole number"),
        (True, "whole number"),
        ("0", "whole"),
    ):
        with pytest.raises(DescriptionError, match=message):
            batch.run(wrong)  # pyright: ignore[reportArgumentType]
    for single in (free(), batch.run(0)):
        with pytest.raises(DescriptionError, match="This is a single run, not a batch"):
            single.run(0)


def test_a_payload_can_be_put_down() -> None:
    up_and_down = (PayloadChange(0.1, 1.0), PayloadChange(0.3, 0.0))
    result = free(*up_and_down, sample=0.1)
    assert result.ok
    assert abs(result.audit).max() < 1e-8
    listed_late = free(*reversed(up_and_down), sample=0.1)
    np.testing.assert_allclose(listed_late.q, result.q, rtol=0, atol=1e-12)
    varied = free(*up_and_down, sample=0.1, vary={"disturbances[1].time": [0.3, 0.4]})
    np.testing.assert_allclose(varied.q[0], result.q, rtol=0, atol=1e-12)
    with pytest.raises(DescriptionError, match="replaces none"):
        free(PayloadChange(0.1, 0.0), PayloadChange(0.3, 1.0))


@pytest.mark.parametrize("order", [1, -1])
def test_a_change_without_a_tool_leaves_the_tip_where_it_is(order: int) -> None:
    rod = mp.planar(lengths=[1.0], masses=[1.2], gravity=(0, 0, 0))
    changes = (PayloadChange(0.15, 1.0, tool=(0.1, 0, 0)), PayloadChange(0.35, 0.5))[::order]
    result = mp.simulate(mp.Scenario(rod, q0=[0.2], duration=0.5, sample=0.1, disturbances=changes))
    np.testing.assert_allclose(np.linalg.norm(result.tip, axis=1), [1.0, 1.0, 1.1, 1.1, 1.1, 1.1], atol=1e-12)
