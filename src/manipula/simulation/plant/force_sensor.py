"""What a force sensor at the tip reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula.algebra.linear import array, cross
from manipula.algebra.ops import Scalar
from manipula.physics import kinematics
from manipula.robot.link import TIP
from manipula.simulation.plant.contact import Contact
from manipula.simulation.plant.disturbances import Disturbance, is_wrench
from manipula.simulation.plant.surroundings import Surroundings
from manipula.simulation.plant.wrenches import acting


def measured_wrench(around: Surroundings, t: Scalar, disturbances: Sequence[Disturbance], contacts: Sequence[Contact]) -> np.ndarray:  # fmt: skip
    r"""The wrenches and contacts on the tip's link, in axes of the base, force first, (6,).

    A force f and a moment m at the origin of another frame of the link count at the tip as f and :math:`m + r\times f`, with r from tip to frame.
    """
    total, tip = np.zeros(6), around.frame(TIP)
    touching: Any = [c for c in contacts if hasattr(c, "frame")]
    seen = [(c.frame, c.touch(around).wrench) for c in touching]
    last = kinematics.find_frame(around.mechanism, TIP).link
    for d in filter(is_wrench, disturbances):
        if kinematics.find_frame(around.mechanism, d.frame).link == last:
            seen.append((d.frame, acting(d, t, lambda d=d: around.frame(d.frame))))
    for frame, wrench in seen:
        arm, force = array(around.frame(frame).p - tip.p), wrench[:3]
        total = array(total + array([*force, *(wrench[3:] + cross(arm, force))]))
    if around.base is None:
        return total
    return array([*(around.base.R.T @ total[:3]), *(around.base.R.T @ total[3:])])
