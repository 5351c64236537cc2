"""Kinematic calibration: poses of an arm whose geometry is off, measured with noise, give its errors back.

python examples/calibrate_from_poses.py
"""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

import manipula as mp

rng = np.random.default_rng(0)
described = mp.load("ur5e")
joints = list(described.joints)
for j, (x, turn) in {1: (0.0008, 0.004), 2: (-0.0012, -0.003), 4: (0.0005, 0.002)}.items():
    error = np.eye(4)
    error[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    error[0, 3] = x
    placement = joints[j].placement
    joints[j] = replace(joints[j], placement=type(placement).from_matrix(placement.matrix() @ error))
true = mp.compile(described.replace(joints=tuple(joints)))

q = rng.uniform(-2.5, 2.5, (60, described.n))
poses = true.pose(q)
poses[:, :3, 3] += 5e-5 * rng.normal(size=(60, 3))  # a laser tracker: 0.05 mm, 0.1 mrad
poses[:, :3, :3] = Rotation.from_rotvec(1e-4 * rng.normal(size=(60, 3))).as_matrix() @ poses[:, :3, :3]

found = mp.calibrate(described, q, poses, validate=0.3)
print(found.text())
