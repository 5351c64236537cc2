"""What a description may hold is counted before work is done on it, so that no file of any size takes long."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import manipula as mp
from manipula.errors import BudgetError
from manipula.formats.toml import budget
from manipula.formats.toml.budget import MAX_WORK, parsing_work
from manipula.formats.toml.lines import line_of
from manipula.motion.paths.csv_file import MAX_BYTES
from manipula.motion.paths.svg import MAX_ARCS, MAX_SEGMENTS
from manipula.robot.appearance import MOST_SHAPES
from manipula.robot.checks import MAX_FRAMES, MAX_LINKS
from manipula.robot.coupling import MAX_IN_A_ROW

INERTIA = "[[1.1, 0.1, 0.2], [0.1, 1.2, 0.3], [0.2, 0.3, 1.3]]"


def link(i: int) -> str:
    return f'[[link]]\nname = "l{i}"\nmass = 1.5\ncom = [0.1, 0.2, 0.3]\ninertia = {INERTIA}\n'


def joint(i: int, more: str = "") -> str:
    return f'[[joint]]\nname = "j{i}"\ntype = "revolute"\nparent = "l{i}"\nchild = "l{i + 1}"\naxis = [0.0, 0.6, 0.8]\n{more}'


def chain(links: int, more: str = "") -> str:
    return "".join(map(link, range(links))) + "".join(joint(i, more) for i in range(links - 1))


def test_a_robot_of_the_largest_size_stays_below() -> None:
    everything = (
        "origin = { xyz = [0.1, 0.2, 0.3], rpy = [0.1, 0.2, 0.3] }\n"
        "limits = { lower = -1.0, upper = 1.0, velocity = 2.0, effort = 3.0, acceleration = 4.0, jerk = 5.0 }\n"
        'friction = { law = "lugre", mu_static = 0.2, mu_kinetic = 0.1, v_stribeck = 0.1, sigma0 = 1e4, sigma1 = 10.0 }\n'
        "rotor_inertia = 0.1\ngear_ratio = 10.0\n"
    )
    text = chain(MAX_LINKS, everything)
    assert parsing_work(text) < MAX_WORK
    assert len(text) < budget.MAX_BYTES
    budget.check_size(text, None)


MANY = 300_000
WORK = {
    "keys": "".join(f"k{i}=1\n" for i in range(MANY)),
    "keys in keys": "".join(f"a{i}.b.c=1\n" for i in range(MANY // 3)),
    "keys of digits": "".join(f"{i}.1.2=1\n" for i in range(MANY // 3)),
    "tables": "".join(f"[a{i}]\nb=1\n" for i in range(MANY // 3)),
    "tables with a list and a table in it": "".join(f"[a{i}]\nb=[1.5,'x',{{c=2}}]\n" for i in range(MANY // 4)),
    "entries": "a=[" + "1," * 2 * MANY + "]\n",
    "texts": "a=[" + "'',\n" * MANY + "]\n",
    "tables in a row": "a=[" + "{b=1}," * MANY + "]\n",
}


@pytest.mark.parametrize("name", WORK)
def test_the_work_of_parsing_is_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = WORK[name]
    assert len(text) < budget.MAX_BYTES
    monkeypatch.setattr(tomllib, "loads", lambda _: pytest.fail("parsed"))
    with pytest.raises(BudgetError, match="more keys, tables and list entries"):
        mp.from_toml(text)


def test_frames_shapes_and_couplings() -> None:
    frame = '[[frame]]\nname="f{0}"\nlink="l1"\nxyz=[0.1,0.2,0.3]\n'
    with pytest.raises(BudgetError, match=f"{MAX_FRAMES + 1} frames are more than the {MAX_FRAMES}"):
        mp.from_toml(chain(2) + "".join(frame.format(i) for i in range(MAX_FRAMES + 1)))
    shape = '[[visual]]\nlink="l1"\nkind="sphere"\nsize=[0.1]\n'
    with pytest.raises(BudgetError, match=f"{MOST_SHAPES + 1} shapes"):
        mp.from_toml(chain(2) + shape * (MOST_SHAPES + 1))
    with pytest.raises(BudgetError, match=f"{MAX_LINKS + 1} links"):
        mp.from_toml(chain(MAX_LINKS + 1))

    def followers(count: int) -> str:
        led = "".join(joint(i, f'follows = "j{i - 1}"\n') for i in range(1, count + 1))
        return "".join(map(link, range(count + 2))) + joint(0) + led

    assert len(mp.from_toml(followers(MAX_IN_A_ROW - 1)).followers) == MAX_IN_A_ROW - 1
    with pytest.raises(BudgetError, match=f"through more than {MAX_IN_A_ROW} joints"):
        mp.from_toml(followers(MAX_IN_A_ROW + 1))


def mjcf(bodies: int, inside: str = "", after: str = "") -> str:
    body = '<body pos="0 0 0.1"><joint axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    return f"<mujoco><worldbody>{body * bodies}{inside}{'</body>' * bodies}</worldbody>{after}</mujoco>"


def test_mjcf() -> None:
    with pytest.raises(BudgetError, match=f"{MAX_FRAMES} <site>"):
        mp.from_mjcf(mjcf(1, "".join(f'<site name="s{i}"/>' for i in range(MAX_FRAMES + 1))))
    key = f'<key qpos="{"0.1 " * 400}"/>'
    with pytest.raises(BudgetError, match="600 keys of 400 positions"):
        mp.from_mjcf(mjcf(400, "", f"<keyframe>{key * 600}</keyframe>"))
    with pytest.raises(BudgetError, match="elements"):
        mp.from_mjcf(mjcf(1, '<replicate count="100" euler="0 0 1">' * 3 + '<geom size="0.1"/>' + "</replicate>" * 3))


def test_paths(tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text(("1," * 300 + "1\n") * (MAX_BYTES // 600))
    with pytest.raises(BudgetError, match="bytes"):
        mp.paths.from_csv(wide)
    with pytest.raises(BudgetError, match=f"{MAX_ARCS + 1} arcs"):
        mp.paths.from_svg("M0 0" + "".join(f"A9 5 30 1 0 {i} {i % 2}" for i in range(1, MAX_ARCS + 2)))
    with pytest.raises(BudgetError, match=f"{MAX_SEGMENTS} segments"):
        mp.paths.from_svg("M0 0" + "".join(f"L{i} {i % 2}" for i in range(1, MAX_SEGMENTS + 3)))


LINES = '''name = """x ""y"" \\" [z] # "" """""
b.c."d e" = { f = [1, [2, {g = 3}], 'x]'], h = """
several [lines]
""" }
# a comment [x]
[t] # [c]
k = [ # c ]
 1, 2,
 [ 3 ], "a#b",
 ["x"
 , 'y'],
]
[[u.v]]
w = \'\'\'a''b
\'\'\'
[[u.v]]
w = 1979-05-27 07:32:00
[u.v.s]
z = "\\\\"
 [ u . q ]
 z = "]"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [("name", 1), ("b.c.d e.f[1][1].g", 2), ("b.c.d e.h", 2), ("b.c.d e.h.more", 2), ("t", 6), ("t.k", 7), ("t.k[1]", 8),
     ("t.k[3]", 9), ("t.k[4][1]", 11), ("t.k[9]", 7), ("u.v", 13), ("u.v[0].w", 14), ("u.v[1]", 16), ("u.v[1].w", 17),
     ("u.v[1].s.z", 19), ("u.q.z", 21), ("u.q.absent", 20), ("absent", None), ("", None)],
)  # fmt: skip
def test_a_line_is_found_without_looking_into_everything(path: str, line: int | None) -> None:
    tomllib.loads(LINES)
    assert line_of(LINES, path) == line
    assert line_of(LINES.replace("\n", "\r\n"), path) == line


def test_lines_of_a_drawing_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from manipula.formats.meshes import obj

    cube = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n"
    assert len(obj.read_obj(cube).faces) == 2
    monkeypatch.setattr(obj, "MAX_LINES", 5)
    with pytest.raises(mp.BudgetError, match="at most 5 vertices and faces"):
        obj.read_obj(cube)
