"""Equations of robots with coupled joints: every level against the compiled reduced dynamics; a parallelogram that does not turn."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy

import manipula as mp
from coupled_pairs import follower_of_a as pair
from manipula.errors import DescriptionError
from manipula.formats.toml import from_toml

FILE = Path(__file__).parent.parent / "data" / "coupled" / "two_grippers.urdf"


def parallel(axes, ratio):
    """Revolute joints with axes along ±z; the last one follows the first."""
    text = 'name = "row"\n[[link]]\nname = "l0"\n'
    for i, z in enumerate(axes, start=1):
        led = f'follows = "j1"\nratio = {ratio}\n' if i == len(axes) else ""
        text += (
            f'[[joint]]\nname = "j{i}"\ntype = "revolute"\nparent = "l{i - 1}"\nchild = "l{i}"\naxis = [0, 0, {z}]\n'
            f'origin = {{ xyz = [0.3, 0, 0] }}\n{led}[[link]]\nname = "l{i}"\nmass = 1.0\ncom = [0.1, 0.05, 0]\ninertia = [0.01, 0.02, 0.03]\n'
        )
    return from_toml("gravity = [0, -9.81, 0]\n" + text)


ROBOTS = {
    "opposed axes": parallel((1, -1, -1), 2),
    "four parallel axes": parallel((1, 1, 1, 1), 2),
    "four parallel axes, halved": parallel((1, -1, 1, 1), -0.5),
    "parallelogram": pair("ratio = -1.0"),
    "parallelogram with an oblique offset": pair("ratio = -1.0\noffset = 0.3"),
    "doubled": pair("ratio = 2.0"),
    "halved": pair("ratio = 0.5\noffset_deg = 90\naxis = [0, 1, 0]"),
    "rack and pinion": pair("ratio = 0.05\naxis = [1, 0, 0]", "prismatic"),
    "gripper": mp.load(FILE, tip="lf2"),
}


@pytest.mark.parametrize("level", ["raw", "compact", "lumped", "base", "recursive"])
@pytest.mark.parametrize("name", ROBOTS)
def test_every_level_gives_the_reduced_torque(name, level):
    robot = ROBOTS[name]
    eq = mp.equations(robot, level)
    q, v, a = np.random.default_rng(3).uniform(-1, 1, (3, robot.n))
    values = dict(zip([*eq.q, *eq.qd, *eq.qdd], map(sympy.Float, [*q, *v, *a])))
    if level == "recursive":
        for symbol, formula in dict(eq.assignments).items():
            values[sympy.Symbol(str(symbol))] = sympy.sympify(formula).xreplace(values)
    else:
        values |= {sympy.Symbol(str(k)): sympy.sympify(x) for k, x in eq.definitions.items()}
    tau = [float(t.xreplace(values).xreplace(values)) for t in eq.tau]
    expected = mp.compile(robot).inverse_dynamics(q, v, a)
    assert np.abs(tau - expected).max() < 1e-13 * max(1.0, np.abs(expected).max())


def test_a_parallelogram_does_not_turn():
    eq = mp.equations(ROBOTS["parallelogram"])
    assert eq.M[0, 0].is_number
    assert float(eq.M[0, 0]) == pytest.approx(0.03 + 0.1**2 + 0.2**2)  # link two is carried round as a point
    T = eq.T("two")
    assert T[:3, :3] == sympy.eye(3)


def test_jacobian_and_christoffel_matrix():
    robot = ROBOTS["gripper"]
    eq, model = mp.equations(robot), mp.compile(robot)
    q, v = np.random.default_rng(4).uniform(-1, 1, (2, robot.n))
    at = dict(zip([*eq.q, *eq.qd], [*q, *v]))
    for found, expected in (
        (eq.jacobian("lf2"), model.jacobian(q, "lf2")),
        (eq.C, model.coriolis_matrix(q, v)),
        (eq.g, model.gravity(q)[:, None]),
        (eq.T("lf1"), model.pose(q, "lf1")),
    ):
        assert np.abs(np.array(found.subs(at), float) - expected).max() < 1e-12


def test_symbolic_inertia_is_named_by_the_number_of_the_link():
    eq = mp.equations(ROBOTS["gripper"], inertia="symbolic")
    names = {str(s) for s in eq.M.free_symbols}
    assert {"m3", "m5"} <= names  # the two fingers: a joint of its own, and a follower
    assert not any(name.startswith("m6") for name in names)


@pytest.mark.parametrize("parameters", ["baked", "struct"])
def test_source_code_moves_followers(tmp_path, parameters):
    """The file that is written checks itself against the compiled functions; run it."""
    robot = ROBOTS["gripper"]
    files = mp.export(
        robot, "python", tmp_path, ("inverse_dynamics", "mass_matrix", "forward_dynamics", "jacobian"), parameters
    )
    check = next(f for f in files if "test" in f.name or "check" in f.name)
    done = subprocess.run([sys.executable, check.name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_free_ratio_is_refused():
    robot = pair('ratio = "r"')
    with pytest.raises(DescriptionError, match="The ratio of joint 'b' is the parameter r"):
        _ = mp.equations(robot).M


def test_what_is_printed_tells_what_follows_what(tmp_path):
    robot = ROBOTS["gripper"]
    assert "c2 = 0.3 - 0.5*q1" in mp.equations(robot).text(only="g")
    source = mp.export(robot, "c", tmp_path, ("gravity",))[0].read_text()
    assert "Coupled: c2 = 0.3 - 0.5" in source
