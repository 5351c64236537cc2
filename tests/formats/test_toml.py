"""The TOML format: what it accepts, exact round trips, messages with their places."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import sympy
from hypothesis import given, settings

from manipula.algebra.expression import scalar
from manipula.errors import BudgetError, DescriptionError, UnknownNameError, UnphysicalError
from manipula.formats.dh import from_dh, to_dh
from manipula.formats.planar import planar
from manipula.formats.toml import dh_to_toml, from_toml, to_toml
from manipula.formats.toml.formula_text import formula_text
from manipula.formats.toml.lines import line_of
from manipula.robot import Payload
from manipula.robot.drives import Flexible
from manipula.robot.friction import Asymmetric, LuGre, Viscous
from strategies import robots

TREE = """\
name = "fork"                      # a comment
gravity = [0, 0, -9.81]
tip = "left"

[[link]]
name = "base"

[[link]]
name = "left"
mass = 2.0
com = [0.1, 0, 0]
inertia = [0.01, 0.02, 0.02]

[[link]]
name = "right"
mass = 1.0

[[joint]]
name = "turn"
type = "revolute"
parent = "base"
child = "left"
origin = { xyz = [0, 0, 0.5], rpy_deg = [0, 90, 0] }
axis = [0, 2, 0]
limits = { position_deg = [-90, 180], velocity = 2, effort = 30 }
friction = { law = "viscous", damping = 0.3 }

[[joint]]
name = "slide"
type = "prismatic"
parent = "base"
child = "right"

[[frame]]
name = "camera"
link = "left"
xyz = [0, 0, 0.1]
"""

ROWS = """\
name = "two"
gravity = [0, "-gc", 0]
free = ["gc", "a2", "m2"]

[parameters]
a1 = 0.5
m1 = "2*a1"

[dh]
convention = "standard"

[[dh.rows]]
a = "a1"
mass = "m1"
com = ["-a1/2", 0, 0]
inertia = [0, "m1*a1^2/12", "m1*a1^2/12"]

[[dh.rows]]
a = "a2"
alpha_deg = 90
mass = "m2"
"""


def test_tree_is_read_as_written() -> None:
    robot = from_toml(TREE)
    assert robot.joint_names == ("turn", "slide")
    assert [j.kind for j in robot.joints] == ["revolute", "prismatic"]
    assert robot.joints[0].axis == (0.0, 1.0, 0.0)
    assert robot.joints[0].limits.lower == -math.pi / 2
    assert robot.joints[0].limits.upper == math.pi
    assert robot.joints[0].friction == Viscous(0.3)
    assert robot.joints[0].placement.rotation == ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))
    assert robot.links[0].inertia == ((0.01, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.02))
    assert robot.frame("camera").pose.translation == (0.0, 0.0, 0.1)
    assert robot.tip == "left"


def test_dh_form_equals_from_dh() -> None:
    a2, m2, gc = sympy.symbols("a2 m2 gc")
    inertia = 1.0 * 0.5**2 / 12
    rows = [
        {"a": 0.5, "mass": 1.0, "com": (-0.25, 0, 0), "inertia": [0, inertia, inertia, 0, 0, 0]},
        {"a": a2, "alpha": math.pi / 2, "mass": m2},
    ]
    robot = from_toml(ROWS)
    assert robot == from_dh(rows, "standard", (0, -gc, 0), name="two")
    assert robot.parameters == ("a2", "gc", "m2")


def test_planar_form_equals_planar() -> None:
    text = 'name = "arm"\npayload = 0.5\n[planar]\nlengths = [1, 0.5]\nmasses = [2, 1]\ndamping = 0.1\n'
    assert from_toml(text) == planar([1, 0.5], [2, 1], payload=0.5, damping=0.1, name="arm")


def test_inertia_about_the_origin_is_moved_to_the_centre_of_mass() -> None:
    text = TREE.replace("inertia = [0.01, 0.02, 0.02]", 'inertia = [0.01, 0.04, 0.04]\ninertia_about = "origin"')
    assert np.allclose(from_toml(text).links[0].inertia, np.diag([0.01, 0.02, 0.02]), atol=1e-17)


def test_fixed_joints_are_merged() -> None:
    more = '[[link]]\nname = "hand"\nmass = 1.0\n[[joint]]\nname = "weld"\ntype = "fixed"\nparent = "left"\nchild = "hand"\n'
    robot = from_toml(TREE + more)
    assert robot.links[0].mass == 3.0
    assert "hand" in robot.frame_names


@given(robots())
@settings(max_examples=40, deadline=None)
def test_round_trip_is_exact(robot) -> None:
    again = from_toml(to_toml(robot))
    assert again == robot
    assert hash(again) == hash(robot)
    assert again.digest == robot.digest


def test_round_trip_keeps_laws_drives_notes_and_order() -> None:
    robot = from_toml(TREE)
    joints = list(robot.joints)
    for law in (Asymmetric(1.0, 2.0, 0.1, 0.2), LuGre(2.5, 1.5, 0.0, 0.1, 0.1, 0.2), None):
        for drive in (Flexible(1e4, 0.5, "sin(2*t)"), None):
            object.__setattr__(joints[1], "friction", law)
            object.__setattr__(joints[1], "drive", drive)
            changed = robot.replace(joints=tuple(joints), notes=("Source: nowhere", 'odd "note"\n\\'), tip=None)
            again = from_toml(to_toml(changed))
            assert again == changed
            assert again.notes == changed.notes


def test_round_trip_of_symbols() -> None:
    robot = from_toml(ROWS)
    assert from_toml(to_toml(robot)) == robot
    assert hash(from_toml(to_toml(robot))) == hash(robot)


@pytest.mark.parametrize("text", [
    "m1*a1^2/12", "-a/b", "a - (b - c)", "-(a + b)/3", "(a+b)*(a-b)", "sqrt(a)/b", "a**(1/3)", "a^-2", "1/(a*b)", "a/(b/c)",
    "2*pi*a", "sin(a)*cos(b - pi/2)", "atan2(a, b + 1)", "abs(a)", "min(a, b, 3)", "exp(-a)", "(a^2)^b", "-2^2*a",
    "0.1*a + 1e-7", "-a^2", "(-a)^3", "a*(-1/2)", "sqrt(a^2 + b^2)", "1/sqrt(a)", "max(a,2)/-3",
])  # fmt: skip
def test_formulas_read_back_equal(text: str) -> None:
    expression = scalar(text)
    assert scalar(formula_text(expression)) == expression


def random_formula(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["a", "b", "c", "2", "3", "0.5", "pi", "7", "1e-3", "x_1"])
    part = [random_formula(rng, depth - 1) for _ in range(2)]
    return rng.choice([
        f"({part[0]}+{part[1]})", f"({part[0]}-{part[1]})", f"({part[0]}*{part[1]})", f"({part[0]}/{part[1]})", f"(-{part[0]})",
        f"({part[0]})^{rng.choice(['2', '-1', '-2', '0.5', '(1/3)', '(b)'])}", f"{rng.choice(['sin', 'tanh', 'exp', 'sqrt'])}({part[0]})",
        f"{rng.choice(['min', 'max', 'atan2'])}({part[0]},{part[1]})",
    ])  # fmt: skip


def test_random_formulas_read_back_equal() -> None:
    rng, checked = random.Random(4), 0
    for _ in range(400):
        try:
            expression = scalar(random_formula(rng, rng.choice([1, 2, 3, 4])))
        except DescriptionError:  # a division by zero
            continue
        if not isinstance(expression, float):
            checked += 1
            assert scalar(formula_text(expression)) == expression
    assert checked > 200


@given(robots(tree=False, massless=False))
@settings(max_examples=20, deadline=None)
def test_dh_writer_gives_the_robot_of_the_table(robot) -> None:
    for convention in ("standard", "modified"):
        table = to_dh(robot, convention)
        again, direct = from_toml(dh_to_toml(table)), table.to_robot()
        assert again == direct


def test_payload_table() -> None:
    robot = from_toml(TREE + "[payload]\nmass = 2\ncom = [0, 0, 0.1]\n")
    assert robot.payload == Payload(2.0, (0.0, 0.0, 0.1))


@pytest.mark.parametrize(("old", "new", "kind", "match"), [
    ("axis = [0, 2, 0]", "axes = [0, 2, 0]", UnknownNameError, r"arm.toml:24, joint\[0\].axes: .*Did you mean 'axis'"),
    ("axis = [0, 2, 0]", "axis = [0, 0, 0]", DescriptionError, r"arm.toml:18, joint\[0\]: The axis of joint 'turn' is zero"),
    ("mass = 2.0", "mass = nan", DescriptionError, r"arm.toml:10, link\[1\].mass: A finite number"),
    ("mass = 2.0", "mass = -2.0", UnphysicalError, r"arm.toml:10, link\[1\].mass: The mass of link 'left' must be at least 0"),
    ("mass = 2.0", 'mass = "2*"', DescriptionError, r"arm.toml:10, link\[1\].mass, formula '2\*'"),
    ("[-90, 180]", "[180, -90]", DescriptionError, r"arm.toml:25, joint\[0\].limits: The limits are reversed"),
    ('"viscous"', '"viscos"', UnknownNameError, r"arm.toml:26.*Did you mean 'viscous'"),
    ('child = "left"', 'child = "lift"', UnknownNameError, r"arm.toml:18.*Did you mean 'left'"),
    ('child = "right"', 'child = "left"', DescriptionError, r"arm.toml:28.*two parents"),
    ('tip = "left"', 'tip = "lefty"', UnknownNameError, r"arm.toml:3, tip: .*Did you mean 'left'"),
    ('type = "prismatic"', 'type = "prisma"', UnknownNameError, r"arm.toml:30, joint\[1\].type: .*Did you mean 'prismatic'"),
    ("rpy_deg = [0, 90, 0]", "rotation = [[1,0,0],[0,1,0],[0,0,2]]", DescriptionError, r"arm.toml:23, joint\[0\].origin.rotation"),
    ('name = "fork"', "name = 3", DescriptionError, r"arm.toml:1, name: A text in quotes"),
    ("[[frame]]", "[[fram]]", UnknownNameError, r"arm.toml:34, fram: .*Did you mean 'frame'"),
    ("tip = ", "tip ", DescriptionError, r"arm.toml:3: This is not TOML"),
])  # fmt: skip
def test_messages_name_file_line_field_and_the_nearest(old: str, new: str, kind: type, match: str) -> None:
    assert old in TREE
    with pytest.raises(kind, match=match):
        from_toml(TREE.replace(old, new), file="arm.toml")


def test_parameters_must_be_used_and_not_circular() -> None:
    with pytest.raises(DescriptionError, match=r"line 7, parameters.m9: The parameter 'm9' is not used"):
        from_toml(ROWS.replace('m1 = "2*a1"', 'm9 = 1\nm1 = "2*a1"').replace("a1 = 0.5\nm9", "a1 = 0.5\nm9"))
    with pytest.raises(DescriptionError, match="define each other in a circle"):
        from_toml(ROWS.replace("a1 = 0.5", 'a1 = "m1"'))


def test_negative_mass_from_a_parameter_is_refused() -> None:
    with pytest.raises(UnphysicalError, match=r"dh.rows\[0\].mass: The mass of link 'link1' must be at least 0"):
        from_toml(ROWS.replace("a1 = 0.5", "a1 = -0.5"))


def test_one_form_only_and_at_least_one() -> None:
    with pytest.raises(DescriptionError, match="'link' or 'planar', not both"):
        from_toml(TREE + "[planar]\nlengths = [1]\nmasses = [1]\n")
    with pytest.raises(DescriptionError, match="No robot is described"):
        from_toml('name = "nothing"')


MILLIONS = {
    "named links": "[[link]]\nname = 'a'\n" * 300_000,
    "bare links": "[[link]]\n" * 900_000,
    "spaced links": "  [[ link ]]\n" * 600_000,
    "joints": "[[joint]]\n" * 800_000,
    "frames": "[[frame]]\n" * 800_000,
    "rows": '[dh]\nconvention = "standard"\nrows = [' + "{}," * 1_000_000 + "]",
    "lengths": "[planar]\nlengths = [" + "1," * 1_000_000 + "]",
    "comments": "#\n" * 8_000_000,
}


@pytest.mark.parametrize("name", MILLIONS)
def test_a_million_links_are_refused_before_they_are_parsed(name: str, monkeypatch) -> None:
    monkeypatch.setattr("tomllib.loads", lambda _: pytest.fail("parsed"))
    with pytest.raises(
        BudgetError, match=r"one robot needs far fewer|links that one robot may have|larger than the 4 MiB"
    ):
        from_toml(MILLIONS[name])


def test_a_thousand_links_are_legal() -> None:
    links = "".join(f'[[link]]\nname = "l{i}"\nmass = 1\n' for i in range(1001))
    joints = "".join(
        f'[[joint]]\nname = "j{i}"\ntype = "revolute"\nparent = "l{i}"\nchild = "l{i + 1}"\n' for i in range(1000)
    )
    assert from_toml(links + joints).n == 1000


def test_a_file_is_read_and_named(tmp_path) -> None:
    path = tmp_path / "fork.toml"
    path.write_text(TREE, encoding="utf-8")
    assert from_toml(path) == from_toml(TREE) == from_toml(str(path))
    path.write_text(TREE.replace("axis", "axes"), encoding="utf-8")
    with pytest.raises(UnknownNameError, match=r"fork\.toml:24"):
        from_toml(path)
    with pytest.raises(DescriptionError, match="does not exist"):
        from_toml(tmp_path / "none.toml")


def test_lines_of_every_kind_of_value() -> None:
    text = (
        'a = """\n[x]\n"""\n[t]\n"b c" = [\n  1, # one\n  { d = 2 },\n]\ne.f = \'#\'\n[[u]]\n[[u]]\nv = 1979-05-27 07:32:00\n'
        "[[u.w]]\n[u.w.z]\nk = -1.5e-3\n"
    )
    expected = {"a": 1, "t": 4, "t.b c": 5, "t.b c[0]": 6, "t.b c[1].d": 7, "t.e.f": 9, "u[0]": 10, "u[1]": 11, "u[1].v": 12,
                "u[1].w[0]": 13, "u[1].w[0].z.k": 15}  # fmt: skip
    assert {k: line_of(text, k) for k in expected} == expected
    assert line_of(text, "u[1].w[0].z.missing") == 14
    assert line_of(text, "nowhere") is None


@pytest.mark.parametrize(
    ("field", "value"),
    [("mass", "-1.0"), ("rotor_inertia", "-1.0"), ("follows", '"nobody"')],
)
def test_what_is_wrong_in_a_row_is_told_with_its_cell(field: str, value: str) -> None:
    rows = f'format = 1\nname = "arm"\n[dh]\nconvention = "standard"\n[[dh.rows]]\na = 0.5\nmass = 1.0\n[[dh.rows]]\na = 0.4\n{field} = {value}\n'
    with pytest.raises(DescriptionError) as told:
        from_toml(rows)
    assert (told.value.field, told.value.line) == (f"dh.rows[1].{field}", 8)
