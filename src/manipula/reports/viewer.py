"""The viewer that was built into this installation (``web/`` of the sources): its script, its style, or why there is none."""

from __future__ import annotations

import base64
from functools import cache
from importlib.resources import files


@cache
def _built(name: str) -> str | None:
    found = files("manipula.reports").joinpath("web/built", name)
    return found.read_text(encoding="utf-8") if found.is_file() else None


def script() -> str | None:
    """The viewer as one module; None where it was not built."""
    return _built("viewer.js")


def style() -> str:
    """Its rules; nothing where it was not built."""
    return _built("viewer.css") or ""


@cache
def font() -> bytes:
    """The letters of equations (STIX Two Math, SIL Open Font License), so that they look the same on every machine; nothing where it was not built."""
    found = files("manipula.reports").joinpath("web/built/math.woff")
    return found.read_bytes() if found.is_file() else b""


def font_rule(place: str = "") -> str:
    """The rule that typesets equations with that font, from an address, or from the rule itself."""
    if not font():
        return ""
    source = place or f"data:font/woff;base64,{base64.b64encode(font()).decode()}"
    return f'@font-face{{font-family:"Manipula Math";src:url({source})}}math{{font-family:"Manipula Math",math}}'


def missing() -> str:
    """Why there is no viewer, and what to do."""
    reason = (_built("missing.txt") or "it was never built").strip()
    return (
        f"The viewer is not part of this installation ({reason}), so charts are still pictures and the arm does not move. "
        "Install the package again where npm can be reached, or run 'make web' in its sources."
    )
