"""Hard problems of methods, samples, batches, limits and parts: the right answer at the asked time, for every run and every joint."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hard_inputs import ROD, SWING
from hard_problems import Problem, S, scalar, swing
from scipy.linalg import expm

import manipula as mp

PENDULUM = mp.planar([1.0], [1.0])
SCREW = mp.from_dh(
    [{"joint": kind, "mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]} for kind in ("revolute", "prismatic")],
    "standard", gravity=(0, 0, 0), name="screw",
)  # fmt: skip


def methods() -> list[Problem]:
    """One swing, by every method, at steps and tolerances that suit it and that do not."""
    cases: list[tuple[str, dict[str, Any], bool]] = [
        ("dopri5", {}, True), ("rodas", {}, True), ("rk4", {"step": 1e-3}, True), ("rk4", {"step": 0.02}, False), ("rk4", {"step": 0.3}, False),
        ("midpoint", {"step": 1e-3}, False), ("midpoint", {"step": 0.05}, False), ("semi_implicit", {"step": 1e-3}, False),
        ("dop853", {"tolerance": 1e-3}, True), ("dop853", {"tolerance": 1e-9}, True), ("rk4", {"tolerance": 1e-9}, True),
        ("dop853", {"sample": 2.0}, True), ("rk4", {"sample": 9.0}, True), ("rk4", {"sample": 0.7}, True), ("rk4", {"step": 3e-3}, True),
        ("rk4", {"step": 0.07, "sample": 0.033, "tolerance": 1e-4}, True),
    ]  # fmt: skip
    return [
        Problem(f"swing by {m}, " + (", ".join(f"{k} {v:g}" for k, v in more.items()) or "defaults"),
                lambda m=m, more=more: S(robot=PENDULUM, q0=[-0.4], duration=2.0, integrator=m, **more), lambda: swing(-0.4, 2.0), solvable=good)
        for m, more, good in cases
    ]  # fmt: skip


def rotations() -> list[Problem]:
    """Over the top, and almost: q̈ = −14.715 cos q from q = −π/2 with a speed around 7.672 rad/s, where it would take for ever."""
    critical = float(np.sqrt(4 * 14.715))
    return [
        Problem(f"{what} over the top", lambda v=speed: S(robot=PENDULUM, q0=[-np.pi / 2], qd0=[v], duration=3.0, sample=0.5),
                lambda v=speed: scalar(lambda t, q, w: -14.715 * np.cos(q), -np.pi / 2, v, 3.0))
        for what, speed in (("far", 12.0), ("well", critical + 0.1), ("just", critical + 1e-9), ("not quite", critical - 1e-9), ("not at all", 5.0))
    ]  # fmt: skip


def drives() -> list[Problem]:
    """A rotor of 0.5 kg·m² on a spring: a linear system of four, so the answer is an exponential of a matrix."""
    arm = ROD.replace(joints=tuple(replace(j, rotor_inertia=0.5) for j in ROD.joints))

    def exact(s: float, d: float) -> np.ndarray:
        A = np.array([[0, 1, 0, 0], [-s, -d, s, d], [0, 0, 0, 1], [2 * s - 200.0, 2 * d - 20.0, -2 * s, -2 * d]])
        return (expm(A * 0.3) @ np.array([0.2, 0.0, 0.2, 0.0]))[:1]

    return [
        Problem(f"spring of {s:g} and damper of {d:g}, {m}", lambda s=s, d=d, m=m: S(robot=arm, q0=[0.2], drives=(mp.drives.Flexible(s, d),), duration=0.3,
                sample=0.1, integrator=m, controller=mp.control.PD(100.0, 10.0, goal=[0.0])), lambda s=s, d=d: exact(s, d),
                solvable=m == "auto" or s in (300.0, 1e6))
        for s, d in ((300.0, 0.0), (1e4, 5.0), (1e6, 100.0), (1e8, 0.0)) for m in ("auto", "rk4")
    ]  # fmt: skip


def damped() -> list[Problem]:
    return [
        Problem(f"damper of {d:g} and no controller", lambda d=d: S(robot=ROD, q0=[0.0], qd0=[1.0], duration=1.0, sample=0.5,
                friction=(mp.friction.Viscous(d),)),
                lambda d=d: np.array([(1 - np.exp(-d)) / d])) for d in (1.0, 1e3, 1e6, 1e9)
    ]  # fmt: skip


def neighbours() -> list[Problem]:
    """A joint that spins beside one that swings: neither hides the other."""
    return [
        Problem(f"spring of {w:g} rad/s beside a spin of {spin:g}, {m}", lambda w=w, v=spin, m=m: S(robot=SCREW, q0=[0.0, 0.5], qd0=[v, 0.0], duration=0.2,
                sample=0.05, integrator=m, controller=mp.control.PD((0.0, w * w), 0.0, goal=[0.0, 0.0])),
                lambda w=w, v=spin: np.array([0.2 * v, 0.5 * np.cos(0.2 * w)]), solvable=m == "dop853")
        for w in (200.0, 1600.0) for spin in (0.0, 1e7) for m in ("rk4", "dop853")
    ]  # fmt: skip


def batches() -> list[Problem]:
    gains = np.full(40, 100.0)
    gains[29] = 4e6
    spring = lambda: np.array([[0.3 * np.cos(0.5 * np.sqrt(k))] for k in gains])
    starts = 0.4 + 0.001 * np.arange(5) * np.sqrt(2)
    kicks = np.array([[5e3 * (0.41 - a) * (1 - (a + 0.41) / 2)] for a in starts])
    angles = -np.pi / 2 + np.array([0.1, 1.0, 2.0, 3.1])
    hold = mp.control.PD(100.0, 0.0, goal=[0.0])
    base = S(robot=ROD, q0=[0.3], duration=0.5, sample=0.1, controller=hold, vary={"controller.kp": gains})
    push = mp.Wrench((0, 0, 0, 0, 0, 5e3), start=0.4, stop=0.41)
    pushed = S(
        robot=ROD, q0=[0.0], duration=1.0, sample=0.25, disturbances=(push,), vary={"disturbances[0].start": starts}
    )
    return [
        Problem("one stiff run of forty", lambda: base, spring),
        Problem("one stiff run of forty, rk4", lambda: base.replace(integrator="rk4"), spring, solvable=False),
        *(Problem(f"own instants, {m}", lambda m=m: pushed.replace(integrator=m), lambda: kicks) for m in ("auto", "rk4")),
        Problem("four swings", lambda: S(robot=PENDULUM, q0=angles[:, None], duration=2.0, sample=0.5), lambda: np.array([swing(a, 2.0) for a in angles])),
    ]  # fmt: skip


def limits() -> list[Problem]:
    narrow = SWING.replace(
        joints=tuple(replace(j, limits=replace(j.limits, lower=-10.0, upper=0.3)) for j in SWING.joints)
    )
    return [
        Problem(f"beyond the limit between two samples, {m}", lambda m=m: S(robot=narrow, q0=[0.0], qd0=[5.0], duration=2.0, sample=1.0, integrator=m,
                stop_at_limits=True), lambda: np.full(1, np.nan), solvable=False) for m in ("rk4", "dop853", "rodas")
    ]  # fmt: skip


RUNS = [*methods(), *rotations(), *drives(), *damped(), *neighbours(), *batches(), *limits()]
