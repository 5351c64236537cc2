"""What every friction law must obey, and what each of them promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import manipula as mp
from manipula import native
from manipula.algebra.jet import Jet
from manipula.errors import DescriptionError
from manipula.formats.toml import to_toml
from manipula.robot.friction import (
    REGISTRY,
    Asymmetric,
    Coulomb,
    Dahl,
    LoadDependent,
    LuGre,
    Stiction,
    Stribeck,
    Viscous,
)
from manipula.robot.friction.base import FrictionLaw

LAWS: dict[str, FrictionLaw] = {
    "viscous": Viscous(0.7),
    "coulomb": Coulomb(2.0, width=0.01, damping=0.3),
    "stribeck": Stribeck(3.0, 1.5, v_stribeck=0.1, width=0.005, damping=0.2),
    "asymmetric": Asymmetric(2.0, 1.0, damping_forward=0.4, damping_backward=0.1, width=0.01),
    "stiction": Stiction(3.0, 1.5, v_stribeck=0.1, damping=0.2),
    "dahl": Dahl(stiffness=200.0, level=1.5, damping=0.1),
    "lugre": LuGre(300.0, 1.0, 0.02, v_stribeck=0.05, mu_static=0.3, mu_kinetic=0.2, diameter=0.08, load=40.0),
    "load_dependent": LoadDependent(0.15, level=0.2, diameter=0.05, width=0.01, damping=0.1),
}
LOAD = 35.0  # N
ROUNDING = (
    4e-15  # a few operations on numbers of size 1 to 10; compiled exp and tanh are good to 2 units in the last place
)
SPEEDS = np.concatenate([-np.logspace(1, -5, 25), [0.0], np.logspace(-5, 1, 25)])
SLOPE = 1e-6  # central differences of steep functions


def test_every_law_has_an_example() -> None:
    assert set(LAWS) == set(REGISTRY)
    assert all(type(LAWS[name]) is law for name, law in REGISTRY.items())


@pytest.mark.parametrize("name", [k for k, law in LAWS.items() if not law.states])
def test_laws_without_memory_never_drive(name: str) -> None:
    law = LAWS[name]
    torque = np.array([law.torque(v, (), LOAD) for v in SPEEDS])
    assert law.torque(0.0, (), LOAD) == 0.0
    assert np.all(torque * SPEEDS >= 0.0)
    assert np.all(torque[SPEEDS > 1e-3] > 0.0)


@pytest.mark.parametrize("name", sorted(LAWS))
def test_compiled_law_is_the_law(name: str) -> None:
    law = LAWS[name]

    def both(qd, z, load):
        state = tuple(z)[: law.states]
        return {
            "torque": law.torque(qd, state, load),
            "rate": np.array([*law.state_rate(qd, state, load), 0.0], object),
        }

    kernel = native.compile_function(both, {"qd": (), "z": (1,), "load": ()})
    z = np.random.default_rng(3).uniform(-2e-3, 2e-3, (len(SPEEDS), 1))
    torque, rate = kernel(SPEEDS, z, LOAD)
    for k, v in enumerate(SPEEDS):
        state = tuple(z[k])[: law.states]
        expected = float(law.torque(float(v), state, LOAD))
        assert abs(torque[k] - expected) <= ROUNDING * (1 + abs(expected))
        for a, b in zip(rate[k], law.state_rate(float(v), state, LOAD)):
            assert abs(a - b) <= ROUNDING * (1 + 1e3 * abs(v))


@pytest.mark.parametrize(
    "law", [*LAWS.values(), Stiction(2.0), Stiction(2.0, 1.0), Stiction(3.0, 0.0, v_stribeck=1e-310)]
)
def test_sliding_is_the_torque_of_a_joint_that_slides(law: FrictionLaw) -> None:
    """Also on compiled numbers, near zero speed and where the static level has faded; a law that sticks knows its direction there."""
    kernel = native.compile_function(
        lambda qd, z, load: law.sliding(qd, tuple(z)[: law.states], load), {"qd": (), "z": (1,), "load": ()}
    )
    for v in (*SPEEDS, 0.63, 0.64, 1e-320):  # around (v/v_s)² = 40
        for way in (-1.0, 1.0) if law.sticks else (1e-3,):
            expected = float(law.torque(float(v), (way,)[: law.states], LOAD))
            if law.sticks and getattr(law, "v_stribeck", None) == 1e-310 and 0 < abs(v) < 1e-300:
                continue  # slower than any joint
            for found in (float(law.sliding(float(v), (way,)[: law.states], LOAD)), kernel(float(v), [way], LOAD)):
                assert abs(found - expected) <= ROUNDING * (1 + abs(expected))


@pytest.mark.parametrize(
    ("static", "kinetic"), [(2.0, 1.0), (1.0, 2.0), (1.5, 1.5), (0.7, 0.0), (0.0, 0.7), (0.0, 0.0), (3.0, 1e-9)]
)
def test_a_faded_static_level_is_left_out_where_it_changes_no_bit(static: float, kinetic: float) -> None:
    """The level at which a joint slides, by the torque far from the smoothed sign, is F_k + (F_s - F_k) exp(-(v/v_s)²) to the last bit."""
    law = Stribeck(static, kinetic, v_stribeck=0.125, width=2.0**-10)  # powers of two: no quotient is rounded
    kernel = native.compile_function(lambda qd: law.sliding(qd), {"qd": ()})
    exact = native.compile_function(lambda qd: law.torque(qd), {"qd": ()})
    speeds = np.linspace(0.1, 4.0, 20001)  # (v/v_s)² from below 1 to above 1000
    assert np.array_equal(kernel(speeds), exact(speeds))
    assert np.array_equal(kernel(-speeds), -kernel(speeds))


def test_a_run_asks_for_the_torque_that_somebody_wrote(monkeypatch) -> None:
    class Other(Stribeck):
        def torque(self, qd, state=(), load=0.0):
            return 0.25 * qd

    assert Stribeck(2.0, 1.0, 0.1).slides
    assert not Stiction(2.0).slides
    assert not Other(2.0, 1.0, 0.1).slides
    arm = mp.load("planar-2r")
    common = {"q0": [0.3, 0.2], "qd0": [1.0, -1.0], "duration": 0.2, "sample": 0.1}
    own, viscous = (
        mp.simulate(mp.Scenario(arm, friction=[law, law], **common)) for law in (Other(2.0, 1.0, 0.1), Viscous(0.25))
    )
    assert np.max(np.abs(own.q - viscous.q)) < 1e-12
    monkeypatch.setattr(Stribeck, "torque", Other.torque)
    assert not Stribeck(2.0, 1.0, 0.1).slides


@pytest.mark.parametrize("name", sorted(LAWS))
@pytest.mark.parametrize("speed", [-1.3, -0.02, 0.015, 0.6])
def test_taylor_numbers_carry_value_and_slope(name: str, speed: float) -> None:
    law = LAWS[name]
    state = (1e-3,) * law.states
    jet = law.torque(Jet.variable(speed, 1), state, LOAD)
    value = float(law.torque(speed, state, LOAD))
    assert abs(jet.derivative(0) - value) <= ROUNDING * (1 + abs(value))
    step = 1e-7
    slope = (law.torque(speed + step, state, LOAD) - law.torque(speed - step, state, LOAD)) / (2 * step)
    assert abs(jet.derivative(1) - slope) <= SLOPE * (1 + abs(slope)) * 10


@pytest.mark.parametrize("name", sorted(LAWS))
def test_files_keep_every_law(name: str) -> None:
    law = LAWS[name]
    as_dict = law.to_dict()
    assert as_dict.pop("law") == name
    assert REGISTRY[name](**as_dict) == law
    robot = mp.load("planar-2r")
    worn = robot.replace(joints=tuple(replace(j, friction=law) for j in robot.joints))
    again = mp.from_toml(to_toml(worn))
    assert again.joints[1].friction == law
    assert again == worn


def sliding(law: FrictionLaw, speed: float) -> float:
    """Torque after sliding at a constant speed until nothing changes any more."""
    end = 60.0 / (abs(speed) * 200.0)
    done = solve_ivp(
        lambda t, z: law.state_rate(speed, tuple(z), LOAD), (0, end), [0.0], method="LSODA", rtol=1e-10, atol=1e-14
    )
    return float(law.torque(speed, tuple(done.y[:, -1]), LOAD))


@pytest.mark.parametrize("speed", [-0.8, -0.03, 0.01, 0.05, 1.2])
def test_steady_sliding_follows_the_textbook_curve(speed: float) -> None:
    """Dahl slides at its level; LuGre on the Stribeck curve [Canudas de Wit et al. 1995, (8)]."""
    settled = 1e-7  # what is left of the transient after sixty times its length, and LSODA's tolerance
    dahl, lugre = LAWS["dahl"], LAWS["lugre"]
    assert isinstance(dahl, Dahl)
    assert isinstance(lugre, LuGre)
    assert abs(sliding(dahl, speed) - (np.sign(speed) * 1.5 + 0.1 * speed)) <= settled
    level = 0.2 + (0.3 - 0.2) * np.exp(-((speed / 0.05) ** 2))
    expected = (np.sign(speed) * level + 0.02 * speed) * 40.0 * 0.04
    assert abs(sliding(lugre, speed) - expected) <= settled


@pytest.mark.parametrize("name", ["dahl", "lugre"])
@pytest.mark.parametrize("amplitude", [2e-3, 0.05, 1.0])
def test_bristles_dissipate_over_a_cycle(name: str, amplitude: float) -> None:
    r"""A law is passive when :math:`\oint\tau\,dq > 0` once the memory repeats itself."""
    law = LAWS[name]
    frequency = 2 * np.pi

    def f(t: float, y: np.ndarray) -> list[float]:
        v = amplitude * frequency * np.cos(frequency * t)
        return [law.state_rate(v, (y[0],), LOAD)[0], law.torque(v, (y[0],), LOAD) * v]

    done = solve_ivp(f, (0, 12), [0.0, 0.0], method="LSODA", rtol=1e-9, atol=1e-12, t_eval=[10.0, 11.0, 12.0])
    cycle, repeated = np.diff(done.y[1])
    assert cycle > 0.0
    assert abs(repeated - cycle) <= 1e-3 * cycle  # the loop has closed


@pytest.mark.parametrize("name", ["dahl", "lugre"])
def test_presliding_is_a_spring(name: str) -> None:
    """The first motion meets the stiffness of the bristles: dτ/dq = σ (for LuGre σ₀ f_n d/2)."""
    law = LAWS[name]
    stiffness = 200.0 if name == "dahl" else 300.0 * 40.0 * 0.04
    z, speed = 1e-7, 1e-9
    (rate,) = law.state_rate(speed, (z,), LOAD)
    slope = (law.torque(0.0, (z + rate / speed * 1e-9,), LOAD) - law.torque(0.0, (z,), LOAD)) / 1e-9
    assert abs(slope / stiffness - 1.0) < 1e-3  # the spring has yielded by z over its breakaway deflection


def test_load_dependent_is_proportional_to_the_load() -> None:
    law = LoadDependent(0.15, diameter=0.05, width=1e-4)
    assert law.needs_load
    assert law.torque(1.0, (), 80.0) == pytest.approx(0.15 * 80.0 * 0.025, rel=1e-14)
    assert LoadDependent(0.15, width=1e-4).torque(1.0, (), 80.0) == pytest.approx(12.0, rel=1e-14)  # a slide


def test_coulomb_reaches_its_level_and_stribeck_falls() -> None:
    assert Coulomb(2.0, width=0.01).torque(0.01) == pytest.approx(2.0 * np.tanh(1.0), rel=1e-15)
    law = LAWS["stribeck"]
    peak, fast = law.torque(0.02), law.torque(0.5)
    assert peak > 2.8
    assert fast == pytest.approx(1.5 + 0.2 * 0.5, rel=1e-9)
    asymmetric = LAWS["asymmetric"]
    assert asymmetric.torque(1.0) == pytest.approx(2.4, rel=1e-14)
    assert asymmetric.torque(-1.0) == pytest.approx(-1.1, rel=1e-14)


LOADED = [
    (LoadDependent, {"coefficient": 0.1}),
    (LuGre, {"sigma0": 100.0, "sigma1": 1.0, "sigma2": 0.1, "v_stribeck": 0.1, "mu_static": 0.2, "mu_kinetic": 0.1}),
]


@pytest.mark.parametrize(("law", "numbers"), LOADED)
def test_a_load_needs_a_diameter_in_a_revolute_joint_and_only_there(law: Any, numbers: dict[str, float]) -> None:
    """A normal force [N] becomes a torque [N·m] by half the bearing's diameter; in a slide friction is a force."""
    turning, sliding = mp.load("planar-2r"), mp.load("scara-khang")
    kinds = [j.is_revolute for j in sliding.joints]
    bare, with_bearing = law(**numbers), law(**numbers, diameter=0.05)
    right = tuple(with_bearing if revolute else bare for revolute in kinds)
    assert mp.Scenario(sliding, duration=0.1, friction=right).friction == right
    with pytest.raises(DescriptionError, match=r"friction\[0\]: Joint 'joint1': 'diameter' .* is missing"):
        mp.Scenario(turning, duration=0.1, friction=bare)
    with pytest.raises(DescriptionError, match=rf"friction\[{kinds.index(False)}\]: .* joint is prismatic"):
        mp.Scenario(sliding, duration=0.1, friction=with_bearing)
    own = turning.replace(joints=tuple(replace(j, friction=bare) for j in turning.joints))
    with pytest.raises(DescriptionError, match=r"'diameter' .* is missing"):
        mp.Scenario(own, duration=0.1)
    with pytest.raises(DescriptionError, match=r"'diameter' .* is missing"):
        own.select(lock={"joint2": 0.0})


def test_a_load_that_is_a_torque_already_needs_no_diameter() -> None:
    numbers = LOADED[1][1]
    torque, force = LuGre(**numbers, load=2.0), LuGre(**numbers, load=40.0, diameter=0.1)
    assert torque.torque(0.3, (0.001,)) == pytest.approx(force.torque(0.3, (0.001,)), rel=1e-15)
    assert not torque.unfit(revolute=True)
    assert not force.unfit(revolute=True)
    assert force.unfit(revolute=False)
