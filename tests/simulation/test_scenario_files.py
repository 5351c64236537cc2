"""Scenarios in TOML: what is saved loads back equal, and what is wrong is told with file, line, field and the nearest name."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manipula as mp
from manipula import control
from manipula.errors import BudgetError, DescriptionError, UnknownNameError
from manipula.redundancy import null_space
from manipula.robot import drives, friction
from manipula.robot.limits import Limits
from manipula.simulation.files.scenario_file import file_text, load_file, load_text
from manipula.simulation.frozen_mapping import Frozen
from manipula.simulation.run_file import run_file

ROOT = Path(__file__).parents[2]
LINE = (ROOT / "examples" / "planar5r_line.toml").read_text(encoding="utf-8")
ELLIPSE = (ROOT / "examples" / "programmed_ellipse.toml").read_text(encoding="utf-8")
ARM = mp.load("planar-2r")
MOVE = mp.joint_move([0.0, 0.0], [1.0, 0.5], velocity=1.0, acceleration=2.0, jerk=8.0)
REACH = mp.trajectory(mp.paths.line([0.7, 0.2], [0.5, 0.4]), mp.timing.quintic(1.0))


def round_trip(scenario):
    again = load_text(file_text(scenario))
    assert again == scenario
    assert hash(again) == hash(scenario)
    assert file_text(load_text(file_text(again))) == file_text(again)
    return again


def filled(cls, **given):
    """An instance with a different number in every field that has no value yet."""
    for k, f in enumerate(dataclasses.fields(cls)):
        if f.init and f.default is dataclasses.MISSING and f.name not in given:
            given[f.name] = 1.0 + 0.125 * k
    return cls(**given)


@pytest.mark.parametrize("name", sorted(control.KIND.in_files))
def test_every_controller_is_written_and_read(name):
    cls = control.REGISTRY[name]
    names = {f.name for f in dataclasses.fields(cls)}
    options = {"goal": (0.25, -0.5)} if "goal" in names else {}
    options |= {"kp": (100.0, 50.0)} if "kp" in names else {}
    options |= (
        {"criteria": (null_space.Posture((0.1, 0.2), 3.0), null_space.Manipulability())} if "criteria" in names else {}
    )
    options |= {"torques": "0.0,1.0,2.0\n1.0,0.5,1.5\n"} if "torques" in names else {}
    options |= {"force": (0.0, 2.0, 0.0), "directions": ((0.0, 1.5, 0.0),)} if "directions" in names else {}
    options |= {"effort_limit": (90.0, 60.0)} if "effort_limit" in names else {}
    if "tasks" in names:
        options |= {"tasks": (control.FramePosition(coordinates="xy"), control.JointPosture((0.1, 0.2), weight=2.0))}
    reference = None if "goal" in options else {"joint": MOVE, "task": REACH, "none": None}[cls.space]
    controller = filled(cls, **options)
    elastic = drives.Flexible(800.0) if cls.measures else None
    robot = ARM.replace(joints=tuple(dataclasses.replace(j, rotor_inertia=0.1) for j in ARM.joints)) if elastic else ARM
    round_trip(
        mp.Scenario(robot, reference, controller, q0=(0.1, 1.2), duration=1.5, drives=elastic, control_period=0.002)
    )


@pytest.mark.parametrize("name", sorted(null_space.REGISTRY))
def test_every_criterion_is_written_and_read(name):
    criterion = filled(
        null_space.REGISTRY[name], **({"centre": (1.0, 0.0, 0.2)} if name == "obstacle_distance" else {})
    )
    joints = tuple(dataclasses.replace(j, limits=Limits(lower=-2.0, upper=2.0)) for j in ARM.joints)
    arm = ARM.replace(joints=joints)
    round_trip(mp.Scenario(arm, REACH, kind="kinematic", q0=(0.1, 1.2), criteria=(criterion,), gain=5.0))


@pytest.mark.parametrize("name", sorted(friction.REGISTRY))
def test_every_friction_law_is_written_and_read(name):
    bearing = {"diameter": 0.05} if name in ("lugre", "load_dependent") else {}
    round_trip(mp.Scenario(ARM, duration=1.0, friction=(filled(friction.REGISTRY[name], **bearing), None)))


@pytest.mark.parametrize("name", sorted(drives.REGISTRY))
def test_every_drive_is_written_and_read(name):
    drive = filled(drives.REGISTRY[name], **({"motor": "sin(2*t)"} if name == "flexible" else {}))
    round_trip(mp.Scenario(ARM, duration=1.0, drives=(None, drive), friction=()))


@pytest.mark.parametrize(
    "reference",
    [
        MOVE,
        REACH,
        mp.formula_motion(["0.2*sin(w*t)", "0.1*t"], 2.0, space="joint", constants={"w": 3.0}, breaks=[0.5]),
        mp.trajectory(mp.paths.joint([[0, 0], [1, 0.5], [0.3, 0.2]]), mp.timing.double_s(1.0, 2.0, 9.0)),
        MOVE.to_piecewise(),
        mp.trajectory(mp.paths.joint([[0, 0], [1, 0.5]]), mp.timing.cycloid(1.0)).to_piecewise(1e-6),
        mp.trajectory(
            mp.paths.concatenate(
                [mp.paths.line([0.7, 0], [0.6, 0.1]), mp.paths.arc([0.6, 0.1], [0.5, 0.15], [0.4, 0.1])]
            ),
            mp.timing.scaled(mp.timing.trapezoid(0.5, 1.0), 2.0),
        ),
        mp.trajectory(
            mp.paths.formula(["0.6 + 0.1*cos(u)", "0.1*sin(u)"], [0, 3]), mp.timing.formula("L*(t/T)^2", 2.0)
        ),
    ],
    ids=["move", "line", "formula", "joint", "table", "fitted table", "nested", "path formula"],
)
def test_references_are_written_and_read(reference):
    again = round_trip(mp.Scenario(ARM, reference, kind="inverse_dynamics", duration=0.5))
    t = np.linspace(0, reference.duration, 23)
    assert np.array_equal(again.reference.derivatives(t, 2), reference.derivatives(t, 2))


def test_all_other_settings_are_written_and_read():
    robot = ARM.replace(
        name='with "quotes" and ü',
        joints=tuple(
            dataclasses.replace(j, friction=friction.Viscous(0.3), limits=dataclasses.replace(j.limits, upper=9.0))
            for j in ARM.joints
        ),
    )
    scenario = mp.Scenario(
        robot, MOVE, control.PDGravity(50.0, 10.0), q0=np.arange(6.0).reshape(3, 2), qd0=np.zeros((3, 2)), duration=1.25, step=2e-3,
        integrator="semi_implicit", sample=0.02, model=ARM, noise=mp.Noise(1e-3, 2e-3, seed=2**60), actuator=mp.Actuator((20.0, 10.0), 4e-3),
        disturbances=(mp.Wrench((1.0, 0, 0, 0, 0, "sin(t)"), start=0.2, stop=0.4), mp.PayloadChange(0.5, 1.5, (0.0, 0.1, 0.0))),
        vary={"controller.kp": [40.0, 50.0, 60.0]}, tolerance=1e-4, stop_at_limits=True, verify=False, name="everything",
        limits={"torque": [30.0, 20.0], "tip": {"velocity": 1.0}},
    )  # fmt: skip
    round_trip(scenario)
    symbolic = mp.load("abdelsatar-2r")
    values = {name: 1.0 + 0.5 * k for k, name in enumerate(symbolic.parameters)}
    round_trip(mp.Scenario(symbolic, duration=1.0, parameters=values))
    torques = (np.array([0.0, 0.5, 1.0]), np.arange(6.0).reshape(3, 2))
    round_trip(mp.Scenario(ARM, torques=torques, duration=1.0))
    round_trip(mp.Scenario(ARM, REACH, kind="inverse_dynamics", q0=(0.1, 1.2), start="project"))
    round_trip(mp.Scenario(ARM, REACH, kind="inverse_dynamics", ik_solution=1))


def test_a_key_of_the_first_version_is_still_read():
    text = file_text(mp.Scenario(ARM, REACH, kind="inverse_dynamics", ik_solution=1))
    assert load_text(text.replace("ik_solution = 1", "elbow = 1")).ik_solution == 1
    with pytest.raises(DescriptionError, match="not both"):
        load_text(text.replace("ik_solution = 1", "elbow = 1\nik_solution = 1"))


def test_a_saved_run_gives_the_same_bits(tmp_path):
    scenario = mp.Scenario(
        ARM,
        MOVE,
        control.ComputedTorque(100.0, 20.0),
        duration=1.0,
        step=1e-3,
        sample=0.1,
        noise=mp.Noise(1e-4, 0.0, 7),
    )
    scenario.save(tmp_path / "run.toml")
    assert mp.Scenario.load(tmp_path / "run.toml") == scenario
    first, second = mp.simulate(scenario), run_file(tmp_path / "run.toml")
    assert np.array_equal(first.q, second.q)


def test_what_no_file_can_hold_is_refused(tmp_path):
    path = tmp_path / "run.toml"
    with pytest.raises(DescriptionError, match="Python function"):
        mp.Scenario(ARM, MOVE, control.UserFunction(lambda t, q, qd, target: -q)).save(path)
    with pytest.raises(DescriptionError, match="to_piecewise"):
        mp.Scenario(ARM, mp.formula_motion(lambda t: [t, t], 1.0, space="joint"), control.PD(1.0, 1.0)).save(path)
    with pytest.raises(DescriptionError, match="formula"):
        mp.Scenario(ARM, duration=1.0, drives=(None, drives.Flexible(1.0, motor=lambda t: t))).save(path)
    with pytest.raises(DescriptionError, match="Python function"):
        mp.ProgramScenario(ARM, [lambda v: v["x"] - 0.5], q0=(0.1, 1.2)).save(path)
    assert not path.exists()


def test_robots_from_files_and_inline(tmp_path):
    mp.save(ARM, tmp_path / "arm.toml")
    (tmp_path / "run.toml").write_text('robot = "arm.toml"\nduration = 1.0\n', encoding="utf-8")
    (tmp_path / "tip.toml").write_text(
        'duration = 1.0\n[robot]\nload = "panda"\ntip = "panda_hand"\n', encoding="utf-8"
    )
    assert mp.Scenario.load(tmp_path / "run.toml").robot == ARM
    frames = [f.name for f in mp.load("panda").frames]
    with pytest.raises(UnknownNameError, match="nowhere"):
        load_text('duration = 1.0\n[robot]\nload = "panda"\ntip = "nowhere"\n')
    text = f'duration = 1.0\n[robot]\nload = "panda"\ntip = "{frames[3]}"\n'
    assert load_text(text).robot.tip == frames[3]
    inline = 'duration = 1.0\n[robot.planar]\nlengths = [1, "l2"]\nmasses = [1, 1]\n[robot.parameters]\nl2 = 0.5\n'
    assert load_text(inline).robot.n == 2
    with pytest.raises(DescriptionError) as error:
        load_text(inline.replace("masses = [1, 1]", "masses = [1, -1]"), file="run.toml")
    assert (error.value.file, error.value.line) == ("run.toml", 4)
    assert str(error.value.field).startswith("robot.planar")
    with pytest.raises(DescriptionError, match="opens no files"):
        load_text('robot = "../../etc/passwd.toml"\nduration = 1.0\n')


def test_points_from_files_beside_the_scenario(tmp_path):
    (tmp_path / "points.csv").write_text("x,y\n0.7,0.1\n0.6,0.3\n0.4,0.4\n", encoding="utf-8")
    text = (
        'robot = "planar-2r"\nkind = "kinematic"\nq0 = [0, 1.2]\n[reference.path]\nkind = "from_csv"\nsource = "points.csv"\n'
        '[reference.timing]\nkind = "quintic"\nduration = 1.0\n'
    )
    scenario = load_text(text, tmp_path)
    assert np.allclose(scenario.reference.position(0.0)[:2], [0.7, 0.1])
    assert round_trip_in(tmp_path, scenario) == scenario
    with pytest.raises(DescriptionError, match="opens no files"):
        load_text(text)


def round_trip_in(folder, scenario):
    return load_text(file_text(scenario), folder)


def test_units_and_formulas():
    scenario = load_text(
        'robot = "stanford"\nduration = "3/2"\nq0_deg = [90, "45*2", 0.25, 0, 0, "-half"]\n[constants]\nhalf = "whole/2"\nwhole = 180\n'
        '[limits]\nvelocity_deg = 180\n[controller]\nlaw = "pd"\nkp = 10\nkv = 1\ngoal_deg = [0, 0, 0, 0, 0, 90]\n'
    )
    assert scenario.q0 == pytest.approx([np.pi / 2, np.pi / 2, 0.25, 0, 0, -np.pi / 2])  # joint 3 slides: metres
    assert scenario.duration == 1.5
    assert scenario.limits["velocity"] == pytest.approx(np.pi)
    assert scenario.controller.goal[5] == pytest.approx(np.pi / 2)


WRONG = [  # text, replaced by, field, words
    ('robot = "zlajpah-5r"', 'robot = "zlajpah-5"', "robot", "zlajpah-5r"),
    ('robot = "zlajpah-5r"', 'robot = "missing.urdf"', None, "does not exist"),
    ('robot = "zlajpah-5r"', "", "robot", "robot is missing"),
    ('robot = "zlajpah-5r"', "robot = 5", "robot", "table"),
    ("q0_deg", "q0_dge", "q0_dge", "'q0_deg'"),
    ("q0_deg = [90,", "q0_deg = [90, 1,", "q0_deg", "5 numbers"),
    ("q0_deg = [90,", 'q0_deg = ["k",', "q0_deg[0]", "'k'"),
    ("q0_deg = [90,", "q0_deg = [nan,", "q0_deg[0]", "finite"),
    ("q0_deg = [90,", "q0_deg = [1979-05-27,", "q0_deg[0]", "number"),
    ("step = 1e-3", "step = -1", "step", "greater than 0"),
    ("step = 1e-3", "step = true", "step", "number"),
    ('"rk4"', '"rk5"', "integrator", "'rk4'"),
    ('name = "5-R line"', "name = 5", "name", "text"),
    ('name = "5-R line"', 'kind = "dynmic"', "kind", "'dynamic'"),
    ('name = "5-R line"', 'kind = "programed"', "kind", "'programmed'"),
    ('name = "5-R line"', "ik_solution = -1", "ik_solution", "whole number"),
    ('name = "5-R line"', "verify = 1", "verify", "true or false"),
    ('name = "5-R line"', "format = 2", "format", "format 1"),
    ('name = "5-R line"', 'model = "puma560"', "model", "6 joints"),
    ('name = "5-R line"', 'kind = "playback"', "torques", "times"),
    ('name = "5-R line"', 'friction = [{ law = "viscous", damping = 1 }]', "friction", "5"),
    ('name = "5-R line"', "disturbances = 3", "disturbances", "list"),
    ('name = "5-R line"', 'disturbances = [{ kind = "wrench", wrench = [1, 2, 3] }]', "disturbances[0].wrench", "list of 6"),
    ('name = "5-R line"', 'disturbances = [{ kind = "wrench", wrench = [0,0,0,0,0,"f(t)"] }]', "disturbances[0].wrench[5]", "f"),
    ('name = "5-R line"', 'disturbances = [{ kind = "wrench", frame = "tpi", wrench = [0,0,0,0,0,1] }]', "disturbances[0].frame", "'tip'"),
    ('kind = "line"', 'kind = "lime"', "reference.path.kind", "'line'"),
    ('b = ["x', 'c = ["x', "reference.path.c", "Known: a, b"),
    ('b = ["x - 0.5"', 'b = ["z - 0.5"', "reference.path.b[0]", "'z'"),
    ('b = ["x - 0.5", "y + 0.6"]', 'b = ["x", "y"]', "reference.path.a", "coincide"),
    ('b = ["x - 0.5", "y + 0.6"]', "b = 3", "reference.path.b", "list of 2 or 3 numbers"),
    ('kind = "quintic"', 'kind = "quntic"', "reference.timing.kind", "'quintic'"),
    ("duration = 2.0", "durtion = 2.0", "reference.timing.durtion", "'duration'"),
    ("duration = 2.0", "duration = -2.0", "reference.timing.duration", "from 1e-12"),
    ('[reference.timing]\nkind = "quintic"\nduration = 2.0\n', "", "reference", "reference.timing"),
    ('"task_space_computed_torque"', '"task_space_torque"', "controller.law", "'task_space_computed_torque'"),
    ('"task_space_computed_torque"', '"user"', "controller.law", "user"),
    ('"task_space_computed_torque"', '"pd"', "reference", "joint reference"),
    ("\nkp = 100", "\nkpp = 100", "controller.kpp", "'kp'"),
    ("\nkp = 100", "", "controller", "'kp'"),
    ("\nkp = 100", "\nkp = [1, 2, 3]", "controller.kp", "one per coordinate is needed (2), found 3"),
    ("\nkp = 100", '\nkp = 1\ncriteria = [{ criterion = "postur" }]', "controller.criteria[0].criterion", "'posture'"),
    ("[controller]", "[contoller]", "contoller", "'controller'"),
    ("[controller]", '[friction]\nlaw = "vscous"\n[controller]', "friction.law", "'viscous'"),
    ("[controller]", '[friction]\njoint9 = { law = "viscous" }\n[controller]', "friction.joint9", "joint5"),
    ("[controller]", "[noise]\nseed = -1\n[controller]", "noise.seed", "whole number"),
    ("[controller]", "[noise]\nposition = -1\n[controller]", "noise.position", "at least 0"),
    ("[controller]", '[actuator]\nlimit = "effort"\n[controller]', "actuator.limit", "effort"),
    ("[controller]", "[actuator]\ndelay = -1\n[controller]", "actuator.delay", "at least 0"),
    ("[controller]", "[limits]\nvelociy = 1\n[controller]", "limits.velociy", "'velocity'"),
    ("[controller]", '[vary]\n"controller.kpp" = [1, 2]\n[controller]', "vary", "'controller.kp'"),
    ("[controller]", "[parameters]\nm = 1\n[controller]", "parameters.m", "'m'"),
    ("[constants]", "[constants]\nu = 'v'\nv = 'u'", "constants.u", "circle"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "field", "words"), WRONG, ids=[f"{k}-{w[2]}" for k, w in enumerate(WRONG)])
def test_wrong_files_are_explained(old, new, field, words):
    text = LINE.replace(old, new, 1)
    assert text != LINE
    with pytest.raises(DescriptionError) as error:
        load_text(text, ROOT / "examples", file="run.toml")
    assert words in str(error.value)
    if field is not None:
        assert error.value.file == "run.toml"
        assert str(error.value.field).split(", ")[0] == field


WRONG_PROGRAMS = [
    ('"z = height"', '"z = hight"', "program.constraints[1]", "'height'"),
    ('"z = height"', '"z = "', "program.constraints[1]", "One side of the equation is empty"),
    ('"z = height"', "3", "program.constraints[1]", "quotes"),
    ('"z = height"', '"z = height", "x = 1", "y = 1", "z = 2"', "program.constraints", "more than the 4 joints"),
    ('"psi1", "psi3"', '"psi1", "psi5"', "program.independent[1]", "psi"),
    ('"psi1", "psi3"', '"psi1"', "program.independent", "leave 2"),
    ('"gpme"', '"gmpe"', "program.formulation", "'gpme'"),
    ('"projection"', '"project"', "program.stabilisation", "'projection'"),
    ("psi1 = 20.0", "psi9 = 20.0", "program.drives.psi9", "psi"),
    ("psi1 = 20.0", 'psi1 = "20*s"', "program.drives.psi1", "'s'"),
    ("stiffness", "stifness", "program.drives.psi3.stifness", "'stiffness'"),
    ('motor = "pi', 'motor = "pie', "program.drives.psi3.motor", "pie"),
    ('law = "lugre"', 'law = "lugr"', "friction.psi1.law", "'lugre'"),
    ("sigma0 = 2.5", "sigma = 2.5", "friction.psi1.sigma", "sigma0"),
    ("duration = 3.0", "", "duration", "missing"),
    ("q0_deg = [0, 270, 0, 0.3]", "", "q0", "missing"),
    ("q0_deg = [0, 270, 0, 0.3]", "q0_deg = [0, 270, 0]", "q0_deg", "4 numbers"),
    ("a = 0.5", 'a = "x"', "program.parameters.a", "'x'"),
    ('formulation = "gpme"', "speed = 1", "program.speed", "speed"),
]


@pytest.mark.parametrize(
    ("old", "new", "field", "words"), WRONG_PROGRAMS, ids=[w[2] + str(k) for k, w in enumerate(WRONG_PROGRAMS)]
)
def test_wrong_programs_are_explained(old, new, field, words):
    text = ELLIPSE.replace(old, new, 1)
    assert text != ELLIPSE
    with pytest.raises(DescriptionError) as error:
        load_text(text, file="program.toml")
    assert error.value.file == "program.toml"
    assert str(error.value.field).split(", ")[0] == field
    assert words in str(error.value)


def test_lines_are_those_of_the_mistake():
    lines = LINE.splitlines()
    for number, old, new in (
        (3, "zlajpah-5r", "zlajpah"),
        (16, '"line"', '"lime"'),
        (26, "kp", "kpp"),
        (9, '"rk4"', '"rk5"'),
    ):
        changed = [*lines[: number - 1], lines[number - 1].replace(old, new), *lines[number:]]
        with pytest.raises(DescriptionError) as error:
            load_text("\n".join(changed))
        assert error.value.line == number


def test_budgets_are_refused_before_work():
    for old, new in (
        ("step = 1e-3", "step = 1e-12"),
        ("duration = 3.0", "duration = 1e9"),
        ("duration = 3.0", "duration = 1e59"),
    ):
        with pytest.raises(BudgetError):
            load_text(LINE.replace(old, new, 1))
    with pytest.raises(BudgetError):
        load_text(ELLIPSE.replace("step = 1e-4", "step = 1e-10"))
    with pytest.raises(BudgetError):
        load_text("a = " + "[" * 400 + "]" * 400)


def test_wrong_kind_of_loader(tmp_path):
    with pytest.raises(DescriptionError, match="programmed"):
        mp.Scenario.load(ROOT / "examples" / "programmed_ellipse.toml")
    with pytest.raises(DescriptionError, match="programmed"):
        mp.ProgramScenario.load(ROOT / "examples" / "planar5r_line.toml")
    with pytest.raises(DescriptionError, match="does not exist"):
        load_file(tmp_path / "nothing.toml")


VALUES = st.one_of(
    st.sampled_from(["true", "[]", "{}", "[[1]]", '""', '"t"', "-0.0", "1e400", "inf", "nan", "0", "-1", "1e-300", "99999999999999999999",
                     '"__import__"', '"1/0"', '"x"', "1979-05-27T07:32:00Z", "[1, 2]", '["a"]', "{ kind = 1 }", '"puma560"', '"none"']),
    st.floats().map(repr),
)  # fmt: skip
KEYS = [
    line.split("=")[0].strip() for line in (LINE + ELLIPSE).splitlines() if "=" in line and not line.startswith("#")
]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([LINE, ELLIPSE]), st.sampled_from(sorted(set(KEYS))), VALUES)
def test_any_value_in_any_place_is_read_or_explained(text, key, value):
    lines = [
        f"{key} = {value}" if line.split("=")[0].strip() == key and "=" in line else line for line in text.splitlines()
    ]
    try:
        scenario = load_text("\n".join(lines), file="run.toml")
    except DescriptionError:  # any other exception fails the test
        return
    round_trip(scenario)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_explained(text):
    with pytest.raises(DescriptionError):
        load_text(text)


def test_frozen_mappings_are_values():
    a, b = Frozen({"kp": [1, 2], "name": "x"}), Frozen({"name": "x", "kp": np.array([1.0, 2.0])})
    assert a == b
    assert hash(a) == hash(b)
    assert a == {"kp": (1.0, 2.0), "name": "x"}
    assert a != Frozen({"kp": 1.0})


def test_the_start_of_the_only_joint_is_a_number() -> None:
    head = 'format = 1\nduration = 0.1\nrobot = {name = "rod", planar = {lengths = [0.4], masses = [1.5]}}\n'
    for stated, value in (
        ("q0 = 0.25", 0.25),
        ("q0 = [0.25]", 0.25),
        ("q0_deg = 90", np.pi / 2),
        ('q0 = "pi/4"', np.pi / 4),
    ):
        assert np.allclose(load_text(head + stated).q0, [value], rtol=1e-15)
    with pytest.raises(DescriptionError, match="q0: 1 number is needed, one per joint"):
        load_text(head + "q0 = [0.1, 0.2]")
    with pytest.raises(DescriptionError, match="q0: 2 numbers are needed"):
        load_text('format = 1\nduration = 0.1\nrobot = "planar-2r"\nq0 = 0.25')
