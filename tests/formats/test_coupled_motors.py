"""Joints that equalities of MJCF bind: the same robot by ``load`` and by ``from_mujoco``, whichever of them has the motor."""

import mujoco
import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.formats.load import to_text

LINK = '<inertial pos=".1 0 0" mass="1" diaginertia=".01 .02 .02"/>'


def xml(equalities, actuators="", extra=""):
    return f"""<mujoco model="x"><compiler angle="radian" autolimits="true"/><worldbody>
<body name="a" pos="0 0 .3"><joint name="j1" axis="0 1 0"/>{LINK}
<body name="b" pos=".3 0 0"><joint name="j2" axis="0 1 0" ref=".2"/>{LINK}
<body name="c" pos=".3 0 0"><joint name="j3" axis="0 0 1"/>{LINK}</body></body></body></worldbody>
{extra}<equality>{equalities}</equality><actuator>{actuators}</actuator></mujoco>"""


def both(text, **words):
    return mp.from_mjcf(text, **words), mp.from_mujoco(mujoco.MjModel.from_xml_string(text), **words)


def equality(one, other, ratio, offset=0.0):
    return f'<joint joint1="{one}" joint2="{other}" polycoef="{offset} {ratio} 0 0 0"/>'


def motor(joint, most, gear=1.0):
    return f'<motor joint="{joint}" ctrlrange="-{most} {most}" gear="{gear}"/>'


def positions(robot, q):
    return {
        **dict(zip(robot.joint_names, q)),
        **{f.name: f.offset + f.ratio * q[f.leader] for f in robot.followers},
    }


PAIR = equality("j2", "j1", -2.0, 0.1)
CHAIN = equality("j2", "j1", 2.0) + equality("j3", "j2", -0.5, 0.1)
STAR = equality("j2", "j1", 2.0) + equality("j3", "j1", -0.5, 0.1)
MEET = equality("j1", "j2", 2.0) + equality("j1", "j3", 4.0)


@pytest.mark.parametrize("equalities", [PAIR, CHAIN, STAR, MEET], ids=["pair", "chain", "star", "meet"])
@pytest.mark.parametrize("driven", ["j1", "j2", "j3"])
def test_the_joint_with_the_motor_leads_in_files_and_in_memory(equalities, driven):
    text = xml(equalities, motor(driven, 5))
    model = mujoco.MjModel.from_xml_string(text)
    for robot in both(text):
        limits = {j.name: j.limits.effort for j in robot.joints}
        assert limits[driven] == 5
        assert not any("no motor" in note for note in robot.notes)
        at = positions(robot, np.linspace(0.3, 0.7, robot.n))
        q0 = {name: model.qpos0[k] for k, name in enumerate(("j1", "j2", "j3"))}
        for e in range(model.neq):
            one, other = (f"j{int(k[e]) + 1}" for k in (model.eq_obj1id, model.eq_obj2id))
            c = model.eq_data[e]
            assert at[one] - q0[one] == pytest.approx(c[0] + c[1] * (at[other] - q0[other]), abs=1e-14)
    loaded, taken = both(text)
    assert loaded.joint_names == taken.joint_names


def test_motors_of_followers_help_by_virtual_work():
    text = xml(equality("j2", "j1", -2.0), motor("j1", 1) + motor("j2", 5, gear=3) + motor("j3", 7))
    for robot in both(text):
        (follower,) = robot.followers
        lead = robot.joints[follower.leader]
        own, other = (1.0, 15.0) if lead.name == "j1" else (15.0, 1.0)
        assert lead.limits.effort == pytest.approx(own + abs(follower.ratio) * other)
        assert not any("has no motor" in note for note in robot.notes)
        assert any("motor of its own" in note for note in robot.notes)
        again = robot.select(lock={"j3": 0.0})
        assert again.joints[follower.leader].limits.effort == lead.limits.effort
        assert mp.from_mjcf(to_text(robot, ".xml")).joints[follower.leader].limits.effort == lead.limits.effort
        assert not any("has no motor" in note for note in again.notes)


def test_a_motor_without_a_limit_leaves_none():
    for robot in both(xml(equality("j2", "j1", -2.0), motor("j1", 1) + '<motor joint="j2"/>')):
        assert robot.joints[robot.followers[0].leader].limits.effort is None


def test_a_motor_that_is_left_out_does_not_help():
    text = xml(equality("j3", "j1", 2.0), motor("j1", 1) + motor("j3", 5))
    assert mp.from_mjcf(text).joints[0].limits.effort == 11.0
    assert mp.from_mjcf(text, drop=["c"]).joints[0].limits.effort == 1.0


def test_a_joint_that_is_held_holds_what_is_bound_to_it():
    text = xml(equality("j2", "j1", 2.0) + '<joint joint1="j1" polycoef="0.3 0 0 0 0"/>')
    free = mp.from_mjcf(xml(""))
    for robot in both(text):
        assert robot.joint_names == ("j3",)
        np.testing.assert_allclose(
            mp.compile(robot).pose([0.4]), mp.compile(free).pose([0.3, 0.2 + 0.6, 0.4]), atol=1e-12
        )


@pytest.mark.parametrize("more", [equality("j3", "j1", 1.0), '<joint joint1="j3" polycoef="0 0 0 0 0"/>' * 2])
def test_what_is_bound_twice_is_refused_by_both(more):
    text = xml(equality("j2", "j1", 2.0) + equality("j3", "j2", 2.0) + more)
    for read in (mp.from_mjcf, lambda t: mp.from_mujoco(mujoco.MjModel.from_xml_string(t))):
        with pytest.raises(DescriptionError, match="already"):
            read(text)


TENDONS = """<tendon><fixed name="t"><joint joint="j1" coef="1"/><joint joint="j2" coef="-2"/></fixed></tendon>"""


def test_tendons_couple_joints_and_carry_motors_in_memory_too():
    text = xml(
        '<tendon name="tied" tendon1="t" polycoef="0.1 0 0 0 0"/>', '<motor tendon="t" ctrlrange="-5 5"/>', TENDONS
    )
    loaded, taken = both(text)
    assert loaded.joint_names == taken.joint_names
    assert loaded.followers[0].ratio == taken.followers[0].ratio
    assert loaded.followers[0].offset == pytest.approx(taken.followers[0].offset)
    half = xml(equality("j2", "j1", 2.0), '<motor tendon="t" ctrlrange="-5 5"/>', TENDONS)
    for robot in both(half):
        (f,) = robot.followers
        r = {f.name: f.ratio, robot.joints[f.leader].name: 1.0}
        assert robot.joints[f.leader].limits.effort == pytest.approx(5 * abs(r["j1"] - 2 * r["j2"]))
        assert "tendons are not read." not in robot.notes


KEYS = """<keyframe><key name="home" qpos=".1 .1 .3"/><key qpos=".1 .5 .3"/></keyframe>"""


def test_keyframes_are_postures_in_memory_too_and_bent_ones_are_told():
    text = xml(equality("j2", "j1", -1.0), motor("j1", 5), KEYS)  # q2 = 0.2 − q1
    for robot in both(text):
        assert robot.postures == (("home", (0.1, 0.3)), ("key1", (0.1, 0.3)))
        told = [note for note in robot.notes if note.startswith("posture")]
        assert told == ["posture 'key1' puts joint 'j2' at 0.5; it follows 'j1' and stands at 0.1."]
