"""Shaped references leave nothing of the vibration they are made for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError

INERTIA = 0.4


def swinging(reference: Any, frequency: float, damping: float) -> float:
    """What is left of a weakly damped loop of one joint half a period after its reference has ended."""
    w = 2 * np.pi * frequency
    robot = mp.planar(lengths=[1.0], masses=[3.0 * INERTIA], gravity=(0, 0, 0))
    pd = control.PD(INERTIA * w**2, 2 * damping * w * INERTIA)
    end = float(reference.duration)
    result = mp.simulate(
        mp.Scenario(robot=robot, reference=reference, controller=pd, duration=end + 0.5, step=5e-4, sample=0.01)
    )
    assert result.ok
    after = result.t >= end
    return float(np.abs(result.q[after, 0] - 0.7).max())


MOVE = mp.trajectory(mp.paths.joint([[0.1], [0.7]]), mp.timing.trapezoid(0.4, 3.0, 30.0))


@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_nothing_is_left_of_the_modelled_vibration(damping: float) -> None:
    assert swinging(MOVE, 2.0, damping) > 1e-3
    for shaper in ("zv", "zvd"):
        assert swinging(mp.shaped(MOVE, 2.0, damping, shaper), 2.0, damping) <= 1e-9


def test_zvd_forgives_a_wrong_frequency() -> None:
    left = {shaper: swinging(mp.shaped(MOVE, 2.1, 0.0, shaper), 2.0, 0.0) for shaper in ("zv", "zvd")}
    raw = swinging(MOVE, 2.0, 0.0)
    ratio = np.cos(np.pi / 2 * 2.0 / 2.1)  # of two impulses half a period of 2.1 Hz apart, seen at 2 Hz
    np.testing.assert_allclose(left["zv"] / raw, ratio, rtol=0.02)
    np.testing.assert_allclose(left["zvd"] / raw, ratio**2, rtol=0.02)


def test_a_shaped_reference_is_the_sum_of_delayed_ones() -> None:
    made = mp.shaped(MOVE, 2.0, 0.1, "zvd")
    K, late = np.exp(-0.1 * np.pi / np.sqrt(0.99)), 0.25 / np.sqrt(0.99)
    t = np.linspace(0.0, made.duration, 301)
    for order in (0, 1):
        at = []
        for own in (t, t - late, t - 2 * late):
            moving = ((own >= 0.0) & (own <= MOVE.duration))[:, None] | (order == 0)
            at.append(MOVE.derivatives(np.clip(own, 0.0, MOVE.duration), 1)[order] * moving)
        law = (at[0] + 2 * K * at[1] + K**2 * at[2]) / (1 + K) ** 2
        np.testing.assert_allclose(made.derivatives(t, 1)[order], law, atol=1e-11)
    assert made.duration == pytest.approx(MOVE.duration + 2 * late, abs=1e-14)


def test_shaped_references_in_files_and_refusals(tmp_path: Any) -> None:
    robot = mp.planar(lengths=[1.0], masses=[1.0])
    scenario = mp.Scenario(robot=robot, reference=mp.shaped(MOVE, 2.0, 0.05, "zvd"), controller=control.PD(60.0, 4.0))
    scenario.save(tmp_path / "run.toml")
    text = (tmp_path / "run.toml").read_text(encoding="utf-8")
    assert "shaped" in text
    assert mp.Scenario.load(tmp_path / "run.toml") == scenario
    for bad in (
        {"frequency": 0.0},
        {"frequency": 1.0, "damping": 1.0},
        {"frequency": 1.0, "shaper": "ei"},
        {"frequency": "x"},
    ):
        with pytest.raises(DescriptionError, match=list(bad)[-1]):
            mp.shaped(MOVE, **bad)
    with pytest.raises(DescriptionError, match="reference"):
        mp.shaped([0.0, 1.0], 1.0)
