"""A programmed motion in batches, and a controller that realises it: three sizes of an ellipse, then friction that is compensated or not.

Run it from anywhere: ``python examples/program_in_batches.py``.
"""

from pathlib import Path

import numpy as np

import manipula as mp

program = mp.ProgramScenario.load(Path(__file__).with_name("programmed_ellipse.toml")).replace(
    duration=0.3, sample=0.01
)
batch = program.run_batch(parameters={"a": [0.48, 0.5, 0.52]})
for a, status, run in zip((0.48, 0.5, 0.52), batch.statuses, (batch.run(k) for k in range(3))):
    print(f"a = {a:.2f} m: {status}, largest torque {np.abs(run.tau).max():.1f} N·m or N")

sticky = program.replace(friction=mp.friction.Viscous(1.0))
for compensated in (True, False):
    realised = mp.simulate(sticky.realised(compensated=compensated)).check()
    print(f"friction compensated: {compensated}, largest error {np.abs(realised.error).max():.1e} rad or m")

starts = program.realised()
starts = starts.replace(
    q0=np.asarray(starts.q0) + np.array([[0.0], [0.01], [-0.02]])
)  # three runs, two of them beside the program
beside = mp.simulate(starts).check()
print("errors at the start and at the end:", np.abs(beside.error[:, [0, -1]]).max(axis=2).round(6).tolist())
