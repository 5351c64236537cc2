"""Rows of a study that were made by other code are not continued: a file names a registered part, and not what it computes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import manipula as mp
from manipula import control
from manipula.control import REGISTRY as CONTROLLERS
from manipula.errors import DescriptionError
from manipula.robot.friction import REGISTRY as LAWS
from manipula.robot.friction.base import FrictionLaw
from manipula.simulation.integrators import FIXED, FixedStep

ARM = mp.load("planar-2r")
GAIN = {"b": 3.0}


@dataclass(frozen=True)
class Drag(FrictionLaw):
    name = "drag"

    def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
        return GAIN["b"] * qd


@dataclass(frozen=True)
class Asked(control.Controller):
    """Not traced: it looks at plain numbers."""

    name = "asked"
    space = "none"

    def torque(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        return [-GAIN["b"] * float(v) for v in qd]


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LAWS, "drag", Drag)
    monkeypatch.setitem(CONTROLLERS, "asked", Asked)
    monkeypatch.setitem(GAIN, "b", 3.0)


def study(**parts: Any) -> mp.Study:
    given = {
        "duration": 0.04,
        "step": 4e-3,
        "sample": 0.04,
        "q0": [0.1, 0.2],
        "qd0": [1.0, 0.5],
        "verify": False,
        **parts,
    }
    return mp.Study(mp.Scenario(ARM, **given), {"q0[0]": mp.uniform(0.0, 0.1)}, samples=2)


def test_the_same_code_goes_on_and_another_body_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = mp.sweep(study(friction=Drag()), tmp_path / "rows", engine="serial")
    again = mp.sweep(study(friction=Drag()), tmp_path / "rows", engine="serial")
    assert first.digest() == again.digest()
    monkeypatch.setitem(GAIN, "b", 9.0)
    with pytest.raises(DescriptionError, match="computes something else") as error:
        mp.sweep(study(friction=Drag()), tmp_path / "rows", engine="serial")
    assert error.value.field == "code"
    other = mp.sweep(study(friction=Drag()), tmp_path / "other", engine="serial")
    assert other.digest() != first.digest()


def test_code_that_is_not_traced_cannot_be_compared(tmp_path: Path) -> None:
    mp.sweep(study(controller=Asked()), tmp_path / "rows", engine="serial")
    with pytest.raises(DescriptionError, match="cannot be compared"):
        mp.sweep(study(controller=Asked()), tmp_path / "rows", engine="serial")


def test_an_integrator_of_somebody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Half(FixedStep):
        name = "half"
        order = 2

        def step(self, f: Any, t: Any, x: Any, h: Any, n: int) -> Any:
            return x + h * f(t + 0.5 * h, x + 0.5 * h * f(t, x))

    monkeypatch.setitem(FIXED, "half", Half())
    asked = study(integrator="half")
    mp.sweep(asked, tmp_path / "rows", engine="serial")
    assert mp.sweep(asked, tmp_path / "rows", engine="serial").runs == 2

    class Euler(FixedStep):
        name = "half"
        order = 1

        def step(self, f: Any, t: Any, x: Any, h: Any, n: int) -> Any:
            return x + h * f(t, x)

    monkeypatch.setitem(FIXED, "half", Euler())
    with pytest.raises(DescriptionError, match="computes something else"):
        mp.sweep(asked, tmp_path / "rows", engine="serial")


def test_a_part_of_ours_that_somebody_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from manipula.robot.friction.viscous import Viscous

    asked = study(friction=Viscous(2.0))
    mp.sweep(asked, tmp_path / "rows", engine="serial")
    assert mp.sweep(asked, tmp_path / "rows", engine="serial").runs == 2
    with monkeypatch.context() as patched:
        patched.setattr(Viscous, "torque", lambda self, qd, state=(), load=0.0: 5.0 * qd)
        with pytest.raises(DescriptionError, match="computes something else"):
            mp.sweep(asked, tmp_path / "rows", engine="serial")
    assert mp.sweep(asked, tmp_path / "rows", engine="serial").runs == 2


def test_a_tuning_of_edited_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tuned() -> Any:
        base = mp.Scenario(
            ARM,
            duration=0.02,
            step=4e-3,
            sample=0.02,
            controller=control.PD(9.0, 3.0, goal=0.1),
            friction=Drag(),
            verify=False,
        )
        asked = mp.Study(base, {"controller.kp": mp.uniform(1.0, 9.0)}, samples=1)
        return mp.tune(asked, "energy_taken", folder=tmp_path / "tuning", evaluations=10, population=5)

    tuned()
    tuned()
    monkeypatch.setitem(GAIN, "b", 9.0)
    with pytest.raises(DescriptionError, match="parts of your own"):
        tuned()
