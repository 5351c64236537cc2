r"""``<equality>``: joints that follow others, joints that are held, and loops.

With the reference positions q₀ (``ref``) an equality of two joints says :math:`q_1 - q_{1,0} = c_0 + c_1 (q_2 - q_{2,0}) + \dots`, one of a fixed
tendon :math:`\sum_i a_i (q_i - q_{i,0}) = c_0`. Linear ones of two joints become couplings; MuJoCo holds them by springs, here they hold
exactly. ``connect`` and ``weld`` close loops, which are refused unless one end is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from manipula.errors import DescriptionError, printable, unknown_name
from manipula.formats.mjcf.couplings import Couplings
from manipula.formats.mjcf.objects import MOCAP
from manipula.formats.mjcf.settings import Defaults, Settings
from manipula.formats.mjcf.unmodelled import WORLD, Unmodelled
from manipula.formats.robot_draft import RobotDraft
from manipula.formats.xml.reader import Element
from manipula.robot.build import JointDraft

FixedTendons = Mapping[str, tuple[tuple[str, float], ...] | None]


class Equalities:
    """Reads the equalities into the drafts of joints; ``unmodelled`` collects what the robot cannot have."""

    def __init__(
        self,
        draft: RobotDraft,
        refs: Mapping[str, float],
        driven: Sequence[str],
        tendons: FixedTendons,
        mocap: set[str],
    ) -> None:
        self.draft, self.driven, self.tendons, self.mocap = draft, driven, tendons, mocap
        self.joints = {j.name: j for j in draft.joints if j.moves}
        self.couplings = Couplings(self.joints, refs)
        self.sites = {f.name: f.link for f in draft.frames}
        self.unmodelled: list[Unmodelled] = []

    def read(self, root: Element, defaults: Defaults, settings: Settings) -> None:
        """Every active equality of the file.

        Raises:
            DescriptionError: an unknown joint, tendon or body.
        """
        off: list[str] = []
        for section in root.all("equality"):
            for stated in section.children:
                equality = defaults.filled(stated, None, "equality")
                if not settings.equality or equality.choice("active", ("true", "false"), "true") == "false":
                    off.append(_label(equality))
                elif equality.tag == "joint":
                    self._joint(equality)
                elif equality.tag == "tendon":
                    self._tendon(equality)
                elif equality.tag in ("connect", "weld"):
                    self._loop(equality)
                else:
                    equality.fail("Deformable bodies are not modelled; remove this element.")
        held = self.couplings.settle(self.driven, self.draft.notes)
        self.draft.joints = [held.get(j.name, j) for j in self.draft.joints]
        if off:
            shown = ", ".join(off[:8]) + (" …" if len(off) > 8 else "")
            self.draft.notes.append(f"{len(off)} equality constraint(s) are not active and not read: {shown}.")

    def _joint(self, equality: Element) -> None:
        first = self._known(equality, "joint1")
        second = self._known(equality, "joint2") if "joint2" in equality.attributes else None
        c = _polynomial(equality)
        _two_sides(equality, "joint")
        if second is not None and any(c[2:]):
            self._refuse(equality, "is not linear; only q1 = offset + ratio·q2 is modelled", (first, second))
            return
        self._bind(equality, {first: 1.0} if second is None else {first: 1.0, second: -c[1]}, c[0])

    def _tendon(self, equality: Element) -> None:
        c = _polynomial(equality)
        _two_sides(equality, "tendon")
        terms: dict[str, float] = {}
        for word, factor in (("tendon1", 1.0), ("tendon2", -c[1])):
            if word in equality.attributes or word == "tendon1":
                name = equality.get(word)
                if name not in self.tendons:
                    raise unknown_name("tendon", name, self.tendons, **_place(equality, word))
                if self.tendons[name] is None:
                    equality.fail("A tendon in space is not modelled; only fixed tendons couple joints.", word)
                for joint, coefficient in self.tendons[name] or ():
                    terms[joint] = terms.get(joint, 0.0) + factor * coefficient
        if "tendon2" in equality.attributes and any(c[2:]):
            self._refuse(equality, "is not linear; only linear couplings are modelled", tuple(terms))
            return
        self._bind(equality, terms, c[0])

    def _bind(self, equality: Element, terms: dict[str, float], constant: float) -> None:
        try:
            why = self.couplings.bind(terms, constant, _label(equality))
        except DescriptionError as error:
            raise error.at(**_place(equality)) from None
        if why is not None:
            self._refuse(equality, why, tuple(name for name, a in terms.items() if a != 0.0))

    def _loop(self, equality: Element) -> None:
        by_site = "site1" in equality.attributes
        ends: list[str] = []
        for word in ("site1", "site2") if by_site else ("body1", "body2"):
            name = equality.get(word, WORLD if word == "body2" else None)
            known: Any = self.sites if by_site else {link.name for link in self.draft.links}
            if name not in known:
                raise unknown_name("site" if by_site else "body", name, known, **_place(equality, word))
            ends.append(self.sites[name] if by_site else name)
        if self.mocap & set(ends):
            self.draft.notes.append(MOCAP.format(_label(equality)))
            return
        between = " and ".join(f"'{printable(n, 60)}'" for n in ends)
        error = DescriptionError(
            f"The {_label(equality)} closes a loop between the bodies {between}; closed loops are not modelled. Leave one end out "
            f"(drop=['{printable(ends[0], 60)}'] or chain=(base, tip)), hold its joints (lock=…), or set active='false'.",
            **_place(equality), )  # fmt: skip
        self.unmodelled.append(Unmodelled(error, loop=(ends[0], ends[1])))

    def _refuse(self, equality: Element, why: str, joints: tuple[str, ...]) -> None:
        error = DescriptionError(
            f"The {_label(equality)} {why}. Hold or leave out its joints ({', '.join(printable(n, 40) for n in joints[:8])}: lock=, drop=), or "
            "set active='false'.", **_place(equality))  # fmt: skip
        self.unmodelled.append(Unmodelled(error, joints=joints))

    def _known(self, equality: Element, word: str) -> str:
        name = equality.get(word)
        if name not in self.joints:
            raise unknown_name("joint", name, self.joints, **_place(equality, word))
        if self.joints[name].refusal is not None:
            equality.fail(f"Joint '{printable(name, 60)}' is neither a hinge nor a slide.", word)
        return name


def fixed_tendons(root: Element, joints: Mapping[str, JointDraft]) -> FixedTendons:
    """Of every fixed tendon the joints with their coefficients; ``None`` for tendons in space."""
    found: dict[str, tuple[tuple[str, float], ...] | None] = {}
    for section in root.all("tendon"):
        for tendon in section.children:
            rows = []
            for joint in tendon.all("joint"):
                name = joint.get("joint")
                if name not in joints:
                    raise unknown_name("joint", name, joints, **_place(joint, "joint"))
                rows.append((name, joint.number("coef")))
            if tendon.tag == "fixed" and not rows:
                tendon.fail("A fixed tendon has at least one joint.")
            found[tendon.attributes.get("name", f"\0{len(found)}")] = tuple(rows) if tendon.tag == "fixed" else None
    return found


def _two_sides(equality: Element, kind: str) -> None:
    name = equality.attributes.get(f"{kind}1")
    if name is not None and name == equality.attributes.get(f"{kind}2"):
        equality.fail(
            f"'{printable(name, 60)}' stands on both sides; an equality binds two {kind}s, or one alone.", f"{kind}2"
        )


def _polynomial(equality: Element) -> tuple[float, ...]:
    given = equality.numbers("polycoef", range(1, 6), (0.0, 1.0))
    return given + (0.0, 1.0, 0.0, 0.0, 0.0)[len(given) :]


def _label(equality: Element) -> str:
    name = equality.attributes.get("name")
    return f"equality <{printable(equality.tag)}>" + (
        f" '{printable(name, 60)}'" if name else f" of line {equality.line}"
    )


def _place(element: Element, word: str | None = None) -> dict[str, Any]:
    return {"file": element.file, "line": element.line, "field": f"{element.tag}.{word}" if word else element.tag}
