"""The errata of the paper, each evaluated as printed and corrected [Arora]."""

from __future__ import annotations

import numpy as np

import manipula as mp
from manipula.papers.arora.dynamics import links, state
from manipula.papers.arora.four_by_four import Q, derivative_by_angle, transform
from manipula.papers.base import CheckedRow, Erratum, number
from manipula.papers.printed import printed
from manipula.robot.robot import Robot

EXACT = 1e-10
THETA, D, A, ALPHA = 0.7, 0.3, 0.9, 1.1  # any joint with a twist


def errata(robot: Robot) -> tuple[tuple[Erratum, ...], CheckedRow]:
    """All of them, and the largest error of the literal (3.35)."""
    arm, model = links(), mp.compile(robot)
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.normal(size=(3, 5))
    tau = model.inverse_dynamics(q, qd, qdd)
    M, h, G = arm.M(q), arm.h(q, qd), arm.G(q)
    right = float(np.abs(M @ qdd + h + G - tau).max())
    T, printed_T = transform(THETA, D, A, ALPHA), transform(THETA, D, A, ALPHA, as_printed=True)
    true = _screws(THETA, D, A, ALPHA)
    at, _ = state()
    literal = float(np.abs(arm.M(at, as_printed=True) - arm.M(at)).max())
    row = number("largest error of M by (3.35) as printed", literal, corrected=printed("arora")["recomputed"]["literal_3_35"])  # fmt: skip
    first, second, pseudo = _body()
    step = 1e-6
    slope = (arm.product(q + step * np.eye(5)[1], 0, 5) - arm.product(q - step * np.eye(5)[1], 0, 5)) / (2 * step)
    doubled = arm.product(q, 0, 2) @ Q @ arm.product(q, 1, 5)  # T_1 T_2 · ∂T_2/∂q_2 · T_3 …
    turned = np.array([arm.U(q, 5, j) for j in range(1, 6)])
    speed, wrong_speed = (np.tensordot(rate, turned, 1) for rate in (qd, q))
    v = model.jacobian(q)[:3] @ qd
    energy = model.kinetic_energy(q, qd)
    by_traces = np.zeros(2) + 0.5 * sum(
        np.trace(arm.U(q, i, j) @ arm.inertias[i - 1] @ arm.U(q, i, k).T) * np.array([qd[j - 1] * qd[k - 1], qd[j - 1] * q[k - 1]])
        for i in range(1, 6) for j in range(1, i + 1) for k in range(1, i + 1)
    )  # fmt: skip
    weight = float(sum(-arm.inertias[p - 1][:, 3] @ (arm.product(q, 0, p).T @ np.array([0, -9.81, 0, 0])) for p in range(1, 6)))  # fmt: skip
    level = abs(weight - float(model.potential_energy(q)))
    listed = (
        Erratum("(3.2)", "total derivatives `frac{d L}{d dot{q}_i}`, `frac{d L}{d "
                         "q_i}`", "partial "
                                  "derivatives", "the equations by partial derivatives against Newton–Euler; a total derivative by `q_i` is not defined",
                None, right, EXACT),
        Erratum("(3.7), "
                "(3.8)", "entry (2,3) is `sin alpha_i cos "
                         "theta_i`", "`-sin alpha_i cos "
                                     "theta_i`", "the matrix of a twisted joint against four elementary "
                                                 "motions", float(np.abs(printed_T[:, 2] - true[:, 2]).max()),
                float(np.abs(T[:, 2] - true[:, 2]).max()), 1e-14),
        Erratum("(3.8)", "entry (2,4) is `a_i cos "
                         "theta_i`", "`a_i sin "
                                     "theta_i`", "the same matrix, its last "
                                                 "column", float(np.abs(printed_T[:, 3] - true[:, 3]).max()), float(np.abs(T[:, 3] - true[:, 3]).max()), 1e-14),
        Erratum("(3.8), last "
                "row", "`0, 0, "
                       "1`", "`0, 0, 0, "
                             "1`", "three entries in a row of four; with the fourth the matrix is that of four elementary "
                                   "motions", None, float(np.abs(T - true).max()), 1e-14),
        Erratum("(3.12)–(3.14)", "the matrices `Q_i` are missing; (3.9) is said to equal "
                                 "(3.13)", "`Q_{12} = -1, Q_{21} = 1` (turning), `Q_{34} = 1` (sliding); (3.9) equals (3.15)",
                "`Q T` against (3.9) for a twisted joint", None, float(np.abs(Q @ T - derivative_by_angle(THETA, A, ALPHA)).max()), 1e-14),
        Erratum("(3.17)", "a factor `T_j^{j-1}` before `frac{partial T_j^{j-1}}{partial "
                          "q_j}`", "without it", "`frac{partial T_5^0}{partial q_2}` by both, against differences",
                float(np.abs(doubled - slope).max()), float(np.abs(arm.U(q, 5, 2) - slope).max()), 1e-8),
        Erratum("(3.18)", "`frac{partial T_i^0}{partial "
                          "q_i}`", "`frac{partial T_i^0}{partial "
                                   "q_j}`", "i = 5, j = 2 by both, against differences", float(np.abs(arm.U(q, 5, 5) - slope).max()),
                float(np.abs(arm.U(q, 5, 2) - slope).max()), 1e-8),
        Erratum("(3.19), "
                "(3.24)–(3.29)", "`T_i^{j-i}`", "`T_i^{j-1}`", "j − i is no frame for j < i; corrected, the velocity of the tip against the "
                    "Jacobian", None, float(np.abs(speed[:3, 3] - v).max()), EXACT),
        Erratum("(3.19)", "`q_j`", "`dot{q}_j`", "the velocity of the tip by both, against the "
                                                 "Jacobian", float(np.abs(wrong_speed[:3, 3] - v).max()), float(np.abs(speed[:3, 3] - v).max()), EXACT),
        Erratum("(3.21)", "read as an inertia tensor, off-diagonal entries are `-int x y "
                          "dm`", "`int x_i y_i dm_i`, as in (3.20)", "four point masses: entries of (3.21) by both, against the sums (3.20)",
                float(np.abs(first - pseudo).max()), float(np.abs(second - pseudo).max()), 1e-12),
        Erratum("(3.23)", "`Trace(dot{r} "
                          "dot{r})^T`", "`Trace(dot{r} "
                                        "dot{r}^T)`", "a column times a column is not defined; corrected, the square of the speed of the tip", None,
                float(abs(np.trace(np.outer(v, v)) - v @ v)), 1e-14),
        Erratum("(3.28)", "`dot{q}_j "
                          "q_k`", "`dot{q}_j "
                                  "dot{q}_k`", "kinetic energy by both, against machine "
                                               "code", float(abs(by_traces[1] - energy)), float(abs(by_traces[0] - energy)), EXACT),
        Erratum("(3.31), (3.32), "
                "(3.37)", "`g T_i^0 bar{r}_i` with a column "
                          "`g`", "`g^T T_i^0 "
                                 "bar{r}_i`", "column times column is not defined; corrected, the potential energy against machine code", None, level, EXACT),
        Erratum("(3.34)", "`M_{ij} "
                          "dot{q}_j`", "`M_{ij} "
                                       "ddot{q}_j`", "torques at a random state by both, against "
                                                     "Newton–Euler", float(np.abs(M @ qd + h + G - tau).max()), right, EXACT),
        Erratum("(3.35)", "`Trace(U_{pj} I_i "
                          "U_{pk}^T)`", "`Trace(U_{pj} I_p "
                                        "U_{p i}^T)`", "M at the angles of Table 3.1 with `I_i` and `I_p`; with `I_i` it is not even symmetric", literal,
                float(np.abs(arm.M(at) - model.mass_matrix(at)).max()), EXACT),
        Erratum("(3.36)", "`frac{partial (d_{pk})}{partial "
                          "q_p}`", "`frac{partial U_{pj}}{partial "
                                   "q_k}`", "`d_{pk}` is defined nowhere; corrected, h against "
                                            "Newton–Euler", None, float(np.abs(h - model.bias(q, qd)).max()), EXACT),
    )  # fmt: skip
    return listed, row


def _screws(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    """The same frame by elementary motions: turn and slide along z, then along x."""

    def motion(axis: int, angle: float, way: float) -> np.ndarray:
        i, j = ((1, 2), (2, 0), (0, 1))[axis]
        T = np.eye(4)
        T[i, i] = T[j, j] = np.cos(angle)
        T[i, j], T[j, i] = -np.sin(angle), np.sin(angle)
        T[axis, 3] = way
        return T

    return motion(2, theta, d) @ motion(0, alpha, a)


def _body() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(3.21) with the entries of the inertia tensor, with positive products, and the sums (3.20), of four point masses."""
    rng = np.random.default_rng(4)
    m, r = rng.uniform(0.5, 2.0, 4), rng.normal(size=(4, 3))
    points = np.concatenate([r, np.ones((4, 1))], axis=1)
    sums = np.einsum("k,ki,kj->ij", m, points, points)
    tensor = np.einsum("k,kij->ij", m, np.array([p @ p * np.eye(3) - np.outer(p, p) for p in r]))
    out = []
    for sign in (1.0, -1.0):
        I = np.zeros((4, 4))
        I[:3, :3] = sign * tensor
        I[:3, :3][np.diag_indices(3)] = 0.5 * np.trace(tensor) - np.diag(tensor)
        I[:3, 3] = I[3, :3] = m @ r
        I[3, 3] = m.sum()
        out.append(I)
    return out[0], out[1], sums
