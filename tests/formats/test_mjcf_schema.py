"""The table of MJCF against MuJoCo's own, and the refusal of what neither knows."""

from __future__ import annotations

import re
from collections.abc import Iterator

import mujoco
import pytest

from manipula.errors import DescriptionError
from manipula.formats.mjcf import from_mjcf
from manipula.formats.mjcf.keywords import KEYWORDS
from manipula.formats.mjcf.schema import _OLDER, VERSION, Row, schema


def printed() -> dict[tuple[str, ...], tuple[str, set[str]]]:
    """MuJoCo's printed schema: path → how often, attributes."""
    rows: dict[tuple[str, ...], tuple[str, set[str]]] = {}
    path: tuple[str, ...] = ()
    for line in mujoco.mj_printSchema(False, False).splitlines():
        head = re.match(r"^( {0,12})(\S+) \((.)\)\s*(.*)$", line)
        if head:
            depth = len(head[1]) // 3
            path = (*path[:depth], head[2].replace("(world)", ""))
            rows[path] = (head[3], set(head[4].split()))
        elif line.strip():
            rows[path][1].update(line.split())
    return rows


def ours() -> Iterator[tuple[tuple[str, ...], Row]]:
    body = schema().children["worldbody"].children["body"]
    todo: list[tuple[tuple[str, ...], Row]] = [(("mujoco",), schema())]
    while todo:
        path, row = todo.pop()
        yield path, row
        for tag, child in row.children.items():
            if tag == "worldbody":
                todo.append(((*path, "body"), body))
            elif tag not in ("body", "frame", "composite", "replicate") and not (tag == "default" and path[-1] == tag):
                todo.append(((*path, tag), child))


@pytest.mark.skipif(not mujoco.__version__.startswith(VERSION), reason=f"the table is MuJoCo {VERSION}'s")
def test_the_table_is_mujocos() -> None:
    theirs, mine = printed(), dict(ours())
    assert set(mine) == set(theirs)
    assert len(theirs) > 150
    for path, (often, attributes) in theirs.items():
        older = set(_OLDER.get(path[-1], "").split())
        assert mine[path].attributes - older == attributes, path
        assert mine[path].often == often, path
        assert not older & attributes, "no longer dropped"


ARM = """<mujoco model="m">
<option gravity="0 0 -9.81"/>
<worldbody>
  <body name="a"><joint name="j" axis="0 1 0"/>
    <inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/>
  </body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("axis=", "axs=", 4, "attribute of <joint> named 'axs'. Did you mean 'axis'"),
        ("gravity=", "gravty=", 2, "attribute of <option> named 'gravty'. Did you mean 'gravity'"),
        ("<joint ", "<jont ", 4, "element in <body> named 'jont'. Did you mean 'joint'"),
        ("<option ", "<optoin ", 2, "element in <mujoco> named 'optoin'. Did you mean 'option'"),
        ("<body name", "<body pso='1 0 0' name", 4, "attribute of <body> named 'pso'. Did you mean 'pos'"),
        ('mass="1"', 'mass="1" diagnertia="1 1 1"', 5, "'diagnertia'. Did you mean 'diaginertia'"),
        ("<worldbody>", "<worldbody name='w'>", 3, "attribute of <worldbody> named 'name'"),
        ("<worldbody>", "<worldbody><joint/>", 3, "The world body is fixed"),
        ("<worldbody>", "<compiler angl='radian'/><worldbody>", 3, "'angl'. Did you mean 'angle'"),
        ("<worldbody>", "<default><joint class='x'/></default><worldbody>", 3, "attribute of <joint> named 'class'"),
        ("<worldbody>", "<option><flag gravity='enable'/><flag/></option><worldbody>", 3, "A second <flag>"),
        ("</worldbody>", "</worldbody><sensor><gyo site='s'/></sensor>", 7, "'gyo'. Did you mean 'gyro'"),
    ],
)
def test_what_mujoco_refuses_is_refused(old: str, new: str, line: int, words: str) -> None:
    text = ARM.replace(old, new, 1)
    with pytest.raises(ValueError, match=r"Schema violation|World body|unrecognized"):
        mujoco.MjModel.from_xml_string(text)
    with pytest.raises(DescriptionError, match=re.escape(words)) as found:
        from_mjcf(text)
    assert found.value.line == line


KEYWORD_PLACES = {
    "option": "<option {}/>", "flag": "<option><flag {}/></option>", "compiler": "<compiler {}/>",
    "body": "<worldbody><body {}/></worldbody>", "joint": "<default><joint {}/></default>", "geom": "<default><geom {}/></default>",
    "site": "<default><site {}/></default>", "camera": "<default><camera {}/></default>",
    "light": "<default><light {}/></default>", "texture": "<default><texture {}/></default>",
    "equality": "<default><equality {}/></default>", "tendon": "<default><tendon {}/></default>",
    "general": "<default><general {}/></default>", "motor": "<default><motor {}/></default>",
}  # fmt: skip


@pytest.mark.skipif(not mujoco.__version__.startswith(VERSION), reason=f"the table is MuJoCo {VERSION}'s")
@pytest.mark.parametrize("tag", KEYWORD_PLACES)
def test_keywords_are_mujocos(tag: str) -> None:
    """Every word that we know MuJoCo knows, and a word that neither knows is refused by both."""
    known = {"flag": {"gravity": "enable disable", "energy": "enable disable"}}.get(tag) or KEYWORDS[tag]
    for attribute, words in known.items():
        if attribute not in find_row(tag).attributes:
            continue
        for word in (*words.split(), "RK5", "True"):
            section = KEYWORD_PLACES[tag].format(f'{attribute}="{word}"')
            text = f"<mujoco>{section}</mujoco>"
            try:
                mujoco.MjModel.from_xml_string(text)
                accepted = True
            except ValueError as error:  # other complaints come after the word was understood
                accepted = "invalid keyword" not in str(error)
            assert accepted == (word in words.split()), (attribute, word)
            if not accepted:
                with pytest.raises(DescriptionError, match=f"value of {attribute} named '{word}'"):
                    from_mjcf(ARM.replace("<worldbody>", section + "<worldbody>", 1))


def find_row(tag: str) -> Row:
    return next(row for path, row in ours() if path[-1] == tag)


def test_slips_inside_frames_are_refused() -> None:
    """MuJoCo does not look at what stands in a frame; a slip there changes the robot all the same."""
    with pytest.raises(DescriptionError, match="attribute of <joint> named 'axs'"):
        from_mjcf(ARM.replace('<joint name="j" axis="0 1 0"/>', '<frame><joint name="j" axs="0 1 0"/></frame>'))


@pytest.mark.parametrize("word", ['<option apirate="100"/>', '<compiler convexhull="true"/>'])
def test_words_of_older_versions_are_read(word: str) -> None:
    assert from_mjcf(ARM.replace("<worldbody>", word + "<worldbody>")) == from_mjcf(ARM)
