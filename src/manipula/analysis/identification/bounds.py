"""What is known about the links before anything is measured: bounds on masses and centres of mass.

Each is linear in the inertial parameters: ``m ≥ lo`` and, with the first moment mx, ``mx − lo·m ≥ 0`` for a centre of mass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.algebra.arguments import real_array, rows_of
from manipula.analysis.identification.physical import PhysicalBounds
from manipula.analysis.identification.pseudo_inertia import inertial_parameters, nearest_physical, pseudo_inertia
from manipula.analysis.identification.regressor_columns import Columns
from manipula.errors import DescriptionError, ShapeError, printable, unknown_name

NARROWEST = 1e-9  # equal ends are taken apart by this much on either side (relative, or m)
SHARE = 0.1  # of a range: how far inside its ends the search begins


def bounds_of(
    columns: Columns, prior: np.ndarray, masses: Any = None, centres: Any = None, total_mass: Any = None
) -> PhysicalBounds:
    """The bounds of an identification.

    Args:
        prior: (p,) full parameters.
        masses: {link: (least, most)} or (links, 2) [kg]. centres: {link: three pairs} or (links, 3, 2) [m, link frame].
        total_mass: (least, most) of all moving links together [kg].
    """
    n, p = columns.bodies, columns.size
    names = [link.name for link in columns.model.robot.bodies]
    mass = _ranges("masses", masses, names, (2,))
    if np.any(mass[:, 1] <= 2 * NARROWEST):
        raise DescriptionError("A link has a positive mass; its upper bound must be greater than 0.", field="masses")
    centre = _ranges("centres", centres, names, (3, 2))
    rows, least = [], []

    def demand(entries: dict[int, float], bound: float) -> None:
        if np.isfinite(bound):
            row = np.zeros(p)
            row[list(entries)] = list(entries.values())
            rows.append(row)
            least.append(bound)

    inside = prior.copy()
    for i in range(n):
        m, block = 10 * i, slice(10 * i, 10 * i + 10)
        demand({m: 1.0}, mass[i, 0])
        demand({m: -1.0}, -mass[i, 1])
        for k in range(3):
            lo, hi = centre[i, k]
            if np.isfinite(lo):
                demand({m + 1 + k: 1.0, m: -lo}, 0.0)
            if np.isfinite(hi):
                demand({m + 1 + k: -1.0, m: hi}, 0.0)
        inside[block] = _moved(nearest_physical(prior[block]), mass[i], centre[i])
    if total_mass is not None:
        lo, hi = _ranges("total_mass", [total_mass], ["all links"], (2,))[0]
        inside = _with_total(inside, mass, (lo, hi), n)
        everything = dict.fromkeys(range(0, 10 * n, 10), 1.0)
        demand(everything, lo)
        demand(dict.fromkeys(everything, -1.0), -hi)
    for extra in columns.extras:
        if extra not in columns.SIGNED:
            for k in range(*columns.part(extra).indices(p)):
                demand({k: 1.0}, 0.0)
                inside[k] = max(float(prior[k]), 1e-3)
    return PhysicalBounds(np.array(rows).reshape(-1, p), np.array(least), inside)


def _ranges(field: str, given: Any, names: list[str], shape: tuple[int, ...]) -> np.ndarray:
    """(n, *shape) pairs (least, most), infinite where nothing is given."""
    found = np.empty((len(names), *shape))
    found[..., 0], found[..., 1] = -np.inf, np.inf
    if given is None:
        return found
    rows: Any = given
    if not isinstance(given, Mapping):
        given = rows_of(given, field)
        if len(given) != len(names):
            raise ShapeError(f"{field}: one entry per moving link is needed ({len(names)}), found {len(given)}.")
        rows = dict(zip(names, given))
    for name, value in rows.items():
        if name not in names:
            raise unknown_name("moving link", name, names, field=field)
        try:
            pair = real_array(value, field).reshape(shape)
        except (DescriptionError, ValueError):
            wanted = "(least, most)" if len(shape) == 1 else "three pairs (least, most)"
            raise ShapeError(f"{field}.{name}: expected {wanted}, found {printable(repr(value))}.") from None
        if np.isnan(pair).any() or np.any(pair[..., 0] > pair[..., 1]):
            raise DescriptionError(
                f"The lower bound exceeds the upper one: {printable(repr(value))}.", field=f"{field}.{name}"
            )
        found[names.index(name)] = pair
    width = found[..., 1] - found[..., 0]
    tight = width < 2 * NARROWEST * np.maximum(1.0, np.abs(found[..., 0]))
    for side, sign in ((0, -1.0), (1, 1.0)):
        end = found[..., side]
        end[tight] += sign * NARROWEST * np.maximum(1.0, np.abs(end[tight]))
    return found


def _into(value: float, lo: float, hi: float, room: float) -> float:
    """The number nearest to ``value`` well inside the range."""
    room = min(room, SHARE * (hi - lo))
    return float(min(max(value, lo + room), hi - room))


def _moved(pi: np.ndarray, mass: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """The body with its mass and centre brought into their ranges, its shape kept."""
    J = pseudo_inertia(pi)
    m, c = float(J[3, 3]), J[:3, 3] / J[3, 3]
    about = (J[:3, :3] - m * np.outer(c, c)) / m
    new = _into(m, max(float(mass[0]), 0.0), float(mass[1]), SHARE * m)
    at = np.array([_into(v, lo, hi, SHARE * 1e-2) for v, (lo, hi) in zip(c, centre)])
    J[:3, :3], J[3, 3] = new * (about + np.outer(at, at)), new
    J[:3, 3] = J[3, :3] = new * at
    return inertial_parameters(J)


def _with_total(inside: np.ndarray, mass: np.ndarray, total: tuple[float, float], n: int) -> np.ndarray:
    """Links scaled within their own ranges until their sum is inside its range."""
    m = inside[0 : 10 * n : 10]
    lo, hi = np.maximum(mass[:, 0], 0.0), mass[:, 1]
    wanted = _into(float(m.sum()), max(total[0], 0.0), total[1], SHARE * float(m.sum()))
    ends = np.where(np.isfinite(hi), hi, np.maximum(2.0 * m, m + 2.0 * wanted)) if wanted > m.sum() else lo
    reach = float((ends - m).sum())
    part = (wanted - float(m.sum())) / reach if reach else 0.0
    if not 0.0 <= part < 1.0:
        raise DescriptionError(
            f"Masses between {lo.sum():.4g} and {hi.sum():.4g} kg cannot add up to {total[0]:.4g} … {total[1]:.4g} kg.",
            field="total_mass",
        )
    moved = inside.copy()
    for i in range(n):
        block = slice(10 * i, 10 * i + 10)
        moved[block] *= (m[i] + part * (ends[i] - m[i])) / m[i]
    return moved
