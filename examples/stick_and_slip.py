"""A mass on a belt, pulled by a spring: it sticks, breaks away, slips, and sticks again, with the period that the closed form gives.

In axes of the belt the other end of the spring moves away with the speed of the belt. Run it from anywhere: ``python examples/stick_and_slip.py``.
"""

import numpy as np

import manipula as mp

CART = """<robot name="cart"><link name="belt"/><link name="mass"><inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0"
 iyz="0"/></inertial></link><joint name="slide" type="prismatic"><parent link="belt"/><child link="mass"/><axis xyz="1 0 0"/>
 <limit lower="-10" upper="10" effort="100" velocity="10"/></joint></robot>"""
stiffness, speed, static, kinetic = 50.0, 0.1, 4.0, 2.0
spring = mp.Wrench([f"-{stiffness}*(x + {speed}*t)", 0, 0, 0, 0, 0])
law = mp.friction.Stiction(static=static, kinetic=kinetic)
result = mp.simulate(
    mp.Scenario(robot=mp.from_urdf(CART), friction=law, disturbances=(spring,), duration=8.0, step=0.01, sample=0.001)
).check()

jump, omega = (static - kinetic) / stiffness, np.sqrt(stiffness)
period = 2 * jump / speed + (2 * np.pi - 2 * np.arctan2(jump, speed / omega)) / omega
away = result.t[1:][np.diff(result.bristles[:, 0]) < 0]  # it breaks away against the belt
print(
    f"period {np.diff(away)[1:].mean():.4f} s, closed form {period:.4f} s; largest friction {np.abs(result.friction).max():.3f} N"
)

block = mp.from_urdf(CART).replace(gravity=(9.81 * np.sin(0.3), 0, -9.81 * np.cos(0.3)))
rest = mp.simulate(
    mp.Scenario(robot=block, friction=mp.friction.Stiction(static=3.0), duration=60.0, step=0.05, sample=1.0)
)
print(f"on an incline: moved by {np.abs(rest.q).max():.1e} m in 60 s, held by {rest.friction[-1, 0]:.6f} N")
