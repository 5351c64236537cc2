"""Cost against the number of joints for planar arms, and Table 1 of Žlajpah's paper beside our operation counts."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from manipula.bench.machine_loops import ROWS, scalar_nanoseconds
from manipula.bench.peers.timing import nanoseconds
from manipula.formats.planar import planar
from manipula.model import Model

TABLE_1 = {  # n: (kinmodel operations, kinmodel ms, dynmodel operations, dynmodel ms) on a Pentium/90 [Žlajpah, Table 1]
    2: (74, 5.0, 422, 18.0), 3: (152, 9.0, 1426, 30.0), 4: (258, 12.0, 3694, 46.0), 5: (392, 17.0, 8054, 67.0),
    10: (1482, 55.0, 105614, 271.0), 20: (5762, 197.0, 1560734, 1543.0),
}  # fmt: skip


def table_1() -> list[dict[str, Any]]:
    """Published and our operations of the complete model x, J, J̇, H, h, g, and our time in scalar code."""
    rng = np.random.default_rng(0)
    rows = []
    for n, (_, _, operations, milliseconds) in TABLE_1.items():
        model = Model(planar([0.4] * n, [1.0] * n))
        kernel = model.kernel("planar_model")
        states = rng.normal(size=(2, ROWS, n))
        rows.append({
            "n": n, "paper_operations": operations, "our_operations": kernel.operation_count()["total"], "bound": 2 * n * n + 34 * n - 28,
            "ratio": operations / kernel.operation_count()["total"], "paper_ms": milliseconds,
            "our_ns": scalar_nanoseconds(kernel, *states),
        })  # fmt: skip
    return rows


def growth(sizes: tuple[int, ...] = (2, 5, 10, 20, 50, 100, 200, 500, 1000)) -> list[dict[str, Any]]:
    """Forward dynamics: operations, compile seconds and ns per state (batch) against n."""
    rng = np.random.default_rng(0)
    rows = []
    for n in sizes:
        model = Model(planar([0.1] * n, [1.0] * n))
        begin = time.perf_counter()
        kernel = model.kernel("forward_dynamics")
        traced = time.perf_counter() - begin
        q, qd, tau = rng.normal(size=(3, 256, n))
        begin = time.perf_counter()
        kernel(q, qd, tau, threads=1)
        compiled = time.perf_counter() - begin
        batch = nanoseconds(lambda k=kernel, a=(q, qd, tau): k(*a, threads=1)) / 256
        rows.append(
            {
                "n": n,
                "operations": kernel.operation_count()["total"],
                "trace_seconds": traced,
                "compile_seconds": compiled,
                "batch": batch,
            }
        )
    return rows


def exponent(rows: list[dict[str, Any]], key: str, smallest: int = 10) -> float:
    """Slope of log(value) against log(n) for n ≥ ``smallest``."""
    chosen = [r for r in rows if r["n"] >= smallest]
    return float(np.polyfit(np.log([r["n"] for r in chosen]), np.log([r[key] for r in chosen]), 1)[0])
