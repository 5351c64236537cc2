"""Valid texts that the fuzzer starts from, and the words that it strews into them."""

from __future__ import annotations

PLANAR = (
    "[planar]\nlengths = [0.4, 0.3]\nmasses = [2.0, 1.5]\ndamping = 0.1\nlimits = [{ position_deg = [-90, 90] }, {}]\n"
)

TREE = """name = "fork"
free = ["m2", "a", "phi"]
gravity = [0, 0, -9.81]
tip = "hand"
[parameters]
m = 2.0
l = "0.2*m"
[base]
xyz = [0, 0, 0.5]
rpy_deg = [0, 30, 90]
[tool]
xyz = [0, 0, 0.1]
[payload]
mass = 1.5
[[link]]
name = "base"
[[link]]
name = "arm"
mass = "m"
com = [0.1, 0, "l/2"]
inertia = [0.01, 0.02, 0.02, 0, 0, 0]
[[link]]
name = "hand"
mass = "m2"
com = ["-a/2", 0, 0]
inertia = ["m2*a^2/3", 0.001, 0.001]
inertia_about = "origin"
[[joint]]
name = "shoulder"
type = "revolute"
parent = "base"
child = "arm"
origin = { xyz = [0, 0, 0.3], rpy_deg = [0, 90, 0] }
axis = [0, 0, 1]
limits = { position_deg = [-90, 90], velocity_deg = 120, effort = 40 }
rotor_inertia = 2e-4
gear_ratio = 100
friction = { law = "coulomb", level = 0.2, width = 1e-3, damping = 0.1 }
[[joint]]
name = "slide"
type = "prismatic"
parent = "arm"
child = "hand"
origin = { xyz = ["l", 0, 0], rpy = [0, "phi", 0] }
link_frame = { xyz = [0.1, 0, 0] }
drive = { drive = "flexible", stiffness = 1e4, damping = 1, motor = "sin(t)" }
[[frame]]
name = "camera"
link = "arm"
rotation = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
"""

DH = """name = "rrp"
gravity = [0, "-gc", 0]
notes = ["a", "b"]
[dh]
convention = "standard"
[[dh.rows]]
a = "a1"
mass = "m1"
com = ["-a1/2", 0, 0]
inertia = [0, "m1*a1^2/12", "m1*a1^2/12"]
[[dh.rows]]
alpha_deg = 90
name = "elbow"
friction = { law = "viscous", damping = 0.2 }
[[dh.rows]]
joint = "prismatic"
limits = { position = [0, 0.2] }
[[dh.frame]]
name = "camera"
row = 1
xyz = [0, 0, 0.1]
"""

TOML_WORDS = (
    "name", "tip", "base", "tool", "payload", "mass", "com", "inertia", "inertia_about", "rpy", "rpy_deg", "rotation", "quaternion_wxyz", "matrix",
    "xyz", "alpha", "alpha_deg", "theta", "limits", "position", "lower", "friction", "drive", "law", "joint", "fixed", "prismatic", "link", "frame",
    "parent", "child", "axis", "[[link]]", "[[joint]]", "[dh]", "[planar]", "[parameters]", "gear_ratio", "described", "row", "gravity", "notes", "\n",
    '"origin"', '"modified"', '"stribeck"', '"lugre"', "link_frame", "motor", "format", "load",
)  # fmt: skip

XML_WORDS = (
    "name", "link", "joint", "inertial", "mass", "origin", "axis", "limit", "parent", "child", "body", "site", "geom", "default", "class", "childclass",
    "compiler", "angle", "degree", "radian", "ref", "range", "pos", "quat", "euler", "axisangle", "xyaxes", "zaxis", "fullinertia", "diaginertia",
    "frictionloss", "armature", "damping", "stiffness", "hinge", "slide", "ball", "free", "revolute", "continuous", "prismatic", "fixed", "floating",
    "mimic", "manipula", "frame", "tip", "base", "tool", "payload", "unlimited", "text", "custom", "mesh", "world", "rpy", "xyz", "value", "data",
    "order", "limited", "include", "file", "worldbody", "actuator", "motor", "gear", "option", "gravity", "fromto", "dynamics", "transmission",
)  # fmt: skip

MJCF = """<mujoco model="hand"><compiler angle="degree"/><default><joint damping="0.1"/><default class="big"><joint armature="1"/></default></default>
<worldbody><body name="wrist" pos="0 0 1" euler="0 30 0"><inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/>
<joint name="u" type="hinge" axis="1 0 0" range="-90 90"/><joint name="v" axis="0 1 0" pos="0 0 0.1"/><joint name="s" type="slide" class="big" ref="0.1"/>
<site name="tip" pos="0 0 0.2" quat="1 0 0 1"/><body name="tool" pos="0 0 0.2"><inertial pos="0 0 0" mass="0.1" fullinertia="1 1 1 0.1 0 0"/></body>
</body></worldbody><actuator><motor joint="u" gear="50" ctrlrange="-1 1"/></actuator></mujoco>"""

TABLE = """a1,0,0,th1,m1,[0 0 0; 0 m1*a1^2/12 0; 0 0 m1*a1^2/12],[-a1/2; 0; 0; 1],th1,th1d,th1dd,1,[0; -gc; 0],2
a2,0,0,th2 + pi/2,m2,[0 0 0; 0 1.5 0; 0 0 0.1],[-a2/2; 0; 0; 1],th2,th2d,th2dd,1,0,0
"""

CSV = "x,y,z\n0,0,0.1\n1.0,0.5,0\n2,-0.3,1e-3\n3,0,0\n"

SVG = "M 10 10 C 20 20 40 20 50 10 S 80 0 90 10 Q 100 30 120 10 T 150 10 A 50 30 15 0 1 100 100 V 40 h 10 L 10 40 Z"

FULL = """robot = "planar-2r"
q0_deg = [10, 20]
duration = 2.0
step = 1e-3
[constants]
r = 0.2
k = "2*r"
[reference.path]
kind = "joint"
points = [[0.2, 0.3], [1.0, "k"]]
[reference.timing]
kind = "quintic"
duration = 1.5
[controller]
law = "computed_torque"
kp = 100
kv = [20, 20]
[drives]
joint2 = { drive = "rigid", torque_limit = 50 }
[noise]
position = 1e-4
seed = 7
[actuator]
limit = [80, 40]
delay = 2e-3
[[disturbances]]
kind = "wrench"
wrench = [0, "5*sin(t)", 0, 0, 0, 0]
frame = "tip"
start = 0.5
stop = 1.0
[[disturbances]]
kind = "payload"
time = 1.2
mass = 0.5
[limits]
velocity = 2.0
tip = { velocity = 1.5 }
"""

SCENARIO_WORDS = (
    "robot", "kind", "reference", "path", "timing", "controller", "friction", "drives", "noise", "actuator", "limits", "criteria", "model", "vary",
    "parameters", "torques", "constants", "from_csv", "from_svg", "source", '"points.csv"', '"arm.toml"', '"/etc/passwd"', '"../x.csv"', '"pipe.csv"',
    "dynamic", "kinematic", "inverse_dynamics", "playback", "free", "programmed", "formula", "joint_move", "table", "line", "circle", "spline", "polyline",
    "trapezoid", "double_s", "cycloid", "pd", "impedance", "lqr", "user", "rodas", "project", "elbow", "seed", "q0_deg", "qd0", "gain", "start", "level",
    "constraints", "independent", "stabilisation", "baumgarte", "projection", "multipliers", "drives", "stop_at_limits", "load", "\n", "[program]",
)  # fmt: skip
