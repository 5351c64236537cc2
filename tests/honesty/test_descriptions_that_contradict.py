"""Descriptions that contradict themselves, hide a slip, or could not be read again get a clear answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError, UnknownNameError
from manipula.formats.toml import from_toml, to_toml
from manipula.motion.paths import REGISTRY as PATHS
from manipula.motion.paths import Path as TaskPath
from manipula.motion.paths import primitive
from manipula.motion.timing.base import Profile, TimeLaw
from manipula.redundancy.null_space import Criterion
from manipula.robot.drives import DCMotor, Drive, Rigid
from manipula.robot.friction import FrictionLaw, Viscous
from manipula.simulation.integrators import FIXED, FixedStep

ARM = mp.load("planar-2r")
MOVE = mp.trajectory(mp.paths.joint([[0.0, 0.0], [0.5, 0.3]]), mp.timing.quintic(1.0))
MOTOR = {"torque_constant": 0.05, "resistance": 0.8, "inductance": 1e-3}


# ---------------------------------------------------------------------- gears
def with_motor(ratio: float, drive: Drive, rotor: float = 1e-4) -> mp.Robot:
    joints = tuple(replace(j, gear_ratio=ratio, rotor_inertia=rotor, drive=drive) for j in ARM.joints)
    return replace(ARM, joints=joints)


def test_gears_of_joint_and_motor_must_agree() -> None:
    with pytest.raises(DescriptionError, match=r"joints\[0\].*gear ratio of 100.* 'dc_motor' one of 50.*state it once"):
        with_motor(100.0, DCMotor(**MOTOR, gear_ratio=50.0))  # however a robot is made
    text = to_toml(with_motor(100.0, DCMotor(**MOTOR, gear_ratio=100.0)))
    before, drive, after = text.partition("drive = {")
    with pytest.raises(DescriptionError, match="gear ratio of 100"):
        from_toml(before + drive + after.replace("gear_ratio = 100.0", "gear_ratio = 50.0", 1))
    geared = replace(ARM, joints=tuple(replace(j, gear_ratio=100.0) for j in ARM.joints))
    with pytest.raises(DescriptionError, match=r"drives\[0\].*gear ratio of 100"):
        mp.simulate(mp.Scenario(robot=geared, drives=DCMotor(**MOTOR, gear_ratio=1.0), duration=0.01))


def test_a_gear_that_varies_stays_that_of_its_joint() -> None:
    """Rotor and motor would be behind different gears."""
    s = mp.Scenario(with_motor(100.0, DCMotor(**MOTOR)), MOVE, control.PDGravity(20.0, 4.0), duration=0.02)
    ratios = {"drives[0].gear_ratio": np.array([100.0, 50.0])}
    with pytest.raises(
        DescriptionError, match=r"In run 1 the drive has a gear ratio of 50, its joint .* one of 100"
    ) as error:
        mp.simulate(s.replace(vary=ratios))
    assert error.value.field == "vary.drives[0].gear_ratio"
    free = s.replace(robot=with_motor(1.0, DCMotor(**MOTOR, gear_ratio=100.0)), vary=ratios)
    assert len(mp.simulate(free).statuses) == 2


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".toml", ".txt"])
def test_somebodys_law_under_our_name_is_not_written(suffix: str, tmp_path: Path) -> None:
    class Own(Viscous):
        pass

    arm = replace(ARM, joints=tuple(replace(j, friction=Own(0.5)) for j in ARM.joints))
    with pytest.raises(DescriptionError, match=r"'viscous' \(Own\) stands for another class .*could not be read again"):
        mp.save(arm, tmp_path / f"arm{suffix}")


def test_a_motor_without_a_gear_of_its_own_takes_that_of_the_joint() -> None:
    silent, stated = DCMotor(**MOTOR), DCMotor(**MOTOR, gear_ratio=100.0)
    law = control.PDGravity(20.0, 4.0)
    runs = [
        mp.simulate(mp.Scenario(robot=with_motor(100.0, d), reference=MOVE, controller=law, duration=0.05, step=5e-4))
        for d in (silent, stated)
    ]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    assert from_toml(to_toml(with_motor(100.0, silent))) == with_motor(100.0, silent)


def test_the_doctor_asks_on_which_side_a_rotor_is() -> None:
    codes = [f.code for f in mp.doctor(with_motor(1.0, DCMotor(**MOTOR, gear_ratio=100.0))).findings]
    assert codes.count("gear.rotor") == 2


# ---------------------------------------------------------------------- what cannot be read again is not written
@dataclass(frozen=True)
class Mine(control.Controller):
    kp: Any = 1.0
    name: ClassVar[str] = "mine"
    space: ClassVar[Any] = "none"

    def torque(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        return -self.kp * q


@dataclass(frozen=True)
class Impostor(control.Controller):
    """Another class under a name that files know."""

    kp: Any = 1.0
    name: ClassVar[str] = "gravity"
    space: ClassVar[Any] = "none"

    def torque(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        return -self.kp * q


@dataclass(frozen=True)
class Drag(FrictionLaw):
    drag: Any = 0.1
    name: ClassVar[str] = "drag"

    def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
        return self.drag * qd


@dataclass(frozen=True)
class Slow(Drive):
    name: ClassVar[str] = "slow"

    def torque(self, command: Any, t: Any, q: Any, qd: Any, state: Any, rotor: Any) -> Any:
        return 0.5 * command


@dataclass(frozen=True)
class Upright(Criterion):
    gain: Any = 1.0
    name: ClassVar[str] = "upright"

    def cost(self, arm: Any, q: Any) -> Any:
        return q[0] * q[0]


@dataclass(frozen=True)
class Instant(TimeLaw):
    duration: float
    kind: ClassVar[str] = "instant"

    def profile(self, length: float) -> Profile:
        return mp.timing.quintic(self.duration).profile(length)


REACH = mp.trajectory(mp.paths.line([0.7, 0.2], [0.5, 0.4]), mp.timing.quintic(1.0))


def unwritable() -> dict[str, tuple[mp.Scenario, str]]:
    run = mp.Scenario(robot=ARM, duration=0.1)
    line = mp.trajectory(mp.paths.joint([[0, 0], [1, 1]]), Instant(1.0))
    jointed = replace(ARM, joints=tuple(replace(j, friction=Drag()) for j in ARM.joints))
    return {
        "controller": (run.replace(controller=Mine()), r"controller 'mine' \(Mine\) is not in manipula.control.REGISTRY"),
        "impostor": (run.replace(controller=Impostor()), "stands for another class"),
        "friction": (run.replace(friction=(Drag(), None)), "friction law 'drag'"),
        "drives": (run.replace(drives=(Slow(), None)), "drive 'slow'"),
        "criteria": (run.replace(reference=REACH, kind="kinematic", q0=(0.1, 1.2), criteria=(Upright(),)), "criterion 'upright'"),
        "inside a controller": (
            run.replace(reference=REACH, controller=control.OperationalSpace(1.0, 1.0, criteria=(Upright(),)), q0=(0.1, 1.2)),
            "criterion 'upright'",
        ),
        "timing": (run.replace(reference=line, kind="inverse_dynamics"), "time law 'instant'"),
        "robot": (run.replace(robot=jointed), "friction law 'drag'"),
        "integrator": (run.replace(integrator="heun"), "No integrator named 'heun'"),
    }  # fmt: skip


@pytest.mark.parametrize("name", unwritable())
def test_parts_that_no_file_can_bring_back_are_refused_when_saving(name: str, tmp_path: Path) -> None:
    run, words = unwritable()[name]
    with pytest.raises(DescriptionError, match=words):
        run.save(tmp_path / "run.toml")
    assert not (tmp_path / "run.toml").exists()


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".xml"])
def test_robots_with_unregistered_parts_are_not_written(suffix: str, tmp_path: Path) -> None:
    for part in ({"friction": Drag()}, {"drive": Slow()}):
        robot = replace(ARM, joints=tuple(replace(j, **part) for j in ARM.joints))
        with pytest.raises(DescriptionError, match=r"drag|slow"):
            mp.save(robot, tmp_path / f"arm{suffix}")


def test_a_path_that_is_registered_no_more_is_refused(tmp_path: Path) -> None:
    @primitive
    def zigzag(size: float) -> TaskPath:
        return mp.paths.polyline([[0, 0, 0], [size, size, 0], [2 * size, 0, 0]])

    run = mp.Scenario(ARM, mp.trajectory(zigzag(0.1), mp.timing.quintic(1.0)), kind="inverse_dynamics")
    del PATHS["zigzag"]
    with pytest.raises(DescriptionError, match="path 'zigzag' is not in"):
        run.save(tmp_path / "run.toml")


def test_a_path_may_not_take_the_name_of_ours() -> None:
    with pytest.raises(DescriptionError, match="'line' is a path of this package"):

        @primitive
        def line(a: float) -> TaskPath:
            return mp.paths.circle([0, 0, 0], a)

    assert mp.paths.from_description({"kind": "line", "a": [0, 0, 0], "b": [1, 0, 0]}).length == pytest.approx(1.0)


def test_what_is_registered_is_written_and_read(tmp_path: Path) -> None:
    class Heun(FixedStep):
        name: ClassVar[str] = "heun"
        order: ClassVar[int] = 2

        def step(self, f: Any, t: Any, x: Any, h: Any, n: int) -> Any:
            k = f(t, x)
            return x + 0.5 * h * (k + f(t + h, x + h * k))

    control.REGISTRY["mine"], FIXED["heun"] = Mine, Heun()
    try:
        run = mp.Scenario(robot=ARM, controller=Mine(2.0), integrator="heun", duration=0.1)
        run.save(tmp_path / "run.toml")
        assert mp.Scenario.load(tmp_path / "run.toml") == run
    finally:
        del control.REGISTRY["mine"], FIXED["heun"]


# ---------------------------------------------------------------------- slips in formulas
ROWS = """
{header}
[dh]
convention = "standard"
rows = [
    {{ a = "L1", mass = "m1", com = ["-L1/2", 0, 0] }},
    {{ a = "L2", mass = "m2", com = ["-{slip}/2", 0, 0] }},
]
"""


def test_names_that_are_not_declared_are_refused() -> None:
    for header in ('free = ["m1", "m2"]\n[parameters]\nL1 = 0.4\nL2 = 0.3', 'free = ["L1", "L2", "m1", "m2"]'):
        assert set(from_toml(ROWS.format(header=header, slip="L2")).parameters) >= {"m1", "m2"}
        with pytest.raises(
            UnknownNameError, match=r"dh.rows\[1\].com.*No parameter named 'L22'. Did you mean 'L2'\?.*free ="
        ):
            from_toml(ROWS.format(header=header, slip="L22"))
    with pytest.raises(DescriptionError, match="'m3' is not used"):
        from_toml(ROWS.format(header='free = ["L1", "L2", "m1", "m2", "m3"]', slip="L2"))
    with pytest.raises(DescriptionError, match="free and has a value"):
        from_toml(ROWS.format(header='free = ["L1"]\n[parameters]\nL1 = 0.4', slip="L2"))


def test_names_stay_free_where_nothing_is_declared_and_the_doctor_warns_of_slips() -> None:
    good, slipped = (from_toml(ROWS.format(header="", slip=slip)) for slip in ("L2", "L22"))
    assert not [f for f in mp.doctor(good).findings if f.code == "parameters.alike"]
    (finding,) = [f for f in mp.doctor(slipped).findings if f.code == "parameters.alike"]
    assert finding.severity == "warning"
    assert "'L2' and 'L22'" in finding.sentence


def test_files_that_we_write_list_their_names() -> None:
    robot = from_toml(ROWS.format(header="", slip="L2"))
    text = to_toml(robot)
    assert 'free = ["L1", "L2", "m1", "m2"]' in text
    assert from_toml(text) == robot
    with pytest.raises(UnknownNameError, match="Did you mean"):
        from_toml(text.replace('mass = "m2"', 'mass = "m22"'))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("L2", "L22", True), ("l1", "L1", True), ("mm1", "m1", True), ("lenght", "length", True), ("lengt1", "length1", True),
        ("L1", "L2", False), ("Lc2", "L2", False), ("m1", "m10", False), ("Ixx", "Ixy", False), ("mass_a", "mass_b", False),
        ("theta1", "theta11", True), ("a", "b", False),
    ],
)  # fmt: skip
def test_what_counts_as_a_slip(one: str, other: str, same: bool) -> None:
    from manipula.robot.doctor_rules.names import alike

    assert alike(one, other, 2) == alike(other, one, 2) == same
    assert not alike("m1", "m11", 12)  # an arm of twelve joints numbers them so


# ---------------------------------------------------------------------- one part for all joints
def test_one_friction_law_or_drive_acts_on_every_joint() -> None:
    law, drive = mp.friction.Viscous(0.3), Rigid(torque_limit=5.0)
    run = mp.Scenario(robot=ARM, q0=(0.1, 0.2), duration=0.05, controller=mp.control.PD(1.0, 1.0, goal=[0.0, 0.0]))
    one = mp.simulate(run.replace(friction=law, drives=drive))
    each = mp.simulate(run.replace(friction=(law, law), drives=[drive, drive]))
    named = mp.simulate(run.replace(friction=dict.fromkeys(ARM.joint_names, law), drives=drive))
    for other in (each, named):
        np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_allclose(one.friction, 0.3 * one.qd, atol=1e-15)
    assert run.replace(friction=law) == run.replace(friction=(law, law))


def test_by_name_the_others_have_none() -> None:
    run = mp.Scenario(robot=ARM, duration=0.1, friction={ARM.joint_names[1]: mp.friction.Viscous(0.3)})
    assert run.friction == (None, mp.friction.Viscous(0.3))
    with pytest.raises(UnknownNameError, match="No joint in robot 'planar-2r' named 'elbow'"):
        run.replace(friction={"elbow": mp.friction.Viscous(0.3)})


@pytest.mark.parametrize("wrong", [0.3, (0.3, 0.2), "viscous", (mp.friction.Viscous(1.0),) * 3, Rigid()])
def test_what_is_no_friction_law_is_refused(wrong: Any) -> None:
    with pytest.raises(DescriptionError, match=r"friction: .*friction law"):
        mp.Scenario(robot=ARM, duration=0.1, friction=wrong)


def test_one_law_for_all_joints_of_a_program() -> None:
    arm = mp.load("planar-3r")
    law = mp.friction.Viscous(0.3)
    one = mp.programmed_motion(arm, ["y = 0.2"], friction=law)
    assert one.plant.friction == (law,) * 3
    run = mp.ProgramScenario(
        arm, ["y = 0.2"], q0=[0.3, 0.4, -0.2], friction=law, drives=mp.drives.Flexible(1.0, motor="0")
    )
    assert run.friction == (law,) * 3
    assert [i for i, _ in run.drives] == [0, 1, 2]
    with pytest.raises(DescriptionError, match="friction law"):
        mp.programmed_motion(arm, ["y = 0.2"], friction=[law])


# ---------------------------------------------------------------------- names of the catalog
def test_a_folder_or_file_does_not_hide_a_robot_of_the_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "puma560").mkdir()
    (tmp_path / "panda").write_text("nothing")
    assert mp.load("puma560").name == "puma560"
    assert mp.load("panda").name == "panda"
    with pytest.raises(DescriptionError, match="This is a folder"):
        mp.load("./puma560")
    (tmp_path / "other").mkdir()
    with pytest.raises(DescriptionError, match="This is a folder"):
        mp.load("other")
    (tmp_path / "arm.toml").mkdir()
    with pytest.raises(DescriptionError):
        mp.load("arm.toml")
