"""n-R arms in the vertical x–y plane [Žlajpah, dynamic simulation of n-R planar manipulators]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manipula.errors import DescriptionError
from manipula.formats.dh import from_dh
from manipula.robot.build import check_budget
from manipula.robot.friction.viscous import Viscous
from manipula.robot.robot import Robot

PLANAR_GRAVITY = (0.0, -9.81, 0.0)


def planar(
    lengths: Sequence[Any],
    masses: Sequence[Any],
    com: Sequence[Any] | None = None,
    inertia: Sequence[Any] | None = None,
    payload: Any = 0.0,
    damping: Any = None,
    *,
    gravity: Any = PLANAR_GRAVITY,
    name: str | None = None,
) -> Robot:
    """An arm of n revolute joints about z, links along x, gravity along -y.

    Args:
        lengths: l_i, joint to joint [m].
        masses: m_i [kg].
        com: distances joint → centre of mass [m]; half the length when omitted.
        inertia: I_i about the centre of mass, about z [kg·m²]; a uniform rod, m l²/12, when omitted. The link is taken
            as a slender body along x, so that its tensor (0, I, I) is that of a possible body.
        payload: point mass at the tip [kg].
        damping: viscous coefficient b of every joint, or one per joint [N·m·s/rad].
    """
    n = len(lengths)
    check_budget(n, field="lengths")
    if n == 0:
        raise DescriptionError("A planar arm needs at least one link.", field="lengths")
    if com is None:
        com = [_half(l) for l in lengths]
    if inertia is None:
        inertia = [_rod(m, l) for m, l in zip(masses, lengths)]
    if damping is not None and not isinstance(damping, (list, tuple)) and getattr(damping, "ndim", 0) == 0:
        damping = [damping] * n
    for field, values in (("masses", masses), ("com", com), ("inertia", inertia), ("damping", damping)):
        if values is not None and len(values) != n:
            raise DescriptionError(f"{n} entries are needed, one a link; found {len(values)}.", field=field)
    rows = []
    for i in range(n):
        l, c = _number(lengths[i]), _number(com[i])
        rows.append({
            "a": l, "mass": _number(masses[i]), "com": (c - l, 0.0, 0.0), "inertia": [0.0, *[_number(inertia[i])] * 2, 0.0, 0.0, 0.0],
            "friction": None if damping is None or damping[i] == 0 else Viscous(_number(damping[i])),
        })  # fmt: skip
    return from_dh(rows, "standard", gravity, payload=payload, name=name or f"planar-{n}r")


def _number(value: Any) -> Any:
    if isinstance(value, str):
        from manipula.algebra.expression import scalar

        return scalar(value)
    return value


def _half(length: Any) -> Any:
    value = _number(length)
    return value / 2


def _rod(mass: Any, length: Any) -> Any:
    m, l = _number(mass), _number(length)
    return m * l * l / 12
