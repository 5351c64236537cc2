"""Hostile and broken URDF and MJCF files, generated: every one must be refused by one kind of error.

Each case is a name, the format that reads it and a function that makes the bytes, so that large ones exist only while
they are read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Case(NamedTuple):
    name: str
    format: str  # "urdf" or "mjcf"
    make: Callable[[], bytes]

    def __repr__(self) -> str:
        return f"{self.format}: {self.name}"


INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
INERTIAL = f'<inertial><mass value="1"/>{INERTIA}</inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
ENDS = '<parent link="a"/><child link="b"/>'
LINKS = f'<link name="a"/><link name="b">{INERTIAL}</link>'
MJ_INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


def robot(inside: str) -> str:
    return f'<robot name="r">{inside}</robot>'


def arm(joint: str = LIMIT, kind: str = "revolute", ends: str = ENDS, links: str = LINKS) -> str:
    return robot(f'{links}<joint name="j" type="{kind}">{ends}{joint}</joint>')


def body(inertial: str) -> str:
    return arm(links=f'<link name="a"/><link name="b">{inertial}</link>')


def mujoco(body: str = f"{MJ_INERTIAL}<joint/>", above: str = "", where: str = "") -> str:
    return f"<mujoco>{above}<worldbody><body {where}>{body}</body></worldbody></mujoco>"


def chain(count: int) -> str:
    links = "".join(f'<link name="l{i}"/>' for i in range(count))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(count - 1)
    )
    return robot(links + joints)


def ring(count: int) -> str:
    """A root, and beside it ``count`` links that are each other's children."""
    links = '<link name="root"/>' + "".join(f'<link name="l{i}"/>' for i in range(count))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{(i + 1) % count}"/></joint>'
        for i in range(count)
    )
    return robot(links + joints)


_DTD = {
    "billion laughs": '<!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    "external entity": '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    "external subset": '<!DOCTYPE robot SYSTEM "http://localhost/evil.dtd">',
    "parameter entity": '<!DOCTYPE robot [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>',
    "empty doctype": "<!DOCTYPE robot>",
    "attribute default": '<!DOCTYPE robot [<!ATTLIST link name CDATA "a">]>',
    "notation": '<!DOCTYPE robot [<!NOTATION n SYSTEM "x">]>',
}
_BAD_NUMBERS = (
    "nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-1e400", "1_000", "0x10", "1,5", "1.2.3", "one", "", " ", "1e", "--1",
    "1 2", "٣", "１", "−1", "1d0", "1f", "$(x)", "1;", "1e308*10", "true", "9" * 500,
)  # fmt: skip

_URDF: dict[str, str | bytes | Callable[[], str | bytes]] = {
    **{f"DTD, {name}": f"{dtd}{arm()}" for name, dtd in _DTD.items()},
    "entity without DTD": robot('<link name="&evil;"/>'),
    "null character reference": robot('<link name="&#0;"/>'),
    "control character in a name": robot('<link name="&#27;"/>'.replace("&#27;", "&#10;")),
    "processing instruction": f"<?evil run?>{arm()}",
    "stylesheet instruction inside": robot('<?xml-stylesheet href="x"?><link name="a"/>'),
    "not XML": "robot name = r < 3",
    "empty file": b"",
    "only white space": b"  \n ",
    "binary": bytes(range(256)),
    "zip file": b"PK\x03\x04" + b"\0" * 100 + b"<",
    "unclosed tag": '<robot name="r"><link name="a">',
    "crossed tags": '<robot name="r"><link name="a"></robot></link>',
    "two roots": f"{arm()}{arm()}",
    "text after the end": f"{arm()}trailing",
    "attribute twice": '<robot name="r"><link name="a" name="b"/></robot>',
    "attribute without quotes": "<robot name=r><link name=a/></robot>",
    "bad UTF-8": b'<robot name="r"><link name="\xff\xfe"/></robot>',
    "unknown encoding": b'<?xml version="1.0" encoding="utf-7"?><robot name="r"/>',
    "codec that is no character set": b'<?xml version="1.0" encoding="zlib"?><robot name="r"/>',
    "wrong declared encoding": b'<?xml version="1.0" encoding="utf-16"?><robot name="r"/>',
    "truncated UTF-16": arm().encode("utf-16")[:-7],
    "deep nesting": lambda: "<robot name='r'>" + "<a>" * 5000 + "</a>" * 5000 + "</robot>",
    "nesting of 25": lambda: "<robot name='r'>" + "<a>" * 24 + "</a>" * 24 + "</robot>",
    "very deep nesting": lambda: "<robot name='r'>" + "<a>" * 1_000_000,
    "million elements": lambda: robot("<x/>" * 1_000_000),
    "million links": lambda: robot('<link name="a"/>' * 1_000_000),
    "5001 links": lambda: chain(5001),
    "over 16 MiB": lambda: robot("<!--" + "x" * (16 * 2**20) + "-->"),
    "thousand attributes": lambda: robot("<link " + " ".join(f'a{i}="1"' for i in range(1000)) + ' name="a"/>'),
    "giant attribute": lambda: robot(f'<link name="{"x" * 200_000}"/>'),
    "long name": robot(f'<link name="{"x" * 300}"/>'),
    "wrong root": "<sdf version='1.6'/>",
    "MJCF given as URDF": "<mujoco/>",
    "no robot name": '<robot><link name="a"/></robot>',
    "empty robot name": '<robot name=""><link name="a"/></robot>',
    "no links": robot(""),
    "link without name": robot("<link/>"),
    "link with empty name": robot('<link name=""/>'),
    "link with blank name": robot('<link name="  "/>'),
    "misspelt link": robot('<link name="a"/><lnik name="b"/>'),
    "capital link": robot('<Link name="a"/>'),
    "joint without name": robot(f'{LINKS}<joint type="fixed">{ENDS}</joint>'),
    "joint without type": robot(f'{LINKS}<joint name="j">{ENDS}</joint>'),
    "unknown joint type": arm(kind="hinge"),
    "floating joint": arm(kind="floating"),
    "planar joint": arm(kind="planar"),
    "ball joint": arm(kind="ball"),
    "mimic": arm(f'{LIMIT}<mimic joint="k"/>'),
    "mimic of itself": arm(f'{LIMIT}<mimic joint="j" multiplier="2"/>'),
    "no parent": arm(ends='<child link="b"/>'),
    "no child": arm(ends='<parent link="a"/>'),
    "parent without link": arm(ends='<parent/><child link="b"/>'),
    "unknown parent": arm(ends='<parent link="zz"/><child link="b"/>'),
    "unknown child": arm(ends='<parent link="a"/><child link="zz"/>'),
    "two parents elements": arm(ends=f'{ENDS}<parent link="a"/>'),
    "link its own parent": arm(ends='<parent link="b"/><child link="b"/>'),
    "two parents": robot(
        '<link name="a"/><link name="b"/><link name="c"/>'
        + "".join(
            f'<joint name="{n}" type="fixed"><parent link="{p}"/><child link="c"/></joint>' for n, p in ("ja", "kb")
        )
    ),
    "cycle of two": robot(
        f'{LINKS}<joint name="j" type="fixed">{ENDS}</joint><joint name="k" type="fixed"><parent link="b"/>'
        '<child link="a"/></joint>'
    ),
    "cycle beside the root": ring(3),
    "cycle of 4000": lambda: ring(4000),
    "two roots of the tree": robot('<link name="a"/><link name="b"/>'),
    "duplicate links": robot('<link name="a"/><link name="a"/>'),
    "duplicate joints": robot(
        '<link name="a"/><link name="b"/><link name="c"/>'
        '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
        '<joint name="j" type="fixed"><parent link="b"/><child link="c"/></joint>'
    ),
    "zero axis": arm(f'{LIMIT}<axis xyz="0 0 0"/>'),
    "tiny axis": arm(f'{LIMIT}<axis xyz="0 0 1e-9"/>'),
    "axis of two": arm(f'{LIMIT}<axis xyz="0 1"/>'),
    "axis of four": arm(f'{LIMIT}<axis xyz="0 1 0 0"/>'),
    "axis without xyz": arm(f"{LIMIT}<axis/>"),
    "infinite axis": arm(f'{LIMIT}<axis xyz="1e60 1e61 0"/>'),
    "two axes": arm(f'{LIMIT}<axis xyz="0 1 0"/><axis xyz="1 0 0"/>'),
    "reversed limits": arm('<limit lower="1" upper="-1" effort="1" velocity="1"/>'),
    "lower above the default upper": arm('<limit lower="1" effort="1" velocity="1"/>'),
    "negative velocity limit": arm('<limit lower="-1" upper="1" effort="1" velocity="-1"/>'),
    "negative effort limit": arm('<limit lower="-1" upper="1" effort="-1" velocity="1"/>'),
    "misspelt limit": arm('<limit lower="-1" uper="1" effort="1" velocity="1"/>'),
    "two limits": arm(LIMIT + LIMIT),
    "negative damping": arm(f'{LIMIT}<dynamics damping="-1"/>'),
    "negative friction": arm(f'{LIMIT}<dynamics friction="-1"/>'),
    "misspelt damping": arm(f'{LIMIT}<dynamics dampin="1"/>'),
    "misspelt rpy": arm(f'{LIMIT}<origin xyz="0 0 0" rpyy="1 0 0"/>'),
    "rpy and quaternion": arm(f'{LIMIT}<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'),
    "zero quaternion": arm(f'{LIMIT}<origin quat_xyzw="0 0 0 0"/>'),
    "origin of 1e300": arm(f'{LIMIT}<origin xyz="1e300 0 0"/>'),
    "negative mass": body(f'<inertial><mass value="-1"/>{INERTIA}</inertial>'),
    "no mass": body(f"<inertial>{INERTIA}</inertial>"),
    "no inertia": body('<inertial><mass value="1"/></inertial>'),
    "mass without value": body(f"<inertial><mass/>{INERTIA}</inertial>"),
    "inertia without izz": body(f'<inertial><mass value="1"/>{INERTIA.replace("izz", "izy")}</inertial>'),
    "broken first of two inertials": body(INERTIAL.replace('mass value="1"', 'mass value="nan"') + INERTIAL),
    "inertia of 1e200": body(f'<inertial><mass value="1"/>{INERTIA.replace("1", "1e200", 1)}</inertial>'),
    "xacro macro": '<robot name="r" xmlns:xacro="http://x"><xacro:macro name="m"/></robot>',
    "xacro include": '<robot name="r" xmlns:xacro="http://x"><xacro:include filename="../../a.xacro"/></robot>',
    "xacro property": '<robot name="r"><link name="${prefix}a"/></robot>',
    "xacro find": '<robot name="r"><link name="a"><visual><geometry><mesh filename="$(find p)/a.stl"/></geometry></visual></link></robot>',
    "extension with an unknown word": arm(f'{LIMIT}<manipula gear="2"/>'),
    "extension with an unknown law": arm(f'{LIMIT}<manipula friction="magic"/>'),
    "extension with a wrong parameter": arm(f'{LIMIT}<manipula friction="viscous" friction.mu="1"/>'),
    "extension without its parameter": arm(f'{LIMIT}<manipula friction="viscous"/>'),
    "extension with negative rotor": arm(f'{LIMIT}<manipula rotor_inertia="-1"/>'),
    "extension with nan gravity": robot('<manipula gravity="0 0 nan"/><link name="a"/>'),
    "extension with unknown tip": robot('<manipula tip="zz"/><link name="a"/>'),
    "extension with unknown payload": robot('<manipula payload="zz"/><link name="a"/>'),
    "extension that takes the arm for a payload": arm().replace("<link", '<manipula payload="b"/><link', 1),
    "extension that takes the arm for a tool": arm().replace("<link", '<manipula tool="b"/><link', 1),
    "extension that takes a leaf for the base": arm().replace("<link", '<manipula base="b"/><link', 1),
    "extension with a frame that is none": arm().replace("<link", '<manipula><frame link="b"/></manipula><link', 1),
    "transmission without reduction": arm().replace(
        "</robot>",
        '<transmission name="t"><joint name="j"/><actuator name="m"><mechanicalReduction>0</mechanicalReduction>'
        "</actuator></transmission></robot>",
    ),
}
for _value in _BAD_NUMBERS:
    _URDF[f"mass is {_value[:12]!r}"] = body(f'<inertial><mass value="{_value}"/>{INERTIA}</inertial>')
for _value in _BAD_NUMBERS[:10]:
    _URDF[f"origin holds {_value[:12]!r}"] = arm(f'{LIMIT}<origin xyz="0 {_value} 0"/>')
    _URDF[f"limit is {_value[:12]!r}"] = arm(f'<limit lower="-1" upper="{_value}" effort="1" velocity="1"/>')
    _URDF[f"inertia holds {_value[:12]!r}"] = body(INERTIAL.replace('ixy="0"', f'ixy="{_value}"'))
for _path in (
    "package://../../etc/passwd", "../../../etc/passwd", "meshes/../../a.stl", "package://arm/../../a.stl", "..\\..\\a.stl",
    "package://arm/../other/a.stl", "file:///../etc/passwd", "meshes/a/../../../b.stl", "../a.stl", "..", "a\\..\\..\\b",
    "package://", "",
):  # fmt: skip
    _URDF[f"mesh {_path!r}"] = robot(
        f'<link name="a"><visual><geometry><mesh filename="{_path}"/></geometry></visual></link>'
    )
    _URDF[f"collision mesh {_path!r}"] = robot(
        f'<link name="a"><collision><geometry><mesh filename="{_path}"/></geometry></collision></link>'
    )

_MJCF: dict[str, str | bytes | Callable[[], str | bytes]] = {
    **{f"DTD, {name}": f"{dtd}{mujoco()}" for name, dtd in _DTD.items()},
    "processing instruction": f"<?evil?>{mujoco()}",
    "URDF given as MJCF": arm(),
    "unclosed": "<mujoco><worldbody><body>",
    "unknown section": "<mujoco><worlbody/></mujoco>",
    "include": '<mujoco><include file="other.xml"/></mujoco>',
    "include that climbs out": '<mujoco><include file="../../etc/passwd"/></mujoco>',
    "include of a device": '<mujoco><include file="/dev/zero"/></mujoco>',
    "include of itself": '<mujoco><include file="hostile.mjcf"/></mujoco>',
    "include without a name": "<mujoco><include/></mujoco>",
    "include of a folder": '<mujoco><include file="."/></mujoco>',
    "include in a body": mujoco(f'{MJ_INERTIAL}<include file="x.xml"/>'),
    "free joint": mujoco(f'{MJ_INERTIAL}<joint type="free"/>'),
    "freejoint": mujoco(f"{MJ_INERTIAL}<freejoint/>"),
    "ball joint": mujoco(f'{MJ_INERTIAL}<joint type="ball"/>'),
    "unknown joint type": mujoco(f'{MJ_INERTIAL}<joint type="revolute"/>'),
    "ball by default class": mujoco(above='<default><joint type="ball"/></default>'),
    "geom without size": mujoco('<joint/><geom type="sphere"/>'),
    "geom of size zero": mujoco('<joint/><geom type="sphere" size="0"/>'),
    "geom of negative size": mujoco('<joint/><geom type="box" size="1 -1 1"/>'),
    "box of two sizes": mujoco('<joint/><geom type="box" size="1 1"/>'),
    "geom of negative mass": mujoco('<joint/><geom size="1" mass="-1"/>'),
    "geom of negative density": mujoco('<joint/><geom size="1" density="-1"/>'),
    "geom of density nan": mujoco('<joint/><geom size="1" density="nan"/>'),
    "sphere between points": mujoco('<joint/><geom size="1" fromto="0 0 0 1 1 1"/>'),
    "geom between equal points": mujoco('<joint/><geom type="capsule" fromto="0 0 0 0 0 0" size="0.1"/>'),
    "geom that weighs more than a planet": mujoco('<joint/><geom type="sphere" size="1e90"/>'),
    "geom with an unknown mesh": mujoco('<joint/><geom type="mesh" mesh="m"/>'),
    "geom without its mesh": mujoco('<joint/><geom type="mesh"/>'),
    "mesh that climbs out and weighs": mujoco(
        '<joint/><geom type="mesh" mesh="m"/>', above='<asset><mesh name="m" file="../../a.stl"/></asset>'
    ),
    "mesh that is a device": mujoco(
        '<joint/><geom type="mesh" mesh="m"/>', above='<asset><mesh name="m" file="/dev/zero"/></asset>'
    ),
    "mesh that is not there": mujoco(
        '<joint/><geom type="mesh" mesh="m"/>', above='<asset><mesh name="m" file="a.stl"/></asset>'
    ),
    "mesh folder that climbs out": mujoco(
        '<joint/><geom type="mesh" mesh="m"/>',
        above='<compiler meshdir="../.."/><asset><mesh name="m" file="a.stl"/></asset>',
    ),
    "mesh of three points": mujoco(
        '<joint/><geom type="mesh" mesh="m"/>', above='<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0"/></asset>'
    ),
    "mesh in a plane": mujoco(
        '<joint/><geom type="mesh" mesh="m"/>',
        above='<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 1 1 0 2 2 0"/></asset>',
    ),
    "mesh with a face of missing points": mujoco(
        '<joint/><geom type="mesh" mesh="m"/>',
        above='<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 9"/></asset>',
    ),
    "two inertials": mujoco(MJ_INERTIAL + MJ_INERTIAL + "<joint/>"),
    "negative mass": mujoco(MJ_INERTIAL.replace('mass="1"', 'mass="-1"') + "<joint/>"),
    "nan mass": mujoco(MJ_INERTIAL.replace('mass="1"', 'mass="nan"') + "<joint/>"),
    "no mass": mujoco('<inertial pos="0 0 0" diaginertia="1 1 1"/><joint/>'),
    "no inertial position": mujoco('<inertial mass="1" diaginertia="1 1 1"/><joint/>'),
    "inertia twice": mujoco('<inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/><joint/>'),
    "full inertia turned": mujoco('<inertial pos="0 0 0" mass="1" quat="1 1 0 0" fullinertia="1 1 1 0 0 0"/><joint/>'),
    "inertia of five": mujoco('<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0"/><joint/>'),
    "zero axis": mujoco(f'{MJ_INERTIAL}<joint axis="0 0 0"/>'),
    "axis of two": mujoco(f'{MJ_INERTIAL}<joint axis="0 1"/>'),
    "reversed range": mujoco(f'{MJ_INERTIAL}<joint range="1 -1"/>'),
    "range of one": mujoco(f'{MJ_INERTIAL}<joint range="1"/>'),
    "limited without range": mujoco(f'{MJ_INERTIAL}<joint limited="true"/>'),
    "range without limited": mujoco(f'{MJ_INERTIAL}<joint range="0 1"/>', above='<compiler autolimits="false"/>'),
    "limited is maybe": mujoco(f'{MJ_INERTIAL}<joint limited="maybe"/>'),
    "negative armature": mujoco(f'{MJ_INERTIAL}<joint armature="-1"/>'),
    "negative damping": mujoco(f'{MJ_INERTIAL}<joint damping="-1"/>'),
    "negative friction": mujoco(f'{MJ_INERTIAL}<joint frictionloss="-1"/>'),
    "negative spring": mujoco(f'{MJ_INERTIAL}<joint stiffness="-5"/>'),
    "spring that is not linear": mujoco(f'{MJ_INERTIAL}<joint stiffness="5 1"/>'),
    "spring of nan": mujoco(f'{MJ_INERTIAL}<joint stiffness="nan"/>'),
    "spring by springdamper": mujoco(f'{MJ_INERTIAL}<joint springdamper="0.1 1"/>'),
    "gravity compensation by some motors": mujoco(
        f'{MJ_INERTIAL}<joint actuatorgravcomp="true"/><body>{MJ_INERTIAL}<joint/></body>', where='gravcomp="1"'
    ),
    "gravity compensation of nan": mujoco(where='gravcomp="nan"'),
    "nan gravity": mujoco(above='<option gravity="0 0 nan"/>'),
    "gravity of two": mujoco(above='<option gravity="0 0"/>'),
    "unknown class": mujoco(f'{MJ_INERTIAL}<joint class="nope"/>'),
    "unknown childclass": mujoco(where='childclass="nope"'),
    "class twice": mujoco(above='<default><default class="a"/><default class="a"/></default>'),
    "class without name": mujoco(above="<default><default/></default>"),
    "main renamed": mujoco(above='<default class="other"/>'),
    "global coordinates": mujoco(above='<compiler coordinate="global"/>'),
    "unknown angle": mujoco(above='<compiler angle="grad"/>'),
    "bad eulerseq": mujoco(above='<compiler eulerseq="xyw"/>'),
    "short eulerseq": mujoco(above='<compiler eulerseq="xy"/>'),
    "negative bound of masses": mujoco(above='<compiler boundmass="-5"/>'),
    "total mass nan": mujoco(above='<compiler settotalmass="nan"/>'),
    "two orientations": mujoco(where='quat="1 0 0 0" euler="0 0 0"'),
    "zero quaternion": mujoco(where='quat="0 0 0 0"'),
    "zero zaxis": mujoco(where='zaxis="0 0 0"'),
    "parallel xyaxes": mujoco(where='xyaxes="1 0 0 2 0 0"'),
    "zero axisangle": mujoco(where='axisangle="0 0 0 1"'),
    "pos of 1e300": mujoco(where='pos="1e300 0 0"'),
    "duplicate bodies": mujoco(f'{MJ_INERTIAL}<joint/><body name="x"/><body name="x"/>'),
    "body named world": mujoco(where='name="world"'),
    "duplicate joints": mujoco(f'{MJ_INERTIAL}<joint name="x"/><joint name="x"/>'),
    "duplicate sites": mujoco(f'{MJ_INERTIAL}<joint/><site name="x"/><site name="x"/>'),
    "control character in a name": mujoco(where='name="a&#10;b"'),
    "attach": mujoco(f'{MJ_INERTIAL}<joint/><attach model="m" prefix="p"/>'),
    "replicate": mujoco(f'{MJ_INERTIAL}<joint/><replicate count="1000000000"><body/></replicate>'),
    "composite": mujoco(f'{MJ_INERTIAL}<joint/><composite count="1000000000"/>'),
    "flexcomp": mujoco(f'{MJ_INERTIAL}<joint/><flexcomp name="f"/>'),
    "plugin": mujoco(f'{MJ_INERTIAL}<joint/><plugin plugin="x"/>'),
    "loop closed by connect": mujoco(f'{MJ_INERTIAL}<joint/></body></worldbody><equality><connect body1="a"/></equality><worldbody><body>'),
    "joints coupled": f'<mujoco><worldbody/><equality><joint joint1="a" joint2="b"/></equality></mujoco>{""}',
    "weld": '<mujoco><worldbody/><equality><weld body1="a"/></equality></mujoco>',
    "tendon spring": '<mujoco><worldbody/><tendon><fixed stiffness="1"/></tendon></mujoco>',
    "unknown actuator": '<mujoco><worldbody/><actuator><warp joint="j"/></actuator></mujoco>',
    "negative motor armature": mujoco('<joint name="j"/>', above='<actuator><motor joint="j" armature="-1"/></actuator>'),
    "million bodies": lambda: "<mujoco><worldbody>" + "<body/>" * 1_000_000 + "</worldbody></mujoco>",
    "5001 nested bodies": lambda: "<mujoco><worldbody>" + "<body>" * 5001 + "</body>" * 5001 + "</worldbody></mujoco>",
    "million nested frames": lambda: "<mujoco><worldbody>" + "<frame>" * 1_000_000,
    "custom text for an unknown joint": '<mujoco><custom><text name="manipula.joint.j" data="velocity 1"/></custom></mujoco>',
    "custom text with an unknown word": '<mujoco><custom><text name="manipula.magic" data="1"/></custom></mujoco>',
    "custom tool that is no rotation": '<mujoco><custom><text name="manipula.tool" data="9 0 0 0 1 0 0 0 1 0 0 0"/></custom></mujoco>',
    "custom base that is none": '<mujoco><custom><text name="manipula.base" data="b"/></custom></mujoco>',
    "custom payload that is none": '<mujoco><custom><text name="manipula.payload" data="b"/></custom></mujoco>',
    "custom order that is none": '<mujoco><custom><text name="manipula.order" data="1 2"/></custom></mujoco>',
}  # fmt: skip
for _value in _BAD_NUMBERS[:16]:
    _MJCF[f"pos holds {_value[:12]!r}"] = mujoco(where=f'pos="0 {_value} 0"')
    _MJCF[f"damping is {_value[:12]!r}"] = mujoco(f'{MJ_INERTIAL}<joint damping="{_value}"/>')


def _bytes(content: str | bytes | Callable[[], str | bytes]) -> Callable[[], bytes]:
    def make() -> bytes:
        raw = content() if callable(content) else content
        return raw.encode() if isinstance(raw, str) else raw

    return make


CASES = [
    *(Case(name, "urdf", _bytes(content)) for name, content in _URDF.items()),
    *(Case(name, "mjcf", _bytes(content)) for name, content in _MJCF.items()),
]
