"""``track(model, trajectory)``: a joint motion along a task motion that keeps off the limits.

Many postures at one place of the path are followed side by side through all samples, each pushed away from its limits by self-motion.
When none survives from the start, others are sent out both ways from the place where the last one was lost, and if that fails too
a graph over many postures at many places is searched. Between samples the joints follow quintic splines, checked against the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.arguments import between, choice, finite_array, flag, rows_of, whole_number
from manipula.algebra.value import Value
from manipula.errors import DescriptionError, ShapeError, SolveError
from manipula.ik.base import LARGEST_SEED
from manipula.ik.search.distinct import distinct
from manipula.ik.search.driver import SOLVED, compile_residual
from manipula.ik.search.joint_box import start_box
from manipula.ik.search.starts import RELAXED, Search
from manipula.ik.targets import movable
from manipula.ik.task import Task
from manipula.ik.tracking.beyond_reach import beyond_lengths, beyond_search
from manipula.ik.tracking.continuation import looks_along, poses_along, with_quick_parts
from manipula.ik.tracking.posture_graph import search_graph
from manipula.ik.tracking.self_motion import compile_tracking_step
from manipula.ik.tracking.splines import joint_splines
from manipula.model import Model
from manipula.motion.oriented import has_orientation
from manipula.motion.piecewise import PiecewiseTrajectory
from manipula.motion.trajectory import Trajectory
from manipula.redundancy.criterion import check_criteria_act, checked_criteria
from manipula.robot.link import TIP, check_frame_name
from manipula.robot.robot import Robot

CANDIDATES = 96  # postures followed side by side
STARTS = 512  # descents spent on finding them
LARGEST_STEP = 0.35  # rad or m between samples: more is a jump, not a motion
GAIN = 4.0  # of the self-motion away from the limits, over the whole path
TOLERANCE = 1e-9
ANCHORS = 6
TURN_LENGTH = 0.3  # [m] a turn of the tool counts like so much travel
TRIED = 6  # motions whose accuracy between samples is looked at
COMFORTABLE = 0.1  # rad or m from a limit: more is no better
PATH_TOLERANCE = 1e-6  # m or rad between samples
MOST_SAMPLES = 20_000
ROUNDS = 14  # of putting samples between others
INSETS = (2e-3, 1e-4, 0.0)  # rad or m inside the limits, so that splines do not pass them between samples
MOVED = 1e-6  # rad or m between q0 and the start that is worth a sentence
STRONGEST = 1e6  # gain of the self-motion
OVERSHOOT = 1e-9  # rad or m beyond a limit between samples


@dataclass(frozen=True, eq=False, repr=False)
class TrackResult(Value):
    """A joint motion along a task motion.

    Attributes:
        trajectory: the joint trajectory, or None.
        status: "tracked", "unreachable", "limits" (no continuous motion within the limits was found), "inaccurate".
        reason: a sentence. t, q: the samples.
        residual: largest error against the path, samples and the places between them [m or rad].
        margin: least distance of a joint from its limits along the motion [rad or m]; inf without limits.
    """

    trajectory: PiecewiseTrajectory | None
    status: str
    reason: str
    t: np.ndarray
    q: np.ndarray
    residual: float
    margin: float

    @property
    def ok(self) -> bool:
        return self.status == "tracked"

    def check(self) -> Any:
        """The result, or a SolveError that carries it."""
        if not self.ok:
            raise SolveError(f"Tracking: {self.reason}", self)
        return self


def track(
    model: Model | Robot,
    trajectory: Any,
    q0: Any = None,
    *,
    frame: str = TIP,
    limits: bool = True,
    criteria: tuple[Any, ...] = (),
    weight: str | None = None,
    gain: float | None = None,
    samples: int | None = None,
    tolerance: float = PATH_TOLERANCE,
    seed: int = 0,
) -> TrackResult:
    """A joint motion whose frame follows ``trajectory`` (its orientation too, when it has one).

    Args:
        q0: posture to start with; any that lasts to the end when omitted.
        criteria: secondary criteria (``manipula.redundancy.null_space``) besides keeping off the limits.
        weight: None, or "kinetic_energy" for the mass matrix as weight of the pseudoinverse.
        gain: strength of the self-motion that criteria and limits ask for; 4 over the whole path when omitted.
        samples: places where the path is met exactly; chosen by the length of the motion when omitted.
        tolerance: error allowed between samples [m and rad]; more samples are taken until it is met.
    """
    robot = model.robot if isinstance(model, Model) else model
    if not isinstance(robot, Robot):
        raise DescriptionError(f"track() takes a Model or a Robot, found {type(model).__name__}.")
    checked_motion(trajectory)
    criteria = checked_criteria(rows_of(criteria, "criteria"))
    if weight is not None:
        choice(weight, "weight", ("kinetic_energy",))
    limits = flag(limits, "limits")
    asked = gain is not None
    gain = GAIN if gain is None else between(gain, "gain", 0.0, STRONGEST)
    limited = limits and bool(np.isfinite(np.asarray(robot.position_limits, float)).any())
    if asked and not criteria and not (limited or (limits and gain == 0.0)):
        why = f"'{robot.name}' states no limits of position" if limits else "with limits=False"
        raise DescriptionError(
            f"The gain is the strength of the self-motion; {why} and without criteria nothing asks for one.",
            field="gain",
        )
    tolerance, samples, seed = checked_settings(tolerance, samples, seed)
    parts = (robot, trajectory, frame, limits, criteria, weight, gain, seed)
    start = None if q0 is None else checked_posture(robot, q0, "q0")
    result = None
    for inset in INSETS if limits else (0.0,):
        follower = Follower(*parts, inset)
        result = follower.run(samples or follower.default_samples(), start, tolerance, samples is None)
        if result.ok or result.status == "unreachable":
            break
    assert result is not None
    return result


def checked_motion(trajectory: Any) -> None:
    """A motion of the tip, of ours or with the same methods."""
    if not callable(getattr(trajectory, "position", None)) or not hasattr(trajectory, "breaks"):
        raise DescriptionError(
            f"'trajectory' must be a motion of the tip such as mp.trajectory(path, law); found {type(trajectory).__name__}.",
            field="trajectory",
        )
    if getattr(trajectory, "space", "task") != "task":
        raise DescriptionError(
            "track() follows a motion of the tip (space 'task'); this one is a motion of the joints already.",
            field="trajectory",
        )


def checked_posture(robot: Robot, q: Any, name: str) -> np.ndarray:
    """A posture (n,) of finite numbers."""
    found = finite_array(q, name)
    if found.shape != (robot.n,):
        raise ShapeError(f"'{name}' of '{robot.name}' has shape {found.shape}, expected ({robot.n},).")
    return found


def checked_settings(tolerance: Any, samples: Any, seed: Any) -> tuple[float, int | None, int]:
    """Tolerance, samples and seed of a motion along a path."""
    return (
        between(tolerance, "tolerance", TOLERANCE, 1.0),
        None if samples is None else whole_number(samples, "samples", 2, MOST_SAMPLES),
        whole_number(seed, "seed", 0, LARGEST_SEED),
    )


class Follower:
    """What is prepared once for a robot and a motion."""

    def __init__(
        self, robot: Robot, trajectory: Any, frame: str, limited: bool, criteria: tuple[Any, ...], weight: str | None,
        gain: float, seed: int, inset: float = 0.0,
    ) -> None:  # fmt: skip
        if isinstance(trajectory, Trajectory):
            trajectory.renew()
        self.robot, self.trajectory, self.limited, self.gain, self.seed = robot, trajectory, limited, gain, seed
        self.pull = 0.0
        check_frame_name(frame)
        robot.frame(frame)
        asked = Task.of("pose" if has_orientation(trajectory) else "position", frame)
        task = movable(robot, asked)
        if task is None:
            raise DescriptionError(
                f"No joint of '{robot.name}' moves frame '{frame}'; a frame behind a joint is needed.", field="frame"
            )
        self.task = task
        self.notes = _unused(robot, task, criteria)
        self.search = Search(robot, task, limited=limited)
        self.step = compile_tracking_step(robot, task, limited, criteria, _weight(robot, weight), inset)
        self.check = compile_residual(robot, task)
        self.whole = None if task == asked else compile_residual(robot, asked)  # directions that no joint moves as well
        self.hard = self.search.joint_box.hard
        self.box = start_box(robot)

    def default_samples(self) -> int:
        t = np.linspace(0.0, self.trajectory.duration, 101)
        X = poses_along(self.trajectory, t)[:, 0]
        moved = np.linalg.norm(np.diff(X[:, :3, 3], axis=0), axis=1).sum()
        turned = np.linalg.norm(np.diff(X[:, :3, :3], axis=0), axis=(1, 2)).sum() / np.sqrt(2)
        return int(np.clip(100 * moved + 60 * turned, 60, 2000))

    def times(self, count: int) -> np.ndarray:
        """Samples evenly in every smooth piece, breaks included, and closer where the path changes quickly."""
        breaks = np.asarray(self.trajectory.breaks, float)
        parts = [breaks[:1]]
        for a, b in zip(breaks, breaks[1:]):
            pieces = max(6, int(np.ceil(count * (b - a) / breaks[-1])))
            parts.append(np.linspace(a, b, pieces + 1)[1:])
        return with_quick_parts(self.trajectory, np.concatenate(parts))

    # ------------------------------------------------------------------ postures
    def candidates(self, target: np.ndarray, rng: np.random.Generator, most: int = CANDIDATES) -> np.ndarray:
        """Distinct postures (k, n) for one target, spread over its self-motion."""
        s = self.search
        first = [s.starts(target.reshape(1, -1), np.array([g]), rng)[0] for g in range(4)]
        start = np.vstack([first, rng.uniform(self.box[:, 0], self.box[:, 1], (STARTS - 4, s.n))])
        q, _, _, verdict = s.descend(target[None], start, np.zeros(STARTS), TOLERANCE * RELAXED, s.rule.lifetime)
        q = q[verdict == SOLVED]
        known: list[np.ndarray] = []
        turning = np.array([j.is_revolute and not self.limited for j in self.robot.joints])
        spread = 0.15 if self.robot.n > self.task.size else 1e-5
        for row in q:
            distinct(row[None], turning, known, spread)
            if len(known) >= most:
                break
        return np.array(known).reshape(-1, s.n)

    def advance(self, targets: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Follow (k, n) postures through targets (S, parts, 4, 4): all samples (S, k, n) and where each is lost (k,), S if never."""
        count, alive = len(targets), np.arange(len(q))
        out = np.full((count, *q.shape), np.nan)
        out[0] = q
        lost = np.full(len(q), count)
        now = q
        pull = self.pull * _travel(targets)
        for k in range(1, count):
            new, error, _ = self.step(targets[k][None], now, pull[k - 1], TOLERANCE)
            fine = (error <= TOLERANCE) & (np.max(np.abs(new - now), axis=1) <= LARGEST_STEP)
            lost[alive[~fine]] = k
            alive, now = alive[fine], new[fine]
            if not len(alive):
                break
            out[k, alive] = now
        return out, lost

    def margin(self, q: np.ndarray) -> np.ndarray:
        """Least distance from a limit along each motion (S, k, n) → (k,)."""
        if not self.limited:
            return np.full(q.shape[1], np.inf)
        return np.min(np.minimum(q - self.hard[:, 0], self.hard[:, 1] - q), axis=(0, 2))

    # ------------------------------------------------------------------ the search
    def run(self, count: int, q0: np.ndarray | None, tolerance: float, refine: bool) -> TrackResult:
        t = self.times(count)
        targets = poses_along(self.trajectory, t)
        self.pull = self.gain / max(float(_travel(targets).sum()), 1e-12)
        outside = beyond_lengths(self, t, targets, tolerance)
        if outside is not None:
            return TrackResult(None, "unreachable", outside, t, np.zeros((0, self.robot.n)), np.inf, -np.inf)
        found, reason, status = self._find(t, targets, q0, np.random.default_rng(self.seed))
        if found is None:
            return TrackResult(None, status, reason, t, np.zeros((0, self.robot.n)), np.inf, -np.inf)
        missed = 0.0 if self.whole is None else float(np.max(self.whole(targets, found[:, 0])))
        if missed > max(tolerance, TOLERANCE):
            reason = f"The arm cannot move in every direction of the path; {missed:.2g} m or rad remain."
            return TrackResult(None, "unreachable", reason, t, np.zeros((0, self.robot.n)), missed, -np.inf)
        fitted = [self._fit(t, found[:, k], tolerance, refine) for k in self._ranked(found)[:1]]
        for k in self._ranked(found)[1:TRIED]:
            if fitted[-1].ok:
                break
            fitted.append(self._fit(t, found[:, k], tolerance, refine))
        return min(fitted, key=lambda x: (not x.ok, x.residual))

    def _fit(self, t: np.ndarray, q: np.ndarray, tolerance: float, refine: bool) -> TrackResult:
        """Splines through the samples; where they leave the path between two, a sample is put between them."""
        breaks = np.asarray(self.trajectory.breaks, float)
        motion = joint_splines(t, q, breaks)
        for _ in range(ROUNDS if refine else 0):
            middle = 0.5 * (t[1:] + t[:-1])
            wanted = poses_along(self.trajectory, middle)
            there = motion.position(middle)
            error = np.asarray(self.check(wanted, there), float)
            bad = error > 0.5 * tolerance
            if not bad.any() or len(t) > MOST_SAMPLES:
                break
            bad = bad | np.roll(bad, 1) | np.roll(bad, -1)
            better, size, _ = self.step(wanted[bad], there[bad], 0.0, TOLERANCE)
            if not np.all(size <= TOLERANCE):
                break
            t, q = np.concatenate([t, middle[bad]]), np.concatenate([q, better])
            order = np.argsort(t)
            t, q = t[order], q[order]
            motion = joint_splines(t, q, breaks)
        quarters = [t[:-1] + f * np.diff(t) for f in (0.25, 0.5, 0.75)]
        between = np.sort(np.concatenate([t, *quarters, looks_along(self.trajectory)]))
        along = motion.position(between)
        residual = float(np.max(self.check(poses_along(self.trajectory, between), along)))
        margin = float(self.margin(along[:, None])[0])
        words = f"The path is followed to {residual:.2g} m or rad"
        if margin < -OVERSHOOT:
            return TrackResult(motion, "limits", f"{words}, but between samples a limit is passed by {-margin:.2g}.", t, q, residual, margin)  # fmt: skip
        if residual <= tolerance:
            return TrackResult(motion, "tracked", f"{words}.{self.notes}", t, q, residual, margin)
        return TrackResult(motion, "inaccurate", f"{words}; allowed is {tolerance:.2g}.", t, q, residual, margin)

    def _find(
        self, t: np.ndarray, targets: np.ndarray, q0: np.ndarray | None, rng: np.random.Generator
    ) -> tuple[np.ndarray | None, str, str]:
        last = len(targets) - 1
        if q0 is not None:
            start, error, _ = self.step(targets[0], q0, 0.0, TOLERANCE)
            if not error <= TOLERANCE or np.max(np.abs(start - q0)) > LARGEST_STEP:
                return None, "q0 does not stand at the start of the path.", "unreachable"
            first = start[None]
            moved = float(np.max(np.abs(start - q0)))
            if moved > MOVED:
                self.notes += f" It begins {moved:.2g} rad or m from q0, which does not stand at the start of the path."
        else:
            first = self.candidates(targets[0], rng)
            if not len(first):
                return None, "No posture within the limits reaches the start of the path.", "unreachable"
        q, lost = self.advance(targets, first)
        if lost.max() > last:
            return q[:, lost > last], "", "tracked"
        hardest = int(np.clip(lost.max(), 1, last))
        outside = beyond_search(self, t, targets, hardest)
        if outside is not None:
            return None, outside, "unreachable"
        if q0 is None:
            places = [hardest, last, min(hardest + max(1, last // 20), last), last // 2, last // 4, 3 * last // 4][
                :ANCHORS
            ]
            for place in dict.fromkeys(places):
                found = self._both_ways(targets, place, rng)
                if found is not None:
                    return found, "", "tracked"
        found = search_graph(self, targets, None if q0 is None else first[0], rng)
        if found is not None:
            return found, "", "tracked"
        return (
            None,
            f"No continuous motion within the limits was found; the longest lasted {hardest} of {last} samples.",
            "limits",
        )

    def _both_ways(self, targets: np.ndarray, place: int, rng: np.random.Generator) -> np.ndarray | None:
        """Follow postures from one place to the end and back to the start."""
        q = self.candidates(targets[place], rng)
        if not len(q):
            return None
        ahead, lost = self.advance(targets[place:], q)
        good = lost >= len(targets) - place
        if not good.any():
            return None
        back, gone = self.advance(targets[place::-1], q[good])
        kept = gone > place
        if not kept.any():
            return None
        return np.concatenate([back[::-1][:, kept], ahead[1:, good][:, kept]])

    def _ranked(self, q: np.ndarray) -> np.ndarray:
        """Motions (S, k, n) in order: off the limits first, then slow at their fastest place, then short."""
        steps = np.abs(np.diff(q, axis=0))
        cost = len(q) * steps.max(axis=(0, 2)) + 0.2 * steps.sum(axis=(0, 2))
        return np.argsort(cost - 20.0 * np.minimum(self.margin(q), COMFORTABLE))


def _travel(targets: np.ndarray) -> np.ndarray:
    """How far the target moves from sample to sample (S − 1,): self-motion rests where the task rests."""
    step = np.diff(targets, axis=0)
    return np.sqrt(
        np.sum(step[..., :3, 3] ** 2, axis=(1, 2)) + TURN_LENGTH**2 * np.sum(step[..., :3, :3] ** 2, axis=(1, 2, 3))
    )


def _unused(robot: Robot, task: Task, criteria: tuple[Any, ...]) -> str:
    """A sentence about criteria that cannot act, with a blank before it; one with nothing to do on this robot is refused."""
    check_criteria_act(criteria, robot)
    if not criteria or robot.n > task.size:
        return ""
    names = ", ".join(f"'{c.name}'" for c in criteria)
    return f" The task takes all {robot.n} joints of '{robot.name}': there is no null space in which {names} could act."


def _weight(robot: Robot, name: str | None) -> Any:
    if name is None:
        return None
    from manipula.physics.composite import mass_matrix
    from manipula.physics.mechanism import mechanism_of

    lean = mechanism_of(robot).lean
    return lambda q: mass_matrix(lean, q)
