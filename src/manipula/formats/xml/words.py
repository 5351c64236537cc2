"""What a Robot knows and URDF or MJCF cannot say: written as words and numbers that other programs pass over.

URDF carries them as attributes of a ``<manipula>`` element inside the joint, MJCF as a ``<text>`` of its ``<custom>``
section. The same words in both: ``rotor_inertia gear_ratio velocity acceleration jerk``, ``unlimited`` (limits that are
not there, though the format demands a number), ``friction`` and ``drive`` (a name from the registry, parameters as
``friction.damping``). Where the format's own words have been edited since and disagree, they win.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from manipula.algebra.arguments import LARGEST
from manipula.algebra.expression import decimal
from manipula.errors import DescriptionError, printable, unknown_name
from manipula.robot.build import JointDraft
from manipula.robot.checks import check_number
from manipula.robot.drives import KIND as DRIVE
from manipula.robot.drives import REGISTRY as DRIVES
from manipula.robot.friction import KIND as LAW
from manipula.robot.friction import REGISTRY as FRICTION
from manipula.robot.friction import Coulomb, FrictionLaw, Viscous
from manipula.robot.joint import Joint

NO_LIMIT = 1e9  # stands where a format demands a limit and the robot has none; ``unlimited`` says so
LIMIT_NAMES = ("lower", "upper", "velocity", "acceleration", "jerk", "effort")
_NUMBERS = ("rotor_inertia", "gear_ratio", "velocity", "acceleration", "jerk")
_KINDS = {"friction": LAW, "drive": DRIVE}
_PARTS: Mapping[str, Mapping[str, type]] = {"friction": FRICTION, "drive": DRIVES}


def dissipation(damping: float, dry: float) -> FrictionLaw | None:
    """The law of a joint with viscous friction ``damping`` and dry friction ``dry``, the two words both formats have."""
    if dry > 0:
        return Coulomb(dry, damping=damping)
    return Viscous(damping) if damping > 0 else None


def damping_and_dry(law: FrictionLaw | None) -> tuple[float | None, float | None]:
    """What of a law the two words can say; ``None`` where they say nothing."""
    if isinstance(law, Viscous):
        return law.damping, None
    if isinstance(law, Coulomb):
        return law.damping or None, law.level
    return None, None


def words_of(joint: Joint, said: tuple[str, ...] = ()) -> dict[str, str]:
    """The words for one joint, without those the format itself can say (``said``)."""
    words: dict[str, str] = {}
    for name, usual in (("rotor_inertia", 0.0), ("gear_ratio", 1.0)):
        if getattr(joint, name) != usual:
            words[name] = repr(float(getattr(joint, name)))
    for name in ("velocity", "acceleration", "jerk"):
        value = getattr(joint.limits, name)
        if value is not None and name not in said:
            words[name] = repr(float(value))
    damping, dry = damping_and_dry(joint.friction)
    if joint.friction != dissipation(damping or 0.0, dry or 0.0):
        words |= _words_of_part("friction", joint.friction)
    if joint.drive is not None:
        words |= _words_of_part("drive", joint.drive)
    return words


def _words_of_part(kind: str, part: Any) -> dict[str, str]:
    _KINDS[kind].check_registered(part, field=kind)
    words = {kind: part.name}
    for f in dataclasses.fields(part):
        value = getattr(part, f.name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            words[f"{kind}.{f.name}"] = repr(float(value))
        elif isinstance(value, str):
            words[f"{kind}.{f.name}"] = "'" + quote(value)
        elif value is not None:
            raise DescriptionError(f"The field '{f.name}' of {kind} '{part.name}' cannot be written into this format.")
    return words


def apply_words(draft: JointDraft, words: Mapping[str, str], **place: Any) -> None:
    """Fill a joint's draft from the words of ``words_of``; unknown words are refused."""
    limits: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {"friction": {}, "drive": {}}
    for word, text in words.items():
        kind, dot, parameter = word.partition(".")
        try:
            if word in ("rotor_inertia", "gear_ratio"):
                setattr(draft, word, check_number(decimal(text), word, largest=LARGEST))
            elif word in LIMIT_NAMES:
                limits[word] = decimal(text)
            elif word == "unlimited":
                for name in text.split():
                    if name not in LIMIT_NAMES:
                        raise unknown_name("limit", name, LIMIT_NAMES)
                    if abs(getattr(draft.limits, name) or NO_LIMIT) == NO_LIMIT:  # else it was edited, and counts
                        limits[name] = None
            elif dot and kind in parts:
                parts[kind][parameter] = unquote(text[1:]) if text.startswith("'") else decimal(text)
            elif word not in parts:
                raise unknown_name("word", word, (*_NUMBERS, "unlimited", "friction", "drive"))
        except DescriptionError as error:
            raise error.at(**place) from None
    draft.limits = dataclasses.replace(draft.limits, **limits)
    if "drive" in words:
        draft.drive = _part("drive", words["drive"], parts["drive"], **place)
    if "friction" in words:
        law = _part("friction", words["friction"], parts["friction"], **place)
        said, stated = ([v or 0.0 for v in damping_and_dry(x)] for x in (law, draft.friction))
        if said == stated:  # else the damping was edited since, and counts
            draft.friction = law


def _part(kind: str, name: str, parameters: Mapping[str, Any], **place: Any) -> Any:
    known = _PARTS[kind]
    if name not in known:
        raise unknown_name(kind, name, known, **place)
    try:
        return known[name](**parameters)
    except DescriptionError as error:
        raise error.at(**place) from None
    except TypeError as problem:
        fields = ", ".join(f.name for f in dataclasses.fields(known[name]))
        raise DescriptionError(
            f"The {kind} '{name}' has the parameters {fields}: {printable(problem)}.", **place
        ) from None
