"""A robot from a log: an arm with friction is simulated with noise, and found again from what was recorded.

python examples/identify_from_log.py
"""

from dataclasses import replace

import numpy as np

import manipula as mp

rng = np.random.default_rng(0)
arm = mp.planar([0.5, 0.4], [3.0, 2.0])
laws = (mp.friction.Coulomb(0.6, 0.05, 0.4), mp.friction.Coulomb(0.3, 0.05, 0.2))
true = arm.replace(joints=tuple(replace(joint, friction=law) for joint, law in zip(arm.joints, laws)))

move = mp.excitation(arm, 10.0, 5, extras=("viscous", "coulomb"), starts=16, iterations=10)
t, q, qd, qdd = move.sampled(5000)
tau = mp.compile(true).inverse_dynamics(q, qd, qdd)
tau = tau + np.stack([[law.torque(v) for v in column] for law, column in zip(laws, qd.T)], axis=1)
encoder = 2 * np.pi / 2**17
log = mp.read_log({"t": t, "q": np.round(q / encoder) * encoder, "tau": tau + 0.3 * rng.normal(size=tau.shape)}, arm)

found = mp.identify_log(
    arm, log, extras=("viscous", "coulomb"), validate=0.3
)  # without extras: chosen by cross-validation
print(found.text())
print()
for joint in found.robot.joints:
    print(joint.name, joint.friction)
