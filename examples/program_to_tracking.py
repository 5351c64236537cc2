"""From a program to a controller: the motion that a program describes is followed under friction that the controller does not know, then with it.

The tip of the four-link arm is programmed to an ellipse without friction; that motion becomes the reference of computed torque; LuGre friction acts in every
joint. Along the reference the friction torques follow from inverse dynamics; fed forward they take nearly all of the error away. Last, the motors: sized
for the program without friction and a fifth more, do they suffice with it?
Run it from anywhere: ``python examples/program_to_tracking.py``; reports go to ``out/program_to_tracking``.
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


def tracked(name, controller, friction):
    """A run along the reference, and the largest distance of every joint from it [mrad, mm]."""
    run = mp.Scenario(
        arm,
        reference,
        controller=controller,
        friction=friction,
        sample=0.01,
        integrator="rodas",
        limits=limits,
        name=name,
    )
    result = mp.simulate(run).check()
    return result, 1e3 * np.abs(result.q - reference.position(result.t)).max(axis=0)


limits = {"torque": np.ceil(1.2 * np.abs(needed[0].tau).max(axis=0) * 10) / 10}
print("limits of torque:", limits["torque"])
law, with_friction = mp.control.ComputedTorque(kp=400.0, kv=40.0), WithFriction(kp=400.0, kv=40.0)
runs = {
    "no friction": tracked("no friction", law, ()),
    "unmodelled LuGre": tracked("unmodelled LuGre", law, lugre),
    "compensated": tracked("compensated", with_friction, lugre),
}
folder = Path("out") / "program_to_tracking"
folder.mkdir(parents=True, exist_ok=True)
lines = [
    "| run | ψ1 [mrad] | ψ2 [mrad] | ψ3 [mrad] | z4 [mm] | largest share of torque | feasible |",
    "|---|---|---|---|---|---|---|",
]
for words, (result, found) in runs.items():
    print(
        f"{words}: psi1 {found[0]:.2g}, psi2 {found[1]:.2g}, psi3 {found[2]:.2g} mrad, z4 {found[3]:.2g} mm; {result.feasibility.reason}"
    )
    used = (np.abs(result.tau).max(axis=0) / limits["torque"]).max()
    lines.append(f"| {words} | {' | '.join(f'{v:.2g}' for v in found)} | {used:.2f} | {result.feasible} |")
    result.report(folder / f"{words.replace(' ', '_')}.html")
text = ["# From a program to tracking", "", f"Program: {planned.status}, {planned.reason}", "", *lines, ""]
(folder / "chain.md").write_text("\n".join(text), encoding="utf-8")
mp.plot([r for r, _ in runs.values()], "compare", path=folder / "torques.png", signal="tau", labels=list(runs))
print("written:", ", ".join(sorted(p.name for p in folder.iterdir())))
