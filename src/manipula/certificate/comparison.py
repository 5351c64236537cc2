r"""How a disagreement is measured, and what counts as rounding.

A torque is measured by the largest torque of its own joint over all states, at least a thousandth of the largest of all joints; an entry
of M by :math:`\sqrt{s_is_j}` with :math:`s_i` the largest :math:`M_{ii}` (by Cauchy and Schwarz no entry is larger); accelerations, poses
and Jacobians by the largest of their row.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

ROUNDING = 1e-12  # some thousand roundings of 1.1e-16: sums of hundreds of products along a chain of ten joints
JOINTS = 10  # beyond, rounding grows with the number of joints
PER_CONDITION = 1e-14  # solving with M loses as many digits as its condition number has
SMALLEST = 1e-3  # of the largest: below, a joint is measured by this share of the largest
HOPELESS = 1e12  # condition number of M beyond which accelerations have no digits left that could be compared

TORQUE, MASS, BIAS, GRAVITY, ACCELERATION = "torque", "M", "C qd", "g", "acceleration"
POSE, JACOBIAN, FRICTION = "pose", "J", "friction"
Answers = dict[str, np.ndarray]

MEASURED = (
    "A torque is measured by the largest torque of its joint over all states, at least 1/1000 of the largest of all joints; an entry of "
    "M by the diagonal entries of its row and column; accelerations, poses and Jacobians by the largest entry of their row."
)
ALLOWED = (
    f"Tolerance: {ROUNDING:g} up to {JOINTS} joints and in proportion to the joints beyond, which is some thousand roundings of 1.1e-16 as "
    f"sums along a chain have them; where M is divided by, {PER_CONDITION:g} times its condition number more."
)
METHOD = (
    "Reference: recursive Newton–Euler on plain floats (M from unit accelerations, the acceleration by solving with that M).",
    MEASURED,
    ALLOWED,
)


def rounding(n: int) -> float:
    """Tolerance of numbers that are sums of products along n joints."""
    return ROUNDING * max(1.0, n / JOINTS)


def tolerance(quantity: str, n: int, condition: float) -> float:
    """What counts as rounding in a quantity."""
    return rounding(n) + (PER_CONDITION * condition if quantity == ACCELERATION else 0.0)


def scales(reference: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """By what each entry of each quantity is measured."""
    torque = _rows(reference[TORQUE])
    diagonal = np.abs(np.diagonal(reference[MASS], axis1=1, axis2=2))
    root = np.sqrt(_rows(diagonal))
    found = {TORQUE: torque, BIAS: torque, GRAVITY: torque, MASS: np.outer(root, root)}
    if ACCELERATION in reference:
        found[ACCELERATION] = _rows(reference[ACCELERATION])
    if POSE in reference:
        found[POSE] = np.maximum(1.0, np.abs(reference[POSE]).max())
        found[JACOBIAN] = np.maximum(1.0, np.abs(reference[JACOBIAN]).max())
    if FRICTION in reference:
        found[FRICTION] = _rows(reference[FRICTION])
    return found


def _rows(values: np.ndarray) -> np.ndarray:
    """Largest absolute value of each joint over all states, at least a thousandth of the largest of all."""
    largest = np.abs(values).max(axis=0)
    least = SMALLEST * largest.max(initial=0.0)
    return np.maximum(largest, least if least > 0 else 1.0)


def error(found: np.ndarray, reference: np.ndarray, scale: np.ndarray | float) -> float:
    """The largest difference in units of the scale; infinite where shapes differ, no number where one is none."""
    found = np.asarray(found, float)
    if found.shape != reference.shape:
        return float("inf")
    gap = np.abs(found - reference) / scale
    return float("nan") if np.isnan(gap).any() else float(gap.max(initial=0.0))
