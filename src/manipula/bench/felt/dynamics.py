"""Batches of dynamics called from Python beside Pinocchio's C++ loop, and the identification of a seven-joint arm."""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

import manipula as mp
from manipula.bench.felt.rows import FeltRow, fastest
from manipula.bench.ours import BATCH, time_model
from manipula.bench.peers import pinocchio_cpp

PEER = "Pinocchio C++"
GOALS = (  # words, function, way, must hold
    (f"inverse dynamics, {BATCH} states called from Python, per state", "inverse_dynamics", "batch_call", 28.0),
    (f"forward dynamics, {BATCH} states called from Python, per state", "forward_dynamics", "batch_call", 35.0),
    ("forward dynamics, one state in machine code", "forward_dynamics", "one", 10.0),
)


def beside_pinocchio(with_peers: bool = True) -> list[FeltRow]:
    """A Panda on one thread, per state."""
    robot = mp.load("panda")
    theirs: dict[str, float] = {}
    ours = time_model(robot, ("inverse_dynamics", "forward_dynamics"))
    if with_peers and pinocchio_cpp.available():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "arm.urdf"
            mp.save(robot, str(path))
            theirs = {name: 1e-9 * ns for name, ns in pinocchio_cpp.time_functions(path).items()}
    return [
        FeltRow(words, 1e-9 * ours[function][way], goal, PEER, theirs.get(function))
        for words, function, way, goal in GOALS
    ]


def identification(samples: int = 1000) -> list[FeltRow]:
    """``identify`` of a Panda with friction from noisy torques, bodies that can exist included."""
    model = mp.compile(mp.load("panda"))
    rng = np.random.default_rng(1)
    angle = np.outer(np.linspace(0.0, 8.0, samples), 0.37 * np.arange(1, model.n + 1))
    rate = 0.37 * np.arange(1, model.n + 1)
    q = 0.8 * np.sin(angle) + 0.3 * np.sin(2.1 * angle)
    qd = rate * (0.8 * np.cos(angle) + 0.63 * np.cos(2.1 * angle))
    qdd = -(rate**2) * (0.8 * np.sin(angle) + 1.323 * np.sin(2.1 * angle))
    tau = model.inverse_dynamics(q, qd, qdd) + 0.3 * qd + 0.2 * np.sign(qd)
    tau += 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape)
    call = partial(mp.identify, model, q, qd, qdd, tau)
    return [
        FeltRow(f"identify, {samples} samples of 7 joints", fastest(call, clock=time.process_time)[0], 0.8, clock="CPU")
    ]
