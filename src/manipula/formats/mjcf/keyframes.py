"""``<keyframe>``: named postures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from manipula.errors import BudgetError, printable
from manipula.formats.xml.reader import Element

WIDTH = {"free": 7, "ball": 4}
MAX_NUMBERS = 200_000  # of all keys


def read_keyframes(
    root: Element, order: Sequence[tuple[str, str]], refs: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Posture → joint → position; ``order`` has every joint of the file with its kind, as qpos counts them.

    Raises:
        DescriptionError: qpos of a wrong length, or two keys of one name.
        BudgetError: more numbers than any arm's postures have.
    """
    width = sum(WIDTH.get(kind, 1) for _, kind in order)
    found: dict[str, dict[str, float]] = {}
    keys = sum(1 for section in root.all("keyframe") for _ in section.all("key"))
    if keys * width > MAX_NUMBERS:
        raise BudgetError(f"{keys} keys of {width} positions are more than the {MAX_NUMBERS} numbers that are read.")
    for section in root.all("keyframe"):
        for key in section.all("key"):
            name = key.attributes.get("name") or f"key{len(found)}"
            if name in found:
                key.fail(f"Two keys are named '{printable(name, 60)}'.", "name")
            posture = {joint: refs.get(joint, 0.0) for joint, kind in order if kind not in WIDTH}
            if "qpos" in key.attributes:
                values = iter(key.numbers("qpos", width))
                for joint, kind in order:
                    own = [next(values) for _ in range(WIDTH.get(kind, 1))]
                    if kind not in WIDTH:
                        posture[joint] = own[0]
            found[name] = posture
    return found
