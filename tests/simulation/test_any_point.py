"""Any point of the arm: its motion and constraints on it against Pinocchio, its jerk against differences of high order."""

from __future__ import annotations

import json

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError, UnknownNameError
from manipula.simulation.files.scenario_file import file_text, load_text
from manipula.simulation.programmed.constraint import Constraint
from oracles import Judge

PLACE = ("panda_link4", (0.05, 0.02, 0.01))
Q0 = np.array([0.1, -0.4, 0.2, -1.8, 0.3, 1.6, 0.4])


def at(judge: Judge, q: np.ndarray, point: tuple[str, tuple[float, ...]] = PLACE) -> np.ndarray:
    X = judge.pose(q, point[0])
    return X[:3, 3] + X[:3, :3] @ np.array(point[1])


def rates(judge: Judge, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocity and acceleration of PLACE by Pinocchio's Jacobian of its frame and the rate of that: v + ω × r, a + α × r + ω × (ω × r)."""
    r = judge.pose(q, PLACE[0])[:3, :3] @ np.array(PLACE[1])
    J = judge.jacobian(q, PLACE[0])
    v, a = J @ qd, J @ qdd + judge.jacobian_rate(q, qd, PLACE[0]) @ qd
    return v[:3] + np.cross(v[3:], r), a[:3] + np.cross(a[3:], r) + np.cross(v[3:], np.cross(v[3:], r))


@pytest.fixture(scope="module")
def swing():
    """A Panda that falls under viscous friction."""
    robot = mp.load("panda")
    return mp.simulate(
        mp.Scenario(robot, q0=Q0, duration=0.4, step=1e-3, friction=mp.robot.friction.Viscous(2.0), verify=False)
    )


def test_the_motion_of_a_point_is_pinocchios(swing):
    judge, found = Judge(mp.load("panda")), swing.point_motion(point=PLACE)
    assert found.name == "panda_link4 + (0.05, 0.02, 0.01)"
    for k in range(0, len(swing.t), 37):
        v, a = rates(judge, swing.q[k], swing.qd[k], swing.qdd[k])
        assert np.abs(found.position[k] - at(judge, swing.q[k])).max() < 1e-13
        assert np.abs(found.velocity[k] - v).max() < 1e-12
        assert np.abs(found.acceleration[k] - a).max() < 1e-11
    np.testing.assert_array_equal(
        swing.point_motion("panda_link5").position, swing.point_motion(point=("panda_link5", (0, 0, 0))).position
    )
    np.testing.assert_allclose(swing.point_motion().position, swing.tip, atol=1e-14)


def test_its_jerk_is_the_derivative_of_its_acceleration(swing):
    """Differences of eighth order of Pinocchio's acceleration."""
    judge = Judge(mp.load("panda"))
    a = np.array([rates(judge, *x)[1] for x in zip(swing.q, swing.qd, swing.qdd)])
    w, h = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280]), swing.t[1] - swing.t[0]
    inner = slice(4, -4)
    n = len(a)
    slope = sum(c * (a[4 + k : n - 4 + k] - a[4 - k : n - 4 - k]) for k, c in enumerate(w, 1)) / h
    found = swing.jerk(point=PLACE)
    assert found.exact
    assert np.abs(found.values[inner] - slope).max() < 1e-6 * np.abs(slope).max()


@pytest.mark.parametrize("level", ["position", "velocity", "acceleration"])
def test_a_constraint_on_a_point_holds_there(level):
    robot = mp.load("panda")
    judge = Judge(robot)
    z = float(at(judge, Q0)[2])
    formula = {
        "position": "z = z0 + 0.02*(1 - cos(3*t))",
        "velocity": "vz = 0.06*sin(3*t)",
        "acceleration": "az = 0.18*cos(3*t)",
    }[level]
    scenario = mp.ProgramScenario(
        robot, [Constraint(formula, point=PLACE), Constraint("y = y0", frame="panda_link6")], q0=Q0, duration=0.3, step=1e-3,
        parameters={"y0": float(judge.pose(Q0, "panda_link6")[1, 3])} | ({"z0": z} if level == "position" else {}),
    )  # fmt: skip
    assert load_text(file_text(scenario)) == scenario
    result = scenario.run().check()
    heights = np.array([at(judge, q)[2] for q in result.q])
    assert np.abs(heights - z - 0.02 * (1 - np.cos(3 * result.t))).max() < (1e-12 if level == "position" else 1e-9)
    assert (
        np.abs([judge.pose(q, "panda_link6")[1, 3] for q in result.q] - judge.pose(Q0, "panda_link6")[1, 3]).max()
        < 1e-12
    )
    for k in range(0, len(result.t), 61):
        v, a = rates(judge, result.q[k], result.qd[k], result.qdd[k])
        assert v[2] == pytest.approx(0.06 * np.sin(3 * result.t[k]), abs=1e-9)
        assert a[2] == pytest.approx(0.18 * np.cos(3 * result.t[k]), abs=1e-9)


def test_limits_of_points(swing):
    speed = np.linalg.norm(swing.point_motion(point=PLACE).velocity, axis=1).max()
    high = mp.feasibility(swing, {"velocity": 1e3}, points={PLACE: {"velocity": 1.01 * speed, "jerk": 1e9}})
    assert high.feasible
    low = mp.feasibility(
        swing, {"velocity": 1e3}, points={"panda_link5": {"velocity": 1e3}, PLACE: {"velocity": 0.5 * speed}}
    )
    assert low.feasible is False
    assert "panda_link4 + (0.05, 0.02, 0.01)" in low.reason
    assert [p.ok for p in low.points] == [True, False]
    assert low.points[1].velocity.worst == pytest.approx(speed)
    assert [p["name"] for p in low.to_dict()["points"]] == ["panda_link5", "panda_link4 + (0.05, 0.02, 0.01)"]
    coarse = mp.simulate(
        mp.Scenario(mp.load("panda"), q0=Q0, duration=0.4, step=1e-3, sample=0.1, friction=(), verify=False)
    )
    assert mp.feasibility(coarse, {"velocity": 1e3}, points={PLACE: {"velocity": 1e3}}).feasible is None
    move = mp.joint_move(Q0, Q0 + 0.3, velocity=1.0, acceleration=4.0, jerk=40.0)
    told = mp.feasibility(move, mp.load("panda"), points={PLACE: {"velocity": 0.01}})
    assert told.feasible is False
    assert told.slow_down > 1.0
    assert (
        mp.feasibility(move, mp.load("panda"), points={PLACE: {"velocity": 5.0, "acceleration": 100.0, "jerk": 1e4}})
        .points[0]
        .ok
    )


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"frame": "elbow"}, "No frame named 'elbow'"),
        ({"frame": "panda_link4", "point": PLACE}, "give frame or point"),
        ({"point": "panda_link4"}, "A point is a link and a place"),
        ({"point": ("panda_link4", (0.1, 0.2))}, "has 3 numbers"),
        ({"point": ("panda_link4", (0.1, 0.2, np.nan))}, "finite"),
        ({"frame": 3}, "is the name of a frame"),
    ],
)
def test_what_is_no_point_is_refused(swing, words, reason):
    for ask in (swing.point_motion, swing.jerk):
        with pytest.raises(DescriptionError, match=reason):
            ask(**words)
    with pytest.raises(DescriptionError, match=reason):
        mp.programmed_motion(mp.load("panda"), [Constraint("z = 0.5", **words)])


@pytest.mark.parametrize(
    "points",
    [
        {},
        {"tip": 3},
        {"tip": {"speed": 1}},
        {"tip": {"velocity": -1}},
        {"nowhere": {"velocity": 1}},
        {3: {"velocity": 1}},
    ],
)
def test_limits_that_are_none_are_refused(swing, points):
    with pytest.raises(DescriptionError):
        mp.feasibility(swing, points=points)
    assert issubclass(UnknownNameError, DescriptionError)


def test_points_on_the_command_line(tmp_path):
    from typer.testing import CliRunner

    from manipula.cli.app import app

    file = tmp_path / "swing.toml"
    file.write_text(
        f'robot = "panda"\nq0 = {Q0.tolist()}\nduration = 0.05\nstep = 1e-3\n[limits]\nvelocity = 100.0\n',
        encoding="utf-8",
    )

    def check(*words: str):
        return CliRunner().invoke(app, ["check", str(file), "--json", *words])

    told = json.loads(
        check(
            "--point", "panda_link5:velocity=9", "--point", "panda_link4@0.05,0.02,0.01:velocity=1e-6,jerk=1e9"
        ).stdout
    )
    assert told["feasible"] is False
    assert [p["name"] for p in told["points"]] == ["panda_link5", "panda_link4 + (0.05, 0.02, 0.01)"]
    for wrong in (
        "panda_link5",
        "panda_link5@1,2:velocity=1",
        "panda_link5:velocity",
        "nowhere:velocity=1",
        "panda_link5:speed=1",
    ):
        assert check("--point", wrong).exit_code == 2, wrong


def test_limits_of_points_in_a_scenario_are_watched_between_samples() -> None:
    """Speeds of two points along a given motion, by Pinocchio at ten thousand times; the record has eleven samples."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (there is none for Windows)")

    from manipula.simulation.files.scenario_file import file_text, load_text
    from oracles import Judge

    robot = mp.load("panda")
    q0 = np.array([0.1, 0.3, -0.2, -1.6, 0.1, 1.9, 0.2])
    move = mp.trajectory(mp.paths.joint([q0, q0 + 0.4]), mp.timing.quintic(0.97))
    judge, offset = Judge(robot), np.array([0.1, 0.0, 0.05])
    times = np.linspace(0, 0.97, 10_001)
    largest = {"panda_link4": 0.0, "panda_link6@0.1,0.0,0.05": 0.0}
    for q, qd in zip(move.position(times), move.velocity(times)):
        pin.forwardKinematics(judge.model, judge.data, judge.theirs(q), judge.theirs(qd))
        pin.updateFramePlacements(judge.model, judge.data)
        for name in largest:
            id_ = judge.frame_ids[name.partition("@")[0]]
            v = pin.getFrameVelocity(judge.model, judge.data, id_, pin.LOCAL_WORLD_ALIGNED)
            arm = judge.data.oMf[id_].rotation @ offset if "@" in name else np.zeros(3)
            largest[name] = max(largest[name], float(np.linalg.norm(v.linear + np.cross(v.angular, arm))))
    limits = {"points": {name: {"velocity": 0.9 * size} for name, size in largest.items()}}
    scenario = mp.Scenario(robot, move, kind="inverse_dynamics", friction=(), sample=0.1, limits=limits)
    assert load_text(file_text(scenario)) == scenario
    result = mp.simulate(scenario)
    assert result.feasible is False
    found = {c.name: c for c in result.feasibility.broken if c.point}
    assert set(found) == set(largest)
    for name, size in largest.items():
        assert found[name].worst == pytest.approx(size, rel=1e-6)
        assert found[name].sentence().startswith(f"Point '{name}' passes its velocity limit")
    again = {j.name: j.velocity for j in mp.feasibility(result).points}
    assert [c.worst for c in again.values()] == pytest.approx(list(largest.values()), rel=1e-6)
    kept = scenario.replace(
        limits={"points": {("panda_link6", (0.1, 0, 0.05)): {"velocity": 1.01 * largest["panda_link6@0.1,0.0,0.05"]}}}
    )
    assert mp.simulate(kept).feasible is True


def test_limits_of_points_that_cannot_be_are_refused() -> None:
    robot = mp.load("planar-2r")
    for given, words in (
        ({"elbow": {"velocity": 1.0}}, "No frame"),
        ({"link1": {"speed": 1.0}}, "quantity of a point"),
        ({"link1": {}}, "are named"),
        ({"link1@1,2": {"velocity": 1.0}}, "place in its axes"),
        ({"link1": {"velocity": -1.0}}, "zero or more"),
    ):
        with pytest.raises(mp.DescriptionError, match=words):
            mp.Scenario(robot, duration=1.0, limits={"points": given})


def test_limits_of_points_in_a_batch_are_watched_run_by_run() -> None:
    """A free pendulum from two heights: 2 m g h = m v² at the lowest place, which no sample hits."""
    robot = mp.planar([1.0], [1.0])
    start = np.array([[-np.pi / 2 + 0.3], [-np.pi / 2 + 0.9]])
    fastest = np.sqrt(3 * 9.81 * (1 - np.cos([0.3, 0.9])))  # of the end of a uniform rod
    limits = {"points": {"tip": {"velocity": 0.5 * float(fastest.sum())}}}
    result = mp.simulate(mp.Scenario(robot, q0=start, duration=1.0, sample=0.3, friction=(), limits=limits))
    assert result.ok, result.reason
    assert result.feasibility.runs == (True, False)
    assert [c.worst for c in result.feasibility.broken if c.point] == pytest.approx([fastest[1]], rel=1e-5)
