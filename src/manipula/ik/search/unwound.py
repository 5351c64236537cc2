"""Angles without needless turns: postures are brought by whole turns as near as the limits allow to q0, or to the middle of the ranges."""

from __future__ import annotations

import numpy as np

from manipula.identity import identity
from manipula.ik.search.analytic import Branches
from manipula.ik.search.inspection import NONE
from manipula.robot.robot import Robot


class Unwound(Branches):
    """Postures of one robot, freed of whole turns; a joint whose turn moves what follows it by less than a turn is left as it is."""

    def __init__(self, robot: Robot, limited: bool) -> None:
        super().__init__(robot, limited)
        for f in robot.followers:
            if not f.joint.is_revolute or float(f.ratio) != round(float(f.ratio)):
                self.turning[f.leader] = False

    @property
    def _made_of(self) -> bytes | None:
        return identity(self.robot.bare, self.joint_box.hard.tolist(), self.turning.tolist())

    def __call__(self, q: np.ndarray, q0: np.ndarray | None) -> np.ndarray:
        """Postures (..., n), turned; those that are outside the limits stay as they are."""
        near = self.middle if q0 is None else q0
        if not np.any(np.abs(q - near)[..., self.turning] > np.pi):
            return q
        turned, cost = self.turn(q, near)
        return np.where((np.asarray(cost) < NONE)[..., None], turned, q)
