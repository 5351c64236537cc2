"""Sensitivities of a study: the exchange design against a closed form, and columns of real runs."""

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError, UnknownNameError
from manipula.studies.draws import unit_numbers
from tuned_arm import GAINS, one_joint


def test_the_exchange_design_gives_the_indices_of_ishigami():
    d, groups = 3, 4096
    runs = np.arange((d + 2) * groups)
    u = unit_numbers("saltelli", 11, runs, len(runs), d).reshape(groups, d + 2, d)
    x = np.pi * (2.0 * u - 1.0)
    y = np.sin(x[..., 0]) + 7.0 * np.sin(x[..., 1]) ** 2 + 0.1 * x[..., 2] ** 4 * np.sin(x[..., 0])
    found = mp.sobol_indices(x[:, 0], y[:, 0], y[:, 1], y[:, 2:])
    np.testing.assert_allclose(found.first, [0.3139, 0.4424, 0.0], atol=0.01)
    np.testing.assert_allclose(found.total, [0.5576, 0.4424, 0.2437], atol=0.01)


def test_runs_of_the_exchange_design_are_found_alone():
    together = unit_numbers("saltelli", 3, np.arange(20), 20, 2)
    alone = np.concatenate([unit_numbers("saltelli", 3, np.array([r]), 20, 2) for r in range(20)])
    assert np.array_equal(together, alone)
    a, b, first, second = together[:4]
    assert (first[0], first[1]) == (b[0], a[1])
    assert (second[0], second[1]) == (a[0], b[1])


def test_groups_are_whole():
    with pytest.raises(DescriptionError, match=r"groups of 4 .* 12 is"):
        mp.Study(one_joint(), vary=GAINS, samples=11, design="saltelli")


@pytest.mark.parametrize(("design", "samples"), [("saltelli", 64), ("sobol", 64)])
def test_the_start_torque_depends_on_kp_alone(tmp_path, design, samples):
    """tau(0) = kp · 0.3 rad is the largest torque of well damped runs: kp explains its variance, kv nothing."""
    vary = {"controller.kp": mp.uniform(50, 100), "controller.kv": mp.uniform(15, 20)}
    made = mp.sweep(mp.Study(one_joint(), vary=vary, samples=samples, design=design, seed=2), tmp_path / "s", "serial")
    found = made.sensitivity("tau_max")
    assert found.rank[0] > 0.999
    assert abs(found.rank[1]) < 0.4
    assert found.order == (0, 1)
    if design == "saltelli":
        assert found.used == samples // 4
        np.testing.assert_allclose(found.total, [1.0, 0.0], atol=0.35)
        assert found.total[1] == pytest.approx(0.0, abs=1e-20)
    with pytest.raises(UnknownNameError, match="tau_max"):
        made.sensitivity("tau_mx")
    with pytest.raises(DescriptionError, match="need an answer"):
        made.sensitivity("controller.kp")


def test_pictures(tmp_path):
    vary = {"controller.kp": mp.uniform(50, 100), "controller.kv": mp.uniform(15, 20)}
    made = mp.sweep(mp.Study(one_joint(), vary=vary, samples=24), tmp_path / "s", "serial")
    for kind in ("scatter", "histogram", "surface", "sensitivity"):
        made.plot(kind, path=tmp_path / f"{kind}.png")
        assert (tmp_path / f"{kind}.png").stat().st_size > 5000
    with pytest.raises(UnknownNameError, match="error_rms"):
        made.plot("scatter", y="error_rmse")
    with pytest.raises(DescriptionError, match="one column: y"):
        made.plot("histogram", x="controller.kp")
    with pytest.raises(UnknownNameError, match="surface"):
        made.plot("surfaces")
