"""From a program to a controller: the motion that a program describes is followed under friction that the controller does not know, then with it.

The tip of the four-link arm is programmed to an ellipse without friction; that motion becomes the reference of computed torque; LuGre friction acts in every
joint. Along the reference the friction torques follow from inverse dynamics; fed forward they take nearly all of the error away.
Run it from anywhere: ``python examples/program_to_tracking.py``.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import manipula as mp

program = mp.ProgramScenario.load(Path(__file__).with_name("programmed_ellipse.toml"))
arm, lugre = program.robot, program.friction

planned = program.replace(friction=()).run()
reference = planned.to_reference()
print(f"reference: {reference.duration:g} s, error between samples below {reference.accuracy[0]:.0e} rad or m")

along = mp.Scenario(arm, reference, kind="inverse_dynamics", friction=(), sample=0.01)
needed = [mp.simulate(run).check() for run in (along, along.replace(friction=lugre))]
friction_torque = mp.waypoints(needed[0].t, needed[1].tau - needed[0].tau)


@dataclass(frozen=True)
class WithFriction(mp.control.ComputedTorque):
    """Computed torque, plus the friction torques found along the reference."""

    def torque(self, arm, t, q, qd, target, state):
        """The command at time t."""
        return super().torque(arm, t, q, qd, target, state) + mp.native.table(*friction_torque.native_table())(t)


def errors(controller, friction):
    """Largest distance of every joint from the reference [mrad, mm]."""
    run = mp.Scenario(arm, reference, controller=controller, friction=friction, sample=0.01, integrator="rodas")
    result = mp.simulate(run).check()
    return 1e3 * np.abs(result.q - reference.position(result.t)).max(axis=0)


ideal = errors(mp.control.ComputedTorque(kp=400.0, kv=40.0), ())
unknown = errors(mp.control.ComputedTorque(kp=400.0, kv=40.0), lugre)
compensated = errors(WithFriction(kp=400.0, kv=40.0), lugre)
for words, found in (("no friction", ideal), ("unmodelled LuGre", unknown), ("compensated", compensated)):
    print(f"{words}: psi1 {found[0]:.2g}, psi2 {found[1]:.2g}, psi3 {found[2]:.2g} mrad, z4 {found[3]:.2g} mm")
