"""Runs that are easy to get silently wrong, each with an answer from elsewhere.

An answer is a closed form (elliptic functions, exponentials) or an integration that shares nothing with ours: Pinocchio's
articulated-body algorithm inside SciPy's DOP853 or Radau at tolerance 1e-13, with friction and control written out again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np
from scipy.integrate import solve_ivp

import manipula as mp
from oracles import Judge


@dataclass(frozen=True)
class Problem:
    """A scenario and the final q that is true, (n,) or (N, n); NaN where there is none.

    ``solvable``: the run has to be right, an honest failure is not enough.
    """

    name: str
    scenario: Callable[[], mp.Scenario]
    answer: Callable[[], np.ndarray]
    solvable: bool = True


def integrated(robot: mp.Robot, q0: Any, qd0: Any, end: float, torque: Callable[[float, np.ndarray, np.ndarray], np.ndarray],
               method: str = "DOP853", breaks: tuple[float, ...] = ()) -> np.ndarray:  # fmt: skip
    """Final q by Pinocchio and SciPy."""
    judge, n = Judge(robot), robot.n

    def f(t: float, x: np.ndarray) -> np.ndarray:
        q, qd = x[:n], x[n:]
        return np.concatenate([qd, judge.forward_dynamics(q, qd, torque(t, q, qd))])

    x = np.concatenate([np.asarray(q0, float), np.asarray(qd0, float)])
    edges = [0.0, *breaks, end]
    for a, b in zip(edges, edges[1:]):
        x = solve_ivp(f, (a, b), x, method=method, rtol=1e-13 if method == "DOP853" else 1e-11, atol=1e-13).y[:, -1]
    return x[:n]


def free(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    return np.zeros_like(q)


def pendulum(length: float = 1.0, **options: Any) -> mp.Robot:
    """A uniform rod; its angle is measured from the horizontal, so it hangs at -90°."""
    return mp.planar([length], [1.0], **options)


def swing(q0: float, t: float, length: float = 1.0) -> np.ndarray:
    r"""Exact q(t) of the rod released at rest at q0, in 40 digits.

    :math:`\sin(\theta/2) = k\,\mathrm{sn}(K(k) - \omega t)` with θ from the hanging position and :math:`\omega^2 = 3g/2l`.
    """
    with mpmath.workdps(40):
        k = mpmath.sin((mpmath.mpf(q0) + mpmath.pi / 2) / 2)
        omega = mpmath.sqrt(mpmath.mpf(1.5) * mpmath.mpf(9.81) / length)
        sn = mpmath.ellipfun("sn", mpmath.ellipk(k * k) - omega * t, k=k)
        return np.array([float(2 * mpmath.asin(k * sn) - mpmath.pi / 2)])


def chain(n: int, masses: Any = None) -> mp.Robot:
    return mp.planar([0.3] * n, [1.0] * n if masses is None else masses)


def pd(kp: float, kv: float, goal: Any) -> Callable[[float, np.ndarray, np.ndarray], np.ndarray]:
    return lambda t, q, qd: kp * (np.asarray(goal) - q) - kv * qd


def slider(mass: float = 2.0) -> mp.Robot:
    return mp.from_dh([{"joint": "prismatic", "mass": mass}], "standard", name="slider")


def scalar(
    f: Callable[[float, float, float], float], q: float, v: float, end: float, breaks: Any = (), method: str = "DOP853"
) -> np.ndarray:
    """Final q of q̈ = f(t, q, q̇), integrated from break to break by SciPy."""
    x = np.array([q, v])
    edges = [0.0, *(b for b in breaks if 0.0 < b < end), end]
    for a, b in zip(edges, edges[1:]):
        inside = lambda t, a=a, b=b: min(max(t, a + 1e-15), b - 1e-15)
        go = lambda t, x, inside=inside: [x[1], f(inside(t), x[0], x[1])]
        x = solve_ivp(go, (a, b), x, method=method, rtol=1e-13 if method == "DOP853" else 1e-11, atol=1e-14).y[:, -1]
    return x[:1]


def pushed(torque: Callable[[float], float], end: float, points: Any = ()) -> np.ndarray:
    r"""Final angle of a body of 1 kg·m² at rest under τ(t): :math:`\int_0^T (T - s)\,\tau(s)\,ds`, in 30 digits."""
    with mpmath.workdps(30):
        edges = sorted({0.0, *points, end})
        return np.array([float(mpmath.quad(lambda s: (end - s) * torque(s), edges))])  # pyright: ignore[reportArgumentType]


DOUBLE = ([0.3, 0.2], [0.0, 0.0])
S = mp.Scenario
SOLVABLE = {
    "small swing", "wide swing", "almost upright", "long run", "five links falling", "fast spin", "free fall", "viscous slowing",
    "stiff damping, implicit", "stiff gains, implicit", "dry friction", "push that begins between two steps",
    "light last link", "feather at the tip", "sharp dry friction", "stiff spring to the motor", "stiff gains, explicit",
}  # fmt: skip

FIRST = [
    Problem("small swing", lambda: S(robot=pendulum(), q0=[-np.pi / 2 + 0.1], duration=10.0), lambda: swing(-np.pi / 2 + 0.1, 10.0)),
    Problem("wide swing", lambda: S(robot=pendulum(), q0=[0.0], duration=10.0), lambda: swing(0.0, 10.0)),
    Problem("almost upright", lambda: S(robot=pendulum(), q0=[np.pi / 2 - 1e-6], duration=8.0), lambda: swing(np.pi / 2 - 1e-6, 8.0)),
    Problem("almost upright, hair's breadth", lambda: S(robot=pendulum(), q0=[np.pi / 2 - 1e-11], duration=12.0), lambda: swing(np.pi / 2 - 1e-11, 12.0)),
    Problem("coarse step", lambda: S(robot=pendulum(), q0=[0.0], duration=10.0, step=0.1, integrator="rk4"), lambda: swing(0.0, 10.0)),
    Problem("much too coarse step", lambda: S(robot=pendulum(0.05), q0=[0.0], duration=5.0, step=0.25, integrator="rk4"),
            lambda: swing(0.0, 5.0, 0.05)),
    Problem("semi-implicit Euler", lambda: S(robot=pendulum(), q0=[0.0], duration=5.0, integrator="semi_implicit"), lambda: swing(0.0, 5.0)),
    Problem("long run", lambda: S(robot=pendulum(), q0=[-1.0], duration=200.0, sample=1.0), lambda: swing(-1.0, 200.0)),
    Problem("chaos, 10 s", lambda: S(robot=chain(2), q0=DOUBLE[0], duration=10.0, sample=0.1),
            lambda: integrated(chain(2), *DOUBLE, 10.0, free)),
    Problem("chaos, fixed step", lambda: S(robot=chain(2), q0=DOUBLE[0], duration=10.0, integrator="rk4", step=2e-3, sample=0.1),
            lambda: integrated(chain(2), *DOUBLE, 10.0, free)),
    Problem("chaos, 40 s", lambda: S(robot=chain(2), q0=[1.5, 0.1], duration=40.0, sample=0.1),
            lambda: integrated(chain(2), [1.5, 0.1], [0.0, 0.0], 40.0, free)),
    Problem("five links falling", lambda: S(robot=chain(5), q0=[0.5] * 5, duration=1.0, sample=0.1),
            lambda: integrated(chain(5), [0.5] * 5, [0.0] * 5, 1.0, free)),
    Problem("fast spin", lambda: S(robot=mp.planar([1.0], [1.0], gravity=(0, 0, 0)), q0=[0.0], qd0=[1e4], duration=1.0),
            lambda: np.array([1e4])),
    Problem("free fall", lambda: S(robot=slider(), q0=[0.0], duration=3.0), lambda: np.array([-0.5 * 9.81 * 9.0])),
    Problem("viscous slowing", lambda: S(robot=mp.planar([1.0], [3.0], damping=50.0, gravity=(0, 0, 0)), q0=[0.0], qd0=[1.0], duration=1.0),
            lambda: np.array([(1 - np.exp(-50.0)) / 50.0])),
    Problem("stiff damping, explicit", lambda: S(robot=mp.planar([1.0], [3.0], damping=1e5, gravity=(0, 0, 0)), q0=[0.0], qd0=[1.0], duration=1.0,
                                                 integrator="rk4"), lambda: np.array([1e-5])),
    Problem("stiff damping, implicit", lambda: S(robot=mp.planar([1.0], [3.0], damping=1e5, gravity=(0, 0, 0)), q0=[0.0], qd0=[1.0], duration=1.0,
                                                 integrator="rodas"), lambda: np.array([1e-5])),
    Problem("stiff gains, explicit", lambda: S(robot=chain(2), q0=[0.1, 0.1], controller=mp.control.PD(1e6, 100.0, goal=[0.0, 0.0]), duration=0.02),
            lambda: integrated(chain(2), [0.1, 0.1], [0.0, 0.0], 0.02, pd(1e6, 100.0, [0.0, 0.0]), "Radau")),
    Problem("stiff gains, implicit", lambda: S(robot=chain(2), q0=[0.1, 0.1], controller=mp.control.PD(1e4, 2e3, goal=[0.0, 0.0]), duration=1.0,
                                               integrator="rodas"),
            lambda: integrated(chain(2), [0.1, 0.1], [0.0, 0.0], 1.0, pd(1e4, 2e3, [0.0, 0.0]), "Radau")),
    Problem("light last link", lambda: S(robot=chain(2, [1.0, 1e-9]), q0=[0.3, 0.2], duration=2.0, sample=0.1),
            lambda: integrated(chain(2, [1.0, 1e-9]), *DOUBLE, 2.0, free)),
    Problem("feather at the tip", lambda: S(robot=chain(2, [1e6, 1e-10]), q0=[0.3, 0.2], duration=2.0, sample=0.1),
            lambda: integrated(chain(2, [1e6, 1e-10]), *DOUBLE, 2.0, free)),
    Problem("massless last link", lambda: S(robot=chain(2, [1.0, 0.0]), q0=[0.3, 0.2], duration=1.0, sample=0.1), lambda: np.full(2, np.nan)),
    Problem("sharp dry friction", lambda: S(robot=mp.planar([1.0], [3.0], gravity=(0, 0, 0)), q0=[0.0], qd0=[1.0], duration=1.0,
                                            friction=(mp.friction.Coulomb(2.0, 1e-9),)), lambda: np.array([0.25])),
    Problem("dry friction", lambda: S(robot=mp.planar([1.0], [3.0], gravity=(0, 0, 0)), q0=[0.0], qd0=[1.0], duration=1.0,
                                      friction=(mp.friction.Coulomb(2.0, 1e-2),)),
            lambda: integrated(mp.planar([1.0], [3.0], gravity=(0, 0, 0)), [0.0], [1.0], 1.0, lambda t, q, qd: -2.0 * np.tanh(qd / 1e-2), "Radau")),
    Problem("push that begins between two steps", lambda: S(robot=slider(), q0=[0.0], duration=1.0, integrator="rk4",
                                                            disturbances=(mp.Wrench((0, 0, 40.0, 0, 0, 0), start=0.33333, stop=0.66666),)),
            lambda: integrated(slider(), [0.0], [0.0], 1.0, lambda t, q, qd: np.array([40.0 * (0.33333 <= t <= 0.66666)]), breaks=(0.33333, 0.66666))),
    Problem("stiff spring to the motor", lambda: S(robot=mp.planar([1.0], [3.0], gravity=(0, 0, 0)), q0=[1e-3], duration=1.0,
                                                   drives=(mp.drives.Flexible(1e8, 0.0, motor="0"),)), lambda: np.array([1e-3 * np.cos(1e4)])),
    Problem("positive feedback", lambda: S(robot=chain(2), q0=[0.1, 0.1], duration=5.0,
                                           controller=mp.control.UserFunction(lambda t, q, qd, target: 500.0 * q + 50.0 * qd)),
            lambda: np.full(2, np.nan)),
    Problem("tip held beyond reach", lambda: S(robot=chain(3), q0=[0.2, 0.2, 0.2], duration=2.0,
                                               reference=mp.trajectory(mp.paths.line([0.8, 0.3, 0], [1.2, 0.3, 0]), mp.timing.quintic(1.0)),
                                               controller=mp.control.TaskSpaceComputedTorque(100.0, 20.0)), lambda: np.full(3, np.nan)),
]  # fmt: skip
CLASSIC = [replace(problem, solvable=problem.name in SOLVABLE) for problem in FIRST]
