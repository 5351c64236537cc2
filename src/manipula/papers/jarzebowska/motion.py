"""The programmed ellipse with LuGre friction and without, figures 3 and 4 [Jarzębowska, Augustynek & Urbaś]."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

import numpy as np

import manipula as mp
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
    vector,
)
from manipula.papers.printed import evaluated, printed
from manipula.simulation.files.scenario_file import load_text
from manipula.simulation.result import Result

SMOOTH = 1e-8  # allowed difference without friction; other routes agree to 2e-11
ROUGH = 1e-6  # with friction, where |qd| has kinks as joints turn back; other routes agree to 2e-8
RUNS = {"without": "no friction", "with": "LuGre, Table 1", "exchanged": "LuGre, mu_s and mu_k exchanged"}
A, B = 0.5, 0.4  # half axes of the chosen ellipse [m]


def program() -> mp.ProgramScenario:
    """The scenario beside this file."""
    found = load_text(files("manipula.papers").joinpath("jarzebowska", "ellipse.toml").read_text(encoding="utf-8"))
    assert isinstance(found, mp.ProgramScenario)
    return found


def runs(quick: bool) -> dict[str, Result]:
    """Without friction, as the table prints it, and with the coefficients exchanged."""
    one = program().replace(sample=0.002, verify=not quick)
    swapped = [replace(law, mu_static=law.mu_kinetic, mu_kinetic=law.mu_static) for law in one.friction]
    return {
        "without": one.run(friction=False).check(), "with": one.run().check(), "exchanged": one.replace(friction=swapped).run().check(),
    }  # fmt: skip


def table_rows() -> list[CheckedRow]:
    """The scenario holds what Table 1 prints."""
    table, one = printed("jarzebowska")["table_1"], program()
    rows = []
    for name in ("mu_static", "mu_kinetic", "sigma0", "sigma1", "sigma2", "v_stribeck"):
        found = [float(getattr(law, name)) for law in one.friction]
        off = max(abs(value - float(evaluated(text, {}))) for value, text in zip(found, table[name]))
        rows.append(CheckedRow(f"{name} of the four joints", ", ".join(f"{x:g}" for x in found), off, 1e-12, ", ".join(table[name])))  # fmt: skip
    q0 = [float(x) for x in table["q0"]]
    wanted = np.array([*np.radians(q0[:3]), q0[3]])
    rows.append(agreement("initial configuration", np.array(one.q0) - wanted, 1e-12, printed="0°, 270°, 0°, 0.3 m"))
    rows.append(CheckedRow("step of the integration "
                           "[s]", f"{one.step:g}", abs(one.step - float(printed("jarzebowska")["drives"]["step"])), 0.0, "1e-4"))  # fmt: skip
    return rows


def motion(found: dict[str, Result]) -> PaperSection:
    """Figures 3 and 4, beside what other programs found."""
    data = printed("jarzebowska")
    rows = table_rows()
    for name, words in RUNS.items():
        result, close = found[name], SMOOTH if name == "without" else ROUGH
        for sample in data["recomputed"][name]:
            k = int(np.argmin(np.abs(result.t - sample["t"])))
            parts = {"q": (result.q[k], close), "qd": (result.qd[k], 10 * close), "tip": (result.tip[k], close)}
            parts["energy"] = (np.array([result.kinetic[k], result.potential[k]]).ravel(), 100 * close)
            if "friction" in sample:
                parts["friction"] = (result.friction[k], 100 * close)
            for signal, (value, tolerance) in parts.items():
                label = {"energy": "kinetic and potential energy [J]"}.get(signal, signal)
                rows.append(vector(f"{label}({sample['t']:g} s), {words}", value, corrected=sample[signal], tolerance=tolerance))  # fmt: skip
        rows += [
            agreement(f"the tip keeps to the program, {words}", result.residual, 1e-12, "both constraints (9)"),
            agreement(f"work and energy, {words} [J]", result.audit, 1e-9, "drives, friction and constraints"),
        ]  # fmt: skip
    both = program().replace(sample=0.1, verify=False, formulation="multipliers", independent=None)
    for name, friction in (("without", False), ("with", True)):
        other = both.run(friction=friction)
        at = np.searchsorted(found[name].t, other.t - 1e-9)
        rows.append(agreement(f"reduced equations against multipliers, "
                              f"{RUNS[name]}", found[name].q[at] - other.q, SMOOTH if name == "without" else ROUGH, "two formulations"))  # fmt: skip
    slow = float(found["with"].q[-1, 0]), float(found["without"].q[-1, 0])
    rows.append(CheckedRow("friction slows link 1, as the paper observes [rad after 3 "
                           "s]", f"{slow[0]:.3f}", max(0.0, slow[0] - slow[1]), 0.0, "introduces additional resistance", f"below {slow[1]:.3f}"))  # fmt: skip
    coordinates = (("psi1", "rad"), ("psi2", "rad"), ("psi3", "rad"), ("z4", "m"))
    pair = [(name, found[name]) for name in ("without", "with")]
    fig3 = tuple(
        PaperChart(f"{label}", tuple(ChartLine(RUNS[name], r.t, r.q[:, i], i, k) for k, (name, r) in enumerate(pair)), ((label, unit),))
        for i, (label, unit) in enumerate(coordinates)
    )  # fmt: skip
    path = tuple(ChartLine(RUNS[name], r.tip[:, 0], r.tip[:, 1], k, k) for k, (name, r) in enumerate(pair))
    height = tuple(ChartLine(RUNS[name], r.t, r.tip[:, 2], k, k) for k, (name, r) in enumerate(pair))
    table = data["table_1"]
    symbols = {
        "q0": "`q` at t = 0 [deg, m]", "mu_static": "`mu_s`", "mu_kinetic": "`mu_k`", "sigma0": "`sigma_0` [N·m/rad, N/m]",
        "sigma1": "`sigma_1` [N·m·s/rad, N·s/m]", "sigma2": "`sigma_2`", "v_stribeck": "`dot{q}_s` [rad/s, m/s]",
    }  # fmt: skip
    cells = tuple(
        (words, *(f"`{x}`".replace("sqrt(", "sqrt{").replace(")", "}") for x in table[name]))
        for name, words in symbols.items()
    )
    blocks = (
        Words("The tip is programmed to an ellipse in a horizontal plane; a constant torque drives link 1, a flexible drive turns link 3 by 90°. Geometry, "
              "masses, ellipse and the motion of the motor are not printed: "
              "they are chosen, with the catalog's 'jarzebowska-4'."),
        Formulas(tuple(f'"{key}  " {text}' for key, text in data["equations"].items()), "The program and the friction, as printed"),
        PaperTable(("*", "Link 1", "Link 2", "Link 3", "Link 4"), cells, "Table 1"),
        Figure("Fig. 3. Time courses of the joint coordinates", fig3, small=True),
        Figure("Fig. 4. The trajectory and z coordinate of the "
               "end-effector", (PaperChart("Trajectory", path, (("y", "m"),), ("x", "m")), PaperChart("z of the "
                   "end-effector", height, (("z", "m"),))), small=True),
    )  # fmt: skip
    return PaperSection("The programmed ellipse, with friction and without", blocks, tuple(rows))
