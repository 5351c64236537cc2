"""Inverse dynamics of a SCARA along a circle, for both elbows: the same path, different torques.

Run it from anywhere: ``python examples/scara_circle.py``.
"""

from pathlib import Path

import numpy as np

import manipula as mp

scenario = mp.Scenario.load(Path(__file__).with_suffix(".toml"))
for elbow in (0, 1):
    result = mp.simulate(scenario.replace(ik_solution=elbow)).check()
    side = "right" if result.q[0, 1] > 0 else "left"
    low, high = result.tau.min(axis=0), result.tau.max(axis=0)
    print(f"elbow {side}: " + ", ".join(f"{a:.3f} … {b:.3f}" for a, b in zip(low, high)))
    print(f"  tip off the path by {np.abs(result.error).max():.1e} m")
