"""The numbers at the top of a report: what was largest, how exact it is, how far the run came. Units are never mixed."""

from __future__ import annotations

import re

import numpy as np

from manipula.reports.page import text
from manipula.reports.source import is_batch, names_of, prismatic, summary, unit_of
from manipula.simulation.limit_checks import SIGNALS
from manipula.simulation.result import Result

Row = tuple[str, str, str, str]  # title, value, unit and a remark
ROUNDING = 1e-12  # of the energies: an imbalance below this is rounding
LAST_DIGITS = 1e-13  # of positions, speeds and torques: what is smaller is rounding


def peak(result: Result, signal: str, slides: bool | None = None) -> tuple[float, int, float, int] | None:
    """Largest absolute value of a signal (S, n) or (N, S, n) among the joints that slide or turn (all: None): value, run, time, joint.

    What a run was seen to do between its samples (``meta["peaks"]``) counts as well, as it does for the limits.
    """
    values = np.abs(np.asarray(result.arrays[signal], float))
    kinds = prismatic(result)
    if slides is not None:
        values = np.where(np.array(kinds) == slides, values, np.nan)
    if not np.isfinite(values).any():
        return None
    *run, sample, joint = np.unravel_index(int(np.nanargmax(values)), values.shape)
    best = float(np.nanmax(values)), int(run[0]) if run else -1, float(result.t[sample]), int(joint)
    own = int(result.meta.get("run", 0))
    for member, quantity, joint, low, before, high, after, _ in result.meta.get("peaks") or ():
        if SIGNALS.get(quantity) != signal or joint < 0 or (slides is not None and kinds[joint] != slides):
            continue
        if run or member == own:
            seen = max((abs(float(low)), float(before)), (abs(float(high)), float(after)))
            best = max(best, (seen[0], int(member) if run else -1, seen[1], int(joint)), key=lambda b: b[0])
    return best


def shown(value: float) -> str:
    """A largest value for people; that of a jump is infinite."""
    return "∞" if np.isinf(value) else summary(value)


def key_numbers(result: Result) -> list[Row]:
    """Title, value, unit and a remark."""
    return [_duration(result), *_largest(result), *_tracking(result), *_power(result), *_trust(result)]


def _duration(result: Result) -> Row:
    """The time that was reached; what was asked for beside it where the run ended early."""
    t, reached = result.t, result.reached
    asked = result.meta.get("duration")
    asked = float(asked) if isinstance(asked, (int, float)) and np.isfinite(asked) else float(t[-1])
    count = int(np.searchsorted(t, reached, side="right"))
    remark = f"{count} sample{'' if count == 1 else 's'}" + (
        f", {result.arrays['q'].shape[0]} runs" if is_batch(result) else ""
    )
    if reached < asked - 1e-9 * max(asked, 1.0) and not result.ok:
        return "Ended early at", summary(reached), "s", f"of {summary(asked)} s; {remark}"
    return "Duration", summary(reached - t[0]), "s", remark


def _largest(result: Result) -> list[Row]:
    """Torque and force, turning and sliding speed: each in its own unit."""
    rows: list[Row] = []
    names = names_of(result)
    titles = {("tau", False): "Largest torque", ("tau", True): "Largest force", ("qd", False): "Largest velocity",
              ("qd", True): "Largest velocity"}  # fmt: skip
    both = len(set(prismatic(result))) > 1
    for (signal, slides), title in titles.items():
        found = peak(result, signal, slides) if signal in result.arrays else None
        if found is not None and found[0] > 0.0:
            value, run, time, joint = found
            kind = (", sliding" if slides else ", turning") if both and signal == "qd" else ""
            unit, where = unit_of(result, signal, joint), f"run {run}, " if run >= 0 else ""
            if value <= LAST_DIGITS * float(
                np.nanmax(np.abs(result.arrays[signal]))
            ):  # of what the other kind of joints does
                rows.append((title + kind, "0", unit, "to rounding"))
            else:
                rows.append((title + kind, shown(value), unit, f"{where}{names[joint]}, t = {time:.3g} s"))
    return rows


def is_tip_error(result: Result) -> bool:
    """Is the tracking error that of the tip? (That of a three-joint arm in joint space also has three entries.)"""
    target, error = result.arrays.get("target"), result.arrays.get("error")
    if target is None or error is None or target.shape[-1] != 3 or "tip" not in result.arrays:
        return False
    return bool(np.allclose(target - result.arrays["tip"], error, equal_nan=True))


def error_groups(result: Result) -> list[tuple[str, str, np.ndarray]]:
    """Parts of the tracking error that share a unit: a remark, the unit, and the norm of that part (S,) or (N, S)."""
    error = np.asarray(result.arrays["error"], float)
    if is_tip_error(result):
        return [("of the tip", "m", np.linalg.norm(error, axis=-1))]
    slides = np.array(prismatic(result))
    groups = [(False, "rad", "turning joints"), (True, "m", "sliding joints")]
    return [
        (words if slides.any() and not slides.all() else "of the joints", unit, np.linalg.norm(error[..., slides == kind], axis=-1))
        for kind, unit, words in groups if (slides == kind).any()
    ]  # fmt: skip


def _tracking(result: Result) -> list[Row]:
    if "error" not in result.arrays:
        return []
    rows: list[Row] = []
    for words, unit, norm in error_groups(result):
        good = np.isfinite(norm)
        if not good.any():
            continue
        if np.nanmax(norm) <= LAST_DIGITS * max(1.0, float(np.nanmax(np.abs(result.arrays["q"])))):
            rows.append(("Tracking error", "0", unit, f"{words}, to rounding"))
            continue
        rows.append(("Tracking error, rms", summary(np.sqrt(np.nanmean(norm**2))), unit, f"{words}, largest {summary(np.nanmax(norm))} {unit}"))  # fmt: skip
        ends = [row[np.isfinite(row)][-1] for row in np.atleast_2d(norm) if np.isfinite(row).any()]
        early = not good[..., -1].all()
        remark = f"{words}, {'where the run ended' if early else 'worst run' if len(ends) > 1 else 't = ' + summary(result.t[-1]) + ' s'}"  # fmt: skip
        rows.append(("Tracking error at the end", summary(np.max(ends)), unit, remark))
    return rows


def _power(result: Result) -> list[Row]:
    if "power" not in result.arrays:
        return []
    power = np.asarray(result.arrays["power"], float)
    if not np.isfinite(power).any() or not np.nanmax(np.abs(power)) > 0.0:
        return []
    worst = ", worst run" if is_batch(result) else ""
    taken = np.trapezoid(np.nan_to_num(np.clip(power, 0.0, None)).sum(axis=-1), result.t, axis=-1)
    return [
        ("Peak power, all joints", summary(np.nanmax(np.abs(power.sum(axis=-1)))), "W", worst.removeprefix(", ")),
        ("Energy taken by the drives", summary(np.max(taken)), "J", "nothing fed back" + worst),
    ]


def _trust(result: Result) -> list[Row]:
    rows: list[Row] = []
    worst = f", worst of {result.arrays['q'].shape[0]} runs" if is_batch(result) else ""
    if "residual" in result.arrays and np.isfinite(result.arrays["residual"]).any():
        largest = float(np.nanmax(np.abs(result.arrays["residual"])))
        rows.append(("Residual of the constraints", summary(largest), "", "largest |Φ|"))
    if "audit" in result.arrays and np.isfinite(result.arrays["audit"]).any():
        largest, size = float(np.nanmax(np.abs(result.arrays["audit"]))), energy_size(result)
        value = "0" if largest <= ROUNDING * size else summary(largest)
        remark = "to rounding" if value == "0" and largest > 0 else "largest imbalance"
        rows.append(("Energy audit", value, "J", remark + worst))
    if np.isfinite(result.error_estimate) and result.status in ("finished", "inaccurate", "limit"):
        rows.append(("Error estimate", summary(result.error_estimate), "", f"relative, from a finer run{worst}"))
    if np.isfinite(result.trusted_until) and not result.ok:
        rows.append(("Trusted until", summary(result.trusted_until), "s", "within the tolerance" + worst))
    return rows


def energy_size(result: Result) -> float:
    """Largest of the energies and works of a run [J]."""
    names = ("kinetic", "potential", "work_drives", "work_friction", "work_external", "work_constraints")
    found = [np.nanmax(np.abs(result.arrays[n]), initial=0.0) for n in names if n in result.arrays]
    return float(max(found, default=0.0))


def numbers_grid(result: Result) -> str:
    """The key numbers of a run as HTML."""
    return grid(key_numbers(result))


def unbroken(html: str) -> str:
    """A number stays in one line with what it is of, and with its unit: "t = 0 s"; ``web/src/numbers.ts`` does the same."""
    return re.sub(r"(?<=\d) (?=[^\W\d_])", "&nbsp;", html.replace(" = ", "&nbsp;=&nbsp;"))


def grid(rows: list[Row]) -> str:
    """Key numbers as HTML."""
    columns = min((6, 5, 4), key=lambda k: (-len(rows) % k, -k)) if len(rows) > 6 else max(len(rows), 4)
    cells = (
        f"<div><dt>{text(title)}</dt><dd>{text(value)} <small>{text(unit)}</small></dd>{f'<dd>{unbroken(text(remark, 80))}</dd>' if remark else ''}</div>"
        for title, value, unit, remark in rows
    )
    return f'<dl class="numbers" style="--columns:{columns}">{"".join(cells)}</dl>\n'
