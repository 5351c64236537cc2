"""A base whose speed jumps would take an infinite force, and give the arm a blow that nobody computes."""

from __future__ import annotations

from manipula.errors import DescriptionError
from manipula.simulation.scenario import Scenario
from manipula.simulation.stepping.corners import jumps


def check_base_motion(s: Scenario) -> None:
    """Does the base move without jumps?

    Raises:
        DescriptionError: with the time of the first one.
    """
    if s.base_motion is None or s.base_motion.motion is None:
        return
    from manipula.simulation.plant.base_table import table_of  # and with it every path and time law

    motion, end = s.base_motion.motion, float(s.duration or 0.0)
    found = jumps(table_of(motion), end)
    if not found:
        return
    first, own = found[0], float(motion.duration)
    what = ("place", "speed")[first.order]
    told = (
        f"The motion of the base ends with a speed at t = {own:g} s and the run goes on: let it come to rest, or end the run there."
        if abs(first.t - own) < 1e-9 * (1.0 + own)
        else f"The {what} of the base jumps by {first.size:.3g} at t = {first.t:.6g} s, which takes an infinite force: round the corner, or stop there."
    )
    raise DescriptionError(told, field="base_motion.motion")
