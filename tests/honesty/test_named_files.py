"""A file names other files only in its own folder; pipes, devices and foreign files are refused unread."""

from __future__ import annotations

import os

import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.motion import paths
from manipula.simulation.files.scenario_file import file_text, load_file, load_text
from manipula.studies.files import load_study

SECRET = "root:x:0:0:swordfish"
CSV = "0.3,0.1,0\n0.4,0.2,0\n0.5,0.1,0\n"
SVG = '<svg><path d="M 0.3 0 L 0.5 0.2"/></svg>'


def scenario(kind: str, source: str) -> str:
    return (
        f'robot = "planar-2r"\nkind = "inverse_dynamics"\n[reference.path]\nkind = "{kind}"\nsource = "{source}"\n'
        '[reference.timing]\nkind = "quintic"\nduration = 1.0\n'
    )


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "runs"
    inside.mkdir()
    (tmp_path / "secret.csv").write_text(SECRET + "\n" + SECRET)
    (tmp_path / "secret.svg").write_text(SECRET)
    (tmp_path / "secret.toml").write_text(SECRET)
    for suffix in ("csv", "svg", "toml"):
        (inside / f"link.{suffix}").symlink_to(tmp_path / f"secret.{suffix}")
        os.mkfifo(inside / f"pipe.{suffix}")
        (inside / f"zero.{suffix}").symlink_to("/dev/zero")
        (inside / f"folder.{suffix}").mkdir()
    (inside / "points.csv").write_text(CSV)
    (inside / "drawing.svg").write_text(SVG)
    return inside


NAMES = ("../secret", "link", "pipe", "zero", "folder", "absent", "a/../../secret", "{absolute}/secret")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["csv", "svg", "toml"])
def test_only_regular_files_of_the_folder_are_opened(folder, suffix, name):
    source = f"{name.format(absolute=folder.parent)}.{suffix}"
    text = f'robot = "{source}"\n' if suffix == "toml" else scenario(f"from_{suffix}", source)
    file = folder / "run.toml"
    file.write_text(text)
    with pytest.raises(DescriptionError) as error:
        load_file(file)
    assert "swordfish" not in str(error.value)
    assert str(error.value).startswith(str(file))  # the culprit is the scenario, with its line
    assert error.value.line is not None


@pytest.mark.parametrize("source", ["/dev/zero", "/etc/passwd", "/proc/self/environ"])
@pytest.mark.parametrize("kind", ["from_csv", "robot"])
def test_system_files_are_not_touched(folder, source, kind):
    file = folder / "run.toml"
    file.write_text(f'robot = "{source}"\n' if kind == "robot" else scenario(kind, source))
    with pytest.raises(DescriptionError, match="absolute"):
        load_file(file)


TABLES = {
    "wrench_table": 'robot = "planar-2r"\nduration = 0.1\nq0 = [0, 0]\n[[disturbances]]\nkind = "wrench_table"\ntable = "{source}"\n',
    "torque_table": (
        'robot = "planar-2r"\nduration = 0.1\nq0 = [0, 0]\n[controller]\nlaw = "torque_table"\ntorques = "{source}"\n'
    ),
}


@pytest.mark.parametrize(
    "source", ["/etc/passwd", "{above}/secret.txt", "../secret.txt", "../secret", "/dev/zero", "link"]
)
@pytest.mark.parametrize("part", sorted(TABLES))
def test_tables_of_any_ending_are_guarded(folder, part, source):
    """A name is a name, whatever it ends in: on one line nothing else is meant."""
    for name in ("secret.txt", "secret"):
        (folder.parent / name).write_text(SECRET + "\n" + SECRET)
    (folder / "link").symlink_to(folder.parent / "secret")
    file, text = folder / "run.toml", TABLES[part].format(source=source.format(above=folder.parent))
    file.write_text(text)
    with pytest.raises(DescriptionError, match=r"absolute|climbs out|leads out") as error:
        load_file(file)
    assert str(error.value).startswith(f"{file}:")
    with pytest.raises(DescriptionError, match="opens no files"):
        load_text(text)


@pytest.mark.parametrize(("kind", "source"), [("from_csv", "points.csv"), ("from_svg", "drawing.svg")])
def test_a_saved_scenario_holds_what_it_read(folder, kind, source):
    """The points travel with the scenario, so that its file names nothing on this machine."""
    found = load_text(scenario(kind, source), folder)
    text = file_text(found)
    assert str(folder) not in text
    assert load_text(text) == found  # opens nothing


def test_python_may_name_any_regular_file(folder):
    assert paths.from_csv(str(folder / "points.csv")) == paths.from_csv(CSV)
    assert paths.from_csv(folder / "points.csv").length > 0
    for name in ("pipe.csv", "zero.csv", "folder.csv"):
        with pytest.raises(DescriptionError, match="not a regular file"):
            paths.from_csv(str(folder / name))
    for name in ("pipe.svg", "zero.svg"):
        with pytest.raises(DescriptionError, match="not a regular file"):
            paths.from_svg(str(folder / name))


@pytest.mark.parametrize(
    "uri", ["x" * 300, "x" * 300 + "/model.sdf", "é" * 200, "turning", "turning/a.sdf", "model://turning"]
)
def test_a_model_that_is_included_is_followed_nowhere_else(tmp_path, uri):
    """Names that no file can have, and a link that leads to itself."""
    (tmp_path / "turning").symlink_to("turning")
    path = tmp_path / "main.sdf"
    path.write_text(
        f'<sdf version="1.7"><model name="a"><include><uri>{uri}</uri></include><link name="b"/></model></sdf>',
        encoding="utf-8",
    )
    with pytest.raises(DescriptionError):
        mp.load(path)


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".xml", ".txt", ".sdf"])
def test_robots_are_read_from_regular_files(tmp_path, suffix):
    pipe = tmp_path / f"arm{suffix}"
    os.mkfifo(pipe)
    with pytest.raises(DescriptionError, match="not a regular file"):
        mp.load(pipe)


@pytest.mark.parametrize(
    "part",
    [
        '[controller]\nlaw = "torque_table"\ntorques = "{}.csv"\n',
        '[[disturbances]]\nkind = "wrench_table"\ntable = "{}.csv"\n',
        '[reference.path]\nkind = "from_csv"\nsource = "{}.csv"\n[reference.timing]\nkind = "quintic"\nduration = 1.0\n',
    ],
    ids=["torque_table", "wrench_table", "path"],
)
@pytest.mark.parametrize("length", [300, 5000])
def test_a_name_too_long_for_any_file_is_told(folder, part, length):
    (folder / "run.toml").write_text('robot = "planar-2r"\nduration = 0.1\n' + part.format("x" * length))
    with pytest.raises(DescriptionError, match=r"cannot be opened: .*name too long"):
        load_file(folder / "run.toml")


@pytest.mark.parametrize("source", ["/etc/passwd", "../secret.csv", "points.csv"])
def test_values_of_a_study_open_no_files(folder, source):
    """They travel to other processes and machines as text."""
    (folder / "push.csv").write_text("0,0,0,0,0,0,0\n1,1,0,0,0,0,0\n")
    (folder / "run.toml").write_text(TABLES["wrench_table"].format(source="push.csv"))
    study = folder / "study.toml"
    study.write_text(f'[study]\nbase = "run.toml"\n[vary]\n"disturbances[0].table" = ["{source}"]\n')
    with pytest.raises(DescriptionError, match=r"a table, of which studies take the text") as error:
        load_study(study)
    assert "swordfish" not in str(error.value)
    other = "0,0,0,0,0,0,0\n1,2,0,0,0,0,0\n"
    assert len(mp.Study(load_file(folder / "run.toml"), vary={"disturbances[0].table": [other]}).vary) == 1
