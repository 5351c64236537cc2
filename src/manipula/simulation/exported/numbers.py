"""Numbers of an exported run that may be changed: gains, friction constants, payload, start."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manipula.errors import DescriptionError, ManipulaError, unknown_name
from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.numbers import columns_of, field_at, paths_of
from manipula.simulation.plant.parameters import computed_parts
from manipula.simulation.scenario import Scenario

PAYLOAD = "payload.mass"
SYMBOL = "live_payload_mass"
MOST_PARAMETERS = 200
WIDEST = 3.0  # of a number: how far its slider goes


@dataclass(frozen=True)
class ChangeableNumber:
    """A number that may be changed where the run is computed.

    Attributes:
        low, high: of a slider; any number within the bounds of its field may be set.
        slots: where it stands among p, or −1 − i for x0[i].
        least, above, most, below: bounds of its field.
    """

    path: str
    name: str
    unit: str
    value: float
    low: float
    high: float
    slots: tuple[int, ...]
    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None

    def told(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**vars(self), "slots": list(self.slots)}


def changeable_numbers(
    run: Run, scenario: Scenario, with_payload: bool, wanted: Sequence[str] | None, most: int
) -> list[ChangeableNumber]:
    """Numbers that are asked for, or gains, friction, payload and start, as many as ``most``."""
    paths = [*_groups(run), *([PAYLOAD] if with_payload else []), *_starts(run, scenario)]
    if wanted is None:
        return [_number(run, scenario, path) for path in paths[:most]]
    if len(wanted) > MOST_PARAMETERS:
        raise DescriptionError(f"At most {MOST_PARAMETERS} numbers can be changed, found {len(wanted)}.", field="live")
    every = list(dict.fromkeys([*paths, *paths_of(run.plant)]))
    for path in wanted:
        if path not in every and not (isinstance(path, str) and _columns(run, path)):
            raise unknown_name("number of the run", path, every, field="live")
    return [_number(run, scenario, path) for path in dict.fromkeys(wanted)]


def _columns(run: Run, path: str) -> list[int]:
    """Where the numbers of a path stand: ``controller.kp`` may be one number or one per joint, ``friction.damping`` is that of every joint."""
    names = paths_of(run.plant)
    each = re.fullmatch(r"(friction|drives)\.(\w+)", path)
    if each:
        return [k for k, name in enumerate(names) if re.fullmatch(rf"{each[1]}\[\d+\]\.{each[2]}", name)]
    try:
        found = columns_of(run.plant, path)
    except ManipulaError:
        return []
    # a whole part is no number
    return found if all(re.fullmatch(r"(\[\d+\])*", names[k][len(path) :]) for k in found) else []


def _groups(run: Run) -> list[str]:
    """Gains and friction constants: as one number where it is the same for all joints."""
    fixed = tuple(computed_parts((run.plant.controller, run.plant.friction)))
    names, out = paths_of(run.plant), []
    values = dict(zip(names, run.p[0]))
    for name in names:
        if not name.startswith(("controller.", "friction[")) or any(part in name for part in fixed if part):
            continue
        whole = (
            re.sub(r"\[\d+\]$", "", name)
            if name.startswith("controller.")
            else re.sub(r"^friction\[\d+\]", "friction", name)
        )
        members = [values[names[k]] for k in _columns(run, whole)]
        same = len(set(members)) == 1
        path = whole if same else name
        if _columns(run, path) and path not in out:
            out.append(path)
    return out


def _starts(run: Run, scenario: Scenario) -> list[str]:
    """Initial positions, where nothing else begins in a state that follows from them."""
    lay = run.plant.layout
    if lay.controller or sum(lay.drives) or any(d is not None for d in run.plant.drives):
        return []
    return [f"q0[{i}]" for i in range(scenario.robot.n)]


def _number(run: Run, scenario: Scenario, path: str) -> ChangeableNumber:
    start = re.fullmatch(r"q0\[(\d+)\]", path)
    if start:
        i = int(start[1])
        joint, value = scenario.robot.joints[i], float(run.x0[0][i])
        low, high = (float(x) if x is not None and math.isfinite(float(x)) else None for x in (joint.limits.lower, joint.limits.upper))  # fmt: skip
        reach = math.pi if joint.is_revolute else 1.0
        low, high = (value - reach if low is None else low), (value + reach if high is None else high)
        unit = "rad" if joint.is_revolute else "m"
        return ChangeableNumber(
            path, f"start of {joint.name}", unit, value, min(low, value), max(high, value), (-1 - i,)
        )
    if path == PAYLOAD:
        slot = len(run.loop.values) + run.loop.names.index(SYMBOL)
        value = float(run.p[0][slot])
        return ChangeableNumber(
            path, "mass of the payload", "kg", value, 0.0, max(5.0, WIDEST * value), (slot,), least=0.0
        )
    slots = _columns(run, path)
    value = float(run.p[0][slots[0]])
    _, declaration = field_at(run.plant, paths_of(run.plant)[slots[0]])
    f = declaration.field
    low = 0.0 if value >= 0.0 else WIDEST * value
    high = WIDEST * value if value > 0.0 else 1.0 if value == 0.0 else 0.0
    least = f.least if f.least is not None else f.above
    most = f.most if f.most is not None else f.below
    low, high = max(low, -math.inf if least is None else float(least)), min(high, math.inf if most is None else float(most))  # fmt: skip
    if f.above is not None and low <= f.above:
        low = f.above + 1e-3 * (high - f.above)
    if f.below is not None and high >= f.below:
        high = f.below - 1e-3 * (f.below - low)
    bounds = {k: None if getattr(f, k) is None else float(getattr(f, k)) for k in ("least", "above", "most", "below")}
    return ChangeableNumber(path, path, f.unit, value, min(low, value), max(high, value), tuple(slots), **bounds)
