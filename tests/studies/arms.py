"""Small studies for the tests of engines and crashes."""

from __future__ import annotations

import manipula as mp


def base(**more: object) -> mp.Scenario:
    """A planar arm under PD control for a fifth of a second."""
    move = mp.trajectory(mp.paths.joint([[0.3, 0.2], [0.6, -0.1]]), mp.timing.quintic(0.2))
    law = mp.control.PDGravity(kp=80.0, kv=15.0)
    given = {"q0": [0.3, 0.2], "duration": 0.2, "step": 1e-3, "sample": 0.02, **more}
    return mp.Scenario(mp.load("planar-2r"), move, law, **given)


MIXED = {
    "controller.kp": [40.0, 80.0],
    "payload.mass": mp.uniform(0, 2),
    "q0[1]": mp.normal(0.2, 0.01),
    "robot.links[0].mass": mp.uniform(0.9, 1.1, relative=True),
}


def study(samples: int = 30, seed: int = 3) -> mp.Study:
    """Twice as many runs as samples, all in one batch if need be."""
    return mp.Study(base(), MIXED, samples=samples, seed=seed)
