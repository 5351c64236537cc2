r"""Coupled joints of a description: which follow which, and what of a follower is felt by its leader.

With :math:`q_b = o + r\,q_a` the pair has one coordinate. A follower's friction torque acts on the leader as
:math:`r\,\tau_f(r\,\dot q_a)`, its spring as :math:`r^2` of itself, its range becomes a range of the leader, the effort of
its motor :math:`|r|` of itself, and its rotor :math:`r^2` of itself (by the mass matrix, ``physics/coupling.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from manipula.algebra.arguments import LARGEST
from manipula.algebra.symbols import is_symbolic
from manipula.errors import BudgetError, DescriptionError, printable, unknown_name
from manipula.robot.checks import check_number
from manipula.robot.drafts import JointDraft
from manipula.robot.drives.base import Drive
from manipula.robot.drives.spring import Spring
from manipula.robot.friction import Coulomb, Viscous
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.limits import Limits

MAX_IN_A_ROW = 100


def resolve(joints: Sequence[JointDraft], notes: list[str]) -> list[JointDraft]:
    """Every coupling through to an independent joint, whose range and friction then include its followers'.

    A joint that follows a fixed one, or with ratio 0, stands still.
    """
    if not any(j.follows is not None for j in joints):
        return list(joints)
    by_name = {j.name: j for j in joints}
    found = {j.name: _resolved(j, by_name) for j in joints}
    for j in joints:
        if j.moves and not found[j.name].moves:
            why = "with ratio 0" if j.ratio == 0 else "which stands still"
            notes.append(
                f"joint '{printable(j.name, 60)}' follows '{printable(str(j.follows), 60)}', {why}: it is held still."
            )
    for j in list(found.values()):
        if j.follows is not None:
            leader = found[j.follows]
            found[j.follows] = replace(
                leader,
                limits=_narrowed(leader, j, notes),
                friction=_felt(leader.friction, j, leader),
                drive=_pulled(leader, j),
            )
            limits = replace(j.limits, effort=None) if j.driven else j.limits
            found[j.name] = replace(j, friction=None, drive=None, limits=limits, driven=False)
            notes.append(f"joint '{printable(j.name, 60)}' follows '{printable(j.follows, 60)}': {_law(j)}.")
    return [found[j.name] for j in joints]


def _law(j: JointDraft) -> str:
    ratio = f"({j.ratio})" if is_symbolic(j.ratio) else f"{j.ratio:.12g}"
    if j.offset == 0:
        return f"q = {ratio}·q_leader"
    offset = str(j.offset) if is_symbolic(j.offset) else f"{j.offset:.12g}"
    return f"q = {offset} − {ratio[1:]}·q_leader" if ratio.startswith("-") else f"q = {offset} + {ratio}·q_leader"


def _resolved(j: JointDraft, by_name: dict[str, JointDraft]) -> JointDraft:
    if j.follows is None or not j.moves:
        return j
    for what in ("ratio", "offset"):
        check_number(
            getattr(j, what), f"The {what} of joint '{printable(j.name)}'", largest=LARGEST, **_coupling_of(j, what)
        )
    if j.drive is not None and type(j.drive) is not Spring:
        raise DescriptionError(
            f"Joint '{printable(j.name)}' follows '{printable(j.follows)}', so it has no drive of its own.", **j.place()
        )
    ratio, offset, seen, at = j.ratio, j.offset, {j.name}, j
    while at.follows is not None and at.moves:
        if at.follows not in by_name:
            raise unknown_name(
                f"joint (which '{printable(at.name)}' follows)", at.follows, by_name, **_coupling_of(at, "follows")
            )
        up = by_name[at.follows]
        if up.name in seen:
            raise DescriptionError(
                f"Joint '{printable(j.name)}' follows itself, by '{printable(at.name)}'.", **_coupling_of(j, "follows")
            )
        seen.add(up.name)
        if len(seen) > MAX_IN_A_ROW:
            raise BudgetError(
                f"Joint '{printable(j.name)}' follows another through more than {MAX_IN_A_ROW} joints.", **j.place()
            )
        if up.follows is not None and up.moves:  # q = o + r(o' + r' q')
            ratio, offset = ratio * up.ratio, offset + ratio * up.offset
        at = up
    if not at.moves or ratio == 0:
        return j.held_at(offset)
    return replace(j, follows=at.name, ratio=ratio, offset=offset)


def _coupling_of(j: JointDraft, what: str) -> dict[str, Any]:
    return {"line": j.line, "field": f"{j.field}.{what}" if j.field else what}


def _narrowed(leader: JointDraft, j: JointDraft, notes: list[str]) -> Limits:
    """The leader's limits where the follower's are tighter, in the leader's own units."""
    mine, its, r, o = leader.limits, j.limits, j.ratio, j.offset
    name = printable(j.name, 60)
    if any(is_symbolic(v) for v in (r, o, *vars(mine).values(), *vars(its).values())):
        if any(v is not None for v in vars(its).values()):
            notes.append(f"joint '{name}': the limits of a follower with free parameters do not bound its leader.")
        return mine
    changes: dict[str, Any] = {}
    if its.lower is not None and its.upper is not None and its.lower == its.upper:
        notes.append(f"joint '{name}' follows another and states an empty range ({its.lower:g}), which does not count.")
    else:
        ends = [None if v is None else (v - o) / r for v in (its.lower, its.upper)]
        low, high = ends if r > 0 else ends[::-1]
        low = max((v for v in (mine.lower, low) if v is not None), default=None)
        high = min((v for v in (mine.upper, high) if v is not None), default=None)
        if low is not None and high is not None and low > high:
            led = sorted(o + r * v for v in (mine.lower, mine.upper) if v is not None)
            raise DescriptionError(
                f"Joint '{name}' follows '{printable(leader.name, 60)}', which puts it {_between(led)}, always outside its own range "
                f"({_number(its.lower)} … {_number(its.upper)}): no posture keeps both. Correct offset, ratio or a range; "
                f"of a URDF, MJCF or SDF file it may be left out (drop=['{name}']).",
                **j.place(),
            )
        if (low, high) != (mine.lower, mine.upper):
            changes = {"lower": low, "upper": high}
            notes.append(f"joint '{name}': its range narrows that of its leader to {_number(low)} … {_number(high)}.")
    for what in ("velocity", "acceleration", "jerk"):
        own, other = getattr(mine, what), getattr(its, what)
        if other is not None and other > 0 and (own is None or other / abs(r) < own):
            changes[what] = other / abs(r)
            notes.append(f"joint '{name}': its {what} limit makes that of its leader {changes[what]:.6g}.")
    if j.driven:  # virtual work: τ_a = r τ_b
        both = None if mine.effort is None or its.effort is None else mine.effort + abs(r) * its.effort
        changes["effort"] = both
        notes.append(
            f"joint '{name}' has a motor of its own: with it the effort limit of its leader is {_number(both)}."
        )
    elif its.effort:
        notes.append(f"joint '{name}' has no motor, so its effort limit ({its.effort:g}) does not act.")
    return replace(mine, **changes)


def _number(v: float | None) -> str:
    return "no limit" if v is None else f"{v:.6g}"


def _between(ends: list[float]) -> str:
    return f"between {ends[0]:.6g} and {ends[1]:.6g}" if len(ends) == 2 else f"on one side of {ends[0]:.6g}"


def range_with_followers(leader: JointDraft, followers: Sequence[JointDraft]) -> tuple[Any, Any, str]:
    """Lower and upper limit of a joint and of all that follow it, and the name of the follower that narrows it most, if one does."""
    limits, name = leader.limits, ""
    for j in followers:
        narrower = _narrowed(replace(leader, limits=limits), j, [])
        if (narrower.lower, narrower.upper) != (limits.lower, limits.upper):
            name = j.name
        limits = narrower
    return limits.lower, limits.upper, name


def _pulled(leader: JointDraft, j: JointDraft) -> Drive | None:
    r"""The leader's drive with the follower's spring in it: :math:`-r\,k\,(o + r q_a - q_0) = -r^2 k\,(q_a - (q_0 - o)/r)`."""
    if not isinstance(j.drive, Spring):
        return leader.drive
    stiffness, rest = j.ratio * j.ratio * j.drive.stiffness, (j.drive.rest - j.offset) / j.ratio
    own = leader.drive
    if own is not None and type(own) is not Spring:
        raise DescriptionError(
            f"Joint '{printable(j.name)}' has a spring and follows '{printable(leader.name)}', which has a drive of another kind "
            f"('{own.name}'); give the leader a drive for both.",
            **j.place(),
        )
    if own is None or own.stiffness == 0:
        return Spring(stiffness, rest)
    total = own.stiffness + stiffness
    return Spring(total, (own.stiffness * own.rest + stiffness * rest) / total)


def _felt(own: FrictionLaw | None, j: JointDraft, leader: JointDraft) -> FrictionLaw | None:
    r"""The leader's friction law with the follower's in it: :math:`\tau_f(\dot q_a) + r\,\tau_{f,b}(r\,\dot q_a)`."""
    law, r = j.friction, j.ratio
    if law is None:
        return own
    for one in (law, own):
        if one is not None and type(one) not in (Viscous, Coulomb):
            raise DescriptionError(
                f"Joint '{printable(j.name)}' follows '{printable(leader.name)}', and friction of both can be one law only where it "
                f"is viscous or Coulomb's, found '{type(one).__name__}'; give the friction of both to the leader.",
                **j.place(),
            )
    damping = r * r * law.damping + (own.damping if own is not None else 0.0)  # pyright: ignore[reportAttributeAccessIssue]
    dry = [x for x in (own, law) if isinstance(x, Coulomb)]
    if not dry:
        return Viscous(damping)
    size = r if is_symbolic(r) else abs(r)
    level, offset = 0.0, 0.0
    for x in dry:
        level = level + (size * x.level if x is law else x.level)
        offset = offset + (r * x.offset if x is law else x.offset)
    width = own.width if isinstance(own, Coulomb) else dry[-1].width / size
    return Coulomb(level, width=width, damping=damping, offset=offset)
