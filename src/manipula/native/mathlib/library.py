"""Functions of the C library behind our own elementary functions."""

from __future__ import annotations

PREFIX = "manipula_math_"

LIBM_SYMBOLS = {PREFIX + "libm_" + name: name for name in ("sin", "cos", "tan", "atan2", "pow")}
"""External symbols in the code, and the function of the C library each stands for."""
