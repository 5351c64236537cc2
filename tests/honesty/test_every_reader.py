"""A short slice of ``scripts/fuzz``, and the inputs that once escaped: one kind of error, and what is accepted reads back equal."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from random import Random

import pytest

import manipula as mp
from fuzz_targets import TARGETS
from manipula.algebra.expression import scalar
from manipula.analysis.identification.measured_poses import read_poses
from manipula.errors import DescriptionError, ManipulaError
from manipula.formats.load import save
from manipula.formats.toml.formula_text import formula_text
from manipula.motion import paths
from quickly import quickly

SLICE = {"formula": 1500, "symbolic": 40, "toml": 120, "table": 120, "rows": 12, "urdf": 100, "mjcf": 150, "csv": 250, "svg": 120, "scenario": 40,
         "program": 30, "sdf": 60, "mesh": 150, "log": 40, "poses": 40}  # fmt: skip


@pytest.mark.parametrize("name", SLICE)
@pytest.mark.filterwarnings("ignore")
def test_a_slice_of_the_fuzzer(name):
    target, accepted = TARGETS[name], 0
    for number in range(SLICE[name]):
        case = target.make(Random(f"{name}:2026:{number}"))
        with contextlib.suppress(target.allowed):  # whatever else is raised is a finding
            accepted += target.run(case)
    assert accepted  # a slice in which everything is refused would show nothing


def test_roots_of_products_read_back_equal():
    found = scalar("(sqrt(2.2418942319))^0.5 + x")
    assert scalar(formula_text(found)) == found


def test_a_root_that_is_never_real_is_refused():
    with pytest.raises(DescriptionError, match="root of a negative number"):
        scalar("(-abs(L2))^(1/3)")
    assert scalar("(-8*L2)^(1/3)").free_symbols  # real where L2 is negative


def test_poses_without_rows_are_refused(tmp_path):
    (tmp_path / "poses.csv").write_text("q1,q2,x,y,z,qw,qx,qy,qz\n")
    with pytest.raises(DescriptionError, match=r"poses\.csv.*no row"):
        read_poses(tmp_path / "poses.csv", mp.planar([1, 1], [1, 1]))


@pytest.mark.parametrize(
    "text",
    ["0,0\n1e308,1\n-1e308,0\n", "0,0\n１,２\n1,1\n", "0,0\n1e400,1\n", "0,0\n1,1_0\n"],
)
@pytest.mark.parametrize("interpolation", ["spline", "polyline"])
def test_numbers_that_no_path_has(text, interpolation):
    with pytest.raises(ManipulaError, match=r"[Ll]ine|number|point"):
        paths.from_csv(text, interpolation=interpolation)


@pytest.mark.parametrize(
    "data", ["M0 0A1e60 1e60 0 0 1 1e-200 0", "M0 0A1e308 1 0 0 1 1 1", "M0 0L1e308 1L-1e308 0", "M 0 0 L １ 2"]
)
def test_drawings_at_the_limits(data):
    with contextlib.suppress(DescriptionError):
        assert paths.from_svg(data).length > 0


@pytest.mark.parametrize("far", ["1e10", "-3e11", "1e15"])
def test_sizes_far_apart_take_no_longer(far):
    """1e10 beside 1: the panels of the arc length are counted before they are made."""
    with quickly(), contextlib.suppress(DescriptionError):
        assert paths.from_csv(f"0,0\n1,0\n{far},1\n2,2\n3,1\n").length > 0
    with quickly(), contextlib.suppress(DescriptionError):
        assert paths.from_svg(f"M0 0C1 0 {far} 1 2 2S1 {far} 0 1Q1 1 0 2").length > 0


def test_a_frame_of_the_extension_that_is_no_link():
    text = (
        '<robot name="r"><manipula version="1"><frame link="x"/></manipula><link name="a"/><link name="b"/>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="x"/></joint>'
        '<joint name="k" type="fixed"><parent link="x"/><child link="b"/></joint></robot>'
    )
    with pytest.raises(DescriptionError, match="'x'"):
        mp.from_urdf(text)


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".xml"])
def test_names_as_long_as_the_system_allows(tmp_path, suffix):
    robot = mp.planar([1, 1], [1, 1])
    longest = "x" * (255 - len(suffix)) + suffix
    assert mp.load(save(robot, tmp_path / longest)).n == 2
    for name in ("x" + longest, "x" * 5000 + suffix):
        with pytest.raises(DescriptionError, match=r"cannot be written|does not exist"):
            save(robot, tmp_path / name)
        with pytest.raises(DescriptionError):
            mp.load(tmp_path / name)
    with pytest.raises(DescriptionError):
        mp.load("x" * 5000)
    assert [p.name for p in tmp_path.iterdir()] == [longest]  # no half file


def test_a_terminal_without_our_signs(tmp_path):
    """N·m and ² in an ASCII locale: question marks, not a traceback."""
    setting = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    for words in (["doctor", "puma560"], ["convert", "planar-2r", str(tmp_path / "arm.toml"), "--dh", "standard"]):
        done = subprocess.run(
            [sys.executable, "-m", "manipula", *words], env=setting, capture_output=True, timeout=600, check=False
        )
        assert b"Traceback" not in done.stderr
        assert done.returncode in (0, 1), done.stderr
    assert mp.load(tmp_path / "arm.toml").n == 2


@pytest.mark.parametrize("com", ["-a/1e-300", "1e200*a", "a*1e61", "a*1e40"])
def test_formulas_with_numbers_that_no_field_may_hold(com):
    """An inertia about the origin squares the centre of mass: an infinite coefficient was written."""
    text = f'[[link]]\nname = "b"\n[[link]]\nname = "l"\nmass = "m"\ncom = ["{com}", 0, 0]\ninertia = ["m*a^2", 1, 1]\ninertia_about = "origin"\n'
    text += '[[joint]]\nname = "j"\ntype = "revolute"\nparent = "b"\nchild = "l"\n'
    with pytest.raises(DescriptionError, match=r"at most 1e\+60 in size") as error:
        mp.from_toml(text)
    assert error.value.field == ("link[1].inertia" if com == "a*1e40" else "link[1].com[0]")


@pytest.mark.parametrize(
    "text",
    ["(sin(exp(log(th1*t))*-(b)) + 1 - m^0)", "exp(log(a*b))*c", "cos(2.3029192503759646)*atan2(9, exp(-1e10)) + m", "m*exp(log(a + b))*2"],
)  # fmt: skip
def test_formulas_that_sympy_rewrites_read_back(text):
    assert TARGETS["symbolic"].run(text)


def test_a_drawing_of_many_arcs_is_refused_before_they_are_measured():
    with quickly(), pytest.raises(DescriptionError, match="6000 arcs; at most 1000"):
        paths.from_svg("M0 0" + "".join(f"A1 1 0 0 1 {i} 0" for i in range(1, 6001)))
