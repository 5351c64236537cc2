"""What the page's viewer shows, in the form in which reports show it: a robot in a posture, or runs over each other with their charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, ManipulaError, unknown_name
from manipula.reports.comparison import difference_rows, number_rows, run_names, setting_rows
from manipula.reports.content import PageContent, drawn_by_the_page
from manipula.reports.key_numbers import key_numbers
from manipula.reports.mechanism import FURTHEST, MOST_JOINTS, can_be_drawn, mechanism_of
from manipula.reports.packed import Packer
from manipula.reports.plots import PLOTS
from manipula.reports.skeleton import skeleton
from manipula.reports.source import is_batch, joint_count
from manipula.robot.robot import Robot
from manipula.simulation.result import Result

USUAL = ("position", "velocity", "torque", "error", "tip", "energy")
MOST_RUNS = 6  # over each other (MOST_KEPT in web/src/studio/kept.ts is one less)
QUICK = 1  # of compression: the page is on this machine
SPREAD = 12  # postures that say how much room an arm needs
SLID = 0.15  # of the arm's size: how far a joint slides where the others turn by one radian


def robot_page(robot: Robot, q: Sequence[float]) -> dict[str, Any]:
    """A numeric robot in one posture: a run of one sample."""
    if robot.n > MOST_JOINTS:
        raise DescriptionError(
            f"Arms of at most {MOST_JOINTS} joints are drawn, this one has {robot.n}.", field="robot"
        )
    packer = Packer()
    bones = skeleton(robot, _around(robot, np.asarray(q, float)))
    if not can_be_drawn(bones):
        raise DescriptionError(
            f"Arms are drawn within {FURTHEST:g} m of the origin; this one reaches further.", field="robot"
        )
    joints = [
        {"name": j.name[:60], "unit": "rad" if j.is_revolute else "m", "slides": not j.is_revolute}
        for j in robot.joints
    ]
    run = {
        "name": robot.name[:80],
        "status": "",
        "t": packer.add([0.0], "f8"),
        "q": packer.add([list(q)], "f8"),
        "robot": 0,
        "path": None,
        "samples": 1,
    }
    page = {
        "format": 1,
        "joints": joints,
        "runs": [run],
        "robots": [mechanism_of(robot, bones, packer)],
        "charts": [],
        "arrays": packer.arrays,
    }
    return {"page": page, "arrays": packer.text(QUICK)}


def _around(robot: Robot, q: np.ndarray) -> np.ndarray:
    """A posture and those near it, (1 + SPREAD, n): every joint moves, so an arm whose joint leaves the plane of the others is no flat one."""
    turning = np.array([j.is_revolute for j in robot.joints])
    width = np.linspace(-0.7, 0.7, SPREAD)[:, None]
    slid = SLID * skeleton(robot, np.concatenate([q[None], q + width * turning])).size
    return np.concatenate([q[None], q + width * np.where(turning, 1.0, slid)])


def run_page(results: Sequence[Result], charts: Sequence[str] = USUAL, numbers: bool = True) -> dict[str, Any]:
    """Runs over each other, the first one in front; charts that they have no signals for are left out, with the reason.

    Args:
        numbers: with key numbers and differences, which may mean to look between the samples.

    Raises:
        DescriptionError: too many runs, of arms that differ in their joints, or a chart that does not exist.
    """
    single = _together(results)
    for kind in charts:
        if kind not in PLOTS:
            raise unknown_name("kind of plot", kind, PLOTS, field="charts")
    payload = PageContent(single, run_names(single), plain=True)
    payload.add_robots()
    left_out = []
    for kind in charts:
        why = _missing(kind, single)
        if why is None:
            try:
                payload.add_chart(kind)
            except ManipulaError as error:
                why = getattr(error, "problem", str(error))
        if why is not None:
            left_out.append({"kind": kind, "why": why})
    found = run_numbers(single) if numbers else {"cards": [], "compared": None}
    return {"page": payload.document, "arrays": payload.packer.bytes(), "left_out": left_out, **found}


def _missing(kind: str, results: Sequence[Result]) -> str | None:
    """Why runs have nothing for a chart, in a few words; None when they have."""
    if not drawn_by_the_page(kind):
        return "The page has no such chart."
    absent = [name for name in PLOTS[kind].needs if any(name not in r.arrays for r in results)]
    if absent:
        return f"No signal '{absent[0]}' was recorded."
    return next((why for r in results if (why := PLOTS[kind].missing(r)) is not None), None)


def run_numbers(results: Sequence[Result]) -> dict[str, Any]:
    """Key numbers of every run; of several, what differs."""
    single = _together(results)
    cards = [
        [
            {"title": title, "value": value, "unit": unit, "remark": remark}
            for title, value, unit, remark in key_numbers(r)
        ]
        for r in single
    ]
    compared = None
    if len(single) > 1:
        compared = {
            "names": run_names(single),
            "numbers": number_rows(single),
            "differences": difference_rows(single),
            "settings": setting_rows(single),
        }
    return {"cards": cards, "compared": compared}


def _together(results: Sequence[Result]) -> list[Result]:
    """Runs that can be shown together; of a batch its first."""
    if not 1 <= len(results) <= MOST_RUNS:
        raise DescriptionError(f"From 1 to {MOST_RUNS} runs are shown together, found {len(results)}.", field="runs")
    if len({joint_count(r) for r in results}) > 1:
        raise DescriptionError("Runs of arms with the same number of joints are shown together.", field="runs")
    return [r.run(0) if is_batch(r) else r for r in results]
