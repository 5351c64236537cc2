"""The catalog: every file is legal, names its source, and agrees with published values and with Pinocchio."""

from __future__ import annotations

import json
import tomllib
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import sympy

from manipula.codegen.parameters import parametrised
from manipula.errors import DescriptionError, UnknownNameError
from manipula.formats.catalog import catalog, catalog_names, load_catalog
from manipula.formats.load import load, save
from manipula.formats.toml import from_toml, to_toml
from manipula.model import compile
from manipula.physics.composite import mass_matrix
from manipula.physics.kinematics import pose, position
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.doctor import doctor
from manipula.simulation.files.scenario_file import file_text, load_text
from manipula.simulation.scenario import Scenario
from manipula.symbolic.equations import equations

DATA = Path(__file__).parents[1] / "data"
ROUNDING = 1e-11  # seven joints, torques up to a few hundred N·m
PRINTED = 5e-5  # four decimals
REQUIRED = {
    "planar-2r": 2, "planar-3r": 3, "zlajpah-5r": 5, "zlajpah-4r": 4, "scara-khang": 4, "arora-5r": 5, "abdelsatar-2r": 2,
    "jarzebowska-4": 4, "puma560": 6, "stanford": 6, "ur5e": 6, "panda": 7, "iiwa14": 7, "gen3": 7, "cobra600": 4,
    "fr3": 7, "panda-hand": 8, "ur3e": 6, "ur10e": 6, "ur16e": 6, "xarm6": 6, "xarm7": 7, "gen3-6dof": 6, "gen3-lite": 7,
    "j2s6s300": 6, "iiwa7": 7, "irb120": 6, "sawyer": 7,
}  # fmt: skip
REFERENCES = json.loads((DATA / "catalog_references.json").read_text(encoding="utf-8"))


def reference(name: str):
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def gravity_load(robot, q) -> np.ndarray:
    zero = np.zeros(robot.n)
    return inverse_dynamics(robot, np.asarray(q, float), zero, zero)


def test_names_and_joints() -> None:
    assert {e.name: e.n for e in catalog()} == REQUIRED


@pytest.mark.parametrize("name", catalog_names())
def test_every_entry(name: str) -> None:
    entry = next(e for e in catalog() if e.name == name)
    robot = load(name)
    assert robot is load_catalog(name)
    assert (robot.name, robot.n) == (name, entry.n)
    assert robot.tip is not None
    assert len(entry.source) > 60
    assert 10 < len(entry.description) < 60
    assert doctor(robot).ok
    assert from_toml(to_toml(robot)) == robot
    assert any(note.startswith("Source: ") for note in robot.notes)


def test_the_page_lists_every_arm() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = [
        f"| `{e.name}` | {''.join(j.kind[0].upper() for j in load(e.name).joints)} | {e.description} |"
        for e in catalog()
    ]
    assert "| name | joints | |\n|---|---|---|\n" + "\n".join(rows) + "\n\n" in page


def test_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'puma560'"):
        load("puma650")


def test_puma_holds_the_published_gravity_load() -> None:
    """Robotics Toolbox, gravload at the poses qn, qz and qr of the same parameters."""
    puma = load_catalog("puma560")
    h = np.pi / 2
    assert np.allclose(
        gravity_load(puma, [0, h / 2, 2 * h, 0, h / 2, 0]), [0, 31.6399, 6.0351, 0, 0.0283, 0], atol=PRINTED
    )
    assert np.allclose(gravity_load(puma, np.zeros(6)), [0, 37.4837, 0.2489, 0, 0, 0], atol=PRINTED)
    assert np.allclose(gravity_load(puma, [0, h, -h, 0, 0, 0]), [0, -0.7752, 0.2489, 0, 0, 0], atol=PRINTED)


def test_puma_mass_matrix_carries_the_rotors() -> None:
    puma = load_catalog("puma560")
    M = np.asarray(mass_matrix(puma, np.zeros(6)), float)
    assert M[0, 0] == pytest.approx(3.9611, abs=PRINTED)  # Robotics Toolbox, inertia(qz)
    assert M[5, 5] == pytest.approx(0.1941, abs=PRINTED)
    bare = puma.replace(joints=tuple(type(j)(**(vars(j) | {"rotor_inertia": 0.0})) for j in puma.joints))
    lighter = np.asarray(mass_matrix(bare, np.zeros(6)), float)
    assert np.allclose(np.diag(M - lighter), [j.gear_ratio**2 * j.rotor_inertia for j in puma.joints], atol=1e-14)


def test_scara_khang_reproduces_its_reference() -> None:
    robot = load_catalog("scara-khang")
    for s in reference("scara.json")["random_states"]:
        q, qd, qdd = (np.array(s[k]) for k in ("q", "qd", "qdd"))
        assert np.allclose(inverse_dynamics(robot, q, qd, qdd), s["tau"], atol=ROUNDING)
        assert np.allclose(np.asarray(mass_matrix(robot, q), float), s["M"], atol=ROUNDING)


def test_arora_reproduces_the_printed_matrices() -> None:
    data, robot = reference("arora5.json"), load_catalog("arora-5r")
    q = np.array(data["parameters"]["q"])
    assert np.abs(np.asarray(mass_matrix(robot, q), float) - data["published"]["M"]).max() < PRINTED
    assert np.abs(pose(robot, q) - data["published"]["T05"]).max() < PRINTED
    assert [j.limits.upper for j in robot.joints] == pytest.approx(data["parameters"]["joint_limits_rad"])


def test_jarzebowska_starts_on_its_ellipse() -> None:
    data, robot = reference("gpme4.json"), load_catalog("jarzebowska-4")
    state = data["states"][0]
    assert np.allclose(np.asarray(mass_matrix(robot, np.array(state["q"])), float), state["M"], atol=ROUNDING)
    assert np.allclose(position(robot, np.array([0.0, 1.5 * np.pi, 0.0, 0.3])), [0.5, 0.0, 0.1], atol=ROUNDING)


def test_ur5e_reaches_its_published_zero_pose() -> None:
    """At q = 0 the arm lies stretched along −x: a2 + a3, then −d4 − d6 in y and d1 − d5 in z."""
    assert np.allclose(position(load_catalog("ur5e"), np.zeros(6)), [-0.8172, -0.2329, 0.0628], atol=1e-12)


def test_panda_flange_height() -> None:
    """Franka's modified DH table at q = 0: x = 0.088, z = 0.333 + 0.316 + 0.384 − 0.107."""
    assert np.allclose(position(load_catalog("panda"), np.zeros(7)), [0.088, 0.0, 0.926], atol=1e-12)


def test_iiwa_stands_upright() -> None:
    assert np.allclose(position(load_catalog("iiwa14"), np.zeros(7)), [0, 0, 0.36 + 0.42 + 0.4 + 0.126], atol=1e-12)


@pytest.mark.parametrize("name", ["panda", "iiwa14", "gen3"])
def test_maker_arms_by_pinocchio_from_the_same_numbers(name: str) -> None:
    """Pinocchio's model is built here from the raw numbers of the file, without our reader or our robot."""
    pin = pytest.importorskip("pinocchio")
    raw = tomllib.loads((resources.files("manipula.robot") / "catalog" / f"{name}.toml").read_text(encoding="utf-8"))
    links = {link["name"]: link for link in raw["link"]}
    model, ids = pin.Model(), {raw["link"][0]["name"]: 0}
    for joint in raw["joint"]:
        origin, link = joint.get("origin", {}), links[joint["child"]]
        angles = np.radians(origin.get("rpy_deg", [0, 0, 0]))
        at = pin.SE3(pin.rpy.rpyToMatrix(*angles), np.array(origin.get("xyz", [0, 0, 0]), float))
        ids[link["name"]] = k = model.addJoint(ids[joint["parent"]], pin.JointModelRZ(), at, joint["name"])
        xx, yy, zz, xy, xz, yz = [*link["inertia"], 0.0, 0.0, 0.0][:6]
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], float)
        model.appendBodyToJoint(k, pin.Inertia(link["mass"], np.array(link["com"], float), tensor), pin.SE3.Identity())
    data, robot, rng = model.createData(), load_catalog(name), np.random.default_rng(11)
    for _ in range(20):
        q, qd, qdd = rng.normal(size=(3, robot.n))
        assert np.abs(inverse_dynamics(robot, q, qd, qdd) - pin.rnea(model, data, q, qd, qdd)).max() < ROUNDING


@pytest.mark.parametrize("name", REFERENCES)
def test_maker_arms_by_stored_answers_of_pinocchio(name: str) -> None:
    """Torques and tip poses that Pinocchio computed from the source's own URDF; the file tells its version."""
    robot, stored = load_catalog(name), REFERENCES[name]
    order = [stored["joints"].index(joint) for joint in robot.joint_names]
    for state in stored["states"]:
        q, qd, qdd, tau = (np.array(state[k])[order] for k in ("q", "qd", "qdd", "tau"))
        assert np.abs(inverse_dynamics(robot, q, qd, qdd) - tau).max() < 1e-12 * np.abs(tau).max()
        T = pose(robot, q)
        assert np.allclose(T[:3, 3], state["position"], rtol=0, atol=1e-12)
        assert np.allclose(T[:3, :3], state["rotation"], rtol=0, atol=1e-12)
    assert not doctor(robot, strict=True).warnings
    assert not doctor(robot, strict=True).errors


def test_fingers_of_the_hand_move_together() -> None:
    hand = load_catalog("panda-hand")
    q = np.array([0.0] * 7 + [0.03])
    left, right = (pose(hand, q, f"panda_{side}finger")[:3, 3] for side in ("left", "right"))
    middle = pose(hand, q, "panda_hand_tcp")[:3, 3]
    assert np.linalg.norm(left - right) == pytest.approx(0.06)
    assert np.linalg.norm((left + right) / 2 - middle) == pytest.approx(0.1034 - 0.0584)


PAPERS = {
    "scara-khang": "I1x I1y I1z I2x I2y I2z I3x I3y I3z I4x I4y I4z a1 a2 a3 d1 d2 g l1 l2 l3 l4 m1 m2 m3 m4",
    "abdelsatar-2r": "a1 a2 gc m1 m2",
    "arora-5r": "a1 a2 a3 a4 a5 m1 m2 m3 m4 m5",
    "zlajpah-4r": "l1 l2 l3 l4",
    "zlajpah-5r": "B I1 I2 I3 I4 I5 l1 l2 l3 l4 l5 lc1 lc2 lc3 lc4 lc5 m1 m2 m3 m4 m5",
    "jarzebowska-4": "I1x I1y I1z I2x I2y I2z I3x I3y I3z I4x I4y I4z a2 d1 g m1 m2 m3 m4 rC1 rC2 rC3 rC4 rE",
    "planar-2r": "l1 l2 m1 m2",
    "planar-3r": "l1 l2 l3 m1 m2 m3",
}  # the letters that the papers use; where they print none, ours


@pytest.mark.parametrize("name", PAPERS)
def test_arms_of_the_papers_keep_their_letters(name: str) -> None:
    """Equations in letters, and numbers: with the values of the file they are those of the numeric robot."""
    robot = load(name, symbolic=True)
    assert robot is load_catalog(name, True)
    assert " ".join(robot.parameters) == PAPERS[name]
    if not robot.values:  # the paper has no numbers either
        assert robot == load(name)
        return
    assert robot.numeric.is_numeric
    numeric, rng = load(name), np.random.default_rng(3)
    eq, values = equations(robot), dict(robot.values)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
        exact = inverse_dynamics(numeric, q, qd, qdd)
        names = dict(zip([*eq.q, *eq.qd, *eq.qdd], [*q, *qd, *qdd])) | {s: values[s.name] for s in eq.parameters}
        tau = [float(sympy.sympify(x).evalf(30, subs=names)) for x in eq.tau]
        assert np.abs(tau - exact).max() <= 1e-12 * max(np.abs(exact).max(), 1.0)
        assert np.allclose(inverse_dynamics(robot.numeric, q, qd, qdd), exact, rtol=1e-13, atol=1e-13)


def test_the_scara_prints_as_in_its_paper() -> None:
    """Khang and Trung, the last of their equations of motion and the smallest entries of M."""
    text = equations(load("scara-khang", symbolic=True)).text()
    assert "M33 = l3^2*m3 + I3z + a3^2*m4 + I4z\n" in text
    assert "tau4 = M44*ddq4 - g*m4\n" in text


def test_letters_have_values_where_numbers_are_needed() -> None:
    robot, q = load("scara-khang", symbolic=True), [0.1, 0.2, 0.3, 0.4]
    M = compile(load("scara-khang")).mass_matrix(q)
    assert np.array_equal(compile(robot).mass_matrix(q), M)
    assert not np.array_equal(compile(robot.with_parameters(m4=7.0)).mass_matrix(q), M)
    assert Scenario(robot, q0=q, duration=0.1).robot == load("scara-khang")
    changed = Scenario(robot, q0=q, duration=0.1, parameters={"m4": 7.0})
    assert changed.robot.parameters == ("m4",)
    assert load_text(file_text(changed)).robot == changed.robot
    assert not parametrised(robot, "baked").fields
    assert {f.name: f.value for f in parametrised(robot, "struct").fields} == dict(robot.values)
    assert not doctor(robot).find("symbolic")
    assert doctor(load("abdelsatar-2r", symbolic=True)).find("symbolic")


def test_what_cannot_stay_symbolic_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="Nothing stays symbolic"):
        load("panda", symbolic=True)
    with pytest.raises(DescriptionError, match=r"Only \.toml files and the catalog.*found '\.urdf'"):
        load(tmp_path / "arm.urdf", symbolic=True)


def test_letters_and_values_of_a_file_survive_writing(tmp_path: Path) -> None:
    text = (
        'free = ["k"]\n[parameters]\nl = 0.4\nh = "l/2"\nw = "k*l"\n[planar]\nlengths = ["l", "w"]\nmasses = ["h", 1]\n'
    )
    robot = from_toml(text, symbolic=True)
    assert robot.parameters == ("h", "k", "l")  # w has no number: its formula stands in its place
    assert dict(robot.values) == {"h": 0.2, "l": 0.4}
    save(robot, tmp_path / "arm.toml")
    again = load(tmp_path / "arm.toml", symbolic=True)
    assert again == robot
    assert again.values == robot.values
    assert load(tmp_path / "arm.toml").parameters == ("k",)
    with pytest.raises(DescriptionError, match=r"free parameters \(k\)"):
        compile(robot)
