"""Names of free parameters that look like slips of one another, and gears that may be counted twice or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from manipula.robot.doctor_rules.finding import Finding
from manipula.robot.robot import Robot

LONG = 4  # letters from which one wrong letter is more likely than another name


def slips(robot: Robot) -> Iterator[Finding]:
    """A parameter that is called almost like another: ``L22`` beside ``L2``, ``l1`` beside ``L1``, ``lenght`` beside ``length``."""
    names = robot.parameters
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            if alike(one, other, robot.n):
                yield Finding(
                    "warning", "parameters.alike", robot.name,
                    f"The free parameters '{one}' and '{other}' are almost called the same.", [one, other],
                    "If one is a slip of the other, correct it; a file that lists its names (free = [...]) refuses any other.",
                )  # fmt: skip


def alike(one: str, other: str, joints: int) -> bool:
    """Could one name be the other, mistyped? Numbered names (m1, m2) are not, as long as there are so many joints."""
    if one.lower() == other.lower():
        return True
    (stem, number), (stem_2, number_2) = _split(one), _split(other)
    numbered = stem == stem_2 and all(n and int(n) <= joints for n in (number, number_2))
    short, long = sorted((one, other), key=len)
    twice = any(long[k] == long[k + 1] and long[:k] + long[k + 1 :] == short for k in range(len(long) - 1))
    if twice and not numbered:
        return True  # a key that was hit twice
    return number == number_2 and min(len(stem), len(stem_2)) >= LONG and _one_letter_apart(stem, stem_2)


def _split(name: str) -> tuple[str, str]:
    """A name and the number at its end."""
    stem = name.rstrip("0123456789")
    return stem, name[len(stem) :]


def _one_letter_apart(a: str, b: str) -> bool:
    """One letter changed (not the last: mass_a, mass_b), left out or put in, or two neighbours exchanged."""
    if len(a) == len(b):
        wrong = [k for k in range(len(a)) if a[k] != b[k]]
        swapped = (
            len(wrong) == 2 and wrong[1] == wrong[0] + 1 and a[wrong[0]] == b[wrong[1]] and a[wrong[1]] == b[wrong[0]]
        )
        return swapped or (len(wrong) == 1 and wrong[0] < len(a) - 1)
    short, long = sorted((a, b), key=len)
    return len(long) == len(short) + 1 and any(long[:k] + long[k + 1 :] == short for k in range(len(long)))


def gears(robot: Robot) -> Iterator[Finding]:
    """A drive with a gear on a joint that has a rotor but no gear: is the rotor inertia that of the motor's or of the joint's side?"""
    for joint in robot.joints:
        ratio = getattr(joint.drive, "gear_ratio", None)
        if ratio is not None and ratio != 1.0 and joint.gear_ratio == 1.0 and joint.rotor_inertia != 0.0:
            yield Finding(
                "warning", "gear.rotor", joint.name,
                f"The drive of joint '{joint.name}' has a gear ratio of {ratio}, the joint has none, so its rotor inertia counts as it stands.",
                None,
                "If it is that of the motor's side, give the joint the gear ratio and leave it out of the drive.",
            )  # fmt: skip
