"""The smallest torques of every instant, on a short and on a long move of three joints (Hollerbach & Suh).

On the short move they save torque. On the long one the arm pays for it: the null-space speeds that nobody asked for grow, and the
torques with them. Run it from anywhere: ``python examples/least_torque.py``.
"""

import numpy as np

import manipula as mp
from manipula import control

robot = mp.load("planar-3r")
q0 = np.deg2rad([-90.0, 90.0, 60.0])
start = mp.compile(robot).position(q0)
lists = {
    "pseudoinverse of M": (control.FramePosition(),),
    "least torque": (control.FramePosition(), control.LeastTorque()),
}
for name, way, duration in (("short", 0.1, 0.3), ("long", 0.5, 1.5)):
    path = mp.paths.line(start, start + way * np.array([-1.0, 1.0, 0.0]))
    reference = mp.trajectory(path, mp.timing.quintic(duration))
    for what, tasks in lists.items():
        run = mp.Scenario(
            robot=robot,
            controller=control.TaskPriorities(tasks),
            reference=reference,
            q0=q0,
            integrator="rk4",
            verify=False,
        )
        result = mp.simulate(run)
        size = np.linalg.norm(result.tau, axis=1)
        print(f"{name:5} move, {what:18}: |tau| {size[0]:6.2f} at the start, {size.max():7.1f} N m at most")
