"""A verification looks at every joint by its own size and at every run of a batch."""

from __future__ import annotations

import numpy as np

import manipula as mp
from manipula.simulation.stepping.verification import compare

SCREW = mp.from_dh(
    [{"joint": "revolute", "mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}, {"joint": "prismatic", "mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}],
    "standard", gravity=(0, 0, 0), name="screw",
)  # turning and sliding do not touch each other  # fmt: skip


def screw(spin: float, method: str = "rk4") -> mp.Result:
    """The second joint swings at 1600 rad/s on a spring while the first one turns freely."""
    spring = mp.control.PD((0.0, 1600.0**2), 0.0, goal=[0.0, 0.0])
    return mp.simulate(
        mp.Scenario(
            SCREW, q0=[0.0, 0.5], qd0=[spin, 0.0], controller=spring, duration=0.2, sample=0.05, integrator=method
        )
    )


def test_a_joint_that_spins_hides_nothing() -> None:
    truth = 0.5 * np.cos(1600.0 * 0.2)
    result = screw(1e7)
    assert abs(result.q[-1, 1] - truth) > 0.1
    assert result.status == "inaccurate"
    still = screw(0.0)
    assert abs(result.error_estimate / still.error_estimate - 1.0) < 1e-6  # the neighbour changes nothing about it
    fine = screw(1e7, "dop853")
    assert fine.ok
    assert abs(fine.q[-1, 1] - truth) <= 1e-5


def test_one_run_of_a_thousand_is_judged_by_itself() -> None:
    gains = np.full(1000, 60.0)
    gains[617] = 6000.0 * 10
    run = mp.Scenario(
        mp.load("planar-2r"), controller=mp.control.PDGravity(60.0, 15.0, goal=[0.2, -0.1]), q0=[0.1, 0.1], duration=0.4, sample=0.1,
        tolerance=1e-4, integrator="rk4", vary={"controller.kp": gains},
    )  # fmt: skip
    result = mp.simulate(run)
    assert [k for k, s in enumerate(result.statuses) if s != "finished"] == [617]
    assert result.status == "inaccurate"
    assert "1 of 1000" in result.reason
    assert len(result.error_estimates) == 1000
    assert result.run(617).error_estimate == result.error_estimate > 1e-4
    assert result.run(616).error_estimate < 1e-4
    alone = mp.simulate(run.replace(vary=None))
    assert result.run(616).error_estimate == alone.error_estimate

    cured = mp.simulate(run.replace(integrator="auto"))
    assert cured.ok
    assert any("617" in note for note in cured.notes)
    assert np.array_equal(np.delete(cured.q, 617, 0), np.delete(result.q, 617, 0))
    stiff = mp.simulate(
        run.replace(vary=None, integrator="rodas", controller=mp.control.PDGravity(gains[617], 15.0, goal=[0.2, -0.1]))
    )
    assert np.array_equal(cured.q[617], stiff.q)


def test_states_of_drives_are_verified_too() -> None:
    """The motor of a soft drive swings at 2000 rad/s; the link behind it hardly notices."""
    from dataclasses import replace

    arm = mp.planar([1.0], [3e4], gravity=(0, 0, 0))
    arm = arm.replace(joints=tuple(replace(j, rotor_inertia=1e-4) for j in arm.joints))
    run = mp.Scenario(
        arm, q0=[0.0], drives=(mp.drives.Flexible(400.0),), duration=0.1, integrator="rk4",
        controller=mp.control.UserFunction(lambda t, q, qd, target: np.array([100.0])),
    )  # fmt: skip
    assert mp.simulate(run).status == "inaccurate"
    assert mp.simulate(run.replace(step=1e-5, sample=0.01)).ok


def test_what_becomes_large_later_excuses_nothing_before() -> None:
    """A coordinate is measured by its size so far."""
    t = np.arange(3.0)
    fine = np.array([[0.5], [0.5], [1e4]])
    coarse = fine + np.array([[0.0], [1e-5], [0.0]])
    error, until = compare(coarse, fine, t, 1e-6)
    assert abs(float(error) - 1e-5) < 1e-12
    assert float(until) == 0.0


def test_one_joint_of_seven_is_enough() -> None:
    """The error of a run is that of its worst coordinate, and what agrees again later is not trusted again."""
    t, fine = np.arange(4.0), np.full((4, 7), 0.5)
    coarse = fine.copy()
    coarse[2, 3] += 2e-6
    error, until = compare(coarse, fine, t, 1e-6)
    assert abs(float(error) - 2e-6) < 1e-15
    assert float(until) == 1.0


def test_a_repetition_that_ends_before_its_run_says_no() -> None:
    t, coarse = np.arange(4.0), np.full((4, 2), 0.5)
    fine = coarse.copy()
    fine[2:] = np.nan
    assert float(compare(coarse, fine, t, 1e-6)[0]) == np.inf
    assert float(compare(fine, coarse, t, 1e-6)[0]) == 0.0  # a run that ended early is judged as far as it got
