"""Logs whose truth is known: Pinocchio's inverse dynamics, friction written out, noise, quantised encoders."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.analysis.identification.excitation import excitation
from manipula.analysis.identification.read_log import read_log
from manipula.model import Model
from oracles import Judge


def friction_of(qd: np.ndarray, law: dict[str, Any]) -> np.ndarray:
    """b q̇ + (F_c + ΔF exp(−(q̇/v_s)²)) tanh(q̇/v_0) + f_0, (samples, n)."""
    dry = law.get("coulomb", 0.0) + np.asarray(law.get("stribeck", 0.0)) * np.exp(-((qd / law.get("v_s", 1.0)) ** 2))
    return law.get("viscous", 0.0) * qd + dry * np.tanh(qd / law.get("v_0", 1e-3)) + law.get("offset", 0.0)


def motion(
    model: Model, duration: float = 8.0, rate: float = 500.0, seed: int = 0, still: tuple[int, ...] = ()
) -> tuple[np.ndarray, ...]:
    """t, q, qd, qdd of an exciting motion, without its repetition."""
    move = excitation(model, duration, 5, extras=("viscous", "coulomb"), starts=8, iterations=8, seed=seed)
    t, q, qd, qdd = (np.array(x) for x in move.sampled(int(duration * rate)))
    for j in still:
        q[:, j], qd[:, j], qdd[:, j] = q[0, j], 0.0, 0.0
    return t, q, qd, qdd


def torques(model: Model, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, law: dict[str, Any]) -> np.ndarray:
    """By Pinocchio, plus friction."""
    judge = Judge(model.robot)
    return np.array([judge.inverse_dynamics(*state) for state in zip(q, qd, qdd)]) + friction_of(qd, law)


def recorded(
    model: Model,
    moved: tuple[np.ndarray, ...],
    tau: np.ndarray,
    noise: Any = 0.0,
    ticks: float = 0.0,
    seed: int = 0,
    **more: Any,
) -> Any:
    """The log as a controller would write it: encoder steps of ``ticks`` [rad], torque noise of ``noise`` [N·m]."""
    t, q, qd, _ = moved
    rng = np.random.default_rng(seed)
    q = np.round(q / ticks) * ticks if ticks else q
    return read_log({"t": t, "q": q, "qd": qd, "tau": tau + noise * rng.normal(size=tau.shape), **more}, model)
