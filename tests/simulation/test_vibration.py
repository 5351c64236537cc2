"""Vibration: natural frequencies against textbook formulas and against the spectrum of simulated motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import manipula as mp
from manipula.analysis.vibration import fast_part, natural_modes, spectrum
from manipula.errors import DescriptionError, ShapeError
from manipula.robot.drives import Flexible

TWO_PI = 2 * np.pi


def geared(robot: mp.Robot, armature: float) -> mp.Robot:
    return robot.replace(joints=tuple(replace(j, rotor_inertia=armature) for j in robot.joints))


def test_two_masses_and_a_spring() -> None:
    r"""Rotor J and link I joined by k: :math:`\omega^2 = k(1/I + 1/J)`, and one mode at zero."""
    link, rotor, k = 3.0 * 1.0 / 3, 0.4, 500.0
    robot = geared(mp.planar([1.0], [3.0], gravity=(0, 0, 0)), rotor)
    modes = natural_modes(robot, [0.3], drives=[Flexible(k)])
    assert modes.coordinates == ("joint1", "rotor of joint1")
    np.testing.assert_allclose(modes.frequency, [0.0, np.sqrt(k * (1 / link + 1 / rotor)) / TWO_PI], atol=1e-9)
    shape = modes.shape[:, 1]
    assert shape[0] / shape[1] == pytest.approx(-rotor / link, rel=1e-9)  # the centre of mass stays


def test_prescribed_motor_is_a_wall_and_gravity_a_spring() -> None:
    k, m, l = 200.0, 2.0, 0.8
    robot = mp.planar([l], [m])
    hanging = natural_modes(robot, [-np.pi / 2], drives=[Flexible(k, motor="0*t")])
    inertia = m * l * l / 3
    assert hanging.frequency[0] == pytest.approx(np.sqrt((k + m * 9.81 * l / 2) / inertia) / TWO_PI, rel=1e-12)
    upright = natural_modes(robot, [np.pi / 2], drives=[Flexible(1.0, motor="0*t")])
    assert np.isnan(upright.frequency[0])  # weaker than gravity: it falls


@pytest.mark.parametrize("posture", [[0.2, 0.9], [-0.5, 1.6]])
def test_simulated_spectrum_shows_the_natural_frequencies(posture: list[float]) -> None:
    robot = geared(mp.load("planar-2r").replace(gravity=(0.0, 0.0, 0.0)), 0.3)
    drives = (Flexible(4000.0), Flexible(900.0))
    modes = natural_modes(robot, posture, drives=drives)
    elastic = modes.frequency[modes.frequency > 1e-6]
    run = mp.Scenario(
        robot=robot,
        drives=drives,
        q0=posture,
        qd0=[1e-4, -2e-4],
        duration=8.0,
        step=1e-3,
        integrator="rk4",
        verify=False,
    )
    result = mp.simulate(run)
    lines = spectrum(result.t, result.q[:, 1])
    resolution = 1.0 / 8.0
    low = lines.peak(above=0.5 * elastic[0])[0]
    found = [low if low < 0.5 * elastic.sum() else None, lines.peak(above=0.5 * elastic.sum())[0]]
    if found[0] is None:  # the upper line is the larger one: look below it
        below = lines.frequency < 0.5 * elastic.sum()
        found[0] = lines.frequency[below][
            np.argmax(np.where(lines.frequency[below] > 0.5 * elastic[0], lines.amplitude[below, 0], 0))
        ]
    np.testing.assert_allclose(found, elastic, atol=resolution)


def test_natural_frequencies_broadcast_over_postures() -> None:
    robot = geared(mp.load("planar-2r"), 0.3)
    drives = (Flexible(4000.0), Flexible(900.0))
    q = np.random.default_rng(0).uniform(-1, 1, (3, 4, 2))
    modes = natural_modes(robot, q, drives=drives)
    assert modes.frequency.shape == (3, 4, 4)
    np.testing.assert_allclose(
        modes.frequency[1, 2], natural_modes(robot, q[1, 2], drives=drives).frequency, equal_nan=True
    )


def test_rigid_joints_are_locked_or_free() -> None:
    """With joint 1 braked, joint 2 swings on its own inertia; set free, the arm in front of it takes part."""
    robot = geared(mp.load("planar-2r").replace(gravity=(0.0, 0.0, 0.0)), 0.3)
    drives = (None, Flexible(900.0, motor="0*t"))
    locked, free = (natural_modes(robot, [0.2, 0.9], drives=drives, locked=b) for b in (True, False))
    M = mp.compile(robot).mass_matrix(np.array([0.2, 0.9])) - np.diag([0.0, 0.3])
    assert locked.frequency[0] == pytest.approx(np.sqrt(900.0 / M[1, 1]) / TWO_PI, rel=1e-12)
    reduced = M[1, 1] - M[0, 1] ** 2 / M[0, 0]
    assert free.frequency[-1] == pytest.approx(np.sqrt(900.0 / reduced) / TWO_PI, rel=1e-12)


def test_spectrum_finds_amplitude_and_frequency() -> None:
    t = np.arange(4000) * 1e-3
    x = np.stack([0.3 * np.sin(TWO_PI * 12.3 * t) + 2.0 + 5.0 * t, 0.02 * np.cos(TWO_PI * 40.0 * t)], 1)
    lines = spectrum(t, x)
    frequency, amplitude = lines.peak(0, above=1.0)
    assert frequency == pytest.approx(12.3, abs=0.02)
    assert amplitude == pytest.approx(0.3, rel=0.16)  # scalloping of a Hann window between two lines
    assert lines.peak(1)[0] == pytest.approx(40.0, abs=0.02)
    assert lines.peak(1)[1] == pytest.approx(0.02, rel=1e-2)
    fast = fast_part(t, x[:, 0], 5.0)
    assert np.sqrt(np.mean(fast[500:-500] ** 2)) == pytest.approx(0.3 / np.sqrt(2), rel=0.01)


def test_wrong_questions() -> None:
    robot = mp.load("planar-2r")
    with pytest.raises(DescriptionError, match="flexible"):
        natural_modes(robot, [0.0, 0.0])
    with pytest.raises(ShapeError):
        natural_modes(robot, [0.0], drives=[Flexible(10.0, motor="0*t"), None])
    with pytest.raises(ShapeError):
        spectrum([0.0, 0.1, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], np.zeros(8))
    with pytest.raises(DescriptionError, match="cutoff"):
        fast_part(np.arange(100) * 0.01, np.zeros(100), 80.0)


@pytest.mark.parametrize("stiff", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_a_stiff_drive_hides_no_slow_mode(stiff: float, scale: float) -> None:
    r"""Two wheels that do not feel each other: :math:`\omega^2 = k(1/I + 1/J)` of each, however far apart they are."""
    wheels = mp.from_dh(
        [{"joint": "prismatic", "mass": 2.0 * scale}, {"joint": "revolute", "mass": 0.0, "inertia": [scale] * 3 + [0.0] * 3}],
        "standard", gravity=(0, 0, 0), name="wheels",
    )  # fmt: skip
    wheels = wheels.replace(
        joints=tuple(replace(j, rotor_inertia=J * scale) for j, J in zip(wheels.joints, (1e-6, 10.0)))
    )
    drives = (mp.drives.Flexible(stiff * scale, 0.0), mp.drives.Flexible(10.0 * scale, 0.0))
    modes = mp.natural_modes(wheels, [0.0, 0.0], drives=drives)
    truth = np.sqrt([10.0 * (1.0 + 0.1), stiff * (0.5 + 1e6)]) / (2 * np.pi)
    assert modes.frequency[:2] == pytest.approx([0.0, 0.0], abs=1e-12 * truth[1])
    assert modes.frequency[2:] == pytest.approx(truth, rel=1e-3 if stiff > 1e7 else 1e-5)
