"""An arm takes up 2.5 kg that nobody told its controller about, and finds the mass while it moves.

``adaptive_payload`` tracks with the law of Slotine and Li and adapts the mass at the tip; ``payload_mass`` of the result is its estimate. A
computed torque beside it, which believes the empty arm, sags.
"""

import numpy as np

import manipula as mp

arm = mp.load("panda")
q0 = np.array([0.1, 0.3, -0.2, -1.6, 0.1, 1.9, 0.2])
there = q0 + 0.4
motion = mp.waypoints([0.0, 1.5, 3.0, 4.5, 6.0], [q0, there, q0, there, q0])
taken = mp.PayloadChange(time=1.0, mass=2.5, com=(0.02, -0.03, 0.06))
kv = [20, 20, 10, 10, 1, 1, 0.2]
adaptive = mp.control.AdaptivePayload(slope=5.0, kv=kv, rate=40.0, com=(0.02, -0.03, 0.06))
for controller in (mp.control.ComputedTorque(kp=100.0, kv=20.0), adaptive):
    run = mp.simulate(
        mp.Scenario(arm, motion, controller, disturbances=(taken,), friction=(), step=2e-3, sample=0.1, tolerance=1e-4)
    )
    worst = 1e3 * np.abs(run.error[-10:]).max()
    print(f"{controller.name:16s} {run.status}: largest error of the last second {worst:.3f} mrad")
    if "payload_mass" in run.arrays:
        for t in (1.0, 2.0, 3.0, 6.0):
            print(f"  t = {t:.0f} s: {run.payload_mass[np.searchsorted(run.t, t - 1e-9)]:.3f} kg")
