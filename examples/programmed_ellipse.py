"""The tip of a four-link arm on an ellipse, with LuGre friction and without, by both formulations.

Run it from anywhere: ``python examples/programmed_ellipse.py``.
"""

from pathlib import Path

import numpy as np

import manipula as mp

program = mp.ProgramScenario.load(Path(__file__).with_suffix(".toml"))
both = program.compare_friction()
print(both.text())

other = program.replace(formulation="multipliers", independent=None).run()
print(f"largest difference between the formulations: {np.abs(both.with_friction.q - other.q).max():.1e}")
print(
    f"largest residual of the program: {np.abs(other.residual).max():.1e}; work and energy differ by {np.abs(other.audit).max():.1e} J"
)

wider = program.with_parameters({"a": 0.52}).run()
print(f"with a = 0.52 m instead of 0.5 m joint 1 turns to {wider.q[-1, 0]:.3f} rad instead of {other.q[-1, 0]:.3f} rad")
