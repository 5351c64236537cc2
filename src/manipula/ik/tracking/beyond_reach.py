"""Paths that leave the reach of an arm: where they do, and by how much.

The lengths of the links tell most of them at once. A path that stays within these lengths and is lost nevertheless is looked at
without joint limits: a place that no posture meets is out of reach, whatever the way there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.ik import diagnose
from manipula.ik.search.starts import Search
from manipula.ik.tracking.continuation import poses_along

if TYPE_CHECKING:
    from manipula.ik.tracking.track import Follower

HALVINGS = 20  # of the time between two samples at which the path leaves the reach
PROBES = 4  # places behind the one where all postures were lost
TOLERANCE = 1e-9  # m or rad


def beyond_lengths(follower: Follower, t: np.ndarray, targets: np.ndarray, tolerance: float) -> str | None:
    """Why a path leaves the reach that the lengths of the links allow; None when it does not."""
    gap = lambda x: diagnose.out_of_reach(follower.robot, follower.task, x, follower.limited, tolerance)  # noqa: E731
    gaps = gap(targets)
    if not gaps.any():
        return None
    k = int(np.argmax(gaps > 0.0))
    before, after = float(t[max(k - 1, 0)]), float(t[k])
    for _ in range(HALVINGS if k else 0):
        middle = 0.5 * (before + after)
        before, after = (before, middle) if gap(poses_along(follower.trajectory, middle))[0] else (middle, after)
    worst = int(np.argmax(gaps))
    return _told(follower, after, f"at t = {t[worst]:.6g} s it is {gaps[worst]:.6g} m outside")


def beyond_search(follower: Follower, t: np.ndarray, targets: np.ndarray, lost: int) -> str | None:
    """Why a path whose postures were all lost at sample ``lost`` cannot be followed: a place behind it that no posture meets; or None."""
    free = follower.search if not follower.limited else Search(follower.robot, follower.task, limited=False)

    def distance(k: int) -> float:
        found = free.wide(targets[k], TOLERANCE, follower.seed, 1)
        return 0.0 if found.solved else float(found.error)

    last = len(t) - 1
    far = {k: distance(k) for k in dict.fromkeys(np.linspace(lost, last, PROBES).astype(int).tolist())}
    outside = [k for k, d in far.items() if d > diagnose.NEAR]
    if not outside:
        return None
    inside, first = max([lost - 1, *(k for k in far if k < outside[0])]), outside[0]
    while first - inside > 1:
        middle = (inside + first) // 2
        inside, first = (inside, middle) if distance(middle) > diagnose.NEAR else (middle, first)
    worst = max(outside, key=lambda k: far[k])
    words = f"no posture found gets nearer to it than {far[worst]:.6g} {diagnose.unit(follower.task)} at t = {t[worst]:.6g} s"
    return _told(follower, float(t[first]), words)


def _told(follower: Follower, time: float, words: str) -> str:
    along: Any = getattr(follower.trajectory, "arc_length", None)
    place = "" if along is None else f", {float(along(time, 0)[0]):.6g} m along it"
    return f"The path leaves the reach of '{follower.robot.name}' at t = {time:.6g} s{place}; {words}."
