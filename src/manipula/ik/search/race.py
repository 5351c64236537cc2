"""One target: several starts race side by side in one vector of lanes, looked at after every burst of iterations.

The lanes live in fixed memory and the machine code is called on it directly, because handing arrays over would take as long as
the iterations themselves.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula.bounded_cache import Lock
from manipula.ik.search.driver import LOST, RUNNING, SOLVED

if TYPE_CHECKING:
    from manipula.ik.search.starts import Search

LANES = 4  # starts side by side, on every processor: the answer must not depend on how wide its registers are
CHOICE = 64  # postures of the table among which a lane's first start is the best
FIRST_BURST = 7.0  # iterations before the first look: about what a good start needs


class Found(NamedTuple):
    """Best posture of every target, its error as the descent saw it, iterations of all starts, and whether it arrived."""

    q: Any
    error: Any
    iterations: Any
    solved: Any


class Race:
    """Memory and rules of the race for one robot and task."""

    def __init__(self, search: Search) -> None:
        kernel, n = search.kernel, search.n
        self.search, self.kernel = search, kernel
        self.lanes = LANES
        self.postures, self.features = search.table
        self.first = np.ascontiguousarray(self.features[: self.lanes * CHOICE])
        self.blocks = np.arange(self.lanes) * CHOICE
        self.targets = np.zeros((len(search.task.parts), 4, 4))
        self.q = np.zeros((self.lanes, n))
        self.free = np.zeros(self.lanes)
        self.free[self.lanes // 2 :] = 1.0  # half of the lanes look at the limits only when they have arrived
        self.goal, self.most = np.zeros(1), np.zeros(1)
        self.out = (np.zeros((self.lanes, n)), np.zeros(self.lanes), np.zeros(self.lanes), np.zeros(self.lanes))
        self.lock = Lock()
        if kernel.is_native and kernel.batch_width() > 1:
            self._prepare(n)
        else:
            self.call: Any = None

    def _prepare(self, n: int) -> None:
        """Addresses and strides for the batch entry described in ``native/binary_interface.py``."""
        from manipula.native.binary_interface import aligned_workspace

        code = self.kernel.code(min(LANES, self.kernel.batch_width()))
        inputs = (self.targets, self.q, self.free, self.goal, self.most)
        pointers = ctypes.c_void_p * 5
        strides = ctypes.c_int64 * 5
        space = aligned_workspace(code.workspace)
        self.kept = (
            pointers(*(a.ctypes.data for a in inputs)), strides(0, n, 1, 0, 0),
            (ctypes.c_void_p * 4)(*(a.ctypes.data for a in self.out)), (ctypes.c_int64 * 4)(n, 1, 1, 1), space, code,
        )  # fmt: skip
        a, b, c, d = (ctypes.addressof(x) for x in self.kept[:4])
        workspace = None if space is None else space.ctypes.data
        entry, lanes = code.entry, self.lanes
        self.call = lambda: entry(a, b, c, d, lanes, workspace)

    def burst(self) -> None:
        """Some iterations of all lanes."""
        if self.call is not None:
            self.call()
        else:
            results = self.kernel(self.targets, self.q, self.free, self.goal[0], self.most[0])
            for kept, new in zip(self.out, results):
                kept[...] = new

    def run(self, targets: np.ndarray, q0: np.ndarray | None, goal: float, most: int, seed: int) -> Found:
        """Race until a lane arrives or ``most`` iterations are used, one of every lane at least; with q0, lane 0 is waited for."""
        with self.lock.here:
            return self._run(targets, q0, goal, most, seed)

    def _run(self, targets: np.ndarray, q0: np.ndarray | None, goal: float, most: int, seed: int) -> Found:
        out, lanes, search = self.out, self.lanes, self.search
        self.targets[...] = targets
        best = np.dot(self.first, targets.reshape(-1)).reshape(lanes, CHOICE).argmax(1)
        best += self.blocks
        self.postures.take(best, 0, self.q, "clip")
        waiting = q0 is not None
        if q0 is not None:
            self.q[0] = q0
        first = search.burst if waiting or search.rule.uninterrupted else FIRST_BURST
        self.goal[0], self.most[0] = goal, min(first, max(1.0, most // lanes))
        used, age, number = 0.0, [0] * lanes, lanes * CHOICE + seed
        nearest, spare = (np.inf, self.q[0].copy()), None
        while True:
            self.burst()
            q, errors, counts, verdicts = out[0], out[1].tolist(), out[2].tolist(), out[3].tolist()
            used += sum(counts)
            if SOLVED in verdicts:
                k = verdicts.index(SOLVED)
                if k == 0 or not waiting:
                    return Found(q[k].copy(), errors[k], used, True)
                spare = spare or Found(q[k].copy(), errors[k], used, True)
            for k in range(lanes):
                if errors[k] < nearest[0]:
                    nearest = (errors[k], q[k].copy())
            if waiting and (verdicts[0] == LOST or age[0] >= search.life):
                waiting = False
            left = (most - used) // lanes
            if spare is not None and (not waiting or left < 1.0):
                return spare
            if left < 1.0:
                return Found(nearest[1], nearest[0], used, False)
            self.q[...] = q
            self.most[0] = min(search.burst, left)
            for k in range(lanes):
                age[k] += 1
                if verdicts[k] != RUNNING or age[k] > search.life:
                    self.q[k] = self._fresh(number)
                    number += 1
                    age[k] = 0

    def _fresh(self, number: int) -> np.ndarray:
        """The next posture: the table first, then points of the same sequence beyond it."""
        if number < len(self.postures):
            return self.postures[number]
        from manipula.ik.search.starts import golden_points

        box = self.search.box
        return box[:, 0] + golden_points(self.search.n, 1, number)[0] * (box[:, 1] - box[:, 0])
