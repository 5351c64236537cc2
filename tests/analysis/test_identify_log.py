"""From a log to a robot, against truth that Pinocchio and written-out friction made."""

from __future__ import annotations

import json

import numpy as np
import pytest

import manipula as mp
from manipula.analysis.identification.from_log import identify_log
from manipula.analysis.identification.read_log import read_log
from manipula.errors import DescriptionError
from manipula.model import Model
from manipula.physics.regressor import parameters
from measured_logs import motion, recorded, torques
from strategies import random_robot

LAW = {"viscous": 0.4, "coulomb": np.array([0.6, 0.3]), "v_0": 0.05, "offset": np.array([0.1, -0.2])}
TERMS = ("viscous", "coulomb", "offset")


@pytest.fixture(scope="module")
def arm():
    return Model(mp.planar([0.5, 0.4], [3.0, 2.0]))


@pytest.fixture(scope="module")
def moved(arm):
    return motion(arm)


@pytest.fixture(scope="module")
def clean(arm, moved):
    return torques(arm, *moved[1:], LAW)


def truth(found, robot, law=LAW):
    """Base parameters of the truth."""
    n = robot.n
    values = [parameters(robot)]
    values += [np.broadcast_to(law.get(extra, 0.0), n) for extra in found.base.columns.extras]
    return found.base.values(np.concatenate(values).astype(float))


def test_a_clean_log_gives_the_truth_back(arm, moved, clean):
    found = identify_log(arm, recorded(arm, moved, clean), extras=TERMS, smooth=0.05, cutoff=25.0)
    wanted = truth(found.found, arm.robot)
    assert np.max(np.abs(found.found.beta - wanted)) < 2e-4 * np.max(
        np.abs(wanted)
    )  # what the filter of the signals leaves out
    assert found.training.rms == pytest.approx(0.0, abs=2e-3)
    assert found.not_excited == ()


def test_widths_of_dry_friction_are_found(arm, moved):
    law = LAW | {"stribeck": np.array([0.5, 0.4]), "v_s": 0.25, "v_0": 0.04}
    log = recorded(arm, moved, torques(arm, *moved[1:], law), noise=0.01)
    found = identify_log(arm, log, extras=(*TERMS, "stribeck"), cutoff=25.0)
    assert found.found.base.columns.smooth == pytest.approx([0.04] * 2, rel=0.2)
    assert found.found.base.columns.v_stribeck == pytest.approx([0.25] * 2, rel=0.2)
    assert found.found.friction["stribeck"] == pytest.approx(law["stribeck"], rel=0.1)
    law = found.robot.joints[0].friction
    assert law.static == pytest.approx(1.1, rel=0.05)
    assert law.offset == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("decimate", [None, 1, 10])
def test_intervals_cover_the_truth_as_often_as_they_promise(arm, moved, clean, decimate):
    """Noise on the torque, encoder steps of 0.1 mrad: 30 logs, all base parameters, whatever noise neighbouring samples share behind the filter."""
    inside, distance = [], []
    for seed in range(30):
        log = recorded(arm, moved, clean, noise=0.5, ticks=1e-4, seed=seed)
        given = {"extras": TERMS, "smooth": 0.05, "cutoff": 12.0, "decimate": decimate}
        found = identify_log(arm, log, **given, physical=False, confidence=0.9).found
        wanted = truth(found, arm.robot)
        inside.append((found.interval[:, 0] <= wanted) & (wanted <= found.interval[:, 1]))
        error = found.beta - wanted
        distance.append(error @ np.linalg.solve(found.covariance, error) / len(error))
    assert 0.84 < np.mean(inside) < 0.96  # 30 × 9 numbers, partly dependent: about ±0.03
    assert 0.75 < np.mean(distance) < 1.35  # χ²/b


def test_friction_terms_are_chosen_by_cross_validation(arm, moved, clean):
    found = identify_log(arm, recorded(arm, moved, clean, noise=0.1), smooth=0.05, validate=0.4)
    assert set(found.extras) == set(TERMS)  # neither rotor inertia nor a Stribeck peak is there
    assert found.validation is not None
    assert found.validation.rms == pytest.approx(found.training.rms, rel=0.5)
    assert np.all(found.cross_rms >= found.training.rms)  # blocks of a second that were not seen
    assert found.cross_rms.max() < 0.2


def test_the_text_says_friction_with_its_interval(arm, moved, clean):
    found = identify_log(arm, recorded(arm, moved, clean, noise=0.1), extras=TERMS, smooth=0.05)
    base, one = found.found.base, arm.robot.joint_names[0]
    k = base.names.index("fv1")
    half = np.diff(found.found.interval[k])[0] / 2
    assert found.friction_heads() == ("joint", *TERMS, "width v_0")
    assert found.friction_rows()[0][:2] == (one, f"{found.found.beta[k]:.4g} ± {half:.2g}")
    assert all(cell in found.text() for row in found.friction_rows() for cell in row)


def test_friction_is_chosen_joint_by_joint(arm, moved):
    law = {"viscous": np.array([0.4, 0.0]), "coulomb": np.array([0.0, 0.3]), "v_0": 0.05}
    log = recorded(arm, moved, torques(arm, *moved[1:], law))
    one, two = arm.robot.joint_names
    found = identify_log(arm, log, extras={one: "viscous", two: ("coulomb",)}, smooth=0.05, cutoff=25.0)
    assert found.found.friction["viscous"] == pytest.approx([0.4, 0.0], abs=2e-3)
    assert found.found.friction["coulomb"] == pytest.approx([0.0, 0.3], abs=2e-3)
    assert found.training.rms == pytest.approx(0.0, abs=5e-3)
    with pytest.raises(DescriptionError, match="nobody"):
        identify_log(arm, log, extras={"nobody": "viscous"})


def test_what_does_not_move_is_told_and_stays_at_the_prior():
    model = Model(random_robot(np.random.default_rng(4), 3))
    moved = motion(model, seed=1, still=(2,))
    log = recorded(model, moved, torques(model, *moved[1:], {"viscous": 0.5, "coulomb": 0.2, "v_0": 0.05}), noise=0.01)
    with_last = model.robot.joints[2]
    found = identify_log(model, log, extras=("viscous", "coulomb"), smooth=0.05, cutoff=10.0)
    assert {"fv3", "fc3"} <= set(found.not_excited)
    assert not {"fv1", "fc1", "fv2", "fc2"} & set(found.not_excited)
    assert found.robot.joints[2].friction.damping == pytest.approx(0.0, abs=1e-2)  # the prior: none
    assert with_last.friction is None
    assert np.isinf(found.found.standard_deviation[list(found.found.not_excited)]).all()
    assert "fv3" in found.text()
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_identified_robot_is_kept_in_a_file(arm, moved, clean, tmp_path):
    found = identify_log(arm, recorded(arm, moved, clean, noise=0.05), extras=TERMS)
    mp.save(found.robot, tmp_path / "arm.toml")
    again = mp.load(tmp_path / "arm.toml")
    assert again == found.robot
    _, q, qd, qdd = (x[100:110] for x in moved)
    own = mp.compile(again).inverse_dynamics(q, qd, qdd) + np.array(
        [[joint.friction.torque(v) for joint, v in zip(again.joints, row)] for row in qd]
    )
    assert own == pytest.approx(found.found.predict(q, qd, qdd, physical=True), abs=1e-9)
    assert own == pytest.approx(clean[100:110], abs=0.2)


def test_unevenly_sampled_logs_are_resampled_and_say_so(arm, moved, clean):
    rng = np.random.default_rng(3)
    kept = np.sort(rng.choice(len(moved[0]), len(moved[0]) - 300, replace=False))
    log = recorded(arm, tuple(x[kept] for x in moved), clean[kept])
    found = identify_log(arm, log, extras=TERMS, smooth=0.05, cutoff=15.0)
    assert any("resampled" in note for note in found.notes)
    wanted = truth(found.found, arm.robot)
    assert np.max(np.abs(found.found.beta - wanted)) < 5e-3 * np.max(np.abs(wanted))


@pytest.mark.parametrize("gap", [0.2, 1.0, 2.5])
def test_nothing_is_made_up_in_a_gap(arm, moved, clean, gap):
    t = moved[0]
    kept = (t < 3.0) | (t > 3.0 + gap)
    log = recorded(arm, tuple(x[kept] for x in moved), clean[kept])
    found = identify_log(arm, log, extras=TERMS, smooth=0.05, cutoff=15.0)
    wanted = truth(found.found, arm.robot)
    assert np.max(np.abs(found.found.beta - wanted)) < 1e-3 * np.max(np.abs(wanted))
    reach = 1.0 / 15.0 + 3.0 / 60.0  # what both filters spoil
    used = found.training.t + t[0] + reach
    assert not np.any((used > 3.0 - reach + 0.01) & (used < 3.0 + gap + reach - 0.01))
    note = next(note for note in found.notes if "gap" in note)
    assert float(note.split("; ")[1].split(" s")[0]) == pytest.approx(gap + 2 * reach, abs=0.01)


def test_a_gap_leaves_the_intervals_as_true_as_they_say(arm, moved, clean):
    t = moved[0]
    kept = (t < 3.0) | (t > 4.0)
    inside = []
    for seed in range(5):
        log = recorded(arm, tuple(x[kept] for x in moved), clean[kept], noise=0.1, seed=seed)
        found = identify_log(arm, log, extras=TERMS, smooth=0.05, cutoff=15.0).found
        low, high = np.asarray(found.interval).T
        wanted = truth(found, arm.robot)
        inside += ((low <= wanted) & (wanted <= high)).tolist()
    assert np.mean(inside) > 0.85


def test_pieces_that_are_too_short_are_refused(arm, moved, clean):
    t = moved[0]
    kept = t % 0.5 < 0.15
    log = recorded(arm, tuple(x[kept] for x in moved), clean[kept])
    with pytest.raises(DescriptionError, match=r"gaps of up to 0\.3[0-9]* s, are too short"):
        identify_log(arm, log, extras=TERMS, smooth=0.05, cutoff=15.0)


def test_positions_alone_are_enough(arm, moved, clean):
    t, q, _, _ = moved
    log = read_log({"t": t, "q": q, "tau": clean}, arm)
    found = identify_log(arm, log, extras=TERMS, smooth=0.05, cutoff=25.0)
    assert any("derived" in note for note in found.notes)
    wanted = truth(found.found, arm.robot)
    assert np.max(np.abs(found.found.beta - wanted)) < 1e-3 * np.max(np.abs(wanted))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cutoff": 300.0}, "at most"),
        ({"cutoff": 0.1}, "too short"),
        ({"cutoff": -1.0}, "greater than 0"),
        ({"velocity": "guessed"}, "allowed"),
        ({"extras": "sticky"}, "sticky"),
        ({"validate": 1.5}, "share"),
        ({"validate": "other.csv"}, "validate"),
        ({"decimate": 0}, "allowed"),
        ({"smooth": [0.1, 0.2, 0.3]}, "smooth"),
        ({"smooth": -1.0}, "negative"),
        ({"confidence": 2.0}, "between 0 and 1"),
    ],
)
def test_requests_that_cannot_be_met_are_refused(arm, moved, clean, change, words):
    with pytest.raises(mp.ManipulaError, match=words):
        identify_log(arm, recorded(arm, moved, clean), **change)


def test_logs_without_torque_or_of_another_robot_are_refused(arm, moved, clean):
    t, q, _, _ = moved
    with pytest.raises(DescriptionError, match="no columns of 'tau'"):
        identify_log(arm, read_log({"t": t, "q": q}, arm))
    with pytest.raises(DescriptionError, match="The log is of joints"):
        identify_log(mp.load("panda"), recorded(arm, moved, clean))
    with pytest.raises(DescriptionError, match="must be a Log"):
        identify_log(arm, {"t": t})  # type: ignore[arg-type]


def test_the_report_is_one_page_without_a_network(arm, moved, clean, tmp_path):
    found = identify_log(arm, recorded(arm, moved, clean, noise=0.05), extras=TERMS, validate=0.3)
    page = found.report(tmp_path / "found.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("data:image/svg+xml") == 2
    assert "http://" not in page.replace("http://www.w3.org", "")
    for words in ("Residual per joint", "Base parameters", "What the motion does not show", "validation"):
        assert words in page
    with pytest.raises(DescriptionError, match="html"):
        found.report(tmp_path / "found.pdf")


def test_ends_in_the_middle_of_the_motion_spoil_nothing(arm, moved, clean):
    """Accelerations of positions alone are wrong at ends where the arm moves; no sample that is used knows of them."""
    log = recorded(arm, moved, clean).part(1.7, 6.3)
    found = identify_log(arm, log, extras=TERMS, smooth=0.05, cutoff=8.0, velocity="derived", physical=False)
    rest = np.abs(found.training.measured - found.training.predicted).max(axis=1)
    assert np.concatenate([rest[:2], rest[-2:]]).max() < 1e-4 * found.training.size.max()
