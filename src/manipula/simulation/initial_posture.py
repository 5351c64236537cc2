"""An initial posture moved by the smallest change of joints to where it has to stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from manipula.errors import DescriptionError
from manipula.redundancy.arm import Arm
from manipula.redundancy.orientation import TurnTarget, turn_error
from manipula.robot.robot import Robot

if TYPE_CHECKING:
    from manipula.motion.trajectory import OrientedTrajectory

ROUNDING = 1e-15
FAR = 1e-9  # m, a posture further away than this does not stand on the start
MOST = 60
LONGEST = 0.3  # rad or m, of one step: larger ones lose the neighbourhood
CLOSER = 1e-10  # of the way, by which a further round must shorten it
ZERO = 1e-12

Rows = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def restored(robot: Robot, rows: Rows, given: np.ndarray, allowed: float) -> tuple[np.ndarray, float]:
    r"""A posture with :math:`\Phi(q) = 0` by the smallest change in every step, :math:`q \leftarrow q - \Phi_q^+\Phi`, and what is left of Φ.

    Steps are short and whole turns are taken into the joint ranges.
    """
    q, left = _newton(rows, given, allowed)
    return (_turned(robot, rows, given, q, allowed) if left <= allowed else q), left


def nearest(robot: Robot, rows: Rows, given: np.ndarray, allowed: float) -> tuple[np.ndarray, float]:
    r"""The posture with :math:`\Phi(q) = 0` closest to the given one, as seen from there, and what is left of Φ.

    From where Newton's method leads (:func:`restored`) on to the nearest point by
    :math:`q \leftarrow q_0 - \Phi_q^+\left(\Phi + \Phi_q(q_0 - q)\right)`, which holds still where :math:`q_0 - q` stands upright
    on the solutions.

    Args:
        rows: gives :math:`\Phi_q` and Φ at q. allowed: size of Φ that counts as zero.
    """
    q, left = restored(robot, rows, given, allowed)
    if not left <= allowed:
        return q, left
    for _ in range(MOST):
        A, value = rows(q)
        step = given - least_change(A, value + A @ (given - q)) - q
        size, now = 1.0, float(np.linalg.norm(q - given))
        while size > 1e-3:
            new, off = _newton(rows, q + size * step, allowed)
            if off <= allowed and np.linalg.norm(new - given) < (1.0 - CLOSER) * now:
                break
            size *= 0.5
        else:
            break
        q, left = new, off
    return _turned(robot, rows, given, q, allowed), left


def _newton(rows: Rows, q: np.ndarray, allowed: float) -> tuple[np.ndarray, float]:
    """Newton's method from q; the best posture and what is left there."""
    best, found = np.inf, q
    for _ in range(MOST):
        A, value = rows(q)
        size = float(np.abs(value).max()) if np.isfinite(value).all() else np.inf
        if not size < best and best < allowed:
            break
        if size < best:
            best, found = size, q
        if best < ROUNDING or not np.isfinite(A).all() or not np.isfinite(value).all():
            break
        step = -least_change(A, value)
        q = q + step * min(1.0, LONGEST / max(float(np.abs(step).max()), ZERO))
    return found, best


def _turned(robot: Robot, rows: Rows, given: np.ndarray, q: np.ndarray, allowed: float) -> np.ndarray:
    """Revolute joints turned by whole turns into their range, or else towards the given start, where Φ allows that."""
    out = q.copy()
    for i, j in enumerate(robot.joints):
        if not j.is_revolute:
            continue
        low, high = robot.position_limits[i]
        turns = q[i] + 2 * np.pi * np.arange(-8, 9)
        inside = turns[(turns >= low) & (turns <= high)]
        choice = inside if len(inside) else turns
        trial = out.copy()
        trial[i] = choice[np.argmin(np.abs(choice - given[i]))]
        if abs(trial[i] - out[i]) > np.pi and np.abs(rows(trial)[1]).max() <= allowed:
            out = trial
    return out


def least_change(A: np.ndarray, residual: np.ndarray) -> np.ndarray:
    r""":math:`A^+ r`."""
    return np.linalg.lstsq(A, residual, rcond=1e-10)[0]


def projected(robot: Robot, reference: OrientedTrajectory, q: np.ndarray, turn: str = "free") -> np.ndarray:
    """A posture near q that puts the tip at the start of a task reference, by the smallest changes of joints.

    ``turn``: how much of the reference's orientation it must have as well (``redundancy/orientation.py``).

    Raises:
        DescriptionError: when no posture near ``q`` puts the tip there.
    """
    arm = Arm(robot)
    chosen = list(arm.task)
    goal = np.zeros(3)
    at = np.asarray(reference.position(0.0), float)
    goal[: len(at)] = at

    wanted = (
        None if turn == "free" else TurnTarget(np.asarray(reference.rotation(0.0), float), np.zeros(3), np.zeros(3))
    )

    def rows(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A, off = np.asarray(arm.task_jacobian(q), float), np.asarray(arm.position(q), float)[chosen] - goal[chosen]
        if wanted is None:
            return A, off
        axis = arm.turn_axes[0] if turn == "angle" else None
        found = turn_error(turn, np.asarray(arm.pose(q), float)[:3, :3], np.zeros(3), wanted, axis=axis)
        A = np.concatenate([A, np.asarray(found.rows, float) @ np.asarray(arm.jacobian(q), float)[3:]])
        return A, np.concatenate([off, -np.asarray(found.e, float)])

    found, left = restored(robot, rows, q, FAR)
    if left > FAR:
        turned = ", turned as it says" if wanted is not None else ""
        raise DescriptionError(
            f"No posture near the given one puts the tip at the start of the reference ({', '.join(f'{x:.6g}' for x in goal)} m{turned}); it stays "
            f"{left:.3g} m{' or rad' * bool(turned)} away.",
            field="q0",
        )
    return found


def amount(robot: Robot, joint: int, change: float) -> str:
    """A change of one joint in words: "'elbow' by +3.2°"."""
    j = robot.joints[joint]
    return f"'{j.name}' by {np.rad2deg(change):+.3g}°" if j.is_revolute else f"'{j.name}' by {change:+.3g} m"


def moved_note(robot: Robot, change: np.ndarray) -> tuple[str, ...]:
    """A note on how far starts (N, n) were moved onto a reference."""
    if not np.abs(change).max(initial=0.0) > FAR:
        return ()
    run, joint = np.unravel_index(int(np.argmax(np.abs(change))), change.shape)
    return (
        f"The start was moved onto the reference, most of all joint {amount(robot, int(joint), float(change[run, joint]))}.",
    )
