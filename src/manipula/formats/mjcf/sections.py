"""The sections of an MJCF file beside bodies and actuators: what they would add to the dynamics, refused or told."""

from __future__ import annotations

from manipula.errors import DescriptionError, printable
from manipula.formats.guard import check_reference
from manipula.formats.mjcf.settings import Defaults, Settings
from manipula.formats.xml.reader import Element

_PULLS = ("stiffness", "armature", "damping", "frictionloss")


def check_sections(root: Element, defaults: Defaults, settings: Settings, notes: list[str]) -> None:
    """Refuse loop closures, deformable bodies and tendons that pull; note what is left out."""
    for equality in root.all("equality") if settings.equality else ():
        for constraint in equality.children:
            if defaults.filled(constraint, None, "equality").attributes.get("active", "true") != "false":
                constraint.fail(
                    f"The equality constraint <{printable(constraint.tag)}> couples joints or closes a loop; that is not "
                    "modelled. Remove it, or set active='false'.")  # fmt: skip
    for deformable in root.all("deformable"):
        for flex in deformable.all("flex"):
            flex.fail("Deformable bodies are not modelled; remove this element.")
    for tendons in root.all("tendon"):
        for tendon in tendons.children:
            _tendon(defaults.filled(tendon, None, "tendon"), notes)
    outside = sum(_outside(item) for asset in root.all("asset") for item in asset.children)
    if outside:
        notes.append(f"{outside} file(s) of <asset> lie outside the folder of the description; nothing opens them.")
    notes[:] = list(dict.fromkeys(notes))


def _tendon(tendon: Element, notes: list[str]) -> None:
    for name in _PULLS:
        if any(v != 0 for v in tendon.numbers(name, range(1, 6), (0.0,))):
            tendon.fail(f"A tendon with {name} pulls at the joints; that is not modelled.", name)
    limited = tendon.choice("limited", ("true", "false", "auto"), "auto")
    if limited == "true" or (limited == "auto" and "range" in tendon.attributes):
        notes.append("the limits of tendons are not read.")
    notes.append("tendons are not read.")


def _outside(item: Element) -> bool:
    """Does it name a file beyond the folder of the description? Nothing opens such a file."""
    try:
        for attribute, value in item.attributes.items():
            if attribute.startswith("file"):
                check_reference(value)
    except DescriptionError:
        return True
    return False
