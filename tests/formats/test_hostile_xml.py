"""Every hostile URDF and MJCF file is refused by one kind of error that names the file; budgets cost little work."""

from __future__ import annotations

import os
import sys
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.hostile_xml import CASES, Case, chain, robot
from manipula.errors import BudgetError, DescriptionError
from manipula.formats.guard import MAX_BYTES, check_reference, read_bytes, read_text, safe_join
from manipula.formats.mjcf import from_mjcf
from manipula.formats.sdf import from_sdf
from manipula.formats.toml import from_toml, to_toml
from manipula.formats.urdf import from_urdf, read_urdf
from manipula.formats.xml import reader as xml

READERS = {"urdf": partial(from_urdf, check_meshes=True), "mjcf": from_mjcf, "sdf": from_sdf}


def test_the_corpus_is_large_and_its_names_are_unique():
    assert len(CASES) >= 250
    assert len({(c.format, c.name) for c in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_hostile_file_is_refused(case: Case, tmp_path):
    path = tmp_path / f"hostile.{case.format}"
    path.write_bytes(case.make())
    with pytest.raises(DescriptionError) as caught:
        READERS[case.format](path)
    error = caught.value
    assert error.file == str(path)
    assert error.problem.strip()
    assert str(error).isprintable()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("urdf: xacro macro", "xacro FILE > arm.urdf"),
        ("urdf: mimic", "which 'j' follows"),
        ("urdf: floating joint", "six degrees of freedom"),
        ("urdf: misspelt limit", "Did you mean 'upper'"),
        ("urdf: unknown parent", "No link .* named 'zz'"),
        ("urdf: cycle of two", "cycle"),
        ("urdf: two parents", "two parents"),
        ("urdf: duplicate links", "Two links are named 'a'"),
        ("urdf: reversed limits", "reversed"),
        ("urdf: zero axis", "axis of joint 'j' is zero"),
        ("urdf: negative mass", "must not be negative"),
        ("urdf: DTD, billion laughs", "DOCTYPE"),
        ("urdf: mass is 'nan'", "not a decimal number"),
        ("urdf: mesh 'package://../../etc/passwd'", "climbs out"),
        ("mjcf: mesh that is not there", "State <inertial>"),
        ("mjcf: ball joint", "three hinges"),
        ("mjcf: include", "give the path of the main file"),
        ("mjcf: unknown class", "No class named 'nope'"),
    ],
)
def test_the_message_says_what_is_wrong(name, found):
    case = next(c for c in CASES if repr(c) == name)
    with pytest.raises(DescriptionError, match=found):
        READERS[case.format](case.make())


def test_line_and_field_are_those_of_the_culprit(tmp_path):
    text = (
        '<robot name="r">\n<link name="a"/>\n<link name="b">\n<inertial>\n<mass value="1,5"/></inertial></link></robot>'
    )
    path = tmp_path / "arm.urdf"
    path.write_text(text)
    with pytest.raises(DescriptionError) as caught:
        read_urdf(path)
    assert (caught.value.line, caught.value.field) == (5, "mass.value")
    assert "arm.urdf:5, mass.value: '1,5' is not a decimal number" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "budget"), [("million links", 2000), ("million elements", 40_000), ("very deep nesting", 24)]
)
def test_budgets_stop_before_more_is_built(name, budget, monkeypatch):
    built = 0
    original = xml.Element

    def counting(*args):
        nonlocal built
        built += 1
        return original(*args)

    monkeypatch.setattr(xml, "Element", counting)
    case = next(c for c in CASES if repr(c) == f"urdf: {name}")
    with pytest.raises(BudgetError):
        from_urdf(case.make())
    assert budget <= built <= budget + 1


def test_a_thousand_links_are_legal():
    assert from_urdf(chain(1000)).n == 999


def test_deep_bodies_are_legal_up_to_the_link_budget():
    empty = "<mujoco><worldbody>" + "<body>" * 1999 + "</body>" * 1999 + "</worldbody></mujoco>"
    assert from_mjcf(empty).n == 0
    depth = 1500  # deeper than Python's own limit of recursion
    limit = sys.getrecursionlimit()
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><joint/>'
    text = "<mujoco><worldbody>" + f"<body>{inertial}" * depth + "</body>" * depth + "</worldbody></mujoco>"
    assert from_mjcf(text).n == depth
    assert sys.getrecursionlimit() == limit


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names exist on POSIX only")
def test_pipes_folders_and_missing_files_are_refused(tmp_path):
    pipe = tmp_path / "pipe.urdf"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, tmp_path / "missing.urdf", "/dev/zero", "no such file", "a\0b", "x" * 5000):
        with pytest.raises(DescriptionError):
            read_bytes(path)
        with pytest.raises(DescriptionError):
            from_urdf(path)


def test_size_is_checked_before_reading(tmp_path):
    path = tmp_path / "sparse.urdf"
    with path.open("wb") as f:
        f.truncate(MAX_BYTES + 1)
    with pytest.raises(BudgetError, match="At most 16777216 bytes"):
        read_text(path)


@pytest.mark.parametrize("value", [None, 3, ["<robot/>"], "", "\n", "\ud800<"])
def test_what_is_neither_text_nor_path_is_refused(value):
    with pytest.raises(DescriptionError):
        from_urdf(value)


def test_safe_join_stays_inside(tmp_path):
    inside = tmp_path / "robot"
    (inside / "meshes").mkdir(parents=True)
    (inside / "meshes" / "a.stl").write_bytes(b"solid")
    secret = tmp_path / "secret.stl"
    secret.write_bytes(b"secret")
    (inside / "way_out.stl").symlink_to(secret)
    (inside / "loop").symlink_to(inside / "loop")
    assert safe_join(inside, "meshes/a.stl", (".stl",)).name == "a.stl"
    assert safe_join(inside, "meshes/../meshes/a.stl").name == "a.stl"
    for reference in ("../secret.stl", "way_out.stl", "/etc/passwd", "file:///etc/passwd", "C:\\a.stl", "meshes", "none.stl",
                      "package://../a", "http://localhost/a.stl", "a\0.stl", "loop/a.stl", "..\\secret.stl", "", ".",
                      "meshes/a.stl/../../../secret.stl"):  # fmt: skip
        with pytest.raises(DescriptionError):
            safe_join(inside, reference)
    with pytest.raises(DescriptionError):
        safe_join(inside, "meshes/a.stl", (".dae",))


@settings(max_examples=100)
@given(st.lists(st.sampled_from(["..", ".", "a", "package://", "/", "\\", "//", "file:", "C:", " "]), max_size=8))
def test_no_reference_escapes(parts):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        try:
            path = safe_join(folder, "/".join(parts))
        except DescriptionError:
            return
        assert path.is_relative_to(Path(folder).resolve())


@pytest.mark.parametrize(
    "path",
    ["package://arm/meshes/a.stl", "meshes/a.stl", "a.dae", "model://arm/a.obj", "meshes/../meshes/b.stl", "file:///opt/a.stl",
     "package://arm/a b/ü.stl", "/opt/robot/a.stl", "https://example.org/a.stl"],
)  # fmt: skip
def test_meshes_that_stay_where_they_are_are_legal_and_noted(path):
    check_reference(path)
    text = robot(f'<link name="a"><visual><geometry><mesh filename="{path}"/></geometry></visual></link>')
    assert any("mesh" in note for note in from_urdf(text).notes)


def test_a_mesh_path_that_leaves_the_folder_is_told_and_opened_by_nothing(monkeypatch):
    cases = [c for c in CASES if c.format == "urdf" and "mesh '" in c.name]
    texts = [c.make() for c in cases]
    assert len(texts) > 20
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("a file was opened"))
    for text in texts:
        notes = from_urdf(text).notes
        assert "1 mesh is named: for pictures, no mass comes from it." in notes
        assert any("nothing opens them" in note for note in notes)


fragments = st.sampled_from(
    [
        "<robot name='r'>", "</robot>", "<link name='a'>", "<link name='b'/>", "</link>", "<inertial>", "</inertial>",
        "<mass value='1'/>", "<mass value='-1'/>", "<joint name='j' type='revolute'>", "</joint>", "<parent link='a'/>",
        "<child link='b'/>", "<axis xyz='0 0 0'/>", "<axis xyz='0 0 1'/>", "<limit lower='1' upper='0'/>", "<origin/>",
        "<mujoco>", "</mujoco>", "<worldbody>", "</worldbody>", "<body>", "<body name='x' pos='1 2'>", "</body>", "<joint/>",
        "<joint type='ball'/>", "<inertial pos='0 0 0' mass='1'/>", "<geom/>", "<frame euler='1 2 3'>", "</frame>", "<!-- x -->",
        "&amp;", "&x;", "<![CDATA[x]]>", "<?x?>", "<!DOCTYPE r>", "\x00", "\ufffe", "é", "]]>", "<default class='main'>",
        "</default>", "<compiler angle='radian'/>", "<custom><text name='manipula.tip' data='x'/></custom>", "<manipula tip='a'/>",
        "<sdf version='1.9'>", "</sdf>", "<model name='m'>", "</model>", "<parent>a</parent><child>b</child>", "<axis><xyz>0 0 1</xyz></axis>",
        "<pose relative_to='a'>0 0 0 1 2 3</pose>", "<frame name='f' attached_to='a'/>", "<pose>", "</pose>", "1 2 3",
    ]
)  # fmt: skip


@settings(max_examples=150)
@given(st.lists(fragments, max_size=25).map("".join))
def test_any_heap_of_fragments_gives_a_robot_or_one_kind_of_error(text):
    for reader in READERS.values():
        try:
            result = reader(text)
        except DescriptionError:
            continue
        assert from_toml(to_toml(result)) == result


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 7))
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    return count, draw(st.lists(ends, min_size=max(count - 2, 0), max_size=count))


def is_tree(count: int, edges: list[tuple[int, int]]) -> bool:
    """One root from which every link is reached, each by one joint."""
    if len(edges) != count - 1 or len({child for _, child in edges}) != len(edges):
        return False
    reached = set(range(count)) - {child for _, child in edges}
    for _ in range(count):
        reached |= {child for parent, child in edges if parent in reached}
    return len(reached) == count and len(edges) == count - 1


@settings(max_examples=150)
@given(graphs())
def test_a_graph_is_a_robot_exactly_when_it_is_a_tree(graph):
    count, edges = graph
    links = "".join(f'<link name="l{i}"/>' for i in range(count))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{a}"/><child link="l{b}"/></joint>'
        for k, (a, b) in enumerate(edges)
    )
    if is_tree(count, edges):
        assert from_urdf(robot(links + joints)).n == count - 1
    else:
        with pytest.raises(DescriptionError):
            from_urdf(robot(links + joints))
