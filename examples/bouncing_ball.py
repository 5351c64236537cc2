"""A ball falls on the ground: Hertz's spring with the damping of Hunt and Crossley, and the coefficient of restitution it gives.

Run it from anywhere: ``python examples/bouncing_ball.py``.
"""

import numpy as np

import manipula as mp

BALL = """<robot name="ball"><link name="ground"/><link name="ball"><inertial><mass value="0.5"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0"
 iyz="0"/></inertial></link><joint name="fall" type="prismatic"><parent link="ground"/><child link="ball"/><axis xyz="0 0 1"/>
 <limit lower="-1" upper="10" effort="100" velocity="100"/></joint></robot>"""
ball, damping = mp.from_urdf(BALL), 0.1
ground = mp.contact.PlaneContact(stiffness=1e6, exponent=1.5, damping=damping, radius=0.05)
result = mp.simulate(mp.Scenario(robot=ball, q0=[1.05], duration=3.0, sample=1e-3, contacts=(ground,))).check()
print(
    f"{(np.diff((result.penetration[:, 0] > 0).astype(int)) > 0).sum()} bounces, largest force {result.contact_force.max():.0f} N"
)
print(f"lost {result.contact_loss[-1]:.4f} J, unaccounted for {np.abs(result.audit).max():.1e} J")

free, speeds = ball.replace(gravity=(0, 0, 0)), np.array([0.1, 0.5, 1.0, 2.0, 4.0])
bounce = mp.Scenario(
    robot=free, q0=np.full((5, 1), 0.06), qd0=-speeds[:, None], duration=0.3, sample=0.3, contacts=(ground,)
)
for v, after in zip(speeds, mp.simulate(bounce).check().qd[:, -1, 0]):
    print(f"v = {v:.1f} m/s: e = {after / v:.5f}, to first order {1 - damping * v:.5f}")
