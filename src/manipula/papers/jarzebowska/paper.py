"""Jarzębowska, Augustynek & Urbaś from the equations to tracking."""

from __future__ import annotations

import numpy as np

import manipula as mp
from manipula.papers.base import Erratum, Formulas, PaperSection, Reproduction, Words, agreement, number, vector
from manipula.papers.jarzebowska import planning
from manipula.papers.jarzebowska.gpme import TracedArm
from manipula.papers.jarzebowska.motion import RUNS, A, B, motion, program, runs
from manipula.papers.printed import paper_info, printed
from manipula.physics.reactions import normal_forces

EXACT = 1e-11  # other programs agree to 3e-14 at single states
OPEN = (
    "The paper shows plots only, and they are not part of the text that is at hand: no curve can be compared.",
    ("Not printed: geometry, DH rows, masses, inertias, tip, ellipse, height, joint diameters, motion of the motor, initial rates, duration. All are chosen; "
    "agreement is with other programs, not with the authors."),
    ("Table 1 has `mu_k = 0.2` above `mu_s = 0.1`, an inverted Stribeck effect; the labels are probably exchanged. Both readings are run. `sigma_0` has units "
    "of torque although `mu` has none."),
    ("`f_n` depends on the accelerations that friction changes: an algebraic loop that the paper does not mention; it is solved in every evaluation. The "
    "length of the prismatic guide is not given, its moment is left out."),
    "Whether the reaction of the program loads the joints is not said; it does not here, because the drives realise the program.",
    "`z^{(4)}` is both a joint coordinate and the deflection of a bristle.",
    ("The claim that friction reduces the vibration of link 3 is not confirmed after the first second with the chosen geometry; it depends on the one that is "
    "not printed."),
    "With the printed `h` other programs lose 25.5 J within 1.5 s of this motion; that run is not repeated here, the formula is evaluated at random states.",
)  # fmt: skip


def equations(arm: TracedArm) -> PaperSection:
    """M, h, g, C, d, u, v and the accelerations at two states, beside other programs and this package."""
    robot = program().robot
    model = mp.compile(robot)
    rows = []
    for k, state in enumerate(printed("jarzebowska")["recomputed"]["states"], 1):
        q, qd, Q = (np.array(state[key]) for key in ("q", "qd", "Q_applied"))
        u, v = arm.ellipse(q, qd, A, B)
        qdd = arm.acceleration(q, qd, Q, A, B)
        K_d, K_i = arm.K(q, A, B)
        flat = lambda key, s=state: [text for line in s[key] for text in line]  # noqa: E731
        parts = {
            "tip": (arm.tip(q), state["tip"]), "M": (arm.M(q), flat("M")), "h, on the left": (-arm.h(q, qd), state["h"]),
            "g": (arm.g(q), state["g"]), "C": (arm.C(q), flat("C")), "d": (arm.d(q, qd), state["d"]), "u": (u, state["u"]),
            "`partial dot{q}_d / partial dot{q}_i`": (-np.linalg.solve(K_d, K_i), flat("dqd_dep_dqd_ind")),
            "accelerations by (12)": (qdd, state["qdd"]), "normal forces": (normal_forces(robot, q, qd, qdd), state["normal"]),
        }  # fmt: skip
        rows += [vector(f"{name}, state {k}", value, corrected=text, tolerance=10 * EXACT) for name, (value, text) in parts.items()]  # fmt: skip
        rows.append(number(f"v, state {k}", v, corrected=state["v"], tolerance=10 * EXACT))
        rows.append(
            agreement(
                f"M, h and g against machine code, state {k}",
                max(
                    float(np.abs(x).max())
                    for x in (
                        arm.M(q) - model.mass_matrix(q),
                        -arm.h(q, qd) - model.bias(q, qd),
                        arm.g(q) - model.gravity(q),
                    )
                ),
                EXACT,
            )
        )
        x, y, _ = arm.tip(q)
        rate = arm.C(q) @ qd
        rows.append(agreement(f"`2 u dot{{q}}` is the rate of `Phi_1`, state "
                              f"{k}", 2 * u @ qd - (2 * x * rate[0] / A**2 + 2 * y * rate[1] / B**2), 1e-13))  # fmt: skip
    lines = (
        "m_{ij} = sum_l tr(T_i^{(l)} H^{(l)} T_j^{{(l)}T})",
        "h_i = -sum_l sum_m sum_n tr(T_i^{(l)} H^{(l)} T_{mn}^{{(l)}T}) dot{q}_m dot{q}_n",
        "g_i = sum_l m^{(l)} g J_3 T_i^{(l)} r_C^{(l)}",
        "K_d = matrix{u_2, u_4; c_{32}, c_{34}}, K_i = matrix{u_1, u_3; c_{31}, c_{33}}",
        (
            "matrix{M_i + sum_j M_j frac{partial dot{q}_j}{partial dot{q}_i}; u; C_3} ddot{q} = matrix{h_i + Q_i + sum_k (h_k + Q_k) frac{partial "
            "dot{q}_k}{partial dot{q}_i}; -v; -d_3}"
        ),
    )
    blocks = (
        Words("The generalised programmed motion equations: two reduced equations for the independent coordinates psi1 and psi3, two rows for the program. "
              "Everything is evaluated by traces of 4×4 matrices as the paper writes it."),
        Formulas(lines, "(12), corrected"),
    )  # fmt: skip
    return PaperSection("The equations at single states", blocks, tuple(rows))


def errata(arm: TracedArm) -> tuple[Erratum, ...]:
    """Each as printed and corrected, at random states."""
    model = mp.compile(program().robot)
    rng = np.random.default_rng(5)
    q, qd = rng.normal(size=(2, 4))
    bias, M, g = model.bias(q, qd), model.mass_matrix(q), model.gravity(q)
    off = lambda a, b: float(np.abs(np.asarray(a) - b).max())  # noqa: E731
    right_h = off(-arm.h(q, qd), bias)
    start = np.array(program().q0)
    pushed = {sign: arm.acceleration(start, np.zeros(4), np.array([sign * 20.0, 0.0, 0.0, 0.0]), A, B)[0] for sign in (1, -1)}  # fmt: skip
    forward = program().replace(duration=1e-3, sample=1e-3, verify=False).run(friction=False).qdd[0, 0]
    states = [np.array(s["q"]) for s in printed("jarzebowska")["recomputed"]["states"]]
    singular = max(abs(np.linalg.det(arm.K(x, A, B, as_printed=True)[0])) for x in [start, *states])
    K_d, K_i = arm.K(q, A, B)
    whole = np.zeros(4)
    whole[[0, 2]] = qd[[0, 2]]
    whole[[1, 3]] = -np.linalg.solve(K_d, K_i @ qd[[0, 2]])
    u, _ = arm.ellipse(q, qd, A, B)
    kept = max(abs(float(u @ whole)), abs(float(arm.C(q)[2] @ whole)))
    damping = 0.7
    friction = -damping * qd
    return (
        Erratum("h_i", "`sum tr(T_m H T_{mn}^T) dot{q}_m dot{q}_n` and `2 sum tr(T_m H T_{i n}^T) dot{q}_m dot{q}_n`, "
                       "added", "`-sum tr(T_i H T_{mn}^T) dot{q}_m dot{q}_n`",
                "velocity terms at a random state by both, against Newton–Euler", off(-arm.h(q, qd, "printed"), bias), right_h, EXACT),
        Erratum("h_i, first index read as i", "the same with `T_i` in the first sum, the literal derivative of `R_1`",
                "the velocities inside `-2 sum frac{partial E_k}{partial q} dot{q}` are held "
                "fixed", "at the same state", off(-arm.h(q, qd, "index"), bias), right_h, EXACT),
        Erratum("(12), behind "
                "Q_i", "`+ sum_j dot{q}_j frac{partial Q_j}{partial "
                       "dot{q}_i}`", "nothing", "viscous friction `Q = -b dot{q}`: with the sum it is `-2 b dot{q}`, against its law",
                off(friction + qd * -damping, friction), off(friction, -damping * qd), EXACT),
        Erratum("(11), K_d and K_i", "second rows `c_{12}, c_{14}` and `c_{11}, c_{13}`", "`c_{32}, c_{34}` and `c_{31}, c_{33}`",
                f"as printed the determinant of `K_d` is 0 (at most {singular:.0e} at three states), so that it has no inverse; corrected, the velocities "
                f"obey both constraints", None, kept, 1e-10),
        Erratum("E_p, "
                "g_i", "`J_1`: x is "
                       "vertical", "`J_3`: the plane of the ellipse is "
                                   "horizontal", "torques of gravity at a random state by both", off(arm.g(q, 0), g), off(arm.g(q), g), EXACT),
        Erratum("T_i", "`frac{partial^2 T}{partial "
                       "q_i}`", "`frac{partial T}{partial "
                                "q_i}`", "mass matrix with second and with first derivatives", off(arm.M(q, as_printed=True), M), off(arm.M(q), M), EXACT),
        Erratum("Q = −(g + t + f)", "`t_1 = 20`, which brakes: psi1 turns backwards", "`Q_1 = +20`",
                "first acceleration of psi1 with both signs, against the programmed motion with a drive of 20 "
                "N·m", abs(pushed[-1] - forward), abs(pushed[1] - forward), 1e-9),
    )  # fmt: skip


def reproduce(quick: bool = False) -> Reproduction:
    """Run everything that the paper shows."""
    arm = TracedArm(program().robot)
    found = runs(quick)
    sections = (
        equations(arm), motion(found), planning.vibration(found), planning.power_and_jerk(found), planning.reference_library(), planning.tracking(),
    )  # fmt: skip
    named = tuple((RUNS[name], found[name]) for name in ("without", "with"))
    return Reproduction(paper_info("jarzebowska"), sections, errata(arm), named, OPEN)
