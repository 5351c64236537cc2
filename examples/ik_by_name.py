"""Inverse kinematics by the names of a survey: what each method finds for one pose, and how far it is from the joint angles it began with."""

import numpy as np

import manipula as mp

arm = mp.load("ur5e")
q0 = np.array([0.1, -1.2, 1.3, -1.5, -1.4, 0.2])
pose = mp.compile(arm).pose(q0 + 0.3)
for method in ("newton_raphson", "pseudoinverse", "ccd", "continuation", "elimination", "geometric", "optimisation"):
    found = mp.solve_ik(arm, pose, method=method, q0=q0)
    way = np.abs(found.q - q0).max() if found.ok else np.nan
    print(
        f"{method:15} {found.status:10} {way:7.4f} rad from q0, residual {found.residual:.0e}, {found.iterations} steps"
    )
