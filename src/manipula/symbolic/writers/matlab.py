"""MATLAB and Octave: statements that compute numbers from numbers."""

from __future__ import annotations

import re
from typing import Any

from sympy.printing.octave import OctaveCodePrinter

from manipula.errors import DescriptionError, printable
from manipula.symbolic.expression_tree import Atom
from manipula.symbolic.names import decimal, readable
from manipula.symbolic.writers.text import TextWriter

_NAME = re.compile(r"[A-Za-z]\w{0,62}", re.ASCII)
_KEYWORDS = frozenset((
    "break", "case", "catch", "classdef", "continue", "do", "else", "elseif", "end", "endfor", "endfunction", "endif", "endswitch",
    "endwhile", "end_unwind_protect", "for", "function", "global", "if", "otherwise", "parfor", "persistent", "return", "spmd",
    "switch", "try", "until", "unwind_protect", "while",
))  # fmt: skip


class _Printer(OctaveCodePrinter):
    """Functions of parameters and friction laws; floats as short as they can be."""

    def _print_Float(self, expr: Any) -> str:
        return decimal(float(expr))


class MatlabWriter(TextWriter):
    """The text, with MATLAB's names of functions and only names that MATLAB accepts."""

    def atom(self, node: Atom) -> str:
        key = node.key
        text = self.names.text(key)
        if not isinstance(key, tuple) and not getattr(key, "is_Symbol", False):
            for symbol in key.free_symbols:  # pyright: ignore[reportAttributeAccessIssue]
                checked(symbol.name)
            return str(_Printer().doprint(readable(key)))
        return text if "(" in text else checked(text)


def checked(name: str) -> str:
    """A name that MATLAB accepts as a variable."""
    if not _NAME.fullmatch(name) or name in _KEYWORDS:
        raise DescriptionError(
            f"'{printable(name, 40)}' cannot be a variable in MATLAB; rename this parameter.", field="format"
        )
    return name
