"""What the variables of the environment ask for; a value that means nothing is refused, with what is allowed."""

from __future__ import annotations

import os

from manipula.errors import DescriptionError, printable

_ON, _OFF = ("1", "on", "yes", "true"), ("0", "off", "no", "false")


def switched(name: str, otherwise: bool) -> bool:
    """Is the switch of this name on? ``otherwise`` where it is not set."""
    word = os.environ.get(name, "").strip().lower()
    if word and word not in (*_ON, *_OFF):
        hint = " (another folder is named by MANIPULA_CACHE_DIR)" if name == "MANIPULA_CACHE" else ""
        raise DescriptionError(
            f"The variable {name} is a switch: {', '.join(_ON)} or {', '.join(_OFF)}; found '{printable(word)}'{hint}."
        )
    return word in _ON if word else otherwise


def at_most(name: str) -> int | None:
    """The whole number of this name, at least 1; None where it is not set."""
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) >= 1):
        raise DescriptionError(
            f"The variable {name} is a whole number of at least 1; found '{printable(text)}'. Without it all cores are used."
        )
    return int(text)
