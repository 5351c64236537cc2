r"""A robot's geometry from measured poses.

Nonlinear least squares over the errors of ``kinematic_errors``, in units of the measuring noise. Many of the six errors of a joint act
like those of its neighbours: columns of the Jacobian that depend on those before them are left out, in an order that keeps zeros of encoders first
(:math:`R_{jj} = 0` of a QR factorisation, as for base parameters), and are named. What is kept is solved by Gauss–Newton steps, halved where they do not help
[Hollerbach, Khalil & Gautier 2016]. Errors that act only because of those that were found (the tilt of an axis on which the measured point was said
to lie) are added where the residuals ask for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.arguments import between, finite_array, number, positive
from manipula.analysis.identification.blas_threads import one_thread_if_small
from manipula.analysis.identification.calibrated import Calibration, Fit
from manipula.analysis.identification.intervals import confidence_level
from manipula.analysis.identification.kinematic_errors import AXES, SerialChain, differences, matrix_of, moved
from manipula.errors import DescriptionError, ShapeError, SolveError, unknown_name
from manipula.model import Model
from manipula.robot.robot import Robot

PARTS = ("base", "joints", "tool")
DEPENDENT = 1e-7  # of a column: what is left of it beside the columns kept before it
WEAK = 1e-3  # of a column, in the same sense: kept, but hardly seen; told
LENGTH = 1.0  # m: a turn of one rad counts as this much when columns are compared
STEPS, SHORTEST = 1000, 1e-3
FINEST = 1e-12  # m, rad: no device is better; its inverse: none is worse
WIDEST = 1e12  # the noise of places over that of turns, and the other way round: beyond it digits are lost
CONVERGED = 1e-15  # m, rad: of a step
PROMISE = 1e-20  # of the sum of squares
BY_CHANCE = 1e-3  # how often noise alone may add errors that postures show only because of the others


def calibrate(
    robot: Robot | Model,
    q: Any,
    poses: Any,
    *,
    what: Any = PARTS,
    frame: str = "",
    position_noise: float | None = None,
    rotation_noise: float | None = None,
    validate: Any = None,
    confidence: float = 0.95,
) -> Calibration:
    """Errors of joints, base and tool from measured poses of a frame.

    Args:
        robot: as described.
        q: (samples, n) joint positions [rad, m].
        poses: (samples, 4, 4) poses of the frame in the measuring device's frame, or (samples, 3) its places alone [m].
        what: which errors are looked for: some of "base", "joints", "tool", and names of joints. Without "base" the device's frame is that
            of ``model.pose``: the robot's base stands in it as described.
        frame: the measured frame; the tip when omitted.
        position_noise, rotation_noise: standard deviations of the device [m, rad], which weigh places against turns; found from the
            residuals when omitted.
        validate: the share of the poses, at the end, that is kept for validation, or a pair (q, poses) of others.
        confidence: level of the intervals.
    """
    described = robot if isinstance(robot, Robot) else robot.robot
    chain = SerialChain.to(described, frame)
    q, measured = _checked(described, q, poses)
    other: tuple[np.ndarray, np.ndarray] | None = None
    if isinstance(validate, tuple):
        if len(validate) != 2:
            raise ShapeError(f"validate: a share or a pair (q, poses), found {len(validate)} entries.")
        other = _checked(described, *validate)
        if other[1].ndim != measured.ndim:
            raise ShapeError("validate: places or full poses, as the poses themselves.")
    elif validate is not None:
        share = number(validate, "validate")
        kept = round(len(q) * (1.0 - share))
        if not 0.0 < share < 1.0 or not 0 < kept < len(q):
            raise DescriptionError(f"'validate' is a share between 0 and 1, found {share:g}.", field="validate")
        other, q, measured = (q[kept:], measured[kept:]), q[:kept], measured[:kept]
    confidence = confidence_level(confidence)
    noise = tuple(
        None if given is None else between(positive(given, name), name, FINEST, 1.0 / FINEST)
        for given, name in ((position_noise, "position_noise"), (rotation_noise, "rotation_noise"))
    )
    if noise[0] and noise[1] and not 1.0 / WIDEST <= noise[0] / noise[1] <= WIDEST:
        raise DescriptionError(
            f"One noise is at most {WIDEST:g} times the other; found {noise[0]:g} m and {noise[1]:g} rad.",
            field="rotation_noise",
        )
    if measured.ndim == 2 and rotation_noise is not None:
        raise DescriptionError("There are no turns among the measurements.", field="rotation_noise")
    wanted = _wanted(chain, what)
    base = _placed(chain, q, measured) if 0 in wanted // 6 else matrix_of(described.base)
    with one_thread_if_small(len(q) * 36 * len(chain.places)):
        return _PoseFit(chain, q, measured, base, wanted, (noise[0], noise[1])).solved(other, float(confidence))


def _checked(robot: Robot, q: Any, poses: Any) -> tuple[np.ndarray, np.ndarray]:
    q, measured = finite_array(q, "q"), finite_array(poses, "poses")
    if q.ndim != 2 or q.shape[1] != robot.n:
        raise ShapeError(f"q: expected (samples, {robot.n}) for '{robot.name}', got {q.shape}.")
    if measured.shape not in ((len(q), 3), (len(q), 4, 4)):
        raise ShapeError(f"poses: expected ({len(q)}, 4, 4) or ({len(q)}, 3), got {measured.shape}.")
    if measured.ndim == 3:
        R = measured[:, :3, :3]
        off = np.max(np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)), axis=(1, 2)) + np.abs(np.linalg.det(R) - 1.0)
        if np.max(off) > 1e-3 or np.max(np.abs(measured[:, 3] - [0.0, 0.0, 0.0, 1.0])) > 1e-9:
            raise DescriptionError(
                f"Pose {int(np.argmax(off))} is no pose: its rotation is off by {np.max(off):.2g}.", field="poses"
            )
        U, _, Vt = np.linalg.svd(R)
        measured = measured.copy()
        measured[:, :3, :3] = U @ Vt
    return q, measured


def _wanted(chain: SerialChain, what: Any) -> np.ndarray:
    """Numbers of the errors that are looked for, in the order in which they are kept: base, zeros of encoders, the rest, tool."""
    words = (what,) if isinstance(what, str) else tuple(what)
    names = chain.places[1:-1]
    for word in words:
        if word not in (*PARTS, *names):
            raise unknown_name("part of a calibration", word, (*PARTS, *names), field="what")
    joints = [k for k, name in enumerate(names, 1) if "joints" in words or name in words]
    zeros, others = [], []
    for k in joints:
        joint = chain.robot.moving_joints[chain.joints[k - 1]]
        along = int(np.argmax(np.abs(np.asarray(joint.axis, float))))
        own = 6 * k + (3 if joint.is_revolute else 0) + along
        zeros.append(own)
        others += [6 * k + axis for axis in (0, 1, 2, 3, 4, 5) if 6 * k + axis != own]
    first = list(range(6)) if "base" in words else []
    last = list(range(6 * len(names) + 6, 6 * len(names) + 12)) if "tool" in words else []
    found = np.array([*first, *zeros, *others, *last], int)
    if not len(found):
        raise DescriptionError("No errors are searched for; choose some of base, joints, tool.", field="what")
    return found


def _placed(chain: SerialChain, q: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """(4, 4) where the base must stand so that the described robot is closest to the measurements [Kabsch 1976]."""
    if len(q) < 3:
        raise DescriptionError(f"At least 3 poses are needed to find the base, found {len(q)}.", field="poses")
    said, _ = chain.poses(q, np.eye(4), np.zeros((len(chain.places), 6)))
    seen = measured[:, :3, 3] if measured.ndim == 3 else measured
    a, b = said[:, :3, 3], seen
    H = (a - a.mean(axis=0)).T @ (b - b.mean(axis=0))
    if measured.ndim == 3:
        H = H + np.einsum("sij,skj->ik", said[:, :3, :3], measured[:, :3, :3]) * max(
            float(np.mean(np.var(a, axis=0))), 1e-6
        )
    U, _, Vt = np.linalg.svd(H)
    R = Vt.T @ np.diag([1.0, 1.0, np.sign(np.linalg.det(Vt.T @ U.T))]) @ U.T
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, b.mean(axis=0) - R @ a.mean(axis=0)
    return X


class _PoseFit:
    """Weighted residuals of one set of measurements."""

    def __init__(self, chain: SerialChain, q: np.ndarray, measured: np.ndarray, base: np.ndarray, wanted: np.ndarray,
                 noise: tuple[float | None, float | None]) -> None:  # fmt: skip
        self.chain, self.q, self.measured, self.base, self.wanted, self.noise = chain, q, measured, base, wanted, noise
        self.rows = 6 if measured.ndim == 3 else 3

    def _at(self, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Differences (samples, rows) and their slopes (samples, rows, errors)."""
        poses, J = self.chain.poses(self.q, self.base, errors.reshape(-1, 6))
        return differences(self.measured, poses), J[:, : self.rows]

    def _independent(self, errors: np.ndarray, first: list[int]) -> tuple[np.ndarray, dict[int, list[int]], list[int]]:
        """Of a robot with these errors: those that are kept, those left out with the kept ones that act like them, and kept ones that are hardly seen.

        ``first``: those that are kept before all others.
        """
        J = self._at(errors)[1].reshape(-1, 6 * len(self.chain.places))
        unit = np.tile([1.0 / LENGTH] * 3 + [1.0] * 3, len(self.chain.places)) * LENGTH
        basis: list[np.ndarray] = []
        kept, left, weak = [], [], []
        for k in [*first, *(k for k in self.wanted.tolist() if k not in first)]:
            column = J[:, k] / np.sqrt(len(self.q)) / unit[k]
            size = float(np.linalg.norm(column))
            rest = column.copy()
            for _ in range(2):
                for b in basis:
                    rest -= b * (b @ rest)
            part = float(np.linalg.norm(rest))
            if part <= DEPENDENT * max(size, 1e-3):
                left.append(k)
                continue
            basis.append(rest / part)
            kept.append(k)
            if part < WEAK * size:
                weak.append(k)
        like: dict[int, list[int]] = {}
        for k in left:
            shares = np.linalg.lstsq(J[:, kept] / unit[kept], J[:, k] / unit[k], rcond=None)[0]
            order = np.argsort(-np.abs(shares))
            like[k] = [kept[i] for i in order[:3].tolist() if abs(shares[i]) > 1e-6]
        return np.array(kept, int), like, weak

    def solved(self, other: tuple[np.ndarray, np.ndarray] | None, confidence: float) -> Calibration:
        errors = np.zeros(6 * len(self.chain.places))
        kept, like, weak = self._independent(errors, [])
        count = len(self.q) * self.rows
        if count <= len(kept):
            raise DescriptionError(
                f"{len(self.q)} poses give {count} numbers for {len(kept)} errors; measure more.", field="poses"
            )
        errors, sigma = self._fitted(errors, kept)
        # a point on the axis of a joint does not feel its tilt; one that turned out to be beside it does
        there = self._independent(errors, kept.tolist())
        if len(kept) < len(there[0]) < count and self._asks_for(errors, len(kept), there[0], sigma):
            try:
                errors, sigma = self._fitted(errors, there[0])
                kept, like, weak = there
            except SolveError:  # too hardly seen to be found
                pass
        rest, J = self._at(errors)
        A = (J[..., kept] / sigma[:, None]).reshape(-1, len(kept))
        lengths = np.linalg.norm(A, axis=0)
        inverse = np.linalg.inv(np.linalg.qr(A / lengths, mode="r")) / lengths[:, None]
        found = errors.reshape(-1, 6)
        before = Fit.of(self._at(np.zeros_like(errors))[0])
        name = {k: f"{self.chain.places[k // 6]} {AXES[k % 6]}" for k in range(len(errors))}
        return Calibration(
            robot=self.chain.corrected(found), base=self.base @ moved(found[0]), names=tuple(name[k] for k in kept.tolist()),
            corrections=errors[kept], covariance=inverse @ inverse.T, condition=float(np.linalg.cond(A / lengths)),
            left_out=tuple((name[k], tuple(name[i] for i in same)) for k, same in like.items()), weak=tuple(name[k] for k in weak),
            before=before, after=Fit.of(rest), validation=None if other is None else self._validated(other, found), sigma=sigma,
            errors=found, places=self.chain.places, samples=len(self.q), confidence=confidence,
        )  # fmt: skip

    def _fitted(self, errors: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The errors that fit best, from others, and the standard deviations that weigh the measurements."""
        sigma = np.array([self.noise[0] or 1e-3] * 3 + [self.noise[1] or 1e-3] * 3)[: self.rows]
        count = len(self.q) * self.rows
        freedom = max(1.0 - len(kept) / count, 1.0 / count)
        least = max(FINEST, *((given or 0.0) / WIDEST for given in self.noise))
        for _ in range(1 if None not in self.noise[: self.rows // 3] else 4):
            errors = self._minimised(errors, kept, sigma)
            rest = self._at(errors)[0]
            for part, given in zip((slice(0, 3), slice(3, 6)), self.noise):
                if given is None and rest[:, part].size:
                    sigma[part] = max(float(np.sqrt(np.mean(rest[:, part] ** 2) / freedom)), least)
        return errors, sigma

    def _asks_for(self, errors: np.ndarray, count: int, more: np.ndarray, sigma: np.ndarray) -> bool:
        """Would more errors than those ``count`` explain what noise does not (Fisher's test of both sums of squares, to first order)?"""
        from scipy.stats import f

        rest, J = self._at(errors)
        A, r = (J[..., more] / sigma[:, None]).reshape(-1, len(more)), (rest / sigma).ravel()
        Q = np.linalg.qr(A / np.linalg.norm(A, axis=0))[0]
        before, gained, left = float(r @ r), float(np.sum((Q.T @ r) ** 2)), len(r) - len(more)
        if before < 0.5 * left:  # smaller than the noise
            return False
        added = len(more) - count
        return gained > float(f.isf(BY_CHANCE, added, left)) * added * (before - gained) / left

    def _validated(self, other: tuple[np.ndarray, np.ndarray], found: np.ndarray) -> tuple[Fit, Fit]:
        """Before and after on poses that were not used."""
        both = (self.chain.poses(other[0], self.base, e)[0] for e in (np.zeros_like(found), found))
        before, after = (Fit.of(differences(other[1], poses)) for poses in both)
        return before, after

    def _minimised(self, errors: np.ndarray, kept: np.ndarray, sigma: np.ndarray) -> np.ndarray:
        """Gauss–Newton with halved steps, until a step promises nothing that rounding would show."""
        rest, J = self._at(errors)
        now = float(np.sum((rest / sigma) ** 2))
        for _ in range(STEPS):
            A = (J[..., kept] / sigma[:, None]).reshape(-1, len(kept))
            lengths = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
            Q, R = np.linalg.qr(A / lengths)
            wanted = Q.T @ (rest / sigma).ravel()
            step, length = np.linalg.solve(R, wanted) / lengths, 1.0
            if float(wanted @ wanted) <= PROMISE * now or float(np.max(np.abs(step))) < CONVERGED:
                return errors
            while length > SHORTEST:
                trial = errors.copy()
                trial[kept] += length * step
                rest, J = self._at(trial)
                new = float(np.sum((rest / sigma) ** 2))
                if new < now:
                    break
                length *= 0.5
            else:
                return errors
            errors, now = trial, new
        apart = self._at(np.zeros_like(errors))[0][:, :3]
        worst = int(np.argmax(np.linalg.norm(apart, axis=-1)))
        raise SolveError(
            f"The calibration did not converge in {STEPS} steps. Before it poses and joint positions are "
            f"{1e3 * Fit.of(apart).position:.3g} mm apart (rms), most in row {worst + 1} of the poses; look whether they belong together."
        )
