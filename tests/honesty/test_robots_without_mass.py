"""What has no mass cannot be accelerated by a torque: no function that divides by the mass matrix gives numbers for it."""

from __future__ import annotations

import re
import shutil
import subprocess
import warnings
from dataclasses import replace

import numpy as np
import pytest

import manipula as mp
from manipula.errors import UnphysicalError

DIVIDE = ("forward_dynamics", "inverse_mass_matrix", "forward_dynamics_derivatives", "linearise")


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def arguments(name, n):
    return [np.full(n, 0.1)] * (1 if name == "inverse_mass_matrix" else 3)


@pytest.mark.parametrize("name", DIVIDE)
def test_a_robot_without_mass_has_no_forward_dynamics(name):
    model = mp.compile(mp.load("cobra600"))
    with pytest.raises(UnphysicalError, match="links without mass") as refused:
        getattr(model, name)(*arguments(name, 4))
    assert all(link.name in str(refused.value) for link in model.robot.links)
    assert np.all(model.inverse_dynamics(*[np.full(4, 0.1)] * 3) == 0.0)


@pytest.mark.parametrize("parameters", ["baked", "struct"])
def test_no_code_is_written_that_divides_by_zero(tmp_path, parameters):
    robot = mp.load("cobra600")
    with pytest.raises(UnphysicalError, match="links without mass"):
        mp.export(robot, "c", tmp_path, functions=("inverse_dynamics", "forward_dynamics"), parameters=parameters)
    assert not list(tmp_path.iterdir())
    mp.export(robot, "c", tmp_path, parameters=parameters)  # the usual functions are those that it has
    assert all("NAN" not in file.read_text() for file in tmp_path.iterdir())


def test_rotors_and_masses_beyond_are_enough():
    bare = mp.load("cobra600")
    driven = bare.replace(joints=tuple(replace(j, rotor_inertia=0.1, gear_ratio=2.0) for j in bare.joints))
    assert mp.compile(driven).forward_dynamics(*[np.full(4, 0.1)] * 3) == pytest.approx(0.25)
    arm = mp.load("puma560")  # its first link has no mass, what it carries has
    assert np.all(np.isfinite(mp.compile(arm).forward_dynamics(*arguments("forward_dynamics", 6))))


def test_mass_on_the_axis_of_the_last_joint_moves_nothing():
    robot = mp.planar([1.0, 1.0], [1.0, 1.0])
    point = replace(robot.links[1], com=(0.0, 0.0, 0.0), inertia=((0.0,) * 3,) * 3)
    on_axis = point.frame.inverse().p
    point = replace(point, com=tuple(float(v) for v in on_axis))
    with pytest.raises(UnphysicalError, match="on its axis"):
        mp.compile(robot.replace(links=(robot.links[0], point))).forward_dynamics(*[np.full(2, 0.1)] * 3)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_the_test_of_written_code_fails_on_a_number_that_is_none(tmp_path):
    """Also where right numbers follow it."""
    mp.export(mp.load("planar-2r"), "c", tmp_path, functions=("inverse_dynamics",), prefix="arm")
    source = tmp_path / "arm.c"

    def exit_status():
        subprocess.run(["gcc", "-std=c99", "arm.c", "arm_test.c", "-o", "checked", "-lm"], cwd=tmp_path, check=True)
        return subprocess.run([tmp_path / "checked"], capture_output=True, check=False).returncode

    assert exit_status() == 0
    broken = re.sub(r"tau\[0\] = [^;]*;", "tau[0] = NAN;", source.read_text())
    assert broken != source.read_text()
    source.write_text(broken)
    assert exit_status() != 0
