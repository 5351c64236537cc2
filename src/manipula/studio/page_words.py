"""Advice for people who write Python, in the terms of the page."""

from __future__ import annotations

import re

ENTER_THEM = "Enter values under “parameters” in the panel Robot"
PYTHON = (
    re.compile(r"give (?:it|them)(?: beside the others)?: parameters=\{[^{}]*\}"),
    re.compile(r"give them values: robot\.with_parameters\([^()]*\)"),
)


def in_page_words(sentence: str) -> str:
    """The sentence with what the page offers in the place of a call."""
    for call in PYTHON:
        sentence = call.sub(ENTER_THEM[:1].lower() + ENTER_THEM[1:], sentence)
    return sentence
