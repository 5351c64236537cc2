"""Advice for people who write Python, in the terms of the page."""

from __future__ import annotations

import re

ENTER_THEM = "Enter values under “parameters” in the panel Robot"
_ENTER = ENTER_THEM[:1].lower() + ENTER_THEM[1:]
WORDS = {
    r"give (?:it|them)(?: beside the others)?: parameters=\{[^{}]*\}": _ENTER,
    r"give them values: robot\.with_parameters\([^()]*\)": _ENTER,
    r"choose one: result\.run\(0\)": "state one start (q0) in the panel Task to have it of one run",
    r"save one run \(result\.run\(i\)\) or use \.nc, \.npz": "take NetCDF or NumPy, or state one start (q0) in the panel Task",
}


def in_page_words(sentence: str) -> str:
    """The sentence with what the page offers in the place of a call."""
    for call, words in WORDS.items():
        sentence = re.sub(call, words, sentence)
    return sentence
