"""What a report says in words and numbers: status, key numbers, robot, doctor, settings."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from manipula.errors import printable
from manipula.reports.key_numbers import peak, shown
from manipula.reports.page import chip, text
from manipula.reports.page import table as html_table
from manipula.reports.source import names_of, prismatic, summary, typeset, unit_of, verified
from manipula.robot.doctor import doctor
from manipula.robot.robot import Robot
from manipula.simulation.limit_checks import SLIDING, TURNING
from manipula.simulation.provenance import acting
from manipula.simulation.result import Result

# status → tone, plain words
WORDS = {
    "finished": ("good", "Finished: the numbers can be trusted."),
    "inaccurate": ("fair", "Finished, but the numbers are less exact than asked for."),
    "limit": ("fair", "Stopped where a joint limit was reached."),
    "singular": ("bad", "Stopped: the equations became singular."),
    "diverged": ("bad", "Failed: the motion ran away."),
    "not_finite": ("bad", "Failed: a value is no longer a finite number."),
    "step_too_small": ("bad", "Failed: the integrator could not keep its tolerance with any step."),
    "failed": ("bad", "Failed."),
}
ICONS = {
    "good": '<path d="M8 12.5l2.7 2.7L16.5 9"/>',
    "fair": '<path d="M12 7.2v6M12 16.6v.2"/>',
    "bad": '<path d="M8.8 8.8l6.4 6.4M15.2 8.8l-6.4 6.4"/>',
}
KINDS = {
    "dynamic": "closed loop", "free": "free motion", "kinematic": "kinematic closed loop", "inverse_dynamics": "inverse dynamics",
    "playback": "playback of torques", "programmed": "programmed motion",
}  # fmt: skip
NUMBERS = re.compile(r"[-−∞–\d.,:e+()\[\]… ]+")  # and nothing else: no formula, no name
MOST_RUNS, MOST_BROKEN = 200, 6


def tone(status: str) -> str:
    """The colour of a status: good, warn or bad."""
    return WORDS.get(status, ("bad", ""))[0]


def status_banner(result: Result, name: str = "") -> str:
    """Green, amber or red, with the reason in words; ``name``: which of several runs."""
    colour, words = WORDS.get(result.status, ("bad", f"Ended as '{result.status}'."))
    if result.status == "finished" and not verified(result):
        colour, words = "fair", "Finished; how exact the numbers are was not checked."
    notes = "".join(f'<p class="note">{text(typeset(note), 600)}</p>' for note in result.notes)
    words = f"{printable(name, 80)}: {words[:1].lower()}{words[1:]}" if name else words
    return banner(colour, words, f"<p>{text(typeset(result.reason), 600)}</p>{notes}")


def banner(colour: str, words: str, body: str) -> str:
    """A sentence in its colour (good, fair, bad) with an icon, and HTML below it."""
    icon = (
        '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" aria-hidden="true">'
        f'<circle cx="12" cy="12" r="9.5"/>{ICONS[colour]}</svg>'
    )
    return f'<div class="status {colour}" role="status">{icon}<div><b>{text(words)}</b>{body}</div></div>\n'


def limits_banner(result: Result) -> str:
    """Amber when the machine cannot do it, with every broken limit, or when a limit could not be checked; else a line."""
    verdict = result.feasibility
    remarks = "".join(
        f'<p class="note">{text(typeset(remark), 600)}</p>'
        for remark in verdict.remarks
        if remark not in verdict.reason
    )
    if verdict.feasible is False:
        broken = verdict.broken
        rows = "".join(f"<p>{text(typeset(c.sentence()), 400)}</p>" for c in broken[:MOST_BROKEN])
        more = f"<p>… and {len(broken) - MOST_BROKEN} more.</p>" if len(broken) > MOST_BROKEN else ""
        failed = sum(kept is False for kept in verdict.runs)
        words = f"Not feasible: {failed} of {len(verdict.runs)} runs break a limit." if verdict.runs else "Not feasible: a limit is broken."  # fmt: skip
        return banner("fair", words, rows + more + remarks)
    if verdict.feasible is None and verdict.unchecked:
        words = "Not known whether the machine can do it: a limit could not be checked."
        return banner("fair", words, f"<p>{text(typeset(verdict.reason), 600)}</p>{remarks}")
    return f'<p class="note">{text(typeset(verdict.reason), 300)}</p>{remarks}\n'


def number(value: Any) -> str:
    """A field of a robot: a number, a formula, or nothing."""
    if value is None:
        return "–"
    try:
        return text(summary(float(value)))
    except (TypeError, ValueError):
        return text(value, 60)


def joint_table(robot: Robot, result: Result | None = None) -> str:
    """Kind, limits, friction and drive of every joint: in a run the friction and drives that acted in it."""
    acted = dict(result.meta.get("acting") or {}) if result is not None else {}
    own = acting(robot, None, None)
    columns = [(acted[name] if len(acted.get(name, ())) == robot.n else own[name]) for name in ("friction", "drives")]
    rows = []
    for i, j in enumerate(robot.joints):
        unit, force = ("rad", "N·m") if j.is_revolute else ("m", "N")
        lower, upper = (number(x) for x in (j.limits.lower, j.limits.upper))
        span = f"{lower} … {upper} {unit}" if j.limits.lower is not None or j.limits.upper is not None else "–"
        speed = f"{number(j.limits.velocity)} {unit}/s" if j.limits.velocity is not None else "–"
        effort = f"{number(j.limits.effort)} {force}" if j.limits.effort is not None else "–"
        parts = [text(column[i] or "–", 120) for column in columns]
        rows.append((f"{chip(i)}{text(j.name, 60)}", text(j.kind), span, speed, effort, number(j.armature), *parts))
    head = ["Joint", "Kind", "Range", "Velocity", "Effort", "Armature", "*Friction that acted", "*Drive"]
    if not acted:
        head[6] = "*Friction of the robot"
    return html_table(head, rows, "data dense")


def link_table(robot: Robot) -> str:
    """Mass, centre of mass and inertia of every link."""
    rows = []
    for i, link in enumerate(robot.bodies):
        inertia = [link.inertia[a][b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        com = ", ".join(number(x) for x in link.com)
        rows.append((f"{chip(i)}{text(link.name, 60)}", number(link.mass), com, *(number(x) for x in inertia)))
    if robot.payload is not None:
        rows.append(
            ("payload", number(robot.payload.mass), ", ".join(number(x) for x in robot.payload.com), *["–"] * 6)
        )
    head = ("Link", "Mass [kg]", "Centre of mass [m]", "Ixx [kg·m²]", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
    return html_table(head, rows, "data dense")


def findings(robot: Robot) -> str:
    """What the doctor says about the model."""
    diagnosis = doctor(robot)
    tones = {"error": "bad", "warning": "fair"}
    items = "".join(
        f'<li class="{tones.get(f.severity, "info")}"><b>{text(f.severity)}</b><span>{text(f.sentence, 600)}</span>'
        + (f"<small>{text(f.advice, 400)}</small>" if f.advice else "") + "</li>"
        for f in diagnosis.findings
    )  # fmt: skip
    return f'<ul class="findings">{items}</ul>' if items else f"<p>{text(diagnosis.verdict())}</p>"


def settings(result: Result) -> str:
    """How the run was set up."""
    meta = result.meta
    rows: dict[str, Any] = {"kind of run": KINDS.get(str(meta.get("kind")), meta.get("kind"))}
    chosen = dict(meta.get("settings") or {})
    unused = {"integrator"} if meta.get("integrator") == "auto" else set()  # nothing was integrated
    unused |= set() if any(k.startswith("noise.") for k in chosen) else {"seed"}  # nothing was drawn
    for k in ("integrator", "step", "tolerance", "seed", "formulation", "stabilisation"):
        if meta.get(k) is not None and k not in unused:
            rows[k] = meta[k]
    for k, equation in enumerate(meta.get("equations") or meta.get("constraints") or ()):
        rows[f"constraint {k + 1}"] = equation if "=" in str(equation) else f"{equation} = 0"
    for name, value in dict(meta.get("parameters") or {}).items():
        rows[f"parameter {name}"] = (
            value if np.ndim(value) == 0 else f"{len(value)} values, {min(value):g} … {max(value):g}"
        )
    rows |= {k: v for k, v in dict(meta.get("settings") or {}).items() if k not in rows and k != "kind"}
    rows |= _limit_rows(result)
    units = {"step": " s", "duration": " s", "sample": " s"}
    shown = ((text(k, 80), text(_setting(v), 300) + units.get(k, "")) for k, v in rows.items())
    return html_table(("", ""), shown, "data settings")


def _setting(value: Any) -> str:
    """Numbers are written as on a page; formulas and names stay as they can be copied."""
    words = f"{value:g}" if isinstance(value, float) else str(value)
    return typeset(words) if isinstance(value, float) or NUMBERS.fullmatch(words) else words


def _limit_rows(result: Result) -> dict[str, str]:
    """The limits that the motion was compared with."""
    rows = {}
    for quantity, values in dict(result.meta.get("limits") or {}).items():
        if quantity == "tip":
            rows |= {f"limit of the tip's {k}": f"{v:g}" for k, v in dict(values).items()}
            continue
        if quantity == "points":
            rows |= {
                f"limit of {k} of '{name}'": f"{v:g}" for name, of in dict(values).items() for k, v in dict(of).items()
            }
            continue
        shown = [_range(v) for v in values]
        rows[f"limits of {quantity}{_units(result, quantity)}"] = (
            shown[0] if len(set(shown)) == 1 and shown[0] != "–" else ", ".join(shown)
        )
    return rows


def _units(result: Result, quantity: str) -> str:
    """The units of a limit that is stated for every joint."""
    kinds = [SLIDING if slides else TURNING for slides in prismatic(result)]
    found = dict.fromkeys(units[quantity] for units in kinds if quantity in units)
    return f" [{' or '.join(found)}]" if found else ""


def _range(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, (list, tuple)):
        low, high = value
        return f"{'−∞' if low is None else format(low, '.6g')} … {'∞' if high is None else format(high, '.6g')}"
    return f"{value:.6g}"


def run_table(result: Result) -> str:
    """One row per run of a batch, each with its own error."""
    names, rows = names_of(result), []
    count = result.arrays["q"].shape[0]
    kept = result.feasibility.runs
    kinds = [(signal, slides) for signal in ("tau", "qd") for slides in (False, True) if slides in prismatic(result)]
    for k in range(min(count, MOST_RUNS)):
        run = result.run(k)
        good = run.arrays["q"][np.isfinite(run.arrays["q"]).all(axis=-1)]
        cells = [f"{k}", f'<b class="{tone(run.status)}" style="color:var(--tone)">{text(run.status)}</b>']
        if kept and kept[k] is not None:
            cells.append('<b class="good" style="color:var(--tone)">yes</b>' if kept[k] else '<b class="fair" style="color:var(--tone)">no</b>')  # fmt: skip
        else:
            cells.append("–")
        cells += [text(summary(run.reached)), text(summary(run.error_estimate))]
        for signal, slides in kinds:
            found = peak(run, signal, slides) if signal in run.arrays else None
            cells.append("–" if found is None else f"{text(shown(found[0]))} {text(unit_of(run, signal, found[3]))}")
        end = good[-1] if len(good) else []
        cells.append(text(", ".join(summary(x) for x in end[:7]) + (" …" if len(end) > 7 else "")))
        rows.append(cells)
    more = f'<p class="note">… and {count - MOST_RUNS} more.</p>' if count > MOST_RUNS else ""
    words = {("tau", False): "Largest torque", ("tau", True): "Largest force"}
    words |= {("qd", False): "Largest |qd|", ("qd", True): "Largest |qd|, sliding"}
    head = ["Run", "*Status", "*Feasible", "Until [s]", "Error", *(words[k] for k in kinds)]
    return html_table([*head, printable(f"q at the end ({', '.join(names[:7])})", 200)], rows) + more
