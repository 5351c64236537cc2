"""Parts as users write them, all with the number 7.25 in them: run by ``tests/honesty/test_edited_code.py`` with other numbers.

Prints one JSON object: for every case what came out.
"""

import functools
import json
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import manipula as mp
from manipula import native
from manipula.algebra import ops
from manipula.control import Controller
from manipula.ik.methods import REGISTRY as METHODS
from manipula.ik.methods import Method
from manipula.motion.timing.base import FunctionProfile, TimeLaw
from manipula.redundancy.null_space import Criterion
from manipula.redundancy.pseudoinverse import pseudoinverse_times
from manipula.robot.drives import Drive
from manipula.robot.friction import FrictionLaw
from manipula.simulation.integrators import ADAPTIVE, FIXED, FixedStep

ONE = mp.planar(lengths=[0.5], masses=[2.0], gravity=(0, 0, 0), name="one")
TWO = mp.planar(lengths=[0.5, 0.4], masses=[2.0, 1.0], gravity=(0, 0, 0), name="two")
THREE = mp.planar(lengths=[0.4, 0.3, 0.2], masses=[1.0, 1.0, 1.0], name="three")
K = 7.25


@dataclass(frozen=True)
class Law(FrictionLaw):
    damping: Any = 0.1
    name: ClassVar[str] = "mine"

    def torque(self, qd, state=(), load=0.0):
        return 7.25 * self.damping * qd


def law_that_holds(k):
    @dataclass(frozen=True)
    class Law(FrictionLaw):
        damping: Any = 0.1

        def torque(self, qd, state=(), load=0.0):
            return k * self.damping * qd

    return Law


FIRST, SECOND = law_that_holds(1.0), law_that_holds(7.25)  # two classes of one name


@dataclass(frozen=True)
class Push(Drive):
    size: Any = 1.0
    name: ClassVar[str] = "push"

    def torque(self, command, t, q, qd, state, rotor):
        return command + 7.25 * self.size


@dataclass(frozen=True)
class Hold(Controller):
    gain: Any = 1.0
    name: ClassVar[str] = "hold"
    space: ClassVar[str] = "none"

    def torque(self, arm, t, q, qd, target, state):
        return -7.25 * self.gain * q


@dataclass(frozen=True)
class Curl(Criterion):
    gain: Any = 0.1
    name: ClassVar[str] = "curl"

    def cost(self, arm, q):
        return 0.5 * 7.25 * q[2] * q[2]


@dataclass(frozen=True)
class Ramp(TimeLaw):
    kind: ClassVar[str] = "ramp"

    def profile(self, length):
        return FunctionProfile(lambda t: length * (t / 0.05) ** 7.25, 0.05)


class Euler(FixedStep):
    name: ClassVar[str] = "mine"
    order: ClassVar[int] = 1

    def step(self, f, t, x, h, n):
        return x + 7.25 * h * f(t, x)


class Timid(Method):
    name: ClassVar[str] = "timid"

    def step(self, e, J):
        return pseudoinverse_times(J, e, 1e-2 * 7.25)


def by_global(t, q, qd, target):
    return -K * q


def by_default(t, q, qd, target, k=7.25):
    return -k * q


def with_gain(t, q, qd, target, k):
    return -k * q


def enclosing(k):
    return lambda t, q, qd, target: -k * q


LINE = (lambda t, q, qd, target: -1.0 * q, lambda t, q, qd, target: -7.25 * q)  # two lambdas on one line


def moved(robot=ONE, **parts):
    n = robot.n
    common = {"q0": [0.3] * n, "qd0": [0.5] * n, "duration": 0.01, "integrator": "rk4", "verify": False}
    return mp.simulate(mp.Scenario(robot=robot, **{**common, **parts})).q[-1].tolist()


def controlled(function):
    return moved(controller=mp.control.UserFunction(function))


def programmed(constraints, integrator="rk4", **parts):
    motion = mp.programmed_motion(TWO, constraints, independent=[1], **parts)
    return motion.run([0.4, 0.7], None, 0.01, 1e-3, integrator=integrator).q[-1].tolist()


def path():
    curve = mp.paths.formula(lambda u: [0.5 + 0.05 * ops.cos(7.25 * u), 0.05 * ops.sin(u)], [0.0, 1.0])
    law = mp.timing.quintic(0.05)
    return mp.trajectory(curve, law)


def timed():
    return mp.trajectory(mp.paths.line([0.5, 0.1, 0.0], [0.55, 0.1, 0.0]), Ramp())


def kinematic(reference, **parts):
    parts = {"reference": reference, "kind": "kinematic", "gain": 5.0, "duration": 0.01, "verify": False, **parts}
    return mp.simulate(mp.Scenario(robot=THREE, q0=[0.4, 0.5, 0.6], integrator="rk4", **parts)).q[-1].tolist()


FIXED["mine"] = Euler()
METHODS["timid"] = Timid()
HELD = mp.trajectory(mp.paths.line([0.5, 0.1, 0.0], [0.55, 0.1, 0.0]), mp.timing.quintic(0.05))
WANTED = mp.compile(TWO).position(np.array([0.4, 0.9]))

CASES = {
    "friction law": lambda: moved(friction=(Law(),)),
    "friction law of the robot": lambda: moved(with_parts(ONE, friction=Law())),
    "second class of a name": lambda: moved(friction=(SECOND(),)),
    "drive": lambda: moved(drives=(Push(),), controller=mp.control.PD(1.0, 1.0, goal=[0.0])),
    "controller": lambda: moved(controller=Hold()),
    "global": lambda: controlled(by_global),
    "default argument": lambda: controlled(by_default),
    "partial": lambda: controlled(functools.partial(with_gain, k=7.25)),
    "closure": lambda: controlled(enclosing(7.25)),
    "lambda": lambda: controlled(LINE[1]),
    "integrator": lambda: moved(integrator="mine"),
    "criterion": lambda: kinematic(HELD, criteria=(Curl(),)),
    "path": lambda: kinematic(path()),
    "time law": lambda: kinematic(timed()),
    "constraint": lambda: programmed([lambda v: v["x"] + 0.01 * 7.25 * v["y"] - 0.7]),
    "friction law in a program": lambda: programmed(["q1 + q2 = 1.1 + t^2"], friction=(Law(), None)),
    "drive in a program": lambda: programmed(["q1 + q2 = 1.1 + t^2"], drives={0: Push()}),
    "torque in a program": lambda: programmed(["q1 + q2 = 1.1 + t^2"], drives={0: lambda t: 7.25 + t}),
    "partial in a program": lambda: programmed(
        ["q1 + q2 = 1.1 + t^2"], drives={0: functools.partial(ops.maximum, 7.25)}
    ),
    "integrator in a program": lambda: programmed(["q1 + q2 = 1.1"], "mine", drives={0: 2.0}),
    "inverse kinematics": lambda: mp.solve_ik(TWO, WANTED, method="timid", q0=[0.2, 0.5], max_iterations=2).q.tolist(),
    "compiled function": lambda: native.compile_function(lambda x: 7.25 * ops.sin(x), {"x": (2,)})(np.ones(2)).tolist(),
}


def with_parts(robot, **parts):
    from dataclasses import replace

    return replace(robot, joints=tuple(replace(j, **parts) for j in robot.joints))


if __name__ == "__main__":
    assert "mine" not in ADAPTIVE
    print(json.dumps({name: case() for name, case in list(CASES.items())[:: int(sys.argv[1])]}))
