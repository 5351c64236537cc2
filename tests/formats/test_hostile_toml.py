"""Hostile TOML and tables: every one is refused with DescriptionError, quickly, and nothing else escapes."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manipula.errors import DescriptionError
from manipula.formats.table import from_table
from manipula.formats.toml import from_toml, to_toml
from manipula.simulation.scenario import Scenario

ARM = '[dh]\nconvention = "standard"\n[[dh.rows]]\na = {a}\nmass = {mass}\ncom = {com}\ninertia = {inertia}\n{more}\n'


def arm(a="1", mass="1", com="[0,0,0]", inertia="[1,1,1]", more="") -> str:
    return ARM.format(a=a, mass=mass, com=com, inertia=inertia, more=more)


def tree(links=("base", "one"), joints=(("j", "base", "one"),), more="") -> str:
    text = "".join(f'[[link]]\nname = "{name}"\nmass = 1\n' for name in links)
    for name, parent, child in joints:
        text += f'[[joint]]\nname = "{name}"\ntype = "revolute"\nparent = "{parent}"\nchild = "{child}"\n{more}\n'
    return text


FORMULAS = [
    "__import__('os').system('true')", "().__class__.__bases__", "m.__class__", "lambda: 1", "[1 for x in (1,)]", "open('x')",
    "exec('1')", "10**10**10", "9**9**9**9", "a^65", "2^-100", "1/0", "0**-1", "log(-1)", "sqrt(-1)", "1e400", "nan", "inf", "-inf",
    "1_000", "0x10", "１", "a b", "a(b)", "(" * 3000, "(" * 60 + "1" + ")" * 60, "+".join(["a"] * 900), "a" * 3000, "'a'", "a;b", "a=b",
    "a if b else c", "a and b", "a < b", "a[0]", "a.b", "f'{a}'", "", " ", "#", "\u2028", "sin", "sin()", "sin(1,2)", "atan2(1)", "σ",
]  # fmt: skip

HOSTILE: dict[str, str] = {
    **{f"formula {k}": arm(mass="'''" + f + "'''") for k, f in enumerate(FORMULAS)},
    **{f"number {v}": arm(mass=v) for v in ("nan", "inf", "-inf", "-1", "-1e-9", "true", "1e400", "1e61", "[1]", "{}", "1979-05-27",
                                           "07:32:00", "0x" + "f" * 300, "9" * 5000)},
    **{f"com {v}": arm(com=v) for v in ("[0,0]", "[0,0,0,0]", "0", "[[0,0,0]]", "[0,0,nan]", '["a b",0,0]', "[0,0,true]", "{}")},
    **{f"inertia {v}": arm(inertia=v) for v in ("[1,2]", "[1,2,3,4]", "[[1,0],[0,1]]",
                                               "[[1,2,0],[0,1,0],[0,0,1]]", "[[1,0,0],[0,1,0],[0,0]]",
                                               "1", "[1,2,inf]", "[[1,0,0],[0,1,0],[0,0,[1]]]")},
    **{f"more {v}": arm(more=v) for v in (
        "limits = { position = [1, -1] }", "limits = { position = [1] }", "limits = { velocity = -1 }", "limits = { lower = nan }",
        "limits = { speed = 1 }", "limits = 1", "friction = { law = 'none' }", "friction = { law = 'viscous' }", "friction = 'viscous'",
        "friction = { law = 'viscous', damping = [] , x = 1 }", "drive = { drive = 'x' }",
        "drive = { drive = 'flexible', stiffness = 1, motor = 'x+1' }",
        "joint = 'ball'", "joint = 1", "alpha = 1\nalpha_deg = 2", "alpha_grad = 2", "rotor_inertia = -1", "inertia_about = 'tip'",
        "name = ''",
        'name = "a\\u0007"', f"name = '{'x' * 300}'", "link = 5", "gear_ratio = inf")},
    "no convention": "[dh]\n[[dh.rows]]\na = 1\n",
    "no rows": '[dh]\nconvention = "standard"\n',
    "rows are numbers": '[dh]\nconvention = "standard"\nrows = [1, 2]\n',
    "convention unknown": arm().replace("standard", "craig"),
    "dh is a list": "dh = [1]\n",
    "two forms": arm() + "[planar]\nlengths=[1]\nmasses=[1]\n",
    "planar mismatch": "[planar]\nlengths=[1,1]\nmasses=[1]\n",
    "planar empty": "[planar]\nlengths=[]\nmasses=[]\n",
    "planar negative": "[planar]\nlengths=[1]\nmasses=[-1]\n",
    "planar text": "[planar]\nlengths='1'\nmasses=[1]\n",
    "gravity short": "gravity = [0, 1]\n" + arm(),
    "gravity nan": "gravity = [0, 0, nan]\n" + arm(),
    "payload negative": "payload = -1\n" + arm(),
    "payload empty": "[payload]\n" + arm(),
    "payload list": "payload = [1]\n" + arm(),
    "base skewed": "[base]\nrotation = [[1,0,0],[0,1,0],[0,0,-1]]\n" + arm(),
    "base huge": "[base]\nrotation = [[1e50,0,0],[0,1,0],[0,0,1]]\n" + arm(),
    "base last row": "[base]\nmatrix = [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,2]]\n" + arm(),
    "base two rotations": "[base]\nrpy = [0,0,0]\nrpy_deg = [0,0,0]\n" + arm(),
    "quaternion zero": "[base]\nquaternion_wxyz = [0,0,0,0]\n" + arm(),
    "format future": "format = 9\n" + arm(),
    "notes": "notes = 'x'\n" + arm(),
    "unknown table": arm() + "[robot]\nx = 1\n",
    "unused parameter": arm() + "[parameters]\nx = 1\n",
    "circular parameters": arm(a="'x'") + "[parameters]\nx = 'y'\ny = 'x'\n",
    "parameters are a list": "parameters = [1]\n" + arm(),
    "parameter is a table": arm(a="'x'") + "[parameters.x]\ny = 1\n",
    "cycle": tree(("a", "b"), (("j", "a", "b"), ("k", "b", "a"))),
    "cycle beside a root": tree(("r", "a", "b"), (("j", "a", "b"), ("k", "b", "a"))),
    "self loop": tree(("a", "b"), (("j", "b", "b"),)),
    "two parents": tree(("a", "b", "c"), (("i", "a", "b"), ("j", "a", "c"), ("k", "b", "c"))),
    "two roots": tree(("a", "b"), ()),
    "duplicate links": tree(("a", "a"), ()),
    "duplicate joints": tree(("a", "b", "c"), (("j", "a", "b"), ("j", "b", "c"))),
    "missing link": tree(("a",), (("j", "a", "b"),)),
    "zero axis": tree(more="axis = [0, 0, 0]"),
    "tiny axis": tree(more="axis = [1e-9, 0, 0]"),
    "nan axis": tree(more="axis = [nan, 0, 0]"),
    "fixed with limits": tree().replace('"revolute"', '"fixed"\nlimits = { lower = 0 }'),
    "joint without type": tree().replace('type = "revolute"', ""),
    "link without name": "[[link]]\nmass = 1\n",
    "link is a table": "[link]\nname = 'a'\n",
    "tip unknown": 'tip = "x"\n' + tree(),
    "frame twice": tree() + '[[frame]]\nname = "one"\nlink = "base"\n',
    "frame nowhere": tree() + '[[frame]]\nname = "f"\nlink = "x"\n',
    "empty": "\n",
    "only a name": 'name = "x"\n',
    "not toml": "<robot/>\n=\n",
    "unterminated string": 'name = "x\n' + arm(),
    "unterminated multi-line string": 'name = """x\n' + arm(),
    "duplicate key": "name = 'a'\nname = 'b'\n" + arm(),
    "nul": "name = 'a\0b'\n" + arm(),
    "surrogate escape": 'name = "\\ud800"\n' + arm(),
    "lone surrogate": "name = '\ud800'\n" + arm(),
    "deep arrays": "x = " + "[" * 10_000 + "]" * 10_000 + "\n",
    "deep arrays unclosed": "x = " + "[" * 100_000 + "\n",
    "deep tables": "x = " + "{a=" * 5_000 + "1" + "}" * 5_000 + "\n",
    "dotted key": ".".join(["a"] * 100_000) + " = 1\n",
    "dotted header": "[" + ".".join(["a"] * 100_000) + "]\n",
    "quoted dotted key": ".".join(['"a"'] * 100_000) + " = 1\n",
    "too many links": "".join(f'[[link]]\nname = "l{i}"\n' for i in range(6_000)),
    "too many rows": '[dh]\nconvention = "standard"\nrows = [' + "{}," * 6_000 + "]\n",
    "too many entries": "x = [" + "0," * 1_100_000 + "]\n",
    "too many bytes": "# " + "x" * (17 * 2**20) + "\n" + arm(),
    "impossible date": "x = 2020-02-31\n",
}  # fmt: skip

ROW = "a1,0,0,th1,m1,[0 0 0; 0 J 0;0 0 J],[-a1/2; 0; 0; 1],th1,th1d,th1dd,1,[0; -gc ; 0],1"
TABLES = {
    "twelve fields": ROW.rpartition(",")[0],
    "fourteen fields": ROW + ",0",
    "n wrong": ROW[:-1] + "2",
    "n text": ROW[:-1] + "one",
    "n huge": ROW[:-1] + "9" * 5000,
    "n full width": ROW[:-1] + "１",
    "flag": ROW.replace(",1,[0; -gc", ",2,[0; -gc"),
    "flag text": ROW.replace(",1,[0; -gc", ",R,[0; -gc"),
    "theta without q": ROW.replace("0,0,th1,", "0,0,0,"),
    "theta twice q": ROW.replace("0,0,th1,", "0,0,2*th1,"),
    "theta nonlinear": ROW.replace("0,0,th1,", "0,0,th1^2 + th1,"),
    "prismatic without d": ROW.replace(",1,[0; -gc", ",0,[0; -gc"),
    "q in the mass": ROW.replace(",m1,", ",th1,"),
    "q in gravity": ROW.replace("-gc", "th1"),
    "rate in the length": ROW.replace("a1,0,0", "th1d,0,0"),
    "q repeated": ROW.replace("th1d,", "th1,"),
    "q is no name": ROW.replace("th1,th1d", "1th,th1d"),
    "inertia 2x3": ROW.replace("; 0 J 0;0 0 J]", "; 0 J 0]"),
    "inertia flat": ROW.replace("[0 0 0; 0 J 0;0 0 J]", "J"),
    "inertia asymmetric": ROW.replace("[0 0 0; 0 J 0;0 0 J]", "[1 2 0; 0 1 0; 0 0 1]"),
    "com three": ROW.replace("; 0; 1]", "; 0]"),
    "com fourth": ROW.replace("; 0; 1]", "; 0; 2]"),
    "bracket open": ROW.replace("[-a1/2", "-a1/2"),
    "bracket close": ROW.replace("0; 1]", "0; 1"),
    "bracket nested": ROW.replace("[-a1/2;", "[[-a1/2];"),
    "entry missing": ROW.replace("[0 0 0;", "[0,,0 0;"),
    "gravity scalar": ROW.replace("[0; -gc ; 0]", "9.81"),
    "negative mass": ROW.replace(",m1,", ",-1,"),
    "nan": ROW.replace(",m1,", ",nan,"),
    "huge": ROW.replace(",m1,", ",1e300,"),
    "attack": ROW.replace(",m1,", ",__import__('os'),"),
    "attribute": ROW.replace(",m1,", ",m1.__class__,"),
    "tower": ROW.replace(",m1,", ",10^10^10,"),
    "parentheses": ROW.replace(",m1,", "," + "(" * 2000 + ","),
    "empty": "\n\n",
    "comments only": "% nothing\n,",
    "long line": ROW + " " * 10 + "x" * 50_000,
    "many lines": (ROW + "\n") * 30_000,
    "many rows": "\n".join([ROW] * 5_001),
    "blanks": "a" + " " * 39_000 + "b,0,0,th1,m1",
    "binary": "\x00\x01,\x02",
}  # fmt: skip


def test_the_corpus_is_large_enough() -> None:
    assert len(HOSTILE) + len(TABLES) >= 150


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_toml_is_refused(name: str) -> None:
    with pytest.raises(DescriptionError):
        from_toml(HOSTILE[name], file="hostile.toml")


@pytest.mark.parametrize("name", TABLES)
def test_hostile_table_is_refused(name: str) -> None:
    with pytest.raises(DescriptionError):
        from_table(TABLES[name], file="hostile.txt")


def test_the_untouched_examples_are_legal() -> None:
    assert from_toml(arm()).n == 1
    assert from_toml(tree()).n == 1
    assert from_table(ROW).n == 1


def test_odd_files_are_refused(tmp_path) -> None:
    (tmp_path / "latin.toml").write_bytes('name = "é"\n'.encode("latin-1"))
    (tmp_path / "big.toml").write_bytes(b"#" * (17 * 2**20))
    for name in ("latin.toml", "big.toml", "missing.toml", "."):
        for read in (from_toml, from_table):
            with pytest.raises(DescriptionError):
                read(tmp_path / name)


@given(st.data())
@settings(max_examples=75, deadline=None)
def test_damaged_files_raise_nothing_else(data) -> None:
    """Cut, doubled and replaced pieces of legal files: a robot or a DescriptionError."""
    text = data.draw(st.sampled_from([arm(), tree(), ROW]))
    at = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 12))
    piece = data.draw(
        st.one_of(st.text(max_size=6), st.sampled_from(["[", "]", "=", "[[", '"', "{", "nan", "\n", ",", "1e999"]))
    )
    damaged = text[:at] + piece + text[at + length :]
    for read in (from_toml, from_table):
        with contextlib.suppress(DescriptionError):
            read(damaged + "\n")


@pytest.mark.parametrize("field", ["description", "source", "notes"])
def test_half_a_surrogate_pair_is_refused_with_its_line(field: str) -> None:
    value = "['a\ud800']" if field == "notes" else "'a\ud800'"
    with pytest.raises(DescriptionError, match="surrogate") as found:
        from_toml(f"name = 'x'\n{field} = {value}\n" + arm())
    assert found.value.line == 2


def test_nor_is_it_written(tmp_path: Path) -> None:
    robot = from_toml(arm())
    scenario = Scenario(robot, q0=[0.1] * robot.n, duration=0.1, name="\ud800")
    for write in (lambda: to_toml(dataclasses.replace(robot, name="\ud800")), lambda: to_toml(robot.replace(notes=("\udfff",))),
                  lambda: scenario.save(tmp_path / "run.toml")):  # fmt: skip
        with pytest.raises(DescriptionError, match="surrogate"):
            write()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("function", "depth", "read"),
    [("cosh", 7, True), ("cosh", 23, False), ("sinh", 23, False), ("tanh", 4, True), ("tanh", 9, False)],
)
def test_hyperbolic_functions_within_each_other(function: str, depth: int, read: bool) -> None:
    """SymPy looks at what is inside twice or three times, at every level: twenty of them would take longer than anybody waits."""
    formula = f"{function}(" * depth + "a" + ")" * depth
    text = 'free = ["a"]\n' + arm(com=f'[0, 0, "{formula}"]', more='inertia_about = "origin"')
    if read:
        assert from_toml(text).parameters == ("a",)
    else:
        with pytest.raises(DescriptionError, match="units of"):
            from_toml(text)


def test_a_power_that_no_formula_has_is_not_written() -> None:
    """The inertia about the centre of mass holds the square of its distance."""
    robot = from_toml('free = ["t"]\n' + arm(com='["t^40", 0, 0]', more='inertia_about = "origin"'))
    with pytest.raises(DescriptionError, match="exponent of 80"):
        to_toml(robot)
