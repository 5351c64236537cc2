"""Hostile names cannot reach generated source; files appear whole and never over others; every name is legal everywhere."""

from __future__ import annotations

import dataclasses
import keyword
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from manipula.algebra import ops
from manipula.codegen import LANGUAGES, export, export_graph, source_texts
from manipula.codegen.names import LONGEST, LONGEST_PREFIX, RESERVED, Identifiers, comment, identifier
from manipula.errors import CompileError, DescriptionError, UnknownNameError
from manipula.formats.dh import from_dh
from manipula.formats.planar import planar
from manipula.native import interpolate, repeat, trace
from manipula.robot.robot import Robot
from tools import missing_tool

HOSTILE = [
    'x"); system("touch hacked"); //', "*/ #error hacked /*", "a\n#include <hacked.h>", '"""\nimport os\n"""',
    "end\nsystem('touch hacked')",
    "=# error() #=", "\\", "??/", "%}\nhacked", "../../etc/passwd", "double", "def", "fn", "end", "i", "", " ", "9lives", "_", "__class__",
    "\u202e\u2066evil", "é", "θ₁", "naïve", "a" * 500, "$(touch hacked)",
    "`touch hacked`", "{0}", "%n%s", "\x00", "CON", "nul", "T1", "sin1", "t3",
]  # fmt: skip


@given(st.text())
def test_every_text_becomes_a_legal_identifier(text):
    name = identifier(text)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,31}", name)
    assert name not in RESERVED
    assert len(name) == 1 or name.lower() not in RESERVED
    assert not keyword.iskeyword(name)


@given(st.lists(st.text(max_size=12), max_size=30))
def test_names_never_collide_even_without_case(texts):
    names = Identifiers()
    made = [names.unique(t) for t in texts]
    assert len({m.lower() for m in made}) == len(made)
    assert all(len(m) <= LONGEST for m in made)


@given(st.text())
def test_comments_hold_only_harmless_characters(text):
    shown = comment(text)
    assert re.fullmatch(r"[A-Za-z0-9 _.,:;()\[\]+=/-]*", shown)
    assert not any(bad in shown for bad in ("*/", "/*", "//", "\\", "\n"))
    assert not shown.endswith("/")


@pytest.mark.parametrize("language", ["keyword", "c", "matlab", "rust", "julia", "javascript"])
def test_words_of_the_languages_are_reserved(language):
    words = {
        "keyword": list(keyword.kwlist),
        "c": ["int", "restrict", "class", "y1", "gamma", "main"],
        "matlab": ["end", "function", "i", "j", "pi"],
        "rust": ["fn", "impl", "self", "f64"],
        "julia": ["begin", "module", "where"],
        "javascript": ["arguments", "var", "Math", "undefined"],
    }[language]
    for word in words:
        assert word.lower() in RESERVED
        assert identifier(word) != word


def hostile_robot(k: int) -> Robot:
    name = HOSTILE[k]
    symbols = [sympy.Symbol(HOSTILE[(k + j) % len(HOSTILE)] or "empty", real=True) for j in range(4)]
    rows = [{"a": 0.4, "mass": symbols[0], "com": (0.1, symbols[1], 0), "inertia": [1, 2, 2.5, 0, 0, 0]},
            {"a": symbols[2], "mass": symbols[3], "com": (0.1, 0, 0), "inertia": [1, 2, 2.5, 0, 0, 0]}]  # fmt: skip
    robot = from_dh(rows, "standard", name="r")
    joints = tuple(dataclasses.replace(j, name=name + str(i)) for i, j in enumerate(robot.joints))
    links = tuple(dataclasses.replace(l, name=name + "link" + str(i)) for i, l in enumerate(robot.links))
    if not (name + "0").isprintable() or len(name) > 194:  # no robot has such names, however it is made
        with pytest.raises(DescriptionError, match="must be printable"):
            dataclasses.replace(robot, joints=joints, links=links)
        joints, links = robot.joints, robot.links
    return dataclasses.replace(robot, name=name, joints=joints, links=links)


COMMENTS = {
    "c": r"/\*.*?\*/", "python": r'"""[^"]*"""|#[^\n]*', "matlab": r"%[^\n]*", "julia": r"#[^\n]*", "rust": r"//[^\n]*",
    "javascript": r"//[^\n]*",
}  # fmt: skip


def code_only(language: str, text: str) -> list[str]:
    """The lines of a source text without its comments."""
    bare = re.sub(COMMENTS[language], "", text, flags=re.DOTALL)
    return [line.rstrip() for line in bare.splitlines() if line.strip()]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("k", range(len(HOSTILE)))
def test_hostile_names_leave_no_trace(language, k):
    """Without its comments, the code of a robot with hostile names equals that of the same robot with tame ones."""
    robot = hostile_robot(k)
    baked = robot.with_parameters(**dict.fromkeys(robot.parameters, 0.5))
    tame = dataclasses.replace(
        baked,
        name="arm",
        joints=tuple(dataclasses.replace(j, name=f"j{i}") for i, j in enumerate(baked.joints)),
        links=tuple(dataclasses.replace(l, name=f"l{i}") for i, l in enumerate(baked.links)),
    )
    texts = source_texts(baked, language, ["inverse_dynamics"])
    own = identifier(robot.name, "robot", LONGEST_PREFIX)
    for (name, text), wanted in zip(
        texts.items(), source_texts(tame, language, ["inverse_dynamics"], prefix=own).values()
    ):
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}\.[a-z]{1,3}", name)
        assert text.isascii()
        assert all(c.isprintable() or c == "\n" for c in text)
        assert code_only(language, text) == code_only(language, wanted)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("k", range(0, len(HOSTILE), 3))
def test_hostile_parameters_become_plain_fields(language, k):
    """Every word of the code outside comments is an identifier of ordinary length; nothing of the attack is left."""
    for text in source_texts(hostile_robot(k), language, ["inverse_dynamics"], "struct").values():
        code = "\n".join(code_only(language, text))
        assert text.isascii()
        assert all(len(word) <= 63 for word in re.findall(r"\w+", code))
        assert not re.search(r"\bsystem\(|#error|import os\b|<hacked|`|\$", code)


@pytest.mark.parametrize("k", [0, 1, 2, 3, 10, 16])
def test_hostile_robots_compile_and_run(k, tmp_path):
    robot = hostile_robot(k)
    if shutil.which("gcc") is not None:
        paths = export(robot, "c", tmp_path, ["inverse_dynamics"], "struct")
        sources = [p.name for p in paths if p.suffix == ".c"]
        done = subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", *sources, "-o", "checked", "-lm"],
                              cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert (
            subprocess.run(["./checked"], cwd=tmp_path, capture_output=True, check=False, timeout=300).returncode == 0
        )
    test = next(p for p in export(robot, "python", tmp_path, ["gravity"], "struct") if p.name.endswith("_test.py"))
    done = subprocess.run(
        [sys.executable, test.name], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert not any("hacked" in p.name for p in tmp_path.iterdir() if p.suffix not in (".c", ".h", ".py"))


# ---------------------------------------------------------------------- functions of users
def controller(x, q, qd, gain):
    """Every operation that straight-line code may hold, in one function."""
    path = interpolate([0.0, 0.4, 1.0, 2.0], [[0.0, 1.0], [0.5, 0.2], [0.3, 0.9], [1.0, 1.0]], "cubic")
    goal, speed = path(x), path.derivative()(x)
    e = goal - q
    u = ops.minimum(ops.maximum(gain * e[0] + ops.tanh(qd[0]), -1.0), 1.0)
    inside = (ops.abs(e[1]) < 0.5) & ~((q[0] <= -0.9) | (q[1] != q[1]))
    v = ops.where(inside, ops.sqrt(ops.abs(q[0])) + ops.exp(-q[1] * q[1]), ops.sign(q[0]) * ops.floor(3.0 * q[1]))
    w = ops.atan2(q[0], 1.2 + q[1]) + ops.asin(0.5 * q[0]) - ops.acos(0.5 * q[1]) + ops.atan(q[0]) + ops.tan(0.3 * q[1])
    z = ops.log(2.0 + q[0]) + ops.sinh(q[1]) * ops.cosh(q[0]) + (2.0 + q[0]) ** q[1] + 1.0 / (3.0 - q[0])
    return {"u": np.array([[u, v], [w, z]], object), "rate": speed, "scalar": u - v * (w - z) / (u * u + 1.0)}


def controller_graph():
    return trace(controller, {"x": (), "q": (2,), "qd": (2,), "gain": ()}, "my controller!")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_function_of_the_user_is_written_and_runs(language, tmp_path):
    paths = export_graph(controller_graph(), language, tmp_path, meanings={"gain": "proportional gain [N m/rad]"})
    commands = {
        "c": (
            "gcc",
            "gcc -std=c99 -Wall -Wextra -Werror -pedantic my_controller.c my_controller_test.c -o t -lm && ./t",
        ),
        "python": (sys.executable, f"{sys.executable} my_controller_test.py"),
        "matlab": ("octave-cli", "octave-cli --no-gui --norc --quiet --eval my_controller_test"),
        "julia": ("julia", "julia --startup-file=no my_controller_test.jl"),
        "javascript": ("node", "node my_controller_test.mjs"),
        "rust": ("rustc", "rustc --edition 2021 --test -D warnings my_controller.rs -o t && ./t"),
    }
    tool, command = commands[language]
    assert "proportional gain [N m/rad]" in "".join(p.read_text() for p in paths)
    if reason := missing_tool(tool):
        pytest.skip(reason)
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_user_function_really_holds_every_operation():
    codes = {op.code for op in controller_graph().operations}
    known = {
        "const",
        "input",
        "add",
        "sub",
        "mul",
        "div",
        "neg",
        "select",
        "locate",
        "gather",
        "lt",
        "le",
        "ne",
        "and",
        "or",
        "not",
    }
    functions = {"sqrt", "abs", "floor", "sign", "tan", "asin", "acos", "atan", "atan2", "pow", "minimum", "maximum", "exp", "log",
                 "sinh", "cosh", "tanh"}  # fmt: skip
    assert functions <= codes
    assert {"select", "locate", "gather", "lt", "and"} <= codes <= known | functions


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_knows_every_operation(language):
    """The codes of the graph language (native/tracing/graph.py) that are not arithmetic, tables or loops."""
    codes = """fma fms fnma sqrt abs floor sign sin cos tan asin acos atan sinh cosh tanh exp log atan2 pow minimum maximum
    lt le eq ne and or not select"""
    assert set(LANGUAGES[language].calls) == set(codes.split())


def test_a_loop_is_refused_with_advice(tmp_path):
    graph = trace(lambda x: repeat(lambda i, s: (0.5 * s,), (x,), 10).state[0], {"x": ()}, "halve")
    with pytest.raises(CompileError, match="straight-line"):
        export_graph(graph, "c", tmp_path)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------- wrong requests
def test_wrong_requests_say_what_is_allowed(tmp_path):
    arm = planar([1.0], [1.0])
    with pytest.raises(UnknownNameError, match="python"):
        export(arm, "pyton", tmp_path)
    with pytest.raises(UnknownNameError, match="mass_matrix"):
        export(arm, "c", tmp_path, ["mas_matrix"])
    with pytest.raises(UnknownNameError, match="struct"):
        export(arm, "c", tmp_path, parameters="structs")  # pyright: ignore[reportArgumentType]
    with pytest.raises(DescriptionError, match="friction"):
        export(arm, "c", tmp_path, ["friction"])
    with pytest.raises(DescriptionError, match="with_parameters"):
        export(planar([sympy.Symbol("l")], [1.0]), "c", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_files_are_never_overwritten_unless_forced(tmp_path):
    arm = planar([1.0], [1.0], name="arm")
    (tmp_path / "arm_test.c").write_text("mine")
    with pytest.raises(DescriptionError, match=r"arm_test\.c"):
        export(arm, "c", tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["arm_test.c"]
    assert (tmp_path / "arm_test.c").read_text() == "mine"
    paths = export(arm, "c", tmp_path, force=True)
    assert (
        sorted(p.name for p in tmp_path.iterdir()) == sorted(p.name for p in paths) == ["arm.c", "arm.h", "arm_test.c"]
    )


def test_a_link_to_elsewhere_is_replaced_and_not_followed(tmp_path):
    target = tmp_path / "precious"
    target.write_text("mine")
    folder = tmp_path / "out"
    folder.mkdir()
    os.symlink(target, folder / "arm.h")
    arm = planar([1.0], [1.0], name="arm")
    with pytest.raises(DescriptionError):
        export(arm, "c", folder)
    export(arm, "c", folder, force=True)
    assert target.read_text() == "mine"
    assert not (folder / "arm.h").is_symlink()


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_are_written_so_that_they_read_back(language):
    rng = np.random.default_rng(3)
    for x in [*rng.normal(size=50).tolist(), 0.1, 1e-300, 1e300, 5e-324, -0.0]:
        assert float(LANGUAGES[language].literal(x)) == x


def test_operation_count_robot_and_units_stand_in_the_comments(tmp_path):
    text = source_texts(planar([1.0, 1.0], [1.0, 1.0], name="Lab arm 3"), "c", ["inverse_dynamics"])["Lab_arm_3.h"]
    assert "Lab arm 3" in text
    assert "multiplications" in text
    assert "[N m, N]" in text
    assert "rad/s2" in text


def test_a_julia_module_is_never_named_like_its_function(tmp_path):
    """Julia refuses to define a function with the name of the module that holds it."""
    for name, module in (("follow", "Follow"), ("Follow", "FollowModule"), ("test", "TestModule")):
        graph = trace(lambda x: 2.0 * x, {"x": ()}, name)
        text = export_graph(graph, "julia", tmp_path / name)[0].read_text()
        assert f"module {module}\n" in text
        assert f"function {module}(" not in text


def test_the_public_name_is_the_function(tmp_path):
    import manipula

    assert manipula.export is export
    paths = manipula.export(planar([1.0], [1.0], name="arm"), "rust", tmp_path)
    assert [p.name for p in paths] == ["arm.rs"]
