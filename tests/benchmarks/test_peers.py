"""Benchmarks against other libraries compare the same physics, and say why when they cannot run."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import manipula as mp

AGREEMENT = 1e-9  # MuJoCo's servo forces and gravity compensation against ours, O(100) accelerations


@pytest.fixture
def peers():
    from manipula.bench.peers import peers

    return peers()


@pytest.fixture
def quick(monkeypatch, peers):
    ran = []

    def once(call, **options):
        call()
        ran.append(call)
        return float(len(ran))

    for module in peers.values():
        if hasattr(module, "nanoseconds"):
            monkeypatch.setattr(module, "nanoseconds", once)
    return peers


@pytest.fixture
def urdf(tmp_path):
    path = tmp_path / "arm.urdf"
    mp.save(mp.load("panda"), str(path))
    return path


def test_a_peer_that_is_not_available_says_why(peers, monkeypatch):
    for name, module in peers.items():
        monkeypatch.setattr(module, "missing", lambda *names: f"{names[0]} is not installed.")
        assert not module.available(), name
        assert module.reason().endswith("is not installed.")


@pytest.mark.filterwarnings("default")  # of other libraries
@pytest.mark.parametrize("name", ["pinocchio_python", "mujoco_peer", "toolbox", "casadi_peer", "numba_peer"])
def test_an_installed_peer_runs(quick, urdf, name):
    module = quick[name]
    if not module.available():
        pytest.skip(module.reason())
    times = module.time_functions(urdf)
    assert "inverse_dynamics" in times
    assert len(set(times.values())) == len(times), "each time is that of a call of its own"


def test_mujoco_closed_loop_is_pd_control_with_gravity_compensation(peers, urdf):
    peer = peers["mujoco_peer"]
    if not peer.available():
        pytest.skip(peer.reason())
    mujoco = pytest.importorskip("mujoco")
    from manipula.bench.peers import timing

    model = peer.closed_loop_model(urdf)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(2)
    data.qpos[:], data.qvel[:], data.ctrl[:] = rng.normal(size=(3, model.nv))
    mujoco.mj_forward(model, data)
    arm = mp.compile(mp.load(str(urdf)))
    kp, kv = timing.servo_gains(np.diag(arm.mass_matrix(np.full(arm.n, timing.GOAL))))
    tau = kp * (data.ctrl - data.qpos) - kv * data.qvel + arm.gravity(data.qpos)
    expected = arm.forward_dynamics(data.qpos, data.qvel, tau)
    assert np.allclose(data.qacc, expected, rtol=AGREEMENT, atol=AGREEMENT * np.abs(expected).max())


def test_the_clock_measures_time_per_call(monkeypatch):
    from manipula.bench.peers import timing

    ticks = iter(np.arange(0.0, 10.0, 1e-3).tolist())
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(ticks))
    calls = []
    measured = timing.nanoseconds(lambda: calls.append(1), window=2e-3, total=0.02)
    assert measured == pytest.approx(1e6)  # a clock that moves 1 ms per look, one call per window


def test_modules_leave_no_trace(monkeypatch):
    before = set(sys.modules)
    from manipula.bench import peers

    peers.peers()
    heavy = {"casadi", "numba", "roboticstoolbox"}
    assert not heavy & (set(sys.modules) - before)
