"""Messages name the entry, the value that was found, and the word that was meant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError, UnknownNameError
from manipula.studies.files import load_study


def scenario(**changes: object) -> mp.Scenario:
    given = {
        "q0": [0.1, 0.2],
        "duration": 0.1,
        "controller": mp.control.PDGravity(40.0, 8.0, goal=[0.2, 0.3]),
        **changes,
    }
    return mp.Scenario(mp.load("planar-2r"), **given)


def test_the_entry_that_is_no_number() -> None:
    with pytest.raises(DescriptionError, match=r"q0: .*entry 1 is nan"):
        scenario(q0=[0.1, float("nan")])
    batch = np.zeros((5, 2))
    batch[3, 0] = 1e300
    with pytest.raises(DescriptionError, match=r"q0: .*entry \[3, 0\] is 1e\+300"):
        scenario(q0=batch)


def test_a_limit_below_zero_is_quoted() -> None:
    with pytest.raises(DescriptionError, match=r"limits.torque: .*zero or more; found .*-1"):
        mp.simulate(scenario(limits={"torque": -1.0}))


def test_a_position_as_text_is_quoted() -> None:
    with pytest.raises(DescriptionError, match=r"found '0\.2'"):
        mp.load("panda", lock={"panda_joint1": "0.2"})


@pytest.mark.parametrize("samples", ["", "samples = 3"])
def test_a_distribution_that_is_misspelt(tmp_path: Path, samples: str) -> None:
    scenario().save(str(tmp_path / "run.toml"))
    file = tmp_path / "study.toml"
    file.write_text(f'[study]\nbase = "run.toml"\n{samples}\n[vary]\n"payload.mass" = {{ unifrm = [0, 1.0] }}\n')
    with pytest.raises(
        UnknownNameError,
        match=r"study.toml:\d+, vary.*payload.mass.*No distribution named 'unifrm'. Did you mean 'uniform'",
    ):
        load_study(file)


def test_a_massless_link_that_gets_a_mass_is_told() -> None:
    """Bodies that can exist have mass: the robot that was identified says which links were given one."""
    dh = [
        {"a": 0.4, "mass": 1.0, "com": [-0.2, 0, 0], "inertia": [0, 0.01, 0.01]},
        {"alpha": np.pi / 2},
        {"a": 0.3, "mass": 0.8, "com": [-0.15, 0.02, 0.01], "inertia": [0.01, 0.01, 0.01]},
    ]
    robot = mp.from_dh(dh, "standard")
    rng = np.random.default_rng(2)
    q, qd, qdd = rng.uniform(-1, 1, (3, 200, 3))
    found = mp.identify(robot, q, qd, qdd, mp.compile(robot).inverse_dynamics(q, qd, qdd), extras=())
    told = [note for note in found.robot.notes if "without mass" in note]
    assert len(told) == 1
    assert "link2" in told[0]
    assert f"{found.robot.links[1].mass:.4g} kg" in told[0]
    assert told[0] in found.text()
