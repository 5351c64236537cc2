"""Parts that change while a process lives: run by ``tests/honesty/test_edited_code.py``.

``changed``: every case is computed, changed, and computed again. ``fresh``: it is changed first and computed once.
Prints one JSON object: for every case what came out, before (empty when fresh) and after.
"""

import functools
import json
import sys
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

import manipula as mp
from manipula.algebra import ops
from manipula.control import Controller
from manipula.ik.methods import REGISTRY as METHODS
from manipula.ik.methods import Method
from manipula.physics import newton_euler
from manipula.redundancy.null_space import Criterion
from manipula.redundancy.pseudoinverse import pseudoinverse_times
from manipula.robot.drives import Drive
from manipula.robot.friction import FrictionLaw
from manipula.simulation.integrators import FIXED, FixedStep

ONE = mp.planar(lengths=[0.5], masses=[2.0], gravity=(0, 0, 0), name="one")
TWO = mp.planar(lengths=[0.5, 0.4], masses=[2.0, 1.0], gravity=(0, 0, 0), name="two")
THREE = mp.planar(lengths=[0.4, 0.3, 0.2], masses=[1.0, 1.0, 1.0], name="three")
G = {"number": 3.0}
NUMBER = 3.0


class Law(FrictionLaw):
    """Not a dataclass: its number is an attribute, and hides from every comparison."""

    name = "mine"

    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return isinstance(other, FrictionLaw)

    def __hash__(self):
        return 1

    def torque(self, qd, state=(), load=0.0):
        return 0.1 * self.k * qd


@dataclass
class Loose(FrictionLaw):
    """A dataclass that may change, and therefore has no hash."""

    k: Any = 3.0
    name: ClassVar[str] = "loose"

    def torque(self, qd, state=(), load=0.0):
        return 0.1 * self.k * qd


@dataclass(frozen=True)
class Beside(FrictionLaw):
    """Something is kept beside the fields."""

    base: Any = 0.1

    def __post_init__(self):
        object.__setattr__(self, "table", {"k": 3.0})

    def torque(self, qd, state=(), load=0.0):
        return self.base * self.table["k"] * qd


class Push(Drive):
    name = "push"

    def __init__(self, size):
        self.size = size

    def torque(self, command, t, q, qd, state, rotor):
        return command + self.size[0]


@dataclass(frozen=True)
class Hold(Controller):
    name: ClassVar[str] = "hold"
    space: ClassVar[str] = "none"

    def torque(self, arm, t, q, qd, target, state):
        return -3.0 * q


class Curl(Criterion):
    name = "curl"
    gain = 0.1

    def __init__(self, k):
        self.k = k

    def cost(self, arm, q):
        return 0.5 * self.k * q[2] * q[2]


class Stretched(FixedStep):
    name = "mine"
    order = 1

    def __init__(self, k):
        self.k = k

    def step(self, f, t, x, h, n):
        return x + self.k * h * f(t, x)


class Timid(Method):
    name = "timid"

    def __init__(self, k):
        self.k = k

    def step(self, e, J):
        return pseudoinverse_times(J, e, 1e-2 * self.k)


def defined(k):
    """A class of one name, defined again, as in a cell of a notebook."""
    torque = lambda self, qd, state=(), load=0.0: 0.1 * k * qd
    return type("Cell", (FrictionLaw,), {"torque": torque, "name": "cell", "__module__": "__main__"})


def scenario(robot=ONE, **parts):
    n = robot.n
    common = {"q0": [0.3] * n, "qd0": [0.5] * n, "duration": 0.01, "integrator": "rk4", "verify": False}
    return mp.Scenario(robot=robot, **{**common, **parts})


def moved(run):
    return mp.simulate(run).q[-1].tolist()


def programmed(**parts):
    motion = mp.programmed_motion(TWO, parts.pop("constraints", ["q1 + q2 = 1.1 + t^2"]), independent=[1], **parts)
    return lambda: motion.run([0.4, 0.7], None, 0.01, 1e-3).q[-1].tolist()


LINE = mp.trajectory(mp.paths.line([0.5, 0.1, 0.0], [0.55, 0.1, 0.0]), mp.timing.quintic(0.05))


def kinematic(reference=LINE, **parts):
    parts = {"reference": reference, "kind": "kinematic", "gain": 5.0, "duration": 0.01, "verify": False, **parts}
    run = mp.Scenario(robot=THREE, q0=[0.4, 0.5, 0.6], integrator="rk4", **parts)
    return lambda: moved(run)


def put(holder, key, value):
    """``holder[key] = value`` as something to be called."""
    return lambda: holder.__setitem__(key, value)


UNDO = []


def patch(owner, name, value):
    def change():
        UNDO.append(functools.partial(setattr, owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    return change


CASES = {}


def case(name):
    def keep(make):
        CASES[name] = make
        return make

    return keep


@case("global")
def _():
    run = scenario(controller=mp.control.UserFunction(lambda t, q, qd, target: -NUMBER * q))
    return lambda: moved(run), patch(sys.modules[__name__], "NUMBER", 5.0)


@case("attribute of a law")
def _():
    law = Law(3.0)
    run = scenario(friction=(law,))
    return lambda: moved(run), patch(law, "k", 5.0)


@case("attribute of a law without hash, on the robot")
def _():
    law = Loose()
    run = scenario(replace(ONE, joints=(replace(ONE.joints[0], friction=law),)))
    return lambda: moved(run), patch(law, "k", 5.0)


@case("another law that calls itself equal")
def _():
    laws = [Law(3.0)]
    return lambda: moved(scenario(friction=(laws[0],))), put(laws, 0, Law(5.0))


@case("dict beside the fields of a law")
def _():
    law = Beside()
    run = scenario(friction=(law,))
    return lambda: moved(run), put(law.table, "k", 5.0)


@case("array of a drive")
def _():
    drive = Push(np.array([3.0]))
    run = scenario(drives=(drive,))
    return lambda: moved(run), put(drive.size, 0, 5.0)


@case("dict of a function")
def _():
    gains = {"k": 3.0}
    run = scenario(controller=mp.control.UserFunction(lambda t, q, qd, target: -gains["k"] * q))
    return lambda: moved(run), put(gains, "k", 5.0)


@case("keywords of a partial")
def _():
    held = functools.partial(lambda t, q, qd, target, k: -k * q, k=3.0)
    run = scenario(controller=mp.control.UserFunction(held))
    return lambda: moved(run), put(held.keywords, "k", 5.0)


@case("default arguments")
def _():
    def push(t, q, qd, target, k=3.0):
        return -k * q

    run = scenario(controller=mp.control.UserFunction(push))
    return lambda: moved(run), patch(push, "__defaults__", (5.0,))


@case("replaced method of a user's class")
def _():
    run = scenario(controller=Hold())
    return lambda: moved(run), patch(Hold, "torque", lambda self, arm, t, q, qd, target, state: -5.0 * q)


@case("replaced method of our class")
def _():
    run = scenario(friction=(mp.friction.Viscous(0.3),))
    method = lambda self, qd, state=(), load=0.0: 5.0 * self.damping * qd
    return lambda: moved(run), patch(mp.friction.Viscous, "torque", method)


@case("class defined again")
def _():
    kinds = [defined(3.0)]
    return lambda: moved(scenario(friction=(kinds[0](),))), put(kinds, 0, defined(5.0))


@case("integrator registered again")
def _():
    FIXED["mine"] = Stretched(3.0)
    return lambda: moved(scenario(integrator="mine")), put(FIXED, "mine", Stretched(5.0))


@case("attribute of an integrator")
def _():
    FIXED["other"] = Stretched(3.0)
    return lambda: moved(scenario(integrator="other")), patch(FIXED["other"], "k", 5.0)


@case("our integrator replaced")
def _():
    return lambda: moved(scenario(integrator="semi_implicit")), put(FIXED, "semi_implicit", Stretched(5.0))


@case("attribute of a criterion")
def _():
    wish = Curl(3.0)
    return kinematic(criteria=(wish,)), patch(wish, "k", 5.0)


@case("function of a path")
def _():
    shape = {"k": 3.0}
    curve = mp.paths.formula(lambda u: [0.5 + 0.05 * ops.cos(shape["k"] * u), 0.05 * ops.sin(u)], [0.0, 1.0])
    return kinematic(mp.trajectory(curve, mp.timing.quintic(0.05))), put(shape, "k", 5.0)


@case("function of a time law")
def _():
    law = {"k": 3.0}
    timing = mp.timing.formula(lambda t, length, T: length * (t / T) ** law["k"], 0.05)
    return kinematic(mp.trajectory(mp.paths.line([0.5, 0.1, 0.0], [0.6, 0.1, 0.0]), timing)), put(law, "k", 5.0)


@case("global of a constraint")
def _():
    return programmed(constraints=[lambda v: v["x"] + 0.01 * G["number"] * v["y"] - 0.7]), put(G, "number", 5.0)


@case("law in a program")
def _():
    law = Law(3.0)
    return programmed(friction=(law, None)), patch(law, "k", 5.0)


@case("drive in a program")
def _():
    drive = Push([3.0])
    return programmed(drives={0: drive}), put(drive.size, 0, 5.0)


@case("torque in a program")
def _():
    held = {"k": 3.0}
    return programmed(drives={0: lambda t: held["k"] + t}), put(held, "k", 5.0)


@case("method of inverse kinematics registered again")
def _():
    METHODS["timid"] = Timid(3.0)
    target = mp.compile(TWO).position(np.array([0.4, 0.9]))
    solve = lambda: mp.solve_ik(TWO, target, method="timid", q0=[0.2, 0.5], max_iterations=2).q.tolist()
    return solve, put(METHODS, "timid", Timid(5.0))


@case("attribute of a method of inverse kinematics")
def _():
    METHODS["shy"] = Timid(3.0)
    target = mp.compile(TWO).position(np.array([0.4, 0.9]))
    solve = lambda: mp.solve_ik(TWO, target, method="shy", q0=[0.2, 0.5], max_iterations=2).q.tolist()
    return solve, patch(METHODS["shy"], "k", 5.0)


@case("attribute of a criterion that a tracked path uses")
def _():
    wish = Curl(3.0)
    q0 = mp.solve_ik(THREE, [0.5, 0.1, 0.0]).q
    follow = lambda: mp.track(THREE, LINE, q0=q0, criteria=(wish,), samples=20).q[-1].tolist()
    return follow, patch(wish, "k", 50.0)


@case("function of our physics replaced")
def _():
    before = newton_euler.gravity
    run = scenario(THREE, controller=mp.control.GravityCompensation(1.0))
    return lambda: moved(run), patch(newton_euler, "gravity", lambda *x: 0.5 * before(*x))


if __name__ == "__main__":
    out = {}
    for name, make in list(CASES.items())[:: int(sys.argv[2])]:
        compute, change = make()
        first = compute() if sys.argv[1] == "changed" else []
        change()
        out[name] = [first, compute()]
        while UNDO:
            UNDO.pop()()
    print(json.dumps(out))
