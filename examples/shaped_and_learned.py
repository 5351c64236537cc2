"""A lightly damped loop follows a fast move: as it is, with its vibration shaped out of the reference, and after some repetitions."""

import numpy as np

import manipula as mp

frequency, damping, inertia = 2.0, 0.05, 0.4
w = 2 * np.pi * frequency
robot = mp.planar(lengths=[1.0], masses=[3 * inertia], gravity=(0, 0, 0))
servo = mp.control.PD(kp=inertia * w**2, kv=2 * damping * w * inertia)
move = mp.trajectory(mp.paths.joint([[0.1], [0.7]]), mp.timing.quintic(0.6))

for name, reference in (
    ("raw", move),
    ("zv", mp.shaped(move, frequency, damping)),
    ("zvd", mp.shaped(move, frequency, damping, "zvd")),
):
    run = mp.Scenario(robot=robot, reference=reference, controller=servo, duration=2.0, sample=0.01)
    result = mp.simulate(run).check()
    late = result.t > reference.duration
    print(
        f"{name}: the move takes {reference.duration:.2f} s and leaves {1e3 * np.abs(result.q[late, 0] - 0.7).max():.3g} mrad"
    )

stiffer = mp.control.PD(kp=10 * inertia * w**2, kv=2 * 0.5 * np.sqrt(10) * w * inertia)
run = mp.Scenario(robot=robot, reference=move, controller=stiffer, duration=0.6, sample=0.01)
learned = mp.iterative_learning(run, iterations=5, gain=0.7, lead=0.02)
print("learning: error", ", ".join(f"{1e3 * e:.2g}" for e in learned.errors[:, 0]), "mrad")
