"""The jerk of a run is a property of its motion, not of how often it was recorded."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import manipula as mp
from manipula.analysis.feasibility import feasibility

ARM = mp.load("planar-2r")
MOVE = mp.trajectory(mp.paths.joint([[0.0, 0.0], [1.0, -0.8]]), mp.timing.quintic(1.0))
LINE = mp.trajectory(mp.paths.line([1.2, 0.3, 0.0], [0.5, 1.0, 0.0]), mp.timing.quintic(1.0))
CONTROL = mp.control.ComputedTorque(100.0, 20.0)
THREE = mp.planar(lengths=[0.8, 0.6, 0.4], masses=[3.0, 2.0, 1.0])
SAMPLES = (1e-2, 1e-3, 1e-4)


def stretched(sample: float) -> mp.ProgramScenario:
    laws = [mp.friction.Dahl(1e3, 1.0), *[mp.friction.Viscous(1.0)] * 3]
    program = ["(x/0.5)**2 + (y/0.4)**2 = 1", "z = 0.1"]
    return mp.ProgramScenario(mp.load("jarzebowska-4"), program, q0=[0.0, 1.5 * np.pi, 0.0, 0.3], drives={0: 20.0}, friction=laws,
                              duration=0.2, step=1e-4, sample=sample, verify=False)  # fmt: skip


RUNS = {
    "closed loop": lambda h: mp.Scenario(ARM, MOVE, CONTROL, q0=[0.1, 0.2], step=1e-4, sample=h, verify=False),
    "free": lambda h: mp.Scenario(ARM, q0=[0.1, 0.2], duration=0.5, step=1e-4, sample=h, tolerance=1e-9, verify=False),
    "rubbing": lambda h: mp.Scenario(ARM, q0=[0.1, 0.2], duration=0.5, step=1e-4, sample=h, verify=False,
                                     friction=(mp.friction.Coulomb(3.0), mp.friction.Viscous(0.5))),
    "kinematic": lambda h: mp.Scenario(THREE, LINE, q0=[-0.4, 1.0, 0.5], kind="kinematic", start="project", gain=10.0, step=1e-4, sample=h, verify=False),
    "laid along a line": lambda h: mp.Scenario(ARM, LINE, kind="inverse_dynamics", step=1e-3, sample=max(h, 1e-3)),
    "laid along a move": lambda h: mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=1e-4, sample=h),
    "programmed": stretched,
}  # fmt: skip


def done(described: object) -> mp.Result:
    return described.run() if isinstance(described, mp.ProgramScenario) else mp.simulate(described)  # pyright: ignore


@pytest.mark.parametrize("kind", list(RUNS))
def test_the_same_run_has_the_same_jerk_however_it_is_recorded(kind: str) -> None:
    results = [done(RUNS[kind](h)) for h in SAMPLES]
    jerks = [r.jerk() for r in results]
    tips = [r.jerk("tip") for r in results]
    for jerk, tip, result in zip(jerks, tips, results):
        assert jerk.exact
        assert not jerk.jumps
        assert jerk.largest == pytest.approx(jerks[-1].largest, rel=1e-6)
        assert tip.signal()[1].max() == pytest.approx(tips[-1].signal()[1].max(), rel=1e-6)
        every = round((result.t[1] - result.t[0]) / results[-1].t[1])
        common = min(len(result.t), (len(jerks[-1].t) - 1) // every + 1)
        scale = np.abs(jerks[-1].values).max()
        assert np.abs(jerk.values[:common] - jerks[-1].values[::every][:common]).max() < 1e-6 * scale


def test_a_pendulum_has_the_jerk_of_the_textbook() -> None:
    """θ̈ = −(3g/2L) sin θ for a rod, so the jerk is −(3g/2L) cos θ · θ̇."""
    rod = mp.planar(lengths=[0.7], masses=[2.0]).replace(gravity=(0.0, -9.81, 0.0))
    result = mp.simulate(mp.Scenario(rod, q0=[0.4], duration=2.0, step=1e-3, sample=0.05, tolerance=1e-9))
    k = 3 * 9.81 / (2 * 0.7)
    expected = k * np.sin(result.q[:, 0]) * result.qd[:, 0]  # the angle is counted from the horizontal
    assert result.jerk().values[:, 0] == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())
    fine = mp.simulate(mp.Scenario(rod, q0=[0.4], duration=2.0, step=1e-3, sample=1e-3, tolerance=1e-9))
    peak = np.abs(k * np.sin(fine.q[:, 0]) * fine.qd[:, 0]).max()
    assert result.jerk().largest[0] == pytest.approx(peak, rel=1e-4)
    assert result.jerk().largest[0] >= peak * (1 - 1e-9)


def test_a_reference_gives_its_own_jerk() -> None:
    result = mp.simulate(mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=1e-2))
    assert result.jerk().values == pytest.approx(MOVE.derivatives(result.t, 3)[3], abs=1e-9)
    assert result.jerk().largest == pytest.approx([60.0, 48.0], rel=1e-9)  # 60 D/T³
    followed = mp.simulate(mp.Scenario(ARM, MOVE, CONTROL, step=1e-3, sample=1e-2))
    assert followed.jerk().largest == pytest.approx([60.0, 48.0], rel=1e-6)
    along = mp.simulate(mp.Scenario(ARM, LINE, kind="inverse_dynamics", step=1e-2))
    assert along.jerk("tip").values == pytest.approx(LINE.derivatives(along.t, 3)[3], abs=1e-6)


@pytest.mark.parametrize("sample", [1e-2, 1e-3])
@pytest.mark.parametrize(
    ("described", "instants"),
    [
        (mp.Scenario(ARM, mp.trajectory(mp.paths.joint([[0.0, 0.0], [1.0, 0.6]]), mp.timing.trapezoid(1.0, 4.0)),
                     kind="inverse_dynamics", step=1e-3), None),
        (mp.Scenario(ARM, MOVE, CONTROL, disturbances=(mp.Wrench((0, 10.0, 0, 0, 0, 0), "tip", 0.3, 0.5),), step=1e-3,
                     verify=False), (0.3, 0.5)),
    ],
)  # fmt: skip
def test_a_jump_of_the_acceleration_is_named_not_sampled(
    described: mp.Scenario, instants: tuple | None, sample: float
) -> None:
    if instants is None:
        instants = tuple(described.reference.breaks[1:-1])
    jerk = mp.simulate(described.replace(sample=sample)).jerk()
    assert np.isinf(jerk.largest).all()
    assert sorted({round(t, 4) for _, _, t in jerk.jumps}) == pytest.approx(sorted(instants), abs=1e-4)
    assert "infinite" in jerk.remark


def test_a_held_command_jumps_every_step() -> None:
    result = mp.simulate(mp.Scenario(ARM, MOVE, CONTROL, noise=mp.Noise(1e-6, 1e-5), step=1e-3, sample=1e-2))
    assert np.isinf(result.jerk().largest).all()
    assert "every 0.001 s" in result.jerk().remark


def test_a_program_that_is_run_directly_has_an_exact_jerk_too() -> None:
    described = stretched(1e-3)
    told = {"duration": 0.2, "step": 1e-4, "sample": 1e-3, "verify": False, "start": "project"}
    direct = described.motion.run(described.q0, **told)
    assert direct.jerk().exact
    assert direct.jerk().largest == pytest.approx(described.replace(start="project").run().jerk().largest, rel=1e-9)


def test_a_controller_in_python_is_followed_along_the_flow() -> None:
    def compiled(t, q, qd, target):
        return [20.0 + 10.0 * (0.3 - q[0]) - qd[0], 5.0 - 5.0 * q[1] - qd[1]]

    def in_python(t, q, qd, target):
        return [20.0 + 10.0 * (0.3 - math.fsum([q[0]])) - qd[0], 5.0 - 5.0 * q[1] - qd[1]]

    found = []
    for f in (compiled, in_python):
        run = mp.Scenario(
            ARM, controller=mp.control.UserFunction(f), q0=[0.0, 0.1], duration=0.1, step=1e-3, sample=1e-2
        )
        found.append(mp.simulate(run).jerk())
    assert found[0].exact
    assert not found[1].exact
    assert found[1].largest == pytest.approx(found[0].largest, rel=1e-6)


def test_a_result_that_does_not_carry_its_scenario_says_how_far_it_may_be_off(tmp_path) -> None:
    run = mp.Scenario(ARM, MOVE, CONTROL, q0=[0.1, 0.2], step=1e-3, sample=1e-2)
    result = mp.simulate(run)
    result.save(tmp_path / "run.nc")
    loaded = mp.load_result(tmp_path / "run.nc")
    assert loaded.scenario is None
    assert loaded.jerk().exact  # the file holds the scenario
    assert loaded.jerk() == result.jerk()
    bare = replace(loaded, meta={k: v for k, v in loaded.meta.items() if k != "scenario_toml"})
    jerk = bare.jerk()
    assert not jerk.exact
    assert "estimated" in jerk.remark
    assert np.abs(jerk.values - result.jerk().values).max() <= jerk.error


@pytest.mark.parametrize("sample", [1e-2, 1e-3])
def test_a_limit_of_jerk_is_judged_alike(sample: float) -> None:
    """ComputedTorque from an offset: the largest jerk is that of the first instant, (kv² − kp)·kp… whatever the record."""
    exact = mp.simulate(mp.Scenario(ARM, MOVE, CONTROL, q0=[0.1, 0.2], step=1e-4, sample=1e-4)).jerk().largest
    result = mp.simulate(mp.Scenario(ARM, MOVE, CONTROL, q0=[0.1, 0.2], step=1e-4, sample=sample))
    assert feasibility(result, {"jerk": (1 + 1e-5) * exact}).feasible
    assert not feasibility(result, {"jerk": (1 - 1e-5) * exact}).feasible
    trapezoid = mp.trajectory(mp.paths.joint([[0.0, 0.0], [1.0, 0.6]]), mp.timing.trapezoid(1.0, 4.0))
    verdict = feasibility(trapezoid, {"jerk": 1e9})
    assert not verdict.feasible
    assert verdict.slow_down == np.inf
    assert "infinite" in verdict.reason
