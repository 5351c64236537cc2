r"""Performance criteria of redundant arms, and the smallest torques of every instant [Žlajpah, whose reference 5 computes them].

The torques of an instant are least where, among the accelerations with :math:`J\ddot q = a`,

.. math:: \ddot q = \ddot q_p + Nz,\qquad z = -(HN)^+(H\ddot q_p + h + g)

with N a basis of the null space of J [Hollerbach & Suh 1987].
"""

from __future__ import annotations

from typing import Any

import numpy as np

import manipula as mp
from manipula import control
from manipula.papers.base import (
    ChartLine,
    CheckedRow,
    Figure,
    Formulas,
    PaperChart,
    PaperSection,
    PaperTable,
    Words,
    agreement,
)
from manipula.papers.printed import printed
from manipula.papers.zlajpah.examples import GAINS, line_scenario
from manipula.redundancy.arm import Arm
from manipula.redundancy.null_space import Criterion, Manipulability, MinimumTorque, Posture
from manipula.simulation.result import Result

TIP = 1e-9  # m: what the null space may do to the tip
SLOPE = 1e-6
MOVES = (("short", 0.05, 0.3), ("longer", 0.1, 0.4))  # metres, seconds


def criteria() -> dict[str, Criterion]:
    """What the null space is used for; gains by eye."""
    q0 = printed("zlajpah")["recomputed"]["line"]["zero_initial_error"]["q0"]
    return {
        "manipulability": Manipulability(gain=20.0),
        "torque of holding": MinimumTorque(gain=0.05),
        "distance from the first posture": Posture(goal=q0, gain=20.0),
    }


def measures(q: np.ndarray) -> dict[str, np.ndarray]:
    """Criteria of the literature along a motion q (S, 5): each a number per posture."""
    model = mp.compile(mp.load("zlajpah-5r"))
    J, H = model.jacobian(q)[:, :2], model.mass_matrix(q)
    singular = np.linalg.svd(J, compute_uv=False)
    mobility = np.linalg.eigvalsh(J @ np.linalg.inv(H) @ J.transpose(0, 2, 1))
    return {
        "manipulability √det JJᵀ": np.sqrt(np.linalg.det(J @ J.transpose(0, 2, 1))),
        "condition number of J": singular[:, 0] / singular[:, 1],
        "least singular value of J": singular[:, 1],
        "torque of holding |g| [N·m]": np.linalg.norm(model.gravity(q), axis=1),
        "largest effective mass at the tip [kg]": 1.0 / mobility[:, 0],
    }


def performance(runs: dict[str, Result]) -> PaperSection:
    """Criteria along the line, and the line again with each of them in the null space."""
    q0 = printed("zlajpah")["recomputed"]["line"]["zero_initial_error"]["q0"]
    plain, damped = runs["zero_initial_error"], {}
    found = measures(plain.q)
    robot = line_scenario(q0).robot
    model, arm = mp.compile(robot), Arm(robot)
    own = mp.manipulability(model, plain.q)
    rows = [
        agreement("manipulability along the line, `sqrt{det(J J^T)}` against the singular "
                  "values", own.manipulability - found["manipulability √det JJᵀ"], 1e-12),
        agreement("condition number of J along the line", own.condition - found["condition number of J"], 1e-12),
    ]  # fmt: skip
    used = {"none": (), **{name: (c,) for name, c in criteria().items()}}
    for name, listed in used.items():
        law = control.TaskSpaceComputedTorque(*GAINS, null_damping=5.0, criteria=listed)
        damped[name] = mp.simulate(line_scenario(q0, controller=law, sample=0.01)).check()
    table = []
    for name, criterion in criteria().items():
        run, without = damped[name], damped["none"]
        costs = [float(criterion.cost(arm, r.q[-1])) for r in (without, run)]
        q, step = plain.q[len(plain.q) // 2], 1e-6
        ahead = np.array([criterion.cost(arm, q + step * e) - criterion.cost(arm, q - step * e) for e in np.eye(5)])
        slope = criterion.direction(arm, q) + criterion.gain * ahead.astype(float) / (2 * step)
        rows += [
            agreement(f"{name}: its gradient against "
                      f"differences", slope, SLOPE * max(1.0, float(np.abs(criterion.direction(arm, q)).max())), "Taylor numbers, exact"),
            agreement(f"{name}: the tip does not feel it [m]", run.error, TIP, "it acts in the null space of J"),
            CheckedRow(f"{name}: the cost at the end is smaller with "
                       f"it", f"{costs[1]:.6g}", max(0.0, costs[1] - costs[0]), 0.0, corrected=f"at most {costs[0]:.6g}, without"),
        ]  # fmt: skip
        table.append((name, f"{costs[0]:.5g}", f"{costs[1]:.5g}", f"{np.abs(run.tau).max():.4g}"))
    lines = tuple(
        ChartLine(name, run.t, measures(run.q)["manipulability √det JJᵀ"], k, k) for k, (name, run) in enumerate(damped.items())
    )  # fmt: skip
    held = tuple(
        ChartLine(name, run.t, measures(run.q)["torque of holding |g| [N·m]"], k, k) for k, (name, run) in enumerate(damped.items())
    )  # fmt: skip
    at = [0, len(plain.t) // 3, len(plain.t) - 1]
    values = tuple((name, *(f"{v[k]:.5g}" for k in at)) for name, v in found.items())
    blocks = (
        Words("The paper's package computes performance criteria of n-R arms; its text refers to another one for them. Those of the literature, along the "
              "line and as second task in the "
              "null space of the first (with `z = -k nabla w - 5 dot{q}`):"),
        Formulas(("tau = H (J^dagger (ddot{x}_r + K_v dot{e} + K_p e - dot{J} dot{q}) + (1 - J^dagger J) z) + h + B dot{q} + g",)),
        PaperTable(("*Criterion along the line, (16)", *(f"t = {plain.t[k]:.3g} s" for k in at)), values),
        PaperTable(("*Second task", "Cost at the end without it", "With it", "Largest torque [N·m]"), tuple(table)),
        Figure("The line with a second task", (PaperChart("Manipulability", lines, (("w", ""),)), PaperChart("Torque of holding", held, (("|g|", "N·m"),)))),
    )  # fmt: skip
    return PaperSection("Performance criteria of redundant arms", blocks, tuple(rows))


def least_torque() -> PaperSection:
    """The smallest torques of every instant: they pay on a short move, and take their revenge on a longer one."""
    robot = mp.load("zlajpah-5r")
    model = mp.compile(robot)
    q0 = np.array(printed("zlajpah")["recomputed"]["line"]["zero_initial_error"]["q0"])
    start = model.position(q0)
    laws = {
        "pseudoinverse (16)": control.TaskSpaceComputedTorque(*GAINS),
        "least torque": control.TaskPriorities((control.FramePosition(), control.LeastTorque())),
    }
    rows, charts, cells = [], [], []
    for words, way, duration in MOVES:
        path = mp.paths.line(start, start + way * np.array([-0.5, 0.6, 0.0]) / np.hypot(0.5, 0.6))
        reference = mp.trajectory(path, mp.timing.quintic(duration))
        runs = {}
        for name, law in laws.items():
            scenario = mp.Scenario(robot, reference, controller=law, q0=q0, integrator="rk4", step=1e-4, sample=1e-3, friction=(), verify=False)  # fmt: skip
            runs[name] = mp.simulate(scenario)
        sizes = {name: np.linalg.norm(r.tau, axis=1) for name, r in runs.items()}
        for name, r in runs.items():
            cells.append(
                (words, name, f"{sizes[name][0]:.4g}", f"{sizes[name].max():.4g}", f"{np.abs(r.qd).max():.3g}")
            )
        charts.append(
            PaperChart(f"|τ| on the {words} move: {way:g} m in {duration:g} s", tuple(
                ChartLine(name, r.t, sizes[name], k, k) for k, (name, r) in enumerate(runs.items())), (("|tau|", "N·m"),), ("t", "s"), log=True)
        )  # fmt: skip
        least, usual = (float(sizes[name].max()) for name in ("least torque", "pseudoinverse (16)"))
        rows.append(
            CheckedRow(f"{words} move: largest |tau| with the smallest torques of every instant [N·m]", f"{least:.5g}",
                       max(0.0, least - usual if words == "short" else usual - least), 0.0,
                       corrected=f"{'below' if words == 'short' else 'above'} {usual:.5g} of the pseudoinverse",
                       remark="Hollerbach and Suh: it saves on short moves and whips on long ones")
        )  # fmt: skip
        if words == "short":
            rows.append(_optimal(model, runs["least torque"], reference))
    blocks = (
        Words("The paper's reference 5 generates motions of least joint torque. The smallest torques of every single instant are a bargain only for a moment: "
              "the null-space speeds that nobody "
              "asked for grow until the arm whips. How high the last spikes reach depends on the steps; that they exceed the pseudoinverse does not."),
        Formulas(("min |H ddot{q} + h + g|^2 \" subject to \" J ddot{q} = ddot{x}_r + K_v dot{e} + K_p e - dot{J} dot{q}",)),
        PaperTable(("*Move", "*Control", "|τ| at the start [N·m]", "Largest |τ| [N·m]", "Largest joint speed [rad/s]"), tuple(cells)),
        Figure("Local torque minimisation", tuple(charts)),
    )  # fmt: skip
    return PaperSection("Smallest torques of every instant", blocks, tuple(rows))


def _optimal(model: mp.Model, result: Result, reference: Any) -> CheckedRow:
    """The torques of the run against the least-squares problem solved by NumPy at every sample."""
    worst = 0.0
    for k in range(0, len(result.t), 20):
        q, qd = result.q[k], result.qd[k]
        J = model.jacobian(q)[:2]
        wanted = reference.acceleration(result.t[k])[:2] - model.jacobian_rate(q, qd)[:2] @ qd
        H, rest = model.mass_matrix(q), model.nonlinear_effects(q, qd)
        N = np.linalg.svd(J)[2][2:].T
        one = np.linalg.pinv(J) @ wanted
        qdd = one + N @ np.linalg.lstsq(H @ N, -(H @ one + rest), rcond=None)[0]
        worst = max(worst, float(np.abs(H @ qdd + rest - result.tau[k]).max()))
    return agreement("torques of the run against a least-squares problem per instant [N·m]", worst, 1e-7, "NumPy, along the short move")  # fmt: skip
