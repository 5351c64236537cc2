"""What a report says in words and numbers: status, key numbers, robot, doctor, settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.reports.page import chip, text
from manipula.reports.page import table as html_table
from manipula.reports.source import is_batch, joint_count, names_of, summary, unit_of
from manipula.robot.doctor import doctor
from manipula.robot.robot import Robot
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
MOST_RUNS = 200
UNVERIFIED = "accuracy not verified"


def tone(status: str) -> str:
    return WORDS.get(status, ("bad", ""))[0]


def status_banner(result: Result) -> str:
    """Green, amber or red, with the reason in words."""
    colour, words = WORDS.get(result.status, ("bad", f"Ended as '{result.status}'."))
    if result.status == "finished" and UNVERIFIED in result.reason:
        evaluated = result.meta.get("kind") == "inverse_dynamics"  # nothing was integrated
        colour, words = (
            ("good", "Finished.") if evaluated else ("fair", "Finished; how exact the numbers are was not checked.")
        )
    icon = (
        '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" aria-hidden="true">'
        f'<circle cx="12" cy="12" r="9.5"/>{ICONS[colour]}</svg>'
    )
    notes = "".join(f'<p class="note">{text(note, 600)}</p>' for note in result.notes)
    return f'<div class="status {colour}" role="status">{icon}<div><b>{text(words)}</b><p>{text(result.reason, 600)}</p>{notes}</div></div>\n'


def _peak(result: Result, signal: str) -> tuple[float, int, int] | None:
    """Largest absolute value of a signal (S, n) or (N, S, n), its sample and joint."""
    values = np.abs(np.asarray(result.arrays[signal], float))
    if not np.isfinite(values).any():
        return None
    *_, sample, joint = np.unravel_index(int(np.nanargmax(values)), values.shape)
    return float(np.nanmax(values)), int(sample), int(joint)


def key_numbers(result: Result) -> list[tuple[str, str, str, str]]:
    """Title, value, unit and a remark."""
    rows: list[tuple[str, str, str, str]] = []
    names, t = names_of(result), result.t
    rows.append(
        (
            "Duration",
            summary(t[-1] - t[0]),
            "s",
            f"{len(t)} samples" + (f", {result.arrays['q'].shape[0]} runs" if is_batch(result) else ""),
        )
    )
    for signal, title in (("tau", "Largest torque"), ("qd", "Largest velocity")):
        peak = _peak(result, signal) if signal in result.arrays else None
        if peak is not None and peak[0] > 0.0:
            value, sample, joint = peak
            unit = unit_of(result, signal, joint)
            rows.append(
                (
                    title.replace("torque", "force") if unit == "N" else title,
                    summary(value),
                    unit,
                    f"{names[joint]}, t = {t[sample]:.3g} s",
                )
            )
    if "error" in result.arrays:
        norm = np.linalg.norm(np.asarray(result.arrays["error"], float), axis=-1)
        if np.isfinite(norm).any():
            task = result.arrays["error"].shape[-1] == 3 and "tip" in result.arrays
            unit = "m" if task and joint_count(result) != 3 else ""
            if not unit:
                from manipula.reports.plots.tip import target_of

                unit = "m" if not is_batch(result) and target_of(result) is not None else unit_of(result, "error")
            rows.append(
                (
                    "Tracking error, rms",
                    summary(np.sqrt(np.nanmean(norm**2))),
                    unit,
                    f"largest {summary(np.nanmax(norm))}",
                )
            )
            final = norm[..., -1]
            rows.append(
                (
                    "Tracking error at the end",
                    summary(np.nanmax(final) if np.isfinite(final).any() else np.nan),
                    unit,
                    "",
                )
            )
    if "power" in result.arrays:
        power = np.asarray(result.arrays["power"], float)
        total = power.sum(axis=-1)
        if np.isfinite(power).any() and np.nanmax(np.abs(power)) > 0.0:
            rows.append(("Peak power, all joints", summary(np.nanmax(np.abs(total))), "W", ""))
            taken = np.trapezoid(np.nan_to_num(np.clip(power, 0.0, None)).sum(axis=-1), t, axis=-1)
            rows.append(
                (
                    "Energy taken by the drives",
                    summary(np.max(taken)),
                    "J",
                    "nothing fed back" + (", worst run" if is_batch(result) else ""),
                )
            )
    if "residual" in result.arrays:
        rows.append(
            ("Residual of the program", summary(np.nanmax(np.abs(result.arrays["residual"]))), "", "largest |Φ|")
        )
    if "audit" in result.arrays and np.isfinite(result.arrays["audit"]).any():
        rows.append(("Energy audit", summary(np.nanmax(np.abs(result.arrays["audit"]))), "J", "largest imbalance"))
    if np.isfinite(result.error_estimate):
        rows.append(("Error estimate", summary(result.error_estimate), "", "relative, from a finer run"))
    return rows


def numbers_grid(result: Result) -> str:
    rows = key_numbers(result)
    columns = min((6, 5, 4), key=lambda k: (-len(rows) % k, -k)) if len(rows) > 6 else max(len(rows), 4)
    cells = (
        f"<div><dt>{text(title)}</dt><dd>{text(value)} <small>{text(unit)}</small></dd>{f'<dd>{text(remark, 80)}</dd>' if remark else ''}</div>"
        for title, value, unit, remark in rows
    )
    return f'<dl class="numbers" style="--columns:{columns}">{"".join(cells)}</dl>\n'


def _number(value: Any) -> str:
    """A field of a robot: a number, a formula, or nothing."""
    if value is None:
        return "–"
    try:
        return text(summary(float(value)))
    except (TypeError, ValueError):
        return text(value, 60)


def joint_table(robot: Robot) -> str:
    """Kind, limits, friction and drive of every joint."""
    rows = []
    for i, j in enumerate(robot.joints):
        unit, force = ("rad", "N·m") if j.is_revolute else ("m", "N")
        lower, upper = (_number(x) for x in (j.limits.lower, j.limits.upper))
        span = f"{lower} … {upper} {unit}" if j.limits.lower is not None or j.limits.upper is not None else "–"
        speed = f"{_number(j.limits.velocity)} {unit}/s" if j.limits.velocity is not None else "–"
        effort = f"{_number(j.limits.effort)} {force}" if j.limits.effort is not None else "–"
        friction = text(getattr(j.friction, "name", "–")) if j.friction is not None else "–"
        rows.append((f"{chip(i)}{text(j.name, 60)}", text(j.kind), span, speed, effort, _number(j.armature), friction))
    return html_table(("Joint", "Kind", "Range", "Velocity", "Effort", "Armature", "Friction"), rows)


def link_table(robot: Robot) -> str:
    """Mass, centre of mass and inertia of every link."""
    rows = []
    for i, link in enumerate(robot.links):
        inertia = [link.inertia[a][b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        com = ", ".join(_number(x) for x in link.com)
        rows.append((f"{chip(i)}{text(link.name, 60)}", _number(link.mass), com, *(_number(x) for x in inertia)))
    if robot.payload is not None:
        rows.append(
            ("payload", _number(robot.payload.mass), ", ".join(_number(x) for x in robot.payload.com), *["–"] * 6)
        )
    head = ("Link", "Mass [kg]", "Centre of mass [m]", "Ixx [kg·m²]", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
    return html_table(head, rows)


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
    rows |= {
        k: meta.get(k)
        for k in ("integrator", "step", "tolerance", "seed", "formulation", "stabilisation")
        if meta.get(k) is not None
    }
    for k, name in enumerate(meta.get("constraints") or ()):
        rows[f"constraint {k + 1}"] = f"{name} = 0"
    for name, value in dict(meta.get("parameters") or {}).items():
        rows[f"parameter {name}"] = (
            value if np.ndim(value) == 0 else f"{len(value)} values, {min(value):g} … {max(value):g}"
        )
    rows |= {k: v for k, v in dict(meta.get("settings") or {}).items() if k not in rows and k != "kind"}
    units = {"step": " s", "duration": " s", "sample": " s"}
    shown = (
        (text(k, 80), text(f"{v:g}" if isinstance(v, float) else v, 300) + units.get(k, "")) for k, v in rows.items()
    )
    return html_table(("", ""), shown, "data settings")


def run_table(result: Result) -> str:
    """One row a run of a batch."""
    names, rows = names_of(result), []
    count = result.arrays["q"].shape[0]
    for k in range(min(count, MOST_RUNS)):
        run = result.run(k)
        colour = tone(run.status)
        end = run.arrays["q"][-1]
        cells = [f"{k}", f'<b class="{colour}" style="color:var(--tone)">{text(run.status)}</b>']
        for signal in ("tau", "qd"):
            peak = _peak(run, signal) if signal in run.arrays else None
            cells.append("–" if peak is None else f"{text(summary(peak[0]))} {text(unit_of(run, signal, peak[2]))}")
        cells.append(text(", ".join(summary(x) for x in end[:7]) + (" …" if len(end) > 7 else "")))
        rows.append(cells)
    more = f'<p class="note">… and {count - MOST_RUNS} more.</p>' if count > MOST_RUNS else ""
    head = ("Run", "*Status", "Largest |tau|", "Largest |qd|", f"q at the end ({', '.join(names[:7])})")
    return html_table([text(h, 200) if i == 4 else h for i, h in enumerate(head)], rows) + more
