"""What the page's viewer is fed with: runs, the robots that moved, and charts; numbers apart from words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula.reports.charts import CHARTS, Panel, Shown, merged, panels
from manipula.reports.mechanism import MOST_JOINTS, can_be_drawn, mechanism_of
from manipula.reports.packed import Packer
from manipula.reports.plots.tip import target_of
from manipula.reports.skeleton import skeleton
from manipula.reports.source import decimated, finite_until, joint_count, names_of, prismatic, robot_of, unit_of
from manipula.simulation.result import Result

NUMBERS = 150_000  # samples × columns of all runs of a page, so that it can be mailed
LEAST_FRAMES, OUTLINE = 400, 200
TARGET_POINTS = 500


def frames_of(result: Result, runs: int = 1) -> np.ndarray:
    """Samples that are shown: all, or as many as a page of that many runs has room for."""
    columns = sum(v.shape[-1] if v.ndim == 2 else 1 for v in result.arrays.values() if v.ndim in (1, 2))
    return decimated(finite_until(result), max(LEAST_FRAMES, NUMBERS // (runs * max(columns, 1))))


class PageContent:
    """Collects what the viewer reads.

    Args:
        results: single runs; the first is the one that is compared with.
        names: of the runs, for legends.
        plain: numbers as they lie in memory (``Packer``).
    """

    def __init__(self, results: Sequence[Result], names: Sequence[str], plain: bool = False) -> None:
        self.packer = Packer(plain)
        self.shown = [Shown(r, k, frames_of(r, len(results)), self.packer) for k, r in enumerate(results)]
        self.document: dict[str, Any] = {
            "format": 1,
            "joints": [_joint(results[0], i) for i in range(joint_count(results[0]))],
            "runs": [_run(s, name) for s, name in zip(self.shown, names)],
            "robots": [],
            "charts": [],
            "arrays": self.packer.arrays,
        }  # fmt: skip

    def add_robots(self) -> None:
        """The robot of every run; runs of equal robots share one."""
        known: dict[Any, int] = {}
        for shown, run in zip(self.shown, self.document["runs"]):
            robot = robot_of(shown.result)
            if robot is None or robot.n > MOST_JOINTS or not len(shown.index):
                continue
            if robot not in known:
                outline = shown.index[decimated(len(shown.index), OUTLINE)]
                bones = skeleton(robot, shown.result.arrays["q"][outline])
                if not can_be_drawn(bones):
                    continue
                known[robot] = len(self.document["robots"])
                self.document["robots"].append(mechanism_of(robot, bones, self.packer))
            run["robot"] = known[robot]
            target = target_of(shown.result)
            if target is not None and len(target):
                run["path"] = self.packer.add(target[decimated(len(target), TARGET_POINTS)])

    def add_chart(self, kind: str, of: Result | None = None) -> list[Panel]:
        """The charts of one kind, of all runs over each other; ``of``: of this result alone (a batch)."""
        if of is not None:
            found = panels(kind, Shown(of, 0, self.shown[0].index, self.packer))
        else:
            found = merged(panels(kind, self.shown[0]), [panels(kind, s) for s in self.shown[1:]])
        self.document["charts"] += found
        return found

    @property
    def draws_an_arm(self) -> bool:
        return bool(self.document["robots"])


def drawn_by_the_page(kind: str) -> bool:
    """Has this kind of plot a form as an instrument of the page?"""
    return kind in CHARTS


def _joint(result: Result, i: int) -> dict[str, Any]:
    return {"name": names_of(result)[i][:60], "unit": unit_of(result, "q", i), "slides": prismatic(result)[i]}


def _run(shown: Shown, name: str) -> dict[str, Any]:
    result = shown.result
    return {
        "name": name[:80], "status": result.status, "t": shown.signal("t"), "q": shown.signal("q"), "robot": None, "path": None,
        "samples": len(result.t),
    }  # fmt: skip
