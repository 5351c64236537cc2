r"""Linear equalities of joints, :math:`\sum_i a_i (q_i - q_{i,0}) = c`: which joint leads, which follow, which are held.

Files and models in memory share them. Of joints that are bound to each other one leads: one with a motor where there is any, else the one that the
file puts last. A joint that an equality holds holds all that are bound to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from manipula.errors import DescriptionError, printable
from manipula.robot.drafts import JointDraft


class Couplings:
    """Collects equalities of the joints of a description; ``settle`` then writes them into the drafts."""

    def __init__(self, joints: Mapping[str, JointDraft], refs: Mapping[str, float]) -> None:
        self.joints, self.refs = joints, refs
        self.laws: dict[str, tuple[dict[str, float], float]] = {}  # of each follower
        self.held: dict[str, tuple[float, str]] = {}

    def bind(self, terms: Mapping[str, float], constant: float, label: str) -> str | None:
        """Take one equality; the reason where it cannot be taken.

        Raises:
            DescriptionError: no robot has it, whatever is left out.
        """
        names = [name for name, a in terms.items() if a != 0.0]
        if not names and constant != 0:
            raise DescriptionError("It cannot be fulfilled: no joint is part of it.")
        if not names:
            return None
        if len(names) > 2:
            return f"binds {len(names)} joints to each other; only two can be coupled"
        ends = {self._lead(name) for name in names}
        already = [name for name in self.held if self._lead(name) in ends]
        if len(already) == len(ends):
            shown = ", ".join(f"'{printable(name, 60)}'" for name in names)
            raise DescriptionError(f"It binds {shown}, which other equalities hold already.")
        if len(ends) < len(names):
            return "binds joints that others bind already"
        if len(names) == 1:
            self.held[names[0]] = self.refs.get(names[0], 0.0) + constant / terms[names[0]], label
            return None
        first, second = names
        if self.joints[first].follows is not None and self.joints[second].follows is None:
            first, second = second, first
        self._turn(first)
        self._follow(first, second, (dict(terms), constant))
        return None

    def settle(self, driven: Iterable[str], notes: list[str]) -> dict[str, JointDraft]:
        """Let the joints with motors lead; the drafts of the joints that are held, fixed where they stand."""
        for name in driven:
            if name in self.joints and self._lead(name) not in driven:
                self._turn(name)
        for name in self.held:
            self._turn(name)
        still = {}
        for name, j in self.joints.items():
            lead, ratio, offset = resolved(name, self.joints)
            if lead in self.held:
                at = offset + ratio * self.held[lead][0]
                still[name] = j.held_at(at)
                by = self.held[lead][1] if lead == name else f"'{printable(lead, 60)}', which it follows"
                notes.append(f"joint '{printable(name, 60)}' is held at {at:.12g} by {by}.")
        return still

    def _lead(self, name: str) -> str:
        return resolved(name, self.joints)[0]

    def _follow(self, name: str, leader: str, law: tuple[dict[str, float], float]) -> None:
        (terms, constant), j = law, self.joints[name]
        ratio = -terms[leader] / terms[name]
        offset = self.refs.get(name, 0.0) + constant / terms[name] - ratio * self.refs.get(leader, 0.0)
        j.follows, j.ratio, j.offset = leader, ratio + 0.0, offset + 0.0
        self.laws[name] = law

    def _turn(self, name: str) -> None:
        """Make this joint the one that leads: every coupling above it is turned round."""
        above = [name]
        while (up := self.joints[above[-1]].follows) is not None:
            above.append(up)
        laws = [self.laws.pop(follower) for follower in above[:-1]]
        for follower, leader, law in zip(above[1:], above, laws):
            self._follow(follower, leader, law)
        j = self.joints[name]
        j.follows, j.ratio, j.offset = None, 1.0, 0.0


def resolved(name: str, joints: Mapping[str, JointDraft]) -> tuple[str, float, float]:
    """The joint that leads this one, through all couplings, with ratio and offset: ``q = offset + ratio · q_lead``."""
    j, ratio, offset = joints[name], 1.0, 0.0
    while j.follows is not None:
        ratio, offset = ratio * j.ratio, offset + ratio * j.offset
        j = joints[j.follows]
    return j.name, ratio, offset


def lever(
    tendon: Iterable[tuple[str, float]], joints: Mapping[str, JointDraft]
) -> tuple[JointDraft, float] | tuple[None, float]:
    r"""The joint that a fixed tendon moves, where all its moving joints are coupled to one, and the lever :math:`\sum_i a_i r_i`."""
    rows = [(resolved(name, joints), a) for name, a in tendon if joints[name].moves]
    leads = {lead for (lead, _, _), _ in rows}
    if len(leads) != 1:
        return None, 0.0
    return joints[leads.pop()], sum(a * ratio for (_, ratio, _), a in rows)
