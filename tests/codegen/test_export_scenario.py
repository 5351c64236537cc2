"""A whole scenario as an ES module: Node computes the run of simulate(), also with other numbers; what cannot leave Python is refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import sympy
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.errors import DescriptionError, ManipulaError
from tools import missing_tool

SAME = 1e-9
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ARM = mp.planar(lengths=[0.5, 0.4, 0.3], masses=[4, 3, 2], damping=[0.5, 0.4, 0.3])
LINE = mp.trajectory(mp.paths.line([0.9, 0.3, 0], [0.5, 0.7, 0]), mp.timing.quintic(0.3))
DRIVER = """import * as run from "./{name}.mjs";
const changes = JSON.parse(process.argv[2]);
try {{
    const done = run.simulate(changes);
    const lists = (columns) => columns.map((column) => [...column]);
    const paths = run.parameters.map((p) => p.path);
    console.log(JSON.stringify({{ ...done, t: [...done.t], q: lists(done.q), tau: lists(done.tau), paths }}));
}} catch (error) {{
    console.log(JSON.stringify({{ refused: error.message }}));
}}
"""
needs_node = pytest.mark.skipif(bool(missing_tool("node")), reason=missing_tool("node"))


def tracking(kp: float = 100.0, damping=None, robot=ARM, **more):
    """A tip on a line, with friction and a disturbance that begins between two steps."""
    if damping is not None:
        robot = mp.planar(lengths=[0.5, 0.4, 0.3], masses=[4, 3, 2], damping=damping)
    given = {
        "controller": mp.control.TaskSpaceComputedTorque(kp=kp, kv=20), "step": 2e-3, "verify": False,
        "disturbances": (mp.Wrench([5, 0, 0, 0, 0, 0], start=0.1013, stop=0.2),), "integrator": "rk4", "name": "tracking",
    }  # fmt: skip
    return mp.Scenario(**{"robot": robot, "q0": [0.4, -0.6, 1.2], "reference": LINE, **given, **more})


def panda():
    start, end = [0.1, 0.2, 0.3, -1.2, 0.1, 1.1, 0.2], [0.5, 0.3, -0.2, -1.5, 0.1, 1.4, 0.6]
    move = mp.joint_move(start, end, velocity=2, acceleration=10, jerk=100)
    return mp.Scenario(
        robot=mp.load("panda"), controller=mp.control.ComputedTorque(kp=100, kv=20), reference=move, q0=start, duration=0.2, integrator="rk4", verify=False,
    )  # fmt: skip


MOVE = mp.joint_move([0.4, -0.6, 1.2], [0.6, -0.4, 1.0], velocity=2, acceleration=10, jerk=100)
SCENARIOS = {
    "rk4": tracking,
    "semi_implicit": lambda: tracking(integrator="semi_implicit"),
    "dop853": lambda: tracking(integrator="dop853"),
    "dopri5": lambda: tracking(integrator="dopri5", step=3e-3, sample=7e-3),
    "free": lambda: mp.Scenario(robot=ARM, q0=[0.4, -0.6, 1.2], duration=0.3, verify=False),
    "pid": lambda: tracking(controller=mp.control.PID(kp=80, ki=30, kv=12), reference=MOVE),
    "panda": panda,
}  # fmt: skip


def in_node(folder: Path, name: str, changes: dict | None = None) -> dict:
    (folder / "driver.mjs").write_text(DRIVER.format(name=name), encoding="utf-8")
    words = ["node", "driver.mjs", json.dumps(changes or {})]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def same(found: dict, wanted) -> None:
    q, tau = np.array(found["q"]).T, np.array(found["tau"]).T
    assert np.array_equal(found["t"], wanted.t)
    assert np.abs(q - wanted.q).max() <= SAME
    assert np.abs(tau - wanted.arrays["tau"]).max() <= SAME * max(1.0, np.abs(wanted.arrays["tau"]).max())
    assert found["status"] == "finished"


@needs_node
@pytest.mark.parametrize("kind", SCENARIOS)
def test_node_computes_the_run(kind: str, tmp_path: Path) -> None:
    scenario = SCENARIOS[kind]()
    module, test = mp.export(scenario, "javascript", tmp_path, prefix="run")
    assert (module.name, test.name) == ("run.mjs", "run_test.mjs")
    told = subprocess.run(["node", test.name], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert told.stdout.strip() == "all agree", told.stderr[-2000:]
    same(in_node(tmp_path, "run"), mp.simulate(scenario))


@needs_node
def test_other_numbers_are_those_of_python(tmp_path: Path) -> None:
    mp.export(tracking(), "javascript", tmp_path)
    found = in_node(tmp_path, "tracking", {"controller.kp": 64.0, "friction[1].damping": 1.5, "payload.mass": 1.25})
    heavy = mp.planar(lengths=[0.5, 0.4, 0.3], masses=[4, 3, 2], damping=[0.5, 1.5, 0.3]).replace(payload=1.25)
    same(found, mp.simulate(tracking(kp=64.0, robot=heavy)))
    assert {"controller.kp", "controller.kv", "payload.mass", "q0[2]"} <= set(found["paths"])
    for changes, said in (
        ({"controller.kq": 1}, "there are controller.kp"), ({"payload.mass": -1}, "at least 0"), ({"friction[0].damping": -0.1}, "at least 0"),
        ({"controller.kp": "80"}, "finite number"),
    ):  # fmt: skip
        assert said in in_node(tmp_path, "tracking", changes)["refused"]


@needs_node
def test_a_load_that_is_a_free_parameter_has_its_value(tmp_path: Path) -> None:
    loaded = ARM.replace(payload=mp.Payload(sympy.Symbol("load")))
    scenario = tracking(robot=loaded, parameters={"load": 0.75})
    mp.export(scenario, "javascript", tmp_path)
    same(in_node(tmp_path, "tracking", {}), mp.simulate(scenario))
    heavy = tracking(robot=loaded, parameters={"load": 1.5})
    same(in_node(tmp_path, "tracking", {"payload.mass": 1.5}), mp.simulate(heavy))


@needs_node
def test_a_run_that_ends_early_says_so(tmp_path: Path) -> None:
    mp.export(tracking(), "javascript", tmp_path)
    found = in_node(tmp_path, "tracking", {"controller.kp": 1e9})
    assert found["status"] in ("diverged", "not_finite")
    assert len(found["t"]) == len(found["q"][0]) < len(mp.simulate(tracking()).t)


@needs_node
def test_from_the_command_line(tmp_path: Path) -> None:
    refused = CliRunner().invoke(
        app, ["export", str(EXAMPLES / "planar4r_spline.toml"), "-l", "javascript", "-o", str(tmp_path)]
    )
    assert refused.exit_code == 2
    assert "not 'kinematic'" in refused.output
    mp.Scenario.save(tracking(), tmp_path / "line.toml")
    done = CliRunner().invoke(app, ["export", str(tmp_path / "line.toml"), "-l", "javascript", "-o", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "tracking.mjs" in done.output
    same(in_node(tmp_path, "tracking"), mp.simulate(tracking()))
    again = CliRunner().invoke(app, ["export", str(tmp_path / "line.toml"), "-l", "javascript", "-o", str(tmp_path)])
    assert again.exit_code == 2
    assert "overwritten" in again.output
    for extra in (["--functions", "gravity"], ["--tip", "tip"], ["--parameters", "struct"], ["--language", "rust"], ["--frame", "tip"]):  # fmt: skip
        refused = CliRunner().invoke(app, ["export", str(tmp_path / "line.toml"), "-l", "javascript", "-o", str(tmp_path / "x"), *extra])  # fmt: skip
        assert refused.exit_code == 2, extra
        assert "Traceback" not in refused.output
        assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: tracking(integrator="rodas"), "no form in JavaScript"),
        (lambda: tracking(noise=mp.Noise(position=1e-4)), "noise"),
        (lambda: tracking(actuator=mp.Actuator(delay=4e-3)), "delays"),
        (lambda: tracking(control_period=4e-3), "control_period: .* control periods are not computed"),
        (lambda: tracking(switches=(mp.Switch(time=0.1, controller=mp.control.TaskSpaceComputedTorque(kp=50, kv=14)),)), "switches"),
        (lambda: mp.Scenario(robot=ARM, reference=LINE, start="project", q0=[0.4, -0.6, 1.2], kind="kinematic"), "not 'kinematic'"),
        (lambda: mp.Scenario(robot=ARM, q0=[[0.1, 0, 0], [0.2, 0, 0]], duration=0.1, verify=False), "batch"),
    ],
)  # fmt: skip
def test_what_cannot_leave_python_is_refused(make, said: str, tmp_path: Path) -> None:
    with pytest.raises(ManipulaError, match=said):
        mp.export(make(), "javascript", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    for given, field in (
        ({"language": "c"}, "language"), ({"functions": ["gravity"]}, "functions"), ({"parameters": "struct"}, "parameters"), ({"frame": "elbow"}, "frame"),
    ):  # fmt: skip
        with pytest.raises(DescriptionError) as refused:
            mp.export(**{"robot": tracking(), "language": "javascript", "directory": tmp_path, **given})
        assert refused.value.field == field
    for wrong in (7, "panda", None):
        with pytest.raises(DescriptionError, match="takes a Robot"):
            mp.export(wrong, "javascript", tmp_path)


def test_names_from_files_stay_comments(tmp_path: Path) -> None:
    text = "*/ process.exit(3); //\n</script>"
    (module, _) = mp.export(tracking(name=text), "javascript", tmp_path)
    lines = [line for line in module.read_text(encoding="ascii").splitlines() if "process.exit" in line]
    assert lines
    assert all(line.startswith("// ") for line in lines)
