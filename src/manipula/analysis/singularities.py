r"""Singular postures along a motion: where the smallest singular value of the Jacobian has a minimum, and what is lost there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.arguments import LARGEST, between, whole_number
from manipula.algebra.value import Value
from manipula.analysis.manipulability import Dexterity, manipulability, postures, rows_of
from manipula.errors import DescriptionError, ShapeError
from manipula.ik.task import ROWS
from manipula.model import Model, model_of
from manipula.robot.link import TIP
from manipula.robot.robot import Robot

THRESHOLD = 0.02  # [m or rad per rad] a smallest singular value below this counts as near a singularity
GOLDEN = 0.5 * (5.0**0.5 - 1.0)
NARROWINGS = 50
MOST_SAMPLES = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class NearSingularity(Value):
    """One place of a motion.

    Attributes:
        t: [s] (or number of the sample). q: posture. smallest: singular value there.
        lost: unit vector of the task direction that fades, with ``rows`` naming its entries.
        joints: unit joint motion that moves the task least.
    """

    t: float
    q: np.ndarray
    smallest: float
    lost: np.ndarray
    rows: tuple[str, ...]
    joints: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class SingularityReport(Value):
    """Along a motion: t (S,), dexterity of every sample, the places that are nearly singular, and the least singular value met.

    Of an arm with fewer joints than rows of the task the directions count that its joints can move.
    """

    t: np.ndarray
    dexterity: Dexterity
    places: tuple[NearSingularity, ...]
    worst: float


def singularities(
    model: Model | Robot,
    motion: Any,
    kind: str = "position",
    frame: str = TIP,
    *,
    samples: int = 500,
    threshold: float = THRESHOLD,
) -> SingularityReport:
    """Look along a motion for nearly singular postures.

    Args:
        motion: a joint trajectory, or postures (S, n).
        kind: "position", "orientation" or "pose".
        threshold: largest smallest singular value that counts.
    """
    model = model_of(model)
    threshold, samples = (
        between(threshold, "threshold", 0.0, LARGEST),
        whole_number(samples, "samples", 2, MOST_SAMPLES),
    )
    if hasattr(motion, "derivatives"):
        if getattr(motion, "space", "joint") != "joint":
            raise DescriptionError("singularities() looks along a joint motion; track() makes one of a task motion.")
        t = np.linspace(0.0, motion.duration, samples)
        posture = motion.position
    else:
        q = postures(model.robot, motion)
        if q.ndim != 2 or not len(q):
            raise ShapeError(f"'motion' is a joint trajectory or postures (samples, {model.n}), found shape {q.shape}.")
        t = np.arange(len(q), dtype=float)
        posture = lambda at: np.stack([np.interp(at, t, q[:, i]) for i in range(q.shape[1])], axis=-1)  # noqa: E731
    d = manipulability(model, posture(t), kind, frame)
    least = min(d.singular_values.shape[-1], model.n) - 1  # what the joints cannot move at all is not lost on the way
    s = d.singular_values[..., least]
    places = []
    for k in range(len(t)):
        left, right = s[max(k - 1, 0)], s[min(k + 1, len(t) - 1)]
        flat = k > 0 and s[k] == left and k < len(t) - 1
        if s[k] <= left and s[k] <= right and not flat:
            at = _least(lambda x: float(manipulability(model, posture(x), kind, frame).singular_values[least]),
                        float(t[max(k - 1, 0)]), float(t[min(k + 1, len(t) - 1)]))  # fmt: skip
            place = _place(model, at, np.asarray(posture(at), float), kind, frame)
            if place.smallest <= threshold:
                places.append(place)
    return SingularityReport(t, d, tuple(places), min(float(s.min()), *(p.smallest for p in places), np.inf))


def _least(f: Any, a: float, b: float) -> float:
    """Where a function is least between a and b (golden section; ends included)."""
    low, high = a, b
    c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    fc, fd = f(c), f(d)
    for _ in range(NARROWINGS):
        if fc < fd:
            b, d, fd = d, c, fc
            c = b - GOLDEN * (b - a)
            fc = f(c)
        else:
            a, c, fc = c, d, fd
            d = a + GOLDEN * (b - a)
            fd = f(d)
    return min((low, 0.5 * (a + b), high), key=f)


def _place(model: Model, t: float, q: np.ndarray, kind: str, frame: str) -> NearSingularity:
    rows = rows_of(model.robot, kind, frame)
    J = np.asarray(model.jacobian(q, frame), float)[rows]
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    return NearSingularity(t, q, float(s[-1]), U[:, -1], tuple(ROWS[r] for r in rows), Vt[-1])
