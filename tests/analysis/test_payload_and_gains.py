"""Loads and drive gains, against truth that Pinocchio and written-out friction made."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.analysis.identification.drive_gains import identify_drive_gains
from manipula.analysis.identification.payload import identify_payload
from manipula.analysis.identification.pseudo_inertia import is_physical
from manipula.analysis.identification.read_log import read_log
from manipula.errors import DescriptionError, SolveError
from manipula.model import Model
from measured_logs import motion, recorded, torques

LAW = {"viscous": 0.4, "coulomb": 0.3, "v_0": 0.05, "offset": np.array([0.1, -0.2, 0.0])}
LOAD = mp.Payload(2.5, (0.05, -0.03, 0.1), ((0.02, 0.001, 0.0), (0.001, 0.03, 0.002), (0.0, 0.002, 0.025)))
GAINS = np.array([11.0, 7.5, 4.0])
TERMS = {"extras": ("viscous", "coulomb", "offset"), "cutoff": 15.0}


@pytest.fixture(scope="module")
def arm():
    rows = [(0.0, 0.4, 0.0, np.pi / 2), (0.0, 0.0, 0.4, 0.0), (0.0, 0.0, 0.3, 0.0)]
    robot = mp.from_dh(
        [{"theta": 0.0, "d": d, "a": a, "alpha": alpha} for _, d, a, alpha in rows], convention="standard"
    )
    return Model(_with_masses(robot))


def _with_masses(robot):
    from dataclasses import replace

    bodies = [(4.0, 0.05), (3.0, 0.04), (2.0, 0.02)]
    links = tuple(
        replace(
            link,
            mass=m,
            com=(-0.15 if k else 0.0, 0.01, 0.02),
            inertia=((i, 0, 0), (0, i, 0), (0, 0, i)),
            described=True,
        )
        for k, (link, (m, i)) in enumerate(zip(robot.links, bodies))
    )
    return robot.replace(links=links)


@pytest.fixture(scope="module")
def runs(arm):
    """Motions and torques of the empty and of the loaded arm."""
    carrying = Model(arm.robot.replace(payload=LOAD))
    moves = motion(arm, rate=250.0, seed=0), motion(arm, rate=250.0, seed=1)
    return [(moved, torques(model, *moved[1:], LAW)) for model, moved in zip((arm, carrying), moves)]


def vector(payload):
    m = payload.moments()
    J = np.asarray(m.second, float)
    return np.array([m.mass, *m.first, J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]], float)


def test_a_load_is_found_from_a_run_with_and_a_run_without_it(arm, runs):
    empty, loaded = (recorded(arm, moved, tau, noise=0.02, seed=k) for k, (moved, tau) in enumerate(runs))
    found = identify_payload(arm, loaded, empty, **TERMS)
    assert float(found.payload.mass) == pytest.approx(2.5, rel=0.01)
    assert found.payload.com == pytest.approx(LOAD.com, abs=5e-3)
    assert is_physical(vector(found.payload))
    assert np.all(found.rms < found.rms_without)
    seen = np.isfinite(found.standard_deviation)
    assert np.mean(np.abs(found.parameters - vector(LOAD))[seen] < 4 * found.standard_deviation[seen] + 2e-3) == 1.0
    assert found.robot.payload == found.payload
    assert "2.5" in found.text()


def test_a_robot_that_is_right_needs_no_run_without_the_load(arm, runs):
    from dataclasses import replace

    laws = [mp.friction.Coulomb(0.3, 0.05, 0.4, f) for f in LAW["offset"]]
    known = arm.robot.replace(joints=tuple(replace(j, friction=law) for j, law in zip(arm.robot.joints, laws)))
    moved, tau = runs[1]
    found = identify_payload(known, recorded(arm, moved, tau), cutoff=15.0)
    assert float(found.payload.mass) == pytest.approx(2.5, rel=1e-3)
    seen = np.isfinite(found.standard_deviation)
    assert found.parameters[seen] == pytest.approx(vector(LOAD)[seen], abs=2e-3)


def test_loads_cover_the_truth_as_often_as_they_promise(arm, runs):
    """What is not sure of the empty robot, known from a noisy run too, is not sure of the load."""
    inside, distance = [], []
    for seed in range(20):
        noisy = [recorded(arm, moved, tau, noise=0.3, seed=2 * seed + k) for k, (moved, tau) in enumerate(runs)]
        found = identify_payload(arm, noisy[1], noisy[0], **TERMS, confidence=0.9)
        error = found.parameters - vector(LOAD)
        inside.append((found.interval[:, 0] <= vector(LOAD)) & (vector(LOAD) <= found.interval[:, 1]))
        distance.append(error @ np.linalg.solve(found.covariance, error) / 10)
    assert 0.82 < np.mean(inside) < 0.97  # 20 × 10 numbers, partly dependent: about ±0.04
    assert 0.7 < np.mean(distance) < 1.4  # χ²/10


def test_what_the_motion_does_not_show_of_a_load_is_told():
    flat = Model(mp.planar([0.5, 0.4], [3.0, 2.0]))
    moved = motion(flat)
    tau = torques(Model(flat.robot.replace(payload=mp.Payload(1.0, (0.1, 0.0, 0.0)))), *moved[1:], {})
    found = identify_payload(flat, recorded(flat, moved, tau), cutoff=15.0)
    assert {"mz", "Jxx", "Jxy", "Jxz", "Jyz"} <= set(found.not_excited)
    assert float(found.payload.mass) == pytest.approx(1.0, rel=1e-2)


@pytest.mark.parametrize("known", [LOAD, 2.5])
def test_drive_gains_are_found_with_a_known_load(arm, runs, known):
    rng = np.random.default_rng(5)
    logs = []
    for (t, q, qd, _), tau in runs:
        current = tau / GAINS + 0.02 * rng.normal(size=tau.shape)
        logs.append(read_log({"t": t, "q": q, "qd": qd, "current": current}, arm))
    found = identify_drive_gains(arm, *logs, known, smooth=0.05, **TERMS)
    assert found.gains == pytest.approx(GAINS, rel=0.02)
    assert np.all(np.abs(found.gains - GAINS) < 4 * found.standard_deviation)
    assert np.all(found.standard_deviation < 0.02 * GAINS)
    assert found.torques(logs[0]).tau == pytest.approx(logs[0].current * found.gains)


def test_rotors_that_the_description_does_not_know_spoil_neither_load_nor_gains(arm, runs):
    rotors = np.array([2.0, 1.0, 0.5])  # kg·m², felt at the joints
    felt = [(moved, tau + rotors * moved[3]) for moved, tau in runs]
    empty, loaded = (recorded(arm, moved, tau, noise=0.02, seed=k) for k, (moved, tau) in enumerate(felt))
    found = identify_payload(arm, loaded, empty, cutoff=15.0)
    assert float(found.payload.mass) == pytest.approx(2.5, rel=0.01)
    assert found.payload.com == pytest.approx(LOAD.com, abs=5e-3)
    rng = np.random.default_rng(2)
    logs = [
        read_log({"t": t, "q": q, "qd": qd, "current": tau / GAINS + 0.02 * rng.normal(size=tau.shape)}, arm)
        for (t, q, qd, _), tau in felt
    ]
    gains = identify_drive_gains(arm, *logs, LOAD, smooth=0.05, cutoff=15.0)
    assert gains.gains == pytest.approx(GAINS, rel=0.02)
    assert np.all(np.abs(gains.gains - GAINS) < 4 * gains.standard_deviation)
    ignored = identify_drive_gains(arm, *logs, LOAD, smooth=0.05, **TERMS)
    assert ignored.rms[2] > 10 * gains.rms[2]  # the other rotors look like inertia of links


def test_a_motor_that_turns_the_other_way_has_a_negative_gain(arm, runs):
    turned = GAINS * [1.0, -1.0, 1.0]
    logs = [read_log({"t": t, "q": q, "qd": qd, "current": tau / turned}, arm) for (t, q, qd, _), tau in runs]
    found = identify_drive_gains(arm, *logs, LOAD, smooth=0.05, **TERMS)
    assert found.gains == pytest.approx(turned, rel=0.02)


def test_a_load_that_is_not_there_is_told(arm, runs):
    (t, q, qd, _), tau = runs[0]
    rng = np.random.default_rng(3)
    noisy = [tau / GAINS + 0.1 * rng.normal(size=tau.shape) for _ in range(2)]
    logs = [read_log({"t": t, "q": q, "qd": qd, "current": current}, arm) for current in noisy]
    with pytest.raises(SolveError, match="does not show"):
        identify_drive_gains(arm, *logs, 1e-3, smooth=0.05, **TERMS)


def test_gains_cover_the_truth_as_often_as_they_promise(arm, runs):
    """And are not too small, as least squares with noisy currents among the unknowns would make them."""
    errors = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        logs = [
            read_log({"t": t, "q": q, "qd": qd, "current": tau / GAINS + 0.1 * rng.normal(size=tau.shape)}, arm)
            for (t, q, qd, _), tau in runs
        ]
        found = identify_drive_gains(arm, *logs, LOAD, smooth=0.05, **TERMS)
        errors.append((found.gains - GAINS) / found.standard_deviation)
    errors = np.array(errors)
    assert 0.6 < np.sqrt(np.mean(errors**2)) < 1.4
    assert np.all(np.abs(errors.mean(axis=0)) < 1.0)  # 12 runs: a bias of one deviation would stand out


def test_what_cannot_be_done_is_refused(arm, runs):
    moved, tau = runs[0]
    log = recorded(arm, moved, tau)
    with pytest.raises(DescriptionError, match="current"):
        identify_drive_gains(arm, log, log, 2.5)
    with pytest.raises(DescriptionError, match="must be a Log"):
        identify_payload(arm, tau)  # type: ignore[arg-type]
    t, q, qd, _ = moved
    own = read_log({"t": t, "q": q, "qd": qd, "current": tau / GAINS}, arm)
    with pytest.raises(DescriptionError, match="greater than 0"):
        identify_drive_gains(arm, own, own, -1.0)
    with pytest.raises(DescriptionError, match="Payload"):
        identify_payload(arm, log, prior=3.0, cutoff=15.0)  # type: ignore[arg-type]
