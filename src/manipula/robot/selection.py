"""What of a description one wants: joints held still, branches left out, the chain between two links.

The words are the same in Python (``load(…, lock=…)``), in robot files and on the command line:

``lock``   joints that stand still at a position; their links keep their mass
``drop``   joints or links that are left out with everything beyond them, mass included
``chain``  base and tip: the moving joints between two links, with all that is fixed to their links; other branches are left out
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manipula.algebra.linear import array
from manipula.algebra.pose import IDENTITY, Pose
from manipula.algebra.symbols import is_symbolic
from manipula.errors import DescriptionError, printable, unknown_name
from manipula.robot.checks import check_number
from manipula.robot.coupling import range_with_followers
from manipula.robot.drafts import FrameDraft, JointDraft, LinkDraft


@dataclass(frozen=True)
class Selection:
    """Joints to hold (name → position), joints or links to leave out, and (base, tip) of the chain to keep."""

    lock: tuple[tuple[str, Any], ...] = ()
    drop: tuple[str, ...] = ()
    chain: tuple[str, str] | None = None

    @classmethod
    def of(cls, lock: Any = None, drop: Any = None, chain: Any = None) -> Selection:
        """From the words of a caller or a file.

        Raises:
            DescriptionError: a value that is none of what a word may be.
        """
        if lock is not None and not isinstance(lock, Mapping):
            raise DescriptionError(
                f'lock gives positions by joint name, as {{"finger_joint1": 0.02}}; found {printable(lock)}.',
                field="lock",
            )
        held = []
        for name, value in (lock or {}).items():
            if not isinstance(name, str):
                raise DescriptionError(f"lock names joints, found {printable(name)}.", field="lock")
            if isinstance(value, (bool, str)):
                raise DescriptionError(
                    f"A position is a number [rad or m], found {printable(repr(value))}.", field=f"lock.{name}"
                )
            held.append((name, check_number(value, f"The position at which '{printable(name)}' is held", field="lock")))
        return cls(tuple(held), _names(drop, "drop"), _ends(chain))

    def __bool__(self) -> bool:
        return bool(self.lock or self.drop or self.chain)


EVERYTHING = Selection()


def _refuse_idle(selection: Selection, joints: list[JointDraft], inside: list[JointDraft]) -> None:
    """A joint held and left out, with nothing left that follows it; and a robot of which no joint is left."""
    names = {j.name for j in inside}
    for name, _ in selection.lock:
        if (
            name in selection.drop
            and name not in names
            and not any(j.follows == name and j.name in names for j in joints)
        ):
            raise DescriptionError(
                f"Joint '{printable(name)}' is held and left out; holding it would do nothing. Choose one.",
                field="lock",
            )
    held = {name for name, _ in selection.lock}
    if selection.drop and not inside and any(j.moves and j.name not in held for j in joints):
        raise DescriptionError(
            f"No joint is left without {', '.join(printable(name, 60) for name in selection.drop)} and what hangs on it.",
            field="drop",
        )


def _names(given: Any, word: str) -> tuple[str, ...]:
    if given is None:
        return ()
    names = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else None
    if names is None or not all(isinstance(n, str) for n in names):
        raise DescriptionError(f"{word} is a name or a list of names, found {printable(given)}.", field=word)
    return tuple(names)


def _ends(given: Any) -> tuple[str, str] | None:
    if given is None:
        return None
    names = () if isinstance(given, str) else _names(given, "chain")
    if len(names) != 2:
        raise DescriptionError(
            f'chain is the two links between which the arm lies, as ("base_link", "tool0"); found {printable(given)}.',
            field="chain",
        )
    return names[0], names[1]


@dataclass
class Selected:
    """What is left of a description: gravity is given in the axes of the (new) base."""

    links: list[LinkDraft]
    joints: list[JointDraft]
    frames: list[FrameDraft]
    turned: np.ndarray | None  # R of the new base in the old one, where the chain begins elsewhere
    tip: str | None
    notes: list[str]


def select(
    selection: Selection, root: LinkDraft, order: list[tuple[JointDraft, LinkDraft]], frames: Sequence[FrameDraft]
) -> Selected:
    """The drafts that a selection leaves, parents before children.

    Raises:
        DescriptionError: an unknown name, a joint that is fixed already, a position beyond its limits, links that are no chain.
    """
    joints = _held(selection, [j for j, _ in order])
    links = {root.name: root} | {link.name: link for _, link in order}
    kept, fixed = dict.fromkeys(links), {f.name: f.link for f in frames}
    for name in selection.drop:
        for gone in _beyond(_child(name, joints, links, root, fixed), joints):
            kept.pop(gone, None)
    left_out = [name for name in links if name not in kept]
    turned, tip = None, None
    if selection.chain is not None:
        base, tip = selection.chain
        turned, chain = _chain(base, tip, [j for j in joints if j.child in kept], kept, list(frames))
        left_out += [name for name in kept if name not in chain]
        kept = dict.fromkeys(name for name in kept if name in chain)
    notes = _told(selection, order, joints, kept)
    if left_out:
        mass = sum(links[name].mass for name in left_out)
        carried = f" ({mass:.6g} kg)" if not is_symbolic(mass) and mass else ""
        shown = ", ".join(printable(name, 60) for name in left_out[:12]) + (" …" if len(left_out) > 12 else "")
        notes.append(f"{len(left_out)} link(s) left out{carried}: {shown}.")
    inside = [j for j in joints if j.child in kept and j.parent in kept]
    moving = {j.name for j in inside if j.moves}
    _refuse_idle(selection, [j for j, _ in order], inside)
    if selection.chain is not None and not moving:
        base, end = (printable(name, 60) for name in selection.chain)
        raise DescriptionError(f"No joint moves between '{base}' and '{end}'; a chain has at least one.", field="chain")
    for j in inside:
        if j.moves and j.follows is not None and j.follows in {x.name for x in joints} and j.follows not in moving:
            leader = next(x for x in joints if x.name == j.follows)
            if leader.moves:
                name, lead = printable(j.name), printable(j.follows)
                raise DescriptionError(
                    f"Joint '{name}' follows '{lead}', which is left out. Hold that one, which holds both (lock={{'{lead}': …}} counts "
                    f"outside the chain too), or leave '{name}' out too (drop=['{name}']).",
                    **j.place(),
                )
    followed = {j.follows for j in inside}  # a held leader holds its followers: it stays known to them
    known = inside + [j for j in joints if not j.moves and j.name in followed and j not in inside]
    return Selected(
        [links[name] for name in kept], _led(inside, known), [f for f in frames if f.link in kept], turned, tip, notes
    )


def _led(inside: list[JointDraft], known: list[JointDraft]) -> list[JointDraft]:
    """Followers of a leader that is held but not kept are held where it puts them."""
    absent = {j.name for j in known} - {j.name for j in inside}
    return [j.held_at(j.offset) if j.moves and j.follows in absent else j for j in inside]


def _held(selection: Selection, joints: list[JointDraft]) -> list[JointDraft]:
    """The joints with those of ``lock`` made fixed; what follows one of them is held where that puts it."""
    positions = dict(selection.lock)
    known = {j.name: j for j in joints}
    for name, value in positions.items():
        if name not in known:
            raise unknown_name("joint", name, [j.name for j in joints if j.moves], field="lock")
        j = known[name]
        if not j.moves:
            raise DescriptionError(f"Joint '{printable(name)}' is fixed already.", field="lock")
        if j.follows is not None:
            lead = printable(j.follows)
            at = (value - j.offset) / j.ratio if not is_symbolic(j.ratio) and j.ratio else "…"
            raise DescriptionError(
                f"Joint '{printable(name)}' follows '{lead}'; lock that one, which holds both, also where it lies outside the chain: "
                f"lock={{'{lead}': {at if isinstance(at, str) or is_symbolic(at) else f'{at:.6g}'}}}.",
                field="lock",
            )
        if j.kind not in ("revolute", "prismatic") and value != 0:
            raise DescriptionError(
                f"Joint '{printable(name)}' is {j.kind}; it can be held only where the file puts it (0), found {value:g}.",
                field="lock",
            )
        low, high, narrowed_by = range_with_followers(j, _led_by(name, joints, known))
        if not any(is_symbolic(v) for v in (value, low, high)) and (
            (low is not None and value < low) or (high is not None and value > high)
        ):
            shown, more = ("no limit" if v is None else f"{v:.12g}" for v in (low, high))
            why = f", where its follower '{printable(narrowed_by)}' keeps its own" if narrowed_by else ""
            raise DescriptionError(
                f"Joint '{printable(name)}' cannot be held at {value:g}: its range is {shown} … {more}{why}.",
                field="lock",
            )
    return [_placed(j, known, positions) for j in joints]


def _told(selection: Selection, order: Iterable[tuple[JointDraft, LinkDraft]], placed: list[JointDraft],
          kept: Mapping[str, Any]) -> list[str]:  # fmt: skip
    """Notes about the joints that are held, and of those that were to be held and are left out."""
    positions, notes = dict(selection.lock), []
    for (j, _), now in zip(order, placed):
        name, inside = printable(j.name, 60), j.child in kept and j.parent in kept
        if j.name in positions:
            gone = "" if inside else " and left out"
            notes.append(f"joint '{name}' is held at {positions[j.name]}{gone}.")
        elif j.moves and not now.moves and inside:
            notes.append(f"joint '{name}' follows '{printable(str(j.follows), 60)}' and is held with it.")
    return notes


def _placed(j: JointDraft, known: Mapping[str, JointDraft], positions: Mapping[str, Any]) -> JointDraft:
    if j.name in positions:
        return j.held_at(positions[j.name])
    leader, ratio, offset = _followed(j, known)
    return j.held_at(offset + ratio * positions[leader]) if leader != j.name and leader in positions else j


def _led_by(name: str, joints: list[JointDraft], known: Mapping[str, JointDraft]) -> list[JointDraft]:
    """The moving joints that follow a joint, directly or through others, with ratio and offset to it."""
    led = [(j, _followed(j, known)) for j in joints if j.moves and j.name != name]
    return [replace(j, follows=name, ratio=r, offset=o) for j, (leader, r, o) in led if leader == name and r != 0]


def _followed(j: JointDraft, known: Mapping[str, JointDraft]) -> tuple[str, Any, Any]:
    """The joint that a joint follows in the end (itself, when it follows none), with ratio and offset to it."""
    at, ratio, offset, seen = j, 1.0, 0.0, {j.name}
    while at.follows is not None and at.follows in known and at.follows not in seen:
        ratio, offset = ratio * at.ratio, offset + ratio * at.offset
        at = known[at.follows]
        seen.add(at.name)
    return at.name, ratio, offset


def _child(
    name: str, joints: list[JointDraft], links: Mapping[str, LinkDraft], root: LinkDraft, fixed: Mapping[str, str]
) -> str:
    """The first link that goes when a joint or link of this name goes."""
    found = next((j.child for j in joints if j.name == name), name)
    if found not in links and name in fixed:
        shown = printable(name)
        raise DescriptionError(
            f"'{shown}' is fixed to '{printable(fixed[name])}': a robot that is built has fixed links merged into those that carry them, and a "
            f"frame has nothing to leave out. A fixed link is left out while its file is read: load(…, drop=['{shown}']).",
            field="drop",
        )
    if found not in links:
        raise unknown_name("joint or link", name, [*(j.name for j in joints), *links], field="drop")
    if found == root.name:
        raise DescriptionError(f"Link '{printable(name)}' is the root; without it nothing is left.", field="drop")
    return found


def _beyond(link: str, joints: list[JointDraft]) -> list[str]:
    """A link and everything that hangs on it (joints come parents first)."""
    gone = {link: None}
    for j in joints:
        if j.parent in gone:
            gone[j.child] = None
    return list(gone)


def _chain(
    base: str, tip: str, joints: list[JointDraft], kept: Mapping[str, Any], frames: list[FrameDraft]
) -> tuple[np.ndarray | None, set[str]]:
    """R of the chain's base in the root, and the links of the chain: the way from base to tip and what is fixed to it."""
    for name in (base, tip):
        if name not in kept and name not in {f.name for f in frames}:
            raise unknown_name("link", name, list(kept), field="chain")
    if base not in kept:
        carrier = printable(next(f.link for f in frames if f.name == base))
        raise DescriptionError(
            f"The base of a chain is a link; '{printable(base)}' is a frame that is fixed to '{carrier}': begin there, "
            f"chain=('{carrier}', '{printable(tip)}').",
            field="chain",
        )
    up = {j.child: j for j in joints}
    way = [next((f.link for f in frames if f.name == tip and tip not in kept), tip)]
    while way[-1] != base:
        if way[-1] not in up:
            raise DescriptionError(
                f"'{printable(tip)}' does not hang on '{printable(base)}'; above it are "
                f"{', '.join(printable(n, 60) for n in way[1:8]) or 'no links'}.",
                field="chain",
            )
        way.append(up[way[-1]].parent)
    inside = set(way)
    for j in joints:
        if j.parent in inside and (not j.moves or j.child in way):
            inside.add(j.child)
    X: Pose = IDENTITY
    at = base
    while at in up:
        X = up[at].origin @ up[at].frame @ X  # moving joints above the base stand at zero
        at = up[at].parent
    above = array(X.R)
    return (None if above.dtype != object and np.array_equal(above, np.eye(3)) else above), inside
