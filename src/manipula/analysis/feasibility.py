r"""Can the machine do it? Position, velocity, acceleration, jerk, torque and power of a motion against limits.

Where it cannot, :mod:`~manipula.analysis.slowing_down` says by how much time must be stretched, or why that does not help.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from manipula.algebra.arguments import whole_number
from manipula.analysis.feasibility_verdict import Feasibility, JointVerdict
from manipula.analysis.infinite import Torn, torn_of, with_jumps
from manipula.analysis.judged_signals import laws_of, signals_of
from manipula.analysis.point_checks import point_checks
from manipula.analysis.slowing_down import follows_from_speed, jumping, slowed
from manipula.analysis.stretched_motion import (
    DIGITS,
    MOST_STEPS,
    run_again,
    stored_scenario,
    stretched,
    unstretchable,
    verified,
)
from manipula.errors import DescriptionError, ManipulaError, unknown_name
from manipula.model import Model
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot
from manipula.simulation.carried_points import rates_of
from manipula.simulation.limit_checks import (
    NOTHING,
    SAMPLES_ONLY,
    TIP,
    Check,
    filled,
    only_samples,
    shows_between,
    strained,
    worst,
)
from manipula.simulation.plant.disturbances import Wrench
from manipula.simulation.point_limits import PointLimits, read_points
from manipula.simulation.point_motion import point_of_text
from manipula.simulation.recorded import carrying_of, limits_of
from manipula.simulation.signals.jerk import jerk_along
from manipula.simulation.stated_limits import QUANTITIES, TIP_QUANTITIES, limit_of, stated_limits
from manipula.simulation.verdicts.limits import NONE_STATED, could_not, estimated, unproven

SAMPLES, MOST_SAMPLES = 2001, 1_000_000  # of a trajectory


def feasibility(
    motion: Any,
    limits: Any = None,
    *,
    robot: Robot | None = None,
    tip: Mapping[str, float] | None = None,
    samples: int | None = None,
    points: Mapping[Any, Mapping[str, float]] | None = None,
) -> Feasibility:
    """Judge a motion.

    Args:
        motion: a Result, or a joint trajectory.
        limits: a Robot (its own limits), or a mapping from "position", "velocity", "acceleration", "jerk", "torque", "power" to one
            number for all joints or one per joint (position: pairs). When omitted those that the result carries (its scenario's and
            its robot's), or the robot's.
        robot: the robot of a trajectory, for torques. tip: limits of the tip: "velocity", "acceleration", "jerk".
        samples: at how many even times a trajectory is evaluated (2001 when omitted); a result has its own.
        points: limits of other points, "velocity", "acceleration", "jerk" by the name of a frame, or by a link and a place in its axes:
            ``{"elbow": {"velocity": 0.5}, ("link3", (0.1, 0, 0)): {"acceleration": 2.0}}``.
    """
    if samples is not None and hasattr(motion, "arrays"):
        raise DescriptionError(
            "A result is judged on its own samples and between them; 'samples' is for trajectories.", field="samples"
        )
    places = SAMPLES if samples is None else whole_number(samples, "samples", 2, MOST_SAMPLES)
    return _judged(motion, limits, robot, tip, places, read_points(points))


def _judged(
    motion: Any, limits: Any, robot: Robot | None, tip: Mapping[str, float] | None, samples: int, points: PointLimits = (),
    remedy: bool = True,
) -> Feasibility:  # fmt: skip
    """The verdict; ``remedy``: with what slowing down would do, which needs the verdict on the stretched motion."""
    asked = limits, robot, tip
    signals, robot = signals_of(motion, limits if isinstance(limits, Robot) else robot, samples)
    n = signals["q"].shape[1]
    laws = laws_of(motion, robot)
    names = robot.joint_names if robot is not None else tuple(f"joint{i + 1}" for i in range(n))
    bounds, of_tip, unstated, stated_points = _limits(motion, limits, robot, n, names)
    given, points = points, (*stated_points, *points)
    twice = [of for of in tip or {} if limits is not None and of in of_tip]
    if twice:
        raise DescriptionError(
            f"The {twice[0]} of the tip is limited twice, in limits and in tip=…; state one of them.", field="tip"
        )
    of_tip |= dict(tip or {})
    unchecked = _unchecked(motion, signals, bounds, of_tip, limits is None, laws, names)
    if not hasattr(motion, "arrays"):
        unstated += tuple(
            f"friction of {j.name}"
            for j, law in zip(robot.joints if robot else (), laws)
            if law is not None and not follows_from_speed(law)
        )
    wanted = any(limit is not None for limit in bounds.get("jerk", ()))
    jerk: Any = None
    if wanted:
        try:
            jerk = motion.jerk() if hasattr(motion, "arrays") else jerk_along(motion, signals["t"])
        except ManipulaError as error:
            if not hasattr(motion, "arrays"):
                raise
            unchecked.append(could_not("jerk", str(error)))
    torn = {} if hasattr(motion, "arrays") else torn_of(motion, robot)
    joints = [
        JointVerdict(names[i], tuple(_checks(motion, signals, bounds, i, n, jerk, torn, limits is None)))
        for i in range(n)
    ]
    if jerk is not None:
        said = (estimated(c, jerk) for j in joints for c in j.checks if c.quantity == "jerk")
        unchecked += dict.fromkeys(filter(None, said))
    tip_checks = []
    if of_tip and (robot is None or robot.tip is None) and hasattr(motion, "arrays") and limits is None and not tip:
        unchecked.append(could_not("the tip", "the result does not say which robot moved."))
    elif of_tip and hasattr(motion, "arrays") and (why := _unknown_carrying(motion)):
        unchecked.append(could_not("the tip", why))
    else:
        tip_checks = [_tip_check(motion, robot, signals, of, float(limit), torn) for of, limit in of_tip.items()]
    at_points = [
        JointVerdict(
            *point_checks(
                motion,
                robot,
                signals,
                where,
                wanted,
                torn,
                unchecked,
                k + 1 if limits is None and k < len(stated_points) else 0,
            )
        )
        for k, (where, wanted) in enumerate(points)
    ]
    kept = all(j.ok for j in (*joints, *at_points)) and all(c.ok for c in tip_checks)
    k, why = 1.0, ""
    if not kept:
        checks = [c for j in (*joints, *at_points) for c in j.checks] + tip_checks
        find = lambda: slowed(signals, bounds, laws, checks, torn)  # noqa: E731
        k, why = _remedy(motion, robot, signals, find, asked, samples, given) if remedy else (float("nan"), "")
    power = np.clip(signals["power"], 0.0, None).sum(axis=1) if "power" in signals else np.zeros(len(signals["t"]))
    energy = float(np.trapezoid(power, signals["t"]))
    feasible, reason = kept, _reason(kept, [*joints, *at_points], tip_checks, k, why, torn)
    if not of_tip and not points and all(limit is None for row in bounds.values() for limit in row):
        feasible, reason, k = None, NONE_STATED, float("nan")
    elif kept and hasattr(motion, "arrays") and motion.status == "limit" and limits is None:
        feasible, reason, k = False, motion.reason, float("inf")  # by the limits it was made with
    elif kept and (said := _unproven(motion) or " ".join(unchecked)):
        feasible, reason, k = None, said, float("nan")
    remarks = (*unchecked, *((jerk.remark,) if jerk is not None and jerk.remark else ()))
    return Feasibility(
        feasible,
        tuple(joints),
        tuple(tip_checks),
        k,
        unstated,
        energy,
        reason,
        remarks,
        tuple(unchecked),
        tuple(at_points),
    )


def _unproven(motion: Any) -> str:
    """Why a result that breaks no limit proves nothing; empty where it does, and for a trajectory."""
    return unproven(motion.status, motion.arrays["q"]) if hasattr(motion, "arrays") else ""


def _checks(
    motion: Any,
    signals: Mapping[str, np.ndarray],
    bounds: Mapping[str, list[Any]],
    joint: int,
    n: int,
    jerk: Any,
    torn: Torn,
    own: bool,
) -> Iterator[Check]:
    """Every quantity of one joint that is known, compared with its limit; ``own``: those that a run was made with."""
    for quantity in QUANTITIES:
        limit = (bounds.get(quantity) or [None] * n)[joint]
        if quantity == "jerk":
            if jerk is not None:
                times, values = jerk.signal(joint)
                yield worst(quantity, *with_jumps(torn, quantity, joint, values, times), limit)
        elif quantity in signals:
            recorded = hasattr(motion, "arrays")
            if recorded and not shows_between(motion, quantity, not own and "run" in motion.meta):
                times, values = signals["t"], signals[quantity][:, joint]
            else:
                times, values = filled(quantity, signals["t"], signals, joint)
            check = worst(quantity, *with_jumps(torn, quantity, joint, values, times), limit)
            yield strained(check, motion, joint) if recorded else check


def _unknown_carrying(motion: Any) -> str:
    """Why nobody can say how the tip of a result moves; empty where it can be said."""
    try:
        carrying_of(motion, "tip")
    except DescriptionError as error:
        return error.problem
    return ""


def _tip_check(
    motion: Any, robot: Robot | None, signals: Mapping[str, np.ndarray], quantity: str, limit: float, torn: Torn
) -> Check:
    if quantity not in TIP_QUANTITIES:
        raise unknown_name("quantity of the tip", quantity, TIP_QUANTITIES, field="tip")
    if robot is None or robot.tip is None:
        raise DescriptionError("Limits of the tip need a robot that has one.", field="tip")
    if quantity == "jerk":
        found = motion.jerk("tip") if hasattr(motion, "arrays") else jerk_along(motion, signals["t"], robot)
        times, values = found.signal()
        return worst(quantity, *with_jumps(torn, quantity, TIP, values, times), limit)
    moved = carrying_of(motion, "tip") if hasattr(motion, "arrays") else None
    rates = rates_of(moved, robot, "tip", signals["t"], *(signals[name] for name in ("q", "qd", "qdd")))
    sizes = np.linalg.norm(rates[1 if quantity == "velocity" else 2], axis=-1)
    check = worst(quantity, *with_jumps(torn, quantity, TIP, sizes, signals["t"]), limit)
    return strained(check, motion, TIP) if hasattr(motion, "arrays") else check


def _reason(feasible: bool, joints: list[JointVerdict], tip: list[Check], k: float, why: str, torn: Torn) -> str:
    if feasible:
        return "The motion keeps every stated limit."
    rows = [(c.use, j.name, c) for j in joints for c in j.checks if not c.ok] + [
        (c.use, "the tip", c) for c in tip if not c.ok
    ]
    use, name, c = max(rows, key=lambda r: r[0])
    if np.isfinite(k):
        remedy = f" Stretching time by {k:.{DIGITS}g} makes it feasible."
    elif np.isinf(k):
        remedy = f" Slowing down does not help: {why}"
    else:
        remedy = f" Whether slowing down helps cannot be judged: {why}" if why else ""
    if np.isinf(c.worst):
        return f"The {c.quantity} of {name} is infinite at t = {c.first:.4g} s, where the {jumping([c], torn)} jumps.{remedy}"
    much = f"{100 * use:.0f} %" if use >= 1.005 else f"{100 * (use - 1):.2g} % more than 100 %"
    return f"The {c.quantity} of {name} reaches {much} of its limit at t = {c.time:.4g} s.{remedy}"


def _remedy(
    motion: Any,
    robot: Robot | None,
    signals: dict[str, np.ndarray],
    find: Callable[[], tuple[float, str]],
    asked: tuple[Any, Robot | None, Mapping[str, float] | None],
    samples: int,
    points: PointLimits,
) -> tuple[float, str]:
    """The factor by which time must be stretched, seen to be enough; infinite or NaN, and why, where there is none or none is known.

    Args:
        find: the factor by the scaling of the signals. asked: limits, robot and limits of the tip as they were given.
    """
    unknown, recorded = float("nan"), hasattr(motion, "arrays")
    scenario = stored_scenario(motion) if recorded else None
    if recorded and (why := unstretchable(motion, scenario)):
        return unknown, why
    if scenario is not None and scenario.disturbances and robot is not None and not robot.parameters:
        model = Model(robot)
        wrenches = [d for d in scenario.disturbances if isinstance(d, Wrench)]  # steady ones: others do not stretch
        pushes = [np.einsum("tij,i->tj", model.jacobian(signals["q"], d.frame), d.wrench) for d in wrenches]
        signals["external"] = np.sum(pushes, axis=0)
    k, why = find()
    if not np.isfinite(k):
        tracked = scenario is not None and scenario.resolved_kind() == "dynamic"
        return (unknown, "the arm follows its reference only approximately.") if tracked and np.isinf(k) else (k, why)

    def fits(factor: float) -> bool:
        slower = stretched(motion, factor) if scenario is None else run_again(scenario, factor)
        if slower is None or (scenario is not None and slower.status != "finished"):
            return False
        return _judged(slower, *asked, max(samples, MOST_STEPS + 1), points, remedy=False).feasible is True

    k = verified(k, fits)
    return k, "" if np.isfinite(k) else "it could not be verified that the stretched motion keeps its limits."


def _limits(
    motion: Any, given: Any, robot: Robot | None, n: int, names: tuple[str, ...]
) -> tuple[dict[str, list[Any]], dict[str, float], tuple[str, ...], PointLimits]:
    """Limits by quantity, one per joint; those of the tip; what nobody stated; and those of other points."""
    if given is None and hasattr(motion, "arrays"):
        stated = limits_of(motion)
    elif given is None and robot is None:
        raise DescriptionError("No limits are known: give limits=… or a robot that states them.", field="limits")
    elif given is None or isinstance(given, Robot):
        stated = stated_limits(given or robot)
    else:
        stated = stated_limits(None, given, n)
    bounds = {q: [limit_of(v) for v in values] for q, values in stated.items() if q not in ("tip", "points")}
    unstated = tuple(
        f"{q} of {names[i]}" for q in QUANTITIES[:5] for i in range(n) if bounds.get(q, [None] * n)[i] is None
    )
    points = tuple((point_of_text(name), dict(of)) for name, of in (stated.get("points") or {}).items())
    return bounds, dict(stated.get("tip") or {}), unstated, points


def _unchecked(
    motion: Any,
    signals: Mapping[str, np.ndarray],
    bounds: Mapping[str, list[Any]],
    tip: Mapping[str, float],
    own: bool,
    laws: tuple[FrictionLaw | None, ...],
    names: tuple[str, ...],
) -> list[str]:
    """A sentence about every limit that nothing, or too little, can be compared with.

    Torque and power that follow from nothing are refused, but told where a result carries their limits itself (own).
    """
    stated = {q: [v is not None for v in row] for q, row in bounds.items() if any(v is not None for v in row)}
    missing = [q for q in ("torque", "power") if q in stated and q not in signals]
    recorded = hasattr(motion, "arrays")
    if missing and not (recorded and own):
        raise DescriptionError(
            f"Limits of {' and '.join(missing)} need a robot whose parameters all have values: robot=…", field="limits"
        )
    out = [could_not(q, NOTHING) for q in missing]
    if not recorded:
        hidden = [i for i, law in enumerate(laws) if law is not None and not follows_from_speed(law)]
        for q in ("torque", "power"):
            out += [
                could_not(f"{q} of joint '{names[i]}'", f"its friction ({type(laws[i]).__name__}) does not follow from the speed alone; "
                          "simulate the motion (kind = 'inverse_dynamics') and judge the result.")
                for i in hidden if q in stated and stated[q][i]
            ]  # fmt: skip
        return out
    anew = not own and "run" in motion.meta  # of a batch only what breaks the limits it was made with is kept
    for q in stated:
        if q in signals and any(np.isnan(signals[q][:, i]).any() for i, limited in enumerate(stated[q]) if limited):
            out.append(could_not(q, "it is no number at some samples."))
        elif q != "jerk" and q not in missing and only_samples(motion, q, anew):
            out.append(could_not(q, SAMPLES_ONLY))
    if set(tip) - {"jerk"} and only_samples(motion, "tip", anew):
        out.append(could_not("the tip", SAMPLES_ONLY))
    return out
