"""Two or three joints that carry a point, for every order of turns and slides.

==========  =========================================
``pairs``   two joints: 2R, RP, PR, PP, pan–tilt
``rrr``     three revolute joints
``rrp``     two revolute joints and a slide: RRP, PRR
``rpr``     a slide between two revolute joints
``slides``  two or three slides: PPP, RPP, PRP, PPR
``base``    what a positioning arm is
==========  =========================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from manipula.ik.closed_form.geometry import Axis, Relations
from manipula.ik.closed_form.positioning.base import PositionArm
from manipula.ik.closed_form.positioning.pairs import arm_of_two
from manipula.ik.closed_form.positioning.rpr import arm_rpr
from manipula.ik.closed_form.positioning.rrp import arm_prr, arm_rrp
from manipula.ik.closed_form.positioning.rrr import arm_rrr
from manipula.ik.closed_form.positioning.slides import arm_of_slides

ARMS: dict[str, Callable[[Sequence[Axis], Relations], PositionArm]] = {
    **dict.fromkeys(("RR", "RP", "PR", "PP"), arm_of_two),
    **dict.fromkeys(("PPP", "RPP", "PRP", "PPR"), arm_of_slides),
    "RRR": arm_rrr,
    "RRP": arm_rrp,
    "PRR": arm_prr,
    "RPR": arm_rpr,
}


def position_arm(axes: Sequence[Axis], relations: Relations) -> PositionArm:
    """The program for two or three joints that move a point in as many directions (see ``geometry.rank``)."""
    return ARMS["".join("R" if a.revolute else "P" for a in axes)](axes, relations)


__all__ = ["ARMS", "PositionArm", "position_arm"]
