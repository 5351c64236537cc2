"""How large a run may be."""

from __future__ import annotations

MAX_STEPS = 200_000_000
MAX_SAMPLES = 50_000_000
