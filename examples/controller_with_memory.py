"""A controller of one's own in plain Python that remembers: a repetitive law, which adds what went wrong one period ago."""

import numpy as np

import manipula as mp

arm = mp.planar([0.5], [2.0], com=[0.25], inertia=[0.05], gravity=(0, 0, 0))
PERIOD, STEP = 0.5, 1e-3


class Repetitive:
    """u = PD + memory; the memory of every instant of the period learns from the error there."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Called before every run, and before its verification."""
        self.learned = np.zeros(round(PERIOD / STEP))

    def __call__(self, t, q, qd, target):
        k = round(t / STEP) % len(self.learned)
        e, ed = target.position[0] - q[0], target.velocity[0] - qd[0]
        self.learned[k] += 20.0 * e + 2.0 * ed
        return [60.0 * e + 8.0 * ed + self.learned[k]]


circle = mp.formula_motion([f"0.4*sin(2*pi*t/{PERIOD})"], duration=4.0, space="joint")
law = mp.control.UserFunction(Repetitive(), target_space="joint")
s = mp.Scenario(
    arm, reference=circle, controller=law, control_period=STEP, sample=STEP, friction=mp.friction.Viscous(0.4)
)
run = mp.simulate(s)
errors = np.abs(run.error[:-1, 0]).reshape(-1, round(PERIOD / STEP)).max(axis=1)
print(run.status, "- largest error of every period [mrad]:", np.round(1e3 * errors, 2))
