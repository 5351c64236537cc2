"""Hard problems whose inputs are short, fast or broken: pulses, bumps, square waves, tables, corners, payloads, delays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
import numpy as np
from hard_problems import Problem, S, pushed, scalar

import manipula as mp
from manipula.algebra import ops

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis
SWING = mp.planar([1.0], [3.0])  # the same under gravity: q̈ = −14.715 cos q
METHODS = ("auto", "rk4", "midpoint", "dopri5", "dop853", "rodas")


def run(**options: Any) -> mp.Scenario:
    return S(robot=ROD, q0=[0.0], duration=1.0, sample=0.25, **options)


def moment(value: Any, start: float = 0.0, stop: float = float("inf")) -> mp.Wrench:
    return mp.Wrench((0, 0, 0, 0, 0, value), start=start, stop=stop)


def pulses() -> list[Problem]:
    """Constant moments over an interval, at places where no step ends."""
    places = {
        "of 1 ms": (1500.0, 0.5, 0.501), "of 10 µs": (1e5, 0.300013, 0.300023), "at the start": (900.0, 0.0, 0.0007),
        "at the very end": (5e4, 0.9994, 1.0), "across ten steps": (40.0, 0.12345, 0.13456),
    }  # fmt: skip
    found = []
    for what, (size, a, b) in places.items():
        truth = np.array([size * (b - a) * (1.0 - (a + b) / 2)])
        for method in METHODS if what == "of 1 ms" else ("auto", "rk4", "rodas"):
            found.append(
                Problem(
                    f"pulse {what}, {method}",
                    lambda m=method, w=(size, a, b): run(integrator=m, disturbances=(moment(*w),)),
                    lambda q=truth: q,
                )
            )
    return found


FORMULAS: dict[str, tuple[str, Callable[[Any], Any], tuple[float, ...]]] = {
    "narrow bump": ("3000*exp(-((t - 0.4567)/0.0002)^2)", lambda t: 3000 * mpmath.exp(-(((t - 0.4567) / 0.0002) ** 2)), (0.455, 0.4567, 0.459)),
    "four kilohertz": ("10*cos(2*pi*4000*t)", lambda t: 10 * mpmath.cos(8000 * mpmath.pi * t), ()),
    "square wave": ("5*sign(sin(pi*(t - 0.1234)/0.2))", lambda t: 5 * mpmath.sign(mpmath.sin(mpmath.pi * (t - 0.1234) / 0.2)),
                    (0.1234, 0.3234, 0.5234, 0.7234, 0.9234)),
    "staircase": ("2*floor(7.3*t)", lambda t: 2 * mpmath.floor(7.3 * t), tuple(k / 7.3 for k in range(1, 8))),
    "kink": ("30*abs(t - 0.45678)", lambda t: 30 * abs(t - 0.45678), (0.45678,)),
    "ripple on a swell": ("20*sin(3*t) + 0.5*sin(1e4*t)", lambda t: 20 * mpmath.sin(3 * t) + 0.5 * mpmath.sin(1e4 * t), ()),
}  # fmt: skip
EXACT = {"four kilohertz": lambda: np.array([0.0]), "ripple on a swell": lambda: np.array([
    20 / 9.0 * (3.0 - np.sin(3.0)) + 0.5e-8 * (1e4 - np.sin(1e4))])}  # fmt: skip


def formulas() -> list[Problem]:
    found = []
    for what, (text, torque, points) in FORMULAS.items():
        truth = EXACT.get(what) or (lambda f=torque, p=points: pushed(f, 1.0, p))
        for method in ("auto", "rk4", "semi_implicit") if what in EXACT else ("auto", "rk4", "rodas"):
            found.append(
                Problem(f"{what} in a formula, {method}", lambda t=text, m=method: run(integrator=m, disturbances=(moment(t),)), truth,
                        solvable=method != "semi_implicit")
            )  # fmt: skip
    found.append(
        Problem(
            "a formula of a gigahertz",
            lambda: run(disturbances=(moment("10*cos(1e9*t)"),)),
            lambda: np.array([0.0]),
            solvable=False,
        )
    )
    return found


def user(torque: Callable[[Any], Any]) -> mp.control.UserFunction:
    return mp.control.UserFunction(lambda t, q, qd, target: np.array([torque(t)]))


def blinking(t: Any, q: Any, qd: Any, target: Any) -> list[float]:
    return [20.0 if float(t) * 7.7 % 1.0 < 0.25 else 0.0]


HONEST = {
    ("four kilohertz", "rk4"),
    ("four kilohertz", "rodas"),
    ("one kilohertz", "rk4"),
    ("one kilohertz", "rodas"),
}  # too many steps, or too few of them


def users() -> list[Problem]:
    """Functions of time that only Python knows."""
    fast = lambda t: 10.0 * ops.cos(8000 * np.pi * t)
    hum = lambda t: 10.0 * ops.cos(2000 * np.pi * t + 0.3)
    pulse = lambda t: ops.where(ops.abs(t - 0.70033) < 3e-5, 2e4, 0.0)
    wide = lambda t: ops.where(ops.abs(t - 0.7003) < 8e-4, 2000.0, 0.0)
    omega = 2000 * np.pi
    hummed = (np.cos(0.3) - np.cos(omega + 0.3)) / omega**2 * 10.0 - 10.0 * np.sin(0.3) / omega
    cases: list[tuple[str, Any, float]] = [
        ("four kilohertz", fast, 0.0), ("one kilohertz", hum, hummed), ("pulse of 60 µs", pulse, 1.2 * 0.29967), ("pulse of 1.6 ms", wide, 3.2 * 0.2997),
    ]  # fmt: skip
    found = [
        Problem(f"{what} by a user, {method}", lambda f=torque, m=method: run(controller=user(f), integrator=m),
                lambda q=truth: np.array([q]), solvable=(what, method) not in HONEST)
        for what, torque, truth in cases for method in ("auto", "rk4", "dop853", "rodas")
    ]  # fmt: skip
    edges = sorted(k / 7.7 + d for k in range(8) for d in (0.0, 0.25 / 7.7) if k / 7.7 + d < 1.0)
    found.append(
        Problem("blinking in Python", lambda: run(controller=mp.control.UserFunction(blinking), step=2e-2),
                lambda: pushed(lambda t: 20.0 if float(t) * 7.7 % 1.0 < 0.25 else 0.0, 1.0, edges))
    )  # fmt: skip
    return found


def simpson(t: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """∫ (1 − s) τ(s) ds of a torque that is linear between the times t: exact, piece by piece."""
    middle = (1 - (t[1:] + t[:-1]) / 2) * (tau[1:] + tau[:-1]) / 2
    ends = (1 - t[1:]) * tau[1:] + (1 - t[:-1]) * tau[:-1]
    return np.array([np.sum(np.diff(t) * (ends + 4 * middle) / 6)])


def tables() -> list[Problem]:
    """Played torques and references whose corners lie between steps."""
    times, values = [0.0, 0.49951, 0.50001, 0.50051, 1.0], [[0.0], [0.0], [2000.0], [0.0], [0.0]]
    saw = np.arange(0.0, 1.0137, 0.0137)  # the last one behind the end of the run
    zigzag = np.where(np.arange(len(saw)) % 2, 30.0, -10.0)[:, None]
    drawn = np.append(saw[saw < 1.0], 1.0)
    torque = np.interp(drawn, saw, zigzag[:, 0])
    found = [
        Problem(f"played triangle, {m}", lambda m=m: run(torques=(times, values), integrator=m), lambda: np.array([0.49999])) for m in ("auto", "rk4", "rodas")
    ]  # fmt: skip
    found += [
        Problem(f"played zigzag, {m}", lambda m=m: run(torques=(saw, zigzag), integrator=m), lambda: simpson(drawn, torque))
        for m in ("auto", "rk4")
    ]  # fmt: skip
    for what, law in {
        "trapezoid": mp.timing.trapezoid(2.0, 17.0),
        "constant speed": mp.timing.constant_speed(1.1),
        "quintic": mp.timing.quintic(0.0031),
    }.items():
        move = mp.trajectory(mp.paths.joint([[0.0], [0.3], [0.1]] if what != "quintic" else [[0.0], [0.2]]), law)

        @cache
        def truth(move: Any = move) -> np.ndarray:
            return scalar(lambda t, q, v: pull(t, q, v, move), 0.0, 0.0, 0.5, move.breaks)

        def pull(t: float, q: float, v: float, move: Any = move) -> float:
            r = move.derivatives(t, 1)
            return 400.0 * (float(r[0][0]) - q) + 20.0 * (float(r[1][0]) - v)

        for method, step in (("rk4", 7e-3), ("rk4", 1e-3), ("dop853", 1e-3), ("rodas", 1e-3)):
            found.append(
                Problem(f"{what} followed, {method} at {step:g}", lambda m=method, h=step, r=move: run(reference=r, controller=mp.control.PD(400.0, 20.0),
                        integrator=m, step=h).replace(duration=0.5), truth, solvable=step < 7e-3 and (what, method) != ("quintic", "rk4"))
            )  # fmt: skip
    return found


def payloads() -> list[Problem]:
    def fall(t: float, q: float, v: float) -> float:
        loaded = t >= 0.12345
        return -9.81 * (1.5 + 2.0 * loaded) * np.cos(q) / (1.0 + 2.0 * loaded)

    change = mp.PayloadChange(0.12345, 2.0)
    return [
        Problem(f"payload at an odd time, {m}", lambda m=m: S(robot=SWING, q0=[0.3], duration=0.4, sample=0.1, integrator=m, disturbances=(change,)),
                lambda: scalar(fall, 0.3, 0.0, 0.4, (0.12345,))) for m in METHODS
    ]  # fmt: skip


def delays() -> list[Problem]:
    kp, kv, step = 400.0, 10.0, 2e-3

    def exact(delay: float) -> np.ndarray:
        """Parabolas between the instants at which a command is decided or begins to act."""
        q, v, t, u, queue = 0.3, 0.0, 0.0, -kp * 0.3, []
        decided = [round(k * step, 12) for k in range(101)]
        for at in sorted({*decided, *(round(d + delay, 12) for d in decided)}):
            if at > 0.2:
                break
            q, v, t = q + v * (at - t) + 0.5 * u * (at - t) ** 2, v + u * (at - t), at
            if at in decided:
                queue.append((round(at + delay, 12), -kp * q - kv * v))
            acting = [value for begin, value in queue if begin <= at]
            u = acting[-1] if acting else u
        return np.array([q + v * (0.2 - t) + 0.5 * u * (0.2 - t) ** 2])

    return [
        Problem(f"delay of {1e3 * d:g} ms at steps of 2 ms", lambda d=d: S(robot=ROD, q0=[0.3], duration=0.2, step=step, sample=0.05,
                controller=mp.control.PD(kp, kv, goal=[0.0]), actuator=mp.Actuator(delay=d)), lambda d=d: exact(d))
        for d in (0.0003, 0.0013, 0.002, 0.0049, 0.011)
    ]  # fmt: skip


INPUTS = [*pulses(), *formulas(), *users(), *tables(), *payloads(), *delays()]
