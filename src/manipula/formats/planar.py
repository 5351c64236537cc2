"""n-R arms in the vertical x–y plane [Žlajpah, dynamic simulation of n-R planar manipulators]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, UnphysicalError
from manipula.formats.dh.rows import from_dh, number
from manipula.robot.checks import check_budget, check_number
from manipula.robot.friction.viscous import Viscous
from manipula.robot.robot import Robot

PLANAR_GRAVITY = (0.0, -9.81, 0.0)


def planar(
    lengths: Sequence[Any] | np.ndarray,
    masses: Sequence[Any] | np.ndarray,
    com: Sequence[Any] | np.ndarray | None = None,
    inertia: Sequence[Any] | np.ndarray | None = None,
    payload: Any = 0.0,
    damping: Any = None,
    *,
    gravity: Any = PLANAR_GRAVITY,
    name: str | None = None,
) -> Robot:
    """An arm of n revolute joints about z, links along x, gravity along -y.

    Args:
        lengths: l_i, joint to joint [m], above zero.
        masses: m_i [kg]; a link without mass is a light rod (a run says where the mass matrix is then singular).
        com: distances joint → centre of mass [m]; half the length when omitted.
        inertia: I_i about the centre of mass, about z [kg·m²]; a uniform rod, m l²/12, when omitted. The link is taken
            as a slender body along x, so that its tensor (0, I, I) is that of a possible body.
        payload: point mass at the tip [kg], or a Payload.
        damping: viscous coefficient b of every joint, or one per joint [N·m·s/rad].
    """
    n = _count(lengths, "lengths")
    check_budget(n, field="lengths")
    if n == 0:
        raise DescriptionError("A planar arm needs at least one link.", field="lengths")
    l, m = _numbers(lengths, n, "lengths"), _numbers(masses, n, "masses")
    c = [x / 2 for x in l] if com is None else _numbers(com, n, "com")
    I = [b * a * a / 12 for a, b in zip(l, m)] if inertia is None else _numbers(inertia, n, "inertia")
    _check_bodies(l, m, I)
    if isinstance(damping, str) or not isinstance(damping, (Sequence, np.ndarray)):
        damping = [0.0 if damping is None else damping] * n
    b = _numbers(damping, n, "damping")
    rows = [
        {
            "a": l[i], "mass": m[i], "com": (c[i] - l[i], 0.0, 0.0), "inertia": [0.0, I[i], I[i], 0.0, 0.0, 0.0],
            "friction": None if b[i] == 0 else Viscous(b[i]),
        }
        for i in range(n)
    ]  # fmt: skip
    return from_dh(rows, "standard", gravity, payload=payload, name=name or f"planar-{n}r")


def _check_bodies(l: list[Any], m: list[Any], I: list[Any]) -> None:
    """Lengths above zero; no mass or moment of inertia below zero, and no moment without mass."""
    for i in range(len(l)):
        check_number(l[i], "The length of a link", above=0.0, field=f"lengths[{i}]")
        check_number(m[i], "The mass of a link", at_least=0.0, field=f"masses[{i}]")
        check_number(I[i], "The moment of inertia of a link", at_least=0.0, field=f"inertia[{i}]")
        if m[i] == 0 and I[i] != 0:
            raise UnphysicalError("A link without mass has no moment of inertia.", field=f"inertia[{i}]")


def _count(values: Any, field: str) -> int:
    ordered = hasattr(values, "__len__") and hasattr(values, "__getitem__") and getattr(values, "shape", None) != ()
    if not ordered or isinstance(values, (str, bytes, Mapping)):
        raise DescriptionError(f"A list with one entry per link is needed, found {type(values).__name__}.", field=field)
    return len(values)


def _numbers(values: Any, n: int, field: str) -> list[Any]:
    """n finite numbers or formulas, one per link."""
    count = _count(values, field)
    if count != n:
        raise DescriptionError(f"{n} entries are needed, one per link; found {count}.", field=field)
    return [number(x, f"{field}[{i}]") for i, x in enumerate(values)]
