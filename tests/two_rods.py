"""Two slender rods in a vertical plane, from the textbook."""

from __future__ import annotations

import numpy as np

LENGTHS, MASSES = (0.5, 0.4), (2.0, 1.5)


def two_rods(q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, h and g."""
    (l1, l2), (m1, m2) = LENGTHS, MASSES
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    a, b, d = m1 * l1**2 / 3 + m2 * l1**2 + m2 * l2**2 / 3, m2 * l1 * l2 / 2, m2 * l2**2 / 3
    M = np.array([[a + 2 * b * c2, d + b * c2], [d + b * c2, d]])
    h = b * s2 * np.array([-qd[1] * (2 * qd[0] + qd[1]), qd[0] ** 2])
    far = m2 * 9.81 * l2 / 2 * np.cos(q[0] + q[1])
    return M, h, np.array([(m1 / 2 + m2) * 9.81 * l1 * np.cos(q[0]) + far, far])
