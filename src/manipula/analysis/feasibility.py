r"""Can the machine do it? Position, velocity, acceleration, jerk, torque and power of a motion against limits.

Slowing a motion down by a factor k divides velocities by k, accelerations by k² and jerks by k³. Torques are
:math:`g(q) + \tau_{inertia}/k^2 + \tau_f(\dot q/k)`: gravity does not get smaller, dry friction hardly does (friction with a memory or under
load is taken as it was). That gives the smallest k that brings the motion within every limit, or the reason why no k does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.value import Value
from manipula.errors import DescriptionError, ShapeError, unknown_name
from manipula.model import Model
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot

QUANTITIES = ("position", "velocity", "acceleration", "jerk", "torque", "power")
SLACK = 1e-9
MOST_SLOWING = 1e4


@dataclass(frozen=True, eq=False, repr=False)
class Check(Value):
    """One quantity of one joint (or of the tip): its worst value, when, and the limit."""

    quantity: str
    worst: float
    time: float
    limit: float | tuple[float, float] | None

    @property
    def use(self) -> float:
        """Worst value in units of the limit; above 1 it is exceeded. NaN without a limit."""
        if self.limit is None:
            return float("nan")
        if isinstance(self.limit, tuple):
            low, high = self.limit
            centre, half = (low + high) / 2, (high - low) / 2
            if not np.isfinite(half):
                edge = high if np.isfinite(high) else low
                inside = self.worst <= high if np.isfinite(high) else self.worst >= low
                return float(abs(self.worst / edge)) if edge and not inside else (0.0 if inside else float("inf"))
            return abs(self.worst - centre) / half if half > 0 else (1.0 if self.worst == centre else float("inf"))
        return abs(self.worst) / self.limit if self.limit > 0 else (0.0 if self.worst == 0 else float("inf"))

    @property
    def ok(self) -> bool:
        return not self.use > 1.0 + SLACK


@dataclass(frozen=True, eq=False, repr=False)
class JointVerdict(Value):
    """All checks of one joint."""

    name: str
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        return all(c.ok for c in self.checks)

    def __getattr__(self, name: str) -> Check:
        for c in object.__getattribute__(self, "checks"):
            if c.quantity == name:
                return c
        raise AttributeError(name)


@dataclass(frozen=True, eq=False, repr=False)
class Feasibility(Value):
    """Verdict on a motion.

    Attributes:
        feasible: is every stated limit kept? joints: one verdict each; tip: checks of the tip's speed, acceleration, jerk.
        slow_down: factor k by which time must be stretched to become feasible: 1 when it is, inf when slowing does not help.
        unstated: limits that nobody stated and that were therefore not checked.
        energy: work of the drives [J], positive part only (nothing is fed back).
    """

    feasible: bool
    joints: tuple[JointVerdict, ...]
    tip: tuple[Check, ...]
    slow_down: float
    unstated: tuple[str, ...]
    energy: float
    reason: str

    def text(self) -> str:
        """A table for people."""
        lines = [self.reason]
        for joint in self.joints:
            for c in joint.checks:
                if c.limit is not None:
                    lines.append(_row(joint.name, c))
        for c in self.tip:
            lines.append(_row("tip", c))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        def row(c: Check) -> dict[str, Any]:
            limit: Any = c.limit
            if isinstance(limit, tuple):  # JSON has no infinity
                limit = [v if np.isfinite(v) else None for v in limit]
            return {
                "quantity": c.quantity,
                "worst": c.worst,
                "time": c.time,
                "limit": limit,
                "use": c.use if np.isfinite(c.use) else None,
                "ok": c.ok,
            }

        return {
            "feasible": self.feasible, "slow_down": None if np.isinf(self.slow_down) else self.slow_down,
            "reason": self.reason, "energy": self.energy, "unstated": list(self.unstated),
            "joints": [{"name": j.name, "checks": [row(c) for c in j.checks]} for j in self.joints],
            "tip": [row(c) for c in self.tip],
        }  # fmt: skip


def feasibility(
    motion: Any,
    limits: Any = None,
    *,
    robot: Robot | None = None,
    tip: Mapping[str, float] | None = None,
    samples: int = 2001,
) -> Feasibility:
    """Judge a motion.

    Args:
        motion: a Result, or a joint trajectory.
        limits: a Robot (its own limits), or a mapping from "position", "velocity", "acceleration", "jerk", "torque", "power" to one
            number for all joints or one a joint (position: pairs). The robot's when omitted.
        robot: the robot of a trajectory, for torques. tip: limits of the tip: "velocity", "acceleration", "jerk".
        samples: where a trajectory is evaluated.
    """
    signals, robot = _signals(motion, limits if isinstance(limits, Robot) else robot, samples)
    n = signals["q"].shape[1]
    laws = _laws(motion, robot)
    bounds, unstated = _limits(limits if limits is not None else robot, n, robot)
    if not hasattr(motion, "arrays"):
        unstated += tuple(
            f"friction of {j.name}"
            for j, law in zip(robot.joints if robot else (), laws)
            if law is not None and not _plain(law)
        )
    names = robot.joint_names if robot is not None else tuple(f"joint{i + 1}" for i in range(n))
    joints = []
    for i in range(n):
        checks = []
        for quantity in QUANTITIES:
            values = signals.get(quantity)
            if values is None:
                continue
            limit = (bounds.get(quantity) or [None] * n)[i]
            checks.append(_worst(quantity, values[:, i], signals["t"], limit))
        joints.append(JointVerdict(names[i], tuple(checks)))
    tip_checks = []
    for quantity, limit in (tip or {}).items():
        key = f"tip_{quantity}"
        if key not in signals:
            raise unknown_name(
                "quantity of the tip", quantity, [k[4:] for k in signals if k.startswith("tip_")], field="tip"
            )
        tip_checks.append(_worst(quantity, signals[key], signals["t"], float(limit)))
    feasible = all(j.ok for j in joints) and all(c.ok for c in tip_checks)
    k, why = (1.0, "") if feasible else _slow_down(signals, bounds, laws, tip or {})
    power = np.clip(signals["power"], 0.0, None).sum(axis=1) if "power" in signals else np.zeros(len(signals["t"]))
    energy = float(np.trapezoid(power, signals["t"]))
    return Feasibility(
        feasible, tuple(joints), tuple(tip_checks), k, unstated, energy, _reason(feasible, joints, tip_checks, k, why)
    )


def _laws(motion: Any, robot: Robot | None) -> tuple[FrictionLaw | None, ...]:
    """The friction law of every joint: of the run's scenario, else of the robot."""
    scenario = getattr(motion, "scenario", None)
    if scenario is not None and scenario.friction is not None:
        return tuple(scenario.friction)
    return () if robot is None else tuple(j.friction for j in robot.joints)


def _plain(law: FrictionLaw | None) -> bool:
    """Does the torque follow from the speed alone?"""
    return law is not None and not law.states and not law.needs_load


def _friction(laws: tuple[FrictionLaw | None, ...], qd: np.ndarray, otherwise: np.ndarray | None = None) -> np.ndarray:
    """Friction torques at the speeds qd (t, n); where a law needs more than the speed, those of ``otherwise``, or none."""
    out = np.zeros_like(qd) if otherwise is None else otherwise.copy()
    for i, law in enumerate(laws):
        if law is not None and _plain(law):
            out[:, i] = [float(law.torque(v)) for v in qd[:, i].tolist()]
    return out


def _row(name: str, c: Check) -> str:
    mark = "ok  " if c.ok else "OVER"
    return f"  {mark} {name:<16} {c.quantity:<13} worst {c.worst:>12.6g} at {c.time:.4g} s, {100 * c.use:.0f} % of its limit"


def _reason(feasible: bool, joints: list[JointVerdict], tip: list[Check], k: float, why: str) -> str:
    if feasible:
        return "The motion keeps every stated limit."
    rows = [(c.use, j.name, c) for j in joints for c in j.checks if not c.ok] + [
        (c.use, "the tip", c) for c in tip if not c.ok
    ]
    use, name, c = max(rows, key=lambda r: r[0])
    remedy = (
        f"Stretching time by {k:.4g} makes it feasible." if np.isfinite(k) else f"Slowing down does not help: {why}"
    )
    return f"The {c.quantity} of {name} reaches {100 * use:.0f} % of its limit at t = {c.time:.4g} s. {remedy}"


def _worst(quantity: str, values: np.ndarray, t: np.ndarray, limit: Any) -> Check:
    if isinstance(limit, tuple):
        low, high = limit
        over = np.maximum(low - values, values - high)
        at = (
            int(np.nanargmax(np.where(np.isfinite(over), over, -np.inf)))
            if np.isfinite(over).any()
            else int(np.nanargmax(np.abs(values)))
        )
    else:
        at = int(np.nanargmax(np.abs(values)))
    return Check(quantity, float(values[at]), float(t[at]), limit)


def _signals(motion: Any, robot: Robot | None, samples: int) -> tuple[dict[str, np.ndarray], Robot | None]:
    if hasattr(motion, "arrays"):
        return _from_result(motion, robot)
    if getattr(motion, "space", None) == "joint":
        t = np.linspace(0.0, motion.duration, samples)
        q, qd, qdd, qddd = np.asarray(motion.derivatives(t, 3))
        if robot is not None and robot.n != q.shape[1]:
            raise ShapeError(f"The trajectory has {q.shape[1]} joints, robot '{robot.name}' has {robot.n}.")
        data = {"t": t, "q": q, "qd": qd, "qdd": qdd, "jerk": qddd}
        if robot is not None and not robot.parameters:
            data["friction"] = _friction(_laws(motion, robot), qd)
        return _complete(data, robot), robot
    raise DescriptionError(
        "Feasibility judges a Result or a joint trajectory; bring a task trajectory to the joints first (ik.track)."
    )


def _from_result(result: Any, robot: Robot | None) -> tuple[dict[str, np.ndarray], Robot | None]:
    if result.arrays["q"].ndim != 2:
        raise ShapeError("Judge one run of a batch at a time: result.run(i).")
    if robot is None and result.scenario is not None:
        robot = result.scenario.robot
    good = np.isfinite(result.arrays["q"]).all(axis=1)
    t = result.t[good]
    data = {"t": t, **{k: result.arrays[k][good] for k in ("q", "qd", "qdd")}}
    data["jerk"] = np.gradient(data["qdd"], t, axis=0, edge_order=2) if len(t) > 2 else np.zeros_like(data["qdd"])
    for name in ("tau", "friction"):
        if name in result.arrays:
            data["torque" if name == "tau" else name] = result.arrays[name][good]
    if "tip" in result.arrays and len(t) > 3:
        data["tip"] = result.arrays["tip"][good]
    return _complete(data, robot), robot


def _complete(data: dict[str, np.ndarray], robot: Robot | None) -> dict[str, np.ndarray]:
    """Names of the checked quantities, torques from the robot where none were recorded, motion of the tip."""
    data["position"], data["velocity"], data["acceleration"] = data["q"], data["qd"], data["qdd"]
    if robot is not None and not robot.parameters:
        model = Model(robot)
        data["gravity"] = model.gravity(data["q"])
        if "torque" not in data:
            data["torque"] = model.inverse_dynamics(data["q"], data["qd"], data["qdd"]) + data.get("friction", 0.0)
        if robot.tip is not None:
            J, Jd = model.jacobian(data["q"])[:, :3], model.jacobian_rate(data["q"], data["qd"])[:, :3]
            v = np.einsum("tij,tj->ti", J, data["qd"])
            a = np.einsum("tij,tj->ti", J, data["qdd"]) + np.einsum("tij,tj->ti", Jd, data["qd"])
            data["tip_velocity"], data["tip_acceleration"] = np.linalg.norm(v, axis=1), np.linalg.norm(a, axis=1)
            if len(data["t"]) > 2:
                data["tip_jerk"] = np.linalg.norm(np.gradient(a, data["t"], axis=0, edge_order=2), axis=1)
    if "torque" in data:
        data["power"] = data["torque"] * data["qd"]
    return data


def _limits(given: Any, n: int, robot: Robot | None) -> tuple[dict[str, list[Any]], tuple[str, ...]]:
    if given is None:
        raise DescriptionError("No limits are known: give limits=… or a robot that states them.", field="limits")
    bounds: dict[str, list[Any]] = {}
    if isinstance(given, Robot):
        pairs = np.asarray(given.position_limits, float)
        bounds["position"] = [(float(a), float(b)) if np.isfinite([a, b]).any() else None for a, b in pairs]
        for quantity, field in (
            ("velocity", "velocity"),
            ("acceleration", "acceleration"),
            ("jerk", "jerk"),
            ("torque", "effort"),
        ):
            bounds[quantity] = [
                None if getattr(j.limits, field) is None else float(getattr(j.limits, field)) for j in given.joints
            ]
    else:
        for quantity, value in dict(given).items():
            if quantity not in QUANTITIES:
                raise unknown_name("limited quantity", quantity, QUANTITIES, field="limits")
            array = np.asarray(value, float)
            if quantity == "position":
                array = (
                    np.broadcast_to(array, (n, 2))
                    if array.shape in ((2,), (n, 2))
                    else np.stack([-np.broadcast_to(array, n), np.broadcast_to(array, n)], 1)
                )
                bounds[quantity] = [(float(a), float(b)) if np.isfinite([a, b]).any() else None for a, b in array]
            else:
                bounds[quantity] = [float(v) if np.isfinite(v) else None for v in np.broadcast_to(array, n)]
    names = robot.joint_names if robot is not None else [f"joint{i + 1}" for i in range(n)]
    unstated = tuple(
        f"{q} of {names[i]}" for q in QUANTITIES[:5] for i in range(n) if bounds.get(q, [None] * n)[i] is None
    )
    return bounds, unstated


def _slow_down(
    s: dict[str, np.ndarray],
    bounds: dict[str, list[Any]],
    laws: tuple[FrictionLaw | None, ...],
    tip: Mapping[str, float],
) -> tuple[float, str]:
    for i, limit in enumerate(bounds.get("position", [])):
        if limit is not None and not _worst("position", s["q"][:, i], s["t"], limit).ok:
            return float("inf"), "a position limit is passed, at any speed."
    gravity = s.get("gravity")
    if gravity is not None:
        for i, limit in enumerate(bounds.get("torque", [])):
            if limit is not None and np.abs(gravity[:, i]).max() > limit * (1 + SLACK):
                return float("inf"), "holding the arm against gravity alone exceeds a torque limit."

    def fits(k: float) -> bool:
        for quantity, power in (("velocity", 1), ("acceleration", 2), ("jerk", 3)):
            for i, limit in enumerate(bounds.get(quantity, [])):
                if limit is not None and np.abs(s[quantity][:, i]).max() / k**power > limit * (1 + SLACK):
                    return False
            if quantity in tip and s[f"tip_{quantity}"].max() / k**power > tip[quantity] * (1 + SLACK):
                return False
        if "torque" in s:
            hold = gravity if gravity is not None else np.zeros_like(s["torque"])
            rubbing = s.get("friction", np.zeros_like(s["torque"]))
            slower = _friction(laws, s["qd"] / k, rubbing) if "friction" in s else rubbing
            tau = hold + slower + (s["torque"] - hold - rubbing) / k**2
            for quantity, values in (("torque", tau), ("power", tau * s["qd"] / k)):
                for i, limit in enumerate(bounds.get(quantity, [])):
                    if limit is not None and np.abs(values[:, i]).max() > limit * (1 + SLACK):
                        return False
        return True

    high = 1.0
    while not fits(high):
        high *= 2.0
        if high > MOST_SLOWING:
            return float("inf"), "gravity and friction leave nothing of a torque or power limit."
    low = high / 2.0 if high > 1.0 else 1.0
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high, ""
