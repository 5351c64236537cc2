"""The zoo: it finds descriptions, sorts them, compares what was loaded, and survives what crashes or hangs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "zoo.py"
pytestmark = pytest.mark.skipif(not FILE.exists(), reason="benchmarks are not beside the tests")

BODY = '<inertial><mass value="2"/><origin xyz="0 0.1 0.2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="0.3 0 0.1" rpy="0.4 0 0"/>'
        f'<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>{more}</joint>'
    )


def urdf(*joints: str) -> str:
    links = "".join(f'<link name="{x}">{BODY}</link>' for x in "abc")
    return f'<robot name="arm">{links}{"".join(joints)}</robot>'


ARM = urdf(joint("p", "a", "b"), joint("q", "b", "c", "prismatic"))
COUPLED = urdf(joint("p", "a", "b"), joint("q", "b", "c", more='<mimic joint="p" multiplier="-0.5" offset="0.2"/>'))
LATE = urdf(joint("p", "a", "b", more='<mimic joint="q"/>'), joint("q", "a", "c"))  # Pinocchio numbers the leader last
FLOATING = urdf(joint("p", "a", "b"), joint("q", "b", "c", "floating"))
MJCF = """<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0" armature="0.3"/><inertial pos="0.1 0 0" mass="2"
diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>"""
FREE = MJCF.replace('<joint name="j" axis="0 1 0" armature="0.3"/>', "<freejoint/>")


@pytest.fixture(scope="module")
def zoo():
    spec = importlib.util.spec_from_file_location("zoo", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def judged(zoo, folder: Path, text: str, form: str):
    path = folder / ("arm.urdf" if form == "URDF" else "arm.xml")
    path.write_text(text, encoding="utf-8")
    return zoo.judged(str(path), form)


@pytest.mark.parametrize("text", [ARM, COUPLED, LATE], ids=["arm", "coupled", "follower before its leader"])
def test_urdf_is_compared_with_pinocchio(zoo, text: str, tmp_path: Path) -> None:
    pytest.importorskip("pinocchio")
    found = judged(zoo, tmp_path, text, "URDF")
    assert found["class"] == "fixed"
    assert max(found["errors"][kind] for kind in zoo.KINDS) < 1e-14
    assert found["errors"]["frames"] == 3


def test_a_wrong_robot_is_seen(zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same file, but what we load weighs a little more."""
    pytest.importorskip("pinocchio")
    import manipula

    (tmp_path / "heavy.urdf").write_text(ARM.replace('value="2"', 'value="2.001"'), encoding="utf-8")
    heavy = manipula.load(tmp_path / "heavy.urdf")
    monkeypatch.setattr(manipula, "load", lambda path: heavy)
    assert 1e-5 < judged(zoo, tmp_path, ARM, "URDF")["errors"]["mass matrix"] < 1e-3


def test_mjcf_is_compared_with_mujoco(zoo, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    found = judged(zoo, tmp_path, MJCF, "MJCF")
    assert found["class"] == "fixed"
    assert max(found["errors"][kind] for kind in zoo.KINDS) < 1e-14


def test_what_does_not_count_stands_apart(zoo, tmp_path: Path) -> None:
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    apart = "free, ball or planar joints"
    assert judged(zoo, tmp_path, FLOATING, "URDF")["class"] == apart
    assert judged(zoo, tmp_path, FREE, "MJCF")["class"] == apart
    assert judged(zoo, tmp_path, "<robot/>", "URDF")["class"] == "refused by the other program"
    found = judged(zoo, tmp_path, "<mujoco><worldbody/></mujoco>", "MJCF")
    assert found["class"] == "no moving joint"


def test_every_content_once(zoo, tmp_path: Path) -> None:
    for name, text in (
        ("a.urdf", ARM),
        ("b.urdf", ARM),
        ("c.xml", MJCF),
        ("d.xml", "<package/>"),
        ("e.urdf", "<robot"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert [(path.name, form) for path, form in zoo.files(tmp_path)] == [
        ("a.urdf", "URDF"),
        ("c.xml", "MJCF"),
        ("e.urdf", "URDF"),
    ]


def test_a_process_that_dies_is_replaced(zoo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stub = tmp_path / "stub.py"
    stub.write_text(
        "import os\nif 'die' in input():\n    os._exit(3)\nprint('{\"class\": \"fixed\"}')\n", encoding="utf-8"
    )
    monkeypatch.setattr(zoo, "__file__", str(stub))
    worker = zoo.Worker(60)
    assert worker.judge("die", "URDF")["refused"] == "CRASH of the process"
    assert worker.judge("fine", "URDF") == {"class": "fixed"}
    worker.close()


def test_the_report_counts_by_reason(zoo) -> None:
    rows = [
        {"path": "a", "format": "URDF", "class": "fixed", "errors": {"torque": 1e-3, "mass matrix": 0.0, "pose": 0.0}, "ms": 2.0},
        {"path": "b", "format": "URDF", "class": "fixed", "refused": "Joint 'x' is 3 wide."},
        {"path": "c", "format": "URDF", "class": "fixed", "refused": "Joint 'y' is 4 wide."},
    ]  # fmt: skip
    text = zoo.report(rows)
    assert "- 2 × URDF: Joint '…' is # wide." in text
    assert "- a: torque 1.0e-03" in text
    assert "we refuse (fixed base; 0 is the goal): 2" in text
