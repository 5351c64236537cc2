"""A motion that was shown and logged becomes a reference: smoothed with a stated error, then tracked by feedforward and PD."""

import numpy as np

import manipula as mp

arm = mp.load("planar-2r")
shown = mp.waypoints([0.0, 0.7, 1.5, 2.2], [[0.2, 0.4], [0.9, 0.1], [0.5, 0.9], [0.2, 0.4]], method="quintic")

rng = np.random.default_rng(0)
t = np.arange(0.0, 2.2, 0.004)
log = shown.position(t) + 2e-4 * rng.standard_normal((len(t), 2))  # an encoder with noise

taught = mp.reference_from(t, log)
print(f"rms of what remains of the samples: {np.round(1e3 * taught.rms, 3)} mrad; noise 0.2 mrad")
off = np.abs(taught.position(t) - shown.position(t)).max()
print(f"largest distance from what was shown: {1e3 * off:.3f} mrad")

law = mp.control.FeedforwardPD(kp=400.0, kv=60.0)
run = mp.simulate(mp.Scenario(arm, reference=taught, controller=law, friction=mp.friction.Viscous(0.8), sample=0.01))
print(f"{run.status}: tracked to {1e3 * np.abs(run.error).max():.2f} mrad with friction that the feedforward knows")
without = mp.control.PDGravity(kp=400.0, kv=60.0)
plain = mp.simulate(run.scenario.replace(controller=without))
print(f"{plain.status}: to {1e3 * np.abs(plain.error).max():.1f} mrad by the same gains without it")
