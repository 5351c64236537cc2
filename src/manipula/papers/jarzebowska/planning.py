"""What reference dynamics is for: vibration, power, jerk, feasibility, a library of models, tracking under friction [Jarzębowska, Augustynek & Urbaś]."""

from __future__ import annotations

import os
import tempfile

import numpy as np
from scipy.integrate import cumulative_simpson

import manipula as mp
from manipula.analysis.vibration import fast_part
from manipula.papers.base import ChartLine, CheckedRow, Figure, PaperChart, PaperSection, PaperTable, Words, agreement
from manipula.papers.jarzebowska.motion import RUNS, program
from manipula.simulation.files import library
from manipula.simulation.result import Result

CUTOFF = 15.0  # Hz: the program turns link 3 within 2 s, its drive swings at 40 Hz
SECONDS = ((0.05, 1.0), (1.0, 2.0), (2.0, 2.95))  # away from the ends, where a filter knows one side only


def vibration(found: dict[str, Result]) -> PaperSection:
    """The fast part of psi3 with friction and without: the paper's claim holds in the first second of the chosen arm only."""
    lines, table, rms = [], [], {}
    for k, name in enumerate(("without", "with")):
        result = found[name]
        fast = fast_part(result.t, result.q[:, 2], CUTOFF)
        lines.append(ChartLine(RUNS[name], result.t, fast, k))
        rms[name] = [float(np.sqrt(np.mean(fast[(result.t >= a) & (result.t <= b)] ** 2))) for a, b in SECONDS]
    for (a, b), one, two in zip(SECONDS, rms["without"], rms["with"]):
        table.append((f"{a:g} … {b:g} s", f"{one:.2e}", f"{two:.2e}", "smaller" if two < one else "larger"))
    first, later = rms["with"][0] < rms["without"][0], all(b > a for a, b in zip(rms["without"][1:], rms["with"][1:]))
    rows = (
        CheckedRow("fast part of psi3 in the first second, rms with friction "
                   "[rad]", f"{rms['with'][0]:.2e}", float(not first), 0.0, "friction reduces vibrations", f"below {rms['without'][0]:.2e}"),
        CheckedRow("fast part of psi3 after the first second is larger with "
                   "friction", "larger" if later else "smaller", float(not later), 0.0, "friction reduces vibrations", "larger, in this geometry",
                   "other programs found the same: the claim depends on the geometry that is not printed"),
    )  # fmt: skip
    blocks = (
        Words(f"The flexible drive makes link 3 swing. What is faster than {CUTOFF:g} Hz in psi3 is cut out (a filter without phase shift) and measured "
              f"second by second. The paper says that friction reduces this vibration; "
              "with the chosen arm it does so in the first second and not later."),
        PaperTable(("*Time", "rms without friction [rad]", "rms with friction [rad]", "*With friction"), tuple(table)),
        Figure("Vibration of link 3", (PaperChart("Fast part of psi3", tuple(lines), (("psi3", "rad"),)),)),
    )  # fmt: skip
    return PaperSection("Vibration", blocks, rows)


def power_and_jerk(found: dict[str, Result]) -> PaperSection:
    """Power that the drives need, the jerk of joints and tip, and whether stated limits are kept."""
    rows, powers = [], []
    for name in ("without", "with"):
        result = found[name]
        report = mp.power_report(result)
        powers.append((RUNS[name], *(f"{x:.1f}" for x in report.peak), f"{report.peak_total:.1f}", f"{report.total:.1f}"))  # fmt: skip
        rows.append(agreement(f"power against torque times speed, {RUNS[name]} [W]", result.power - result.tau * result.qd, 1e-9))  # fmt: skip
    loss = float(-np.asarray(found["with"].work_friction).ravel()[-1])
    lost = np.trapezoid((found["with"].friction * found["with"].qd).sum(axis=1), found["with"].t)
    rows.append(agreement("energy lost in friction against the integral of its power "
                          "[J]", (abs(loss) - lost) / abs(loss), 1e-3, f"{abs(loss):.3f} J in 3 s; trapezes at 2 ms", computed=f"{abs(loss):.4g}"))  # fmt: skip
    short = program().replace(duration=1.0, sample=1e-3, verify=False).run(friction=False)
    jerk = short.jerk()
    summed = cumulative_simpson(jerk.values, x=short.t, axis=0, initial=0.0)
    rows.append(agreement("jerk of the joints, integrated, against their accelerations, "
                          "relative", (short.qdd - short.qdd[0] - summed) / np.abs(short.qdd).max(axis=0), 1e-3, "exact derivatives of the flow; Simpson's "
                              "rule at 1 ms"))  # fmt: skip
    tip = short.jerk("tip")
    limits = {"velocity": [5.0, 5.0, 2.0, 1.0], "torque": [60.0, 120.0, 60.0, 60.0]}
    judged = [(RUNS[name], mp.feasibility(found[name], limits)) for name in ("without", "with")]
    table = []
    for words, verdict in judged:
        table.append(
            (
                words,
                "feasible" if verdict.feasible else "not feasible",
                verdict.reason.partition(". ")[0].rstrip(".") + ".",
            )
        )
    told = {True: "feasible", False: "not feasible"}
    for name, (words, verdict) in zip(("without", "with"), judged):
        peaks = np.abs(found[name].qd).max(axis=0) <= np.array(limits["velocity"])
        loads = np.abs(found[name].tau).max(axis=0) <= np.array(limits["torque"])
        kept = bool(peaks.all() and loads.all())
        off = float(bool(verdict.feasible) != kept)
        remark = "against the largest speeds and torques of all samples"
        rows.append(
            CheckedRow(
                f"stated limits, {words}", told[bool(verdict.feasible)], off, 0.0, corrected=told[kept], remark=remark
            )
        )
    jerks = tuple(ChartLine(name, short.t, jerk.values[:, i], i, axis=int(i == 3)) for i, name in enumerate(("psi1", "psi2", "psi3", "z4")))  # fmt: skip
    of_tip = tuple(ChartLine(axis, short.t, tip.values[:, i], i) for i, axis in enumerate("xyz"))
    power = tuple(ChartLine(RUNS[name], found[name].t, found[name].power.sum(axis=1), 0, k) for k, name in enumerate(("without", "with")))  # fmt: skip
    blocks = (
        Words("Reference dynamics answers before the machine moves: which power the drives must give, which speeds, accelerations and jerks any point has, "
              "whether limits are kept (the limits are chosen)."),
        PaperTable(("*Run", ("Peak psi1 "
                            "[W]"), ("psi2 "
                                   "[W]"), "psi3 [W]", "z4 [W]", "Peak of the sum [W]", "Energy taken [J]"), tuple(powers), "Power that realises the motion"),
        Figure("Power and "
               "jerk", (PaperChart("Power of all "
                                   "joints", power, (("P", "W"),)), PaperChart("Jerk of the joints, no "
                                       "friction", jerks, (("jerk", "rad/s³"), ("jerk", "m/s³")), ("t", "s")),
                                  PaperChart("Jerk of the tip, no friction", of_tip, (("jerk", "m/s³"),), ("t", "s"))), small=True),
        PaperTable(("*Run", "*Verdict", "*Reason"), tuple(table), "Speeds up to 5, 5, 2 rad/s and 1 m/s; torques up to 60, 120, 60 N·m and 60 N"),
    )  # fmt: skip
    return PaperSection("Power, jerk and feasibility", blocks, tuple(rows))


def reference_library() -> PaperSection:
    """A library of reference models: stored under a name, reloaded equal, run with other parameters."""
    before = os.environ.get("MANIPULA_LIBRARY")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MANIPULA_LIBRARY"] = folder
        try:
            stored = program().replace(duration=0.5, sample=0.01, verify=False)
            library.add("ellipse", stored, prepare=False)
            again, names = library.load("ellipse"), library.names()
            first, second = stored.run(friction=False), again.run(friction=False)
            other = again.with_parameters({"a": 0.45, "height": 0.12}).replace(start="project").run(friction=False)
        finally:
            if before is None:
                del os.environ["MANIPULA_LIBRARY"]
            else:
                os.environ["MANIPULA_LIBRARY"] = before
    x, y, z = other.tip.T
    rows = (
        CheckedRow("names in the library", ", ".join(names), float(names != ("ellipse",)), 0.0, corrected="ellipse"),
        agreement("a reloaded model runs as the one that was stored", first.q - second.q, 0.0, "bit by bit"),
        agreement("the same model with a = 0.45 m and z = 0.12 m obeys its new "
                  "program", np.concatenate([(x / 0.45) ** 2 + (y / 0.4) ** 2 - 1.0, z - 0.12]), 1e-12),
    )  # fmt: skip
    blocks = (
        Words("'manipula library add ellipse program.toml' derives, compiles and stores a reference model; 'manipula library run ellipse --set a=0.45' runs "
              "it with another ellipse: nothing is derived again."),
        PaperTable(("*Command", ("*What it "
                                "does")), ((("manipula library add NAME "
                                           "FILE"), "derive, compile and keep"), ("manipula library list, show NAME, remove NAME", "look after them"),
                                                  ("manipula library run NAME --set a=0.45", "run with other parameters"))),
    )  # fmt: skip
    return PaperSection("Library of reference models", blocks, rows)


def tracking() -> PaperSection:
    """The program realised by a controller on the arm itself: friction acts, and is compensated or not."""
    one = program().replace(duration=1.0, sample=0.01, verify=False)
    errors, rows = {}, []
    for words, compensated in (("friction not compensated", False), ("friction compensated", True)):
        result = mp.simulate(one.realised(compensated=compensated, verify=False))
        errors[words] = (result.t, np.abs(result.error))
        rows.append(CheckedRow(f"run with {words}", result.status, float(result.status != "finished"), 0.0, corrected="finished"))  # fmt: skip
    worst = {words: float(e.max()) for words, (_, e) in errors.items()}
    rows.append(agreement("largest joint error with compensation [rad or "
                          "m]", worst["friction compensated"], 1e-6, "LuGre friction of Table 1 in every joint"))  # fmt: skip
    rows.append(CheckedRow("largest joint error without compensation [rad or "
                           "m]", f"{worst['friction not compensated']:.3g}", float(worst["friction not "
                               "compensated"] < 100 * worst["friction compensated"]), 0.0, corrected="more than a hundred times larger"))  # fmt: skip
    lines = tuple(ChartLine(words, t, np.maximum(e.max(axis=1), 1e-16), k) for k, (words, (t, e)) in enumerate(errors.items()))  # fmt: skip
    cells = tuple((words, *(f"{1e3 * x:.2g}" for x in e.max(axis=0))) for words, (_, e) in errors.items())
    blocks = (
        Words("The motion becomes the reference of a controller on an arm that no constraint holds: torques of drives and multipliers fed forward, `M(q) (K_p "
              "e + K_v dot{e})` around them. LuGre friction acts in every joint; "
              "it is left out of the torques, or fed forward too."),
        PaperTable(("*Largest errors over 1 s", "psi1 [mrad]", "psi2 [mrad]", "psi3 [mrad]", "z4 [mm]"), cells),
        Figure("Tracking under friction", (PaperChart("Largest joint error", lines, (("|e|", "rad or m"),), ("t", "s"), log=True),)),
    )  # fmt: skip
    return PaperSection("Tracking of the motion under friction", blocks, tuple(rows))
