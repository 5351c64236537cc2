"""The sections of an MJCF file beside bodies and actuators: what they would add to the dynamics, refused or told."""

from __future__ import annotations

from manipula.errors import DescriptionError
from manipula.formats.guard import check_reference
from manipula.formats.mjcf.equalities import FixedTendons
from manipula.formats.mjcf.settings import Defaults, Settings
from manipula.formats.mjcf.unmodelled import Unmodelled
from manipula.formats.robot_draft import RobotDraft
from manipula.formats.xml.reader import Element


def check_sections(
    root: Element, defaults: Defaults, settings: Settings, tendons: FixedTendons, draft: RobotDraft
) -> list[Unmodelled]:
    """Refuse deformable bodies; note what is left out; tendons that pull are refused with their joints."""
    notes = draft.notes
    for deformable in root.all("deformable"):
        for flex in deformable.all("flex"):
            flex.fail("Deformable bodies are not modelled; remove this element.")
    outside = sum(_outside(item) for asset in root.all("asset") for item in asset.children)
    if outside:
        notes.append(f"{outside} file(s) of <asset> lie outside the folder of the description; nothing opens them.")
    stated = (defaults.filled(t, None, "tendon") for section in root.all("tendon") for t in section.children)
    everything = tuple(j.name for j in draft.joints if j.moves)
    users = [user for word in ("equality", "actuator") for section in root.all(word) for user in section.children]
    used = {
        user.attributes[word] for user in users for word in ("tendon", "tendon1", "tendon2") if word in user.attributes
    }
    found = []
    for tendon, rows in zip(stated, tendons.values()):
        pull = _pull(tendon, settings)
        if pull is not None:
            joints = everything if rows is None else tuple(name for name, _ in rows)
            error = DescriptionError(
                f"The tendon {tendon.label} with {pull} pulls at the joints; that is not modelled. Hold or leave out its joints (lock=, drop=), "
                "or remove it.", file=tendon.file, line=tendon.line, field=f"{tendon.tag}.{pull}")  # fmt: skip
            found.append(Unmodelled(error, joints=joints))
        limited = tendon.choice("limited", ("true", "false", "auto"), "auto")
        if limited == "true" or (limited == "auto" and "range" in tendon.attributes):
            notes.append("the limits of tendons are not read.")
        if tendon.attributes.get("name") not in used:
            notes.append("tendons are not read.")
    return found


def _pull(tendon: Element, settings: Settings) -> str | None:
    """The first of the words by which this tendon pulls at its joints."""
    acts = {"stiffness": settings.spring, "armature": True, "damping": settings.damper, "frictionloss": settings.dry}
    return next((n for n in acts if acts[n] and any(tendon.numbers(n, range(1, 6), (0.0,)))), None)


def _outside(item: Element) -> bool:
    """Does it name a file beyond the folder of the description? Nothing opens such a file."""
    try:
        for attribute, value in item.attributes.items():
            if attribute.startswith("file") and ".." in value:
                check_reference(value)
    except DescriptionError:
        return True
    return False
