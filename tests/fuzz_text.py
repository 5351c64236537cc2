"""Texts for the fuzzer: formulas by a grammar, and valid seeds changed token by token.

Everything is drawn from one ``random.Random``, so that a seed gives the same text again.
"""

from __future__ import annotations

import re
from random import Random

NUMBERS = (
    "0", "1", "-1", "2", "3", "0.5", "1e-3", "1e10", "-1e10", "1e-300", "1e60", "1.0000001e60", "1e61", "1e154", "1e155", "1e200", "1e300",
    "1e308", "-1e308", "1.8e308", "1e309", "5e-324", "1e-320", "9007199254740993", "-0.0", "0e999999", "64", "65", "4096", "90", "180",
    "9" * 40, "9" * 400, "0." + "1" * 60, "nan", "inf", "-inf", "1_0", "0x10", "１２", "٣", "1e", ".", "1.", ".5", "+1", "--1", "1e5000", "true",
)  # fmt: skip
NAMES = (
    "x",
    "y",
    "a",
    "b",
    "m",
    "L2",
    "t",
    "q1",
    "th1",
    "lambda",
    "E",
    "I",
    "pi",
    "nan",
    "x" * 64,
    "x" * 65,
    "é",
    "_x",
)
ONE = (
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "sqrt",
    "sign",
    "floor",
    "abs",
)
STRANGE = (
    "\x00", "\n", "\t", "\r", "\u2028", "\ufeff", "\ud800", "é", "π", "·", "^", "**", "'", '"', "#", "%", "[", "]", "{", "}", "(", ")", ",", ";",
    "=", "<", ">", "&", "&amp;", "<!--", "-->", "<![CDATA[", "\\", "/", "../", "/etc/passwd", "/dev/zero", "package://", "𝟙", "٠",
)  # fmt: skip
_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"[0-9]")


def formula(r: Random, depth: int = 4, names: tuple[str, ...] = NAMES[:9]) -> str:
    """A formula that the grammar allows, most of the time."""
    kind = r.random()
    if depth <= 0 or kind < 0.22:
        return r.choice(names) if r.random() < 0.55 else _plain_number(r)
    inside = lambda: formula(r, depth - 1 - (r.random() < 0.3), names)
    if kind < 0.55:
        return f"{inside()}{r.choice((' + ', ' - ', '*', '/', '*', '-'))}{inside()}"
    if kind < 0.66:
        return f"({inside()})^{r.choice(('2', '3', '0.5', '-1', '64', '(1/3)', '(' + inside() + ')'))}"
    if kind < 0.84:
        return f"{r.choice(ONE)}({inside()})"
    if kind < 0.9:
        return f"{r.choice(('min', 'max'))}({', '.join(inside() for _ in range(r.randint(1, 4)))})"
    if kind < 0.92:
        return f"atan2({inside()}, {inside()})"
    if kind < 0.96:  # what cancels: constants that the text does not show
        name = r.choice(names)
        return f"({inside()} + {r.choice((f'0*{name}', f'{name} - {name}', f'{name}/{name}', f'1 - {name}^0'))})"
    return f"-({inside()})" if r.random() < 0.5 else f"({inside()})"


def _plain_number(r: Random) -> str:
    kind = r.random()
    if kind < 0.4:
        return str(r.randint(0, 12))
    if kind < 0.8:
        return f"{r.uniform(0, 10):.{r.randint(1, 17)}g}"
    return r.choice(NUMBERS[:28])


def long_formula(r: Random) -> str:
    """Near the limits: deep nests, long sums, towers of powers."""
    n, name = r.randint(5, 60), r.choice(NAMES[:5])
    kind = r.randrange(7)
    if kind == 0:
        function = r.choice(ONE)
        return f"{function}(" * n + formula(r, 1) + ")" * n
    if kind == 1:
        return r.choice(("+", "*", "-", "/")).join(formula(r, 1) for _ in range(n))
    if kind == 2:
        return "(" * n + name + f")^{r.choice(('2', '64', '0.5', '1.5', 'y'))}" * n
    if kind == 3:
        return f"{r.randint(2, 9)}^(" * (n // 8 + 2) + f"{name}-{name}+{r.randint(1, 9)}" + ")" * (n // 8 + 2)
    if kind == 4:
        return f"{r.choice(('min', 'max'))}({', '.join(formula(r, 1) for _ in range(min(n, 17)))})"
    if kind == 5:
        return "sqrt(1+" * n + name + ")" * n
    return "-" * n + "(" + formula(r, 3) + ")"


def nasty_value(r: Random) -> str:
    """Something to stand where a number or a text stood."""
    kind = r.random()
    if kind < 0.45:
        return r.choice(NUMBERS)
    if kind < 0.6:
        return f'"{formula(r, 3)}"'
    if kind < 0.65:
        return f'"{long_formula(r)}"'
    if kind < 0.75:
        return f'"{r.choice(NAMES)}"'
    if kind < 0.85:
        return r.choice(
            (
                "[]",
                "[[]]",
                "{}",
                '""',
                "[1, 2]",
                "[0, 0, 0]",
                "[[1,0,0],[0,1,0],[0,0,1]]",
                '"base"',
                '"tip"',
                "1979-05-27",
            )
        )
    return r.choice(STRANGE)


def mutated(r: Random, seed: str, words: tuple[str, ...], others: tuple[str, ...] = ()) -> str:
    """A seed with one to five changes: numbers, words, deletions, copies, splices."""
    tokens = _TOKEN.findall(seed)
    for _ in range(r.choice((1, 1, 1, 2, 2, 3, 5))):
        if not tokens:
            return "".join(tokens)
        at, kind = r.randrange(len(tokens)), r.random()
        if kind < 0.35:
            numbers = [i for i, token in enumerate(tokens) if _NUMBER.match(token)]
            if numbers:
                tokens[r.choice(numbers)] = nasty_value(r) if r.random() < 0.3 else r.choice(NUMBERS)
        elif kind < 0.5:
            tokens[at] = r.choice(words)
        elif kind < 0.58:
            del tokens[at : at + r.randint(1, 6)]
        elif kind < 0.66:
            tokens.insert(at, r.choice(words) if r.random() < 0.5 else nasty_value(r))
        elif kind < 0.72:
            tokens.insert(at, r.choice(STRANGE))
        elif kind < 0.82:
            _move_lines(r, tokens)
        elif kind < 0.88:
            tokens[at:at] = tokens[at : at + r.randint(1, 40)] * r.choice((1, 1, 2, 30))
        elif kind < 0.92 and others:
            other = _TOKEN.findall(r.choice(others))
            place = r.randrange(len(other))
            tokens[at:at] = other[place : place + r.randint(1, 60)]
        elif kind < 0.96:
            b = r.randrange(len(tokens))
            tokens[at], tokens[b] = tokens[b], tokens[at]
        else:
            del tokens[at:]
    return "".join(tokens)


def _move_lines(r: Random, tokens: list[str]) -> None:
    """Delete, double or exchange whole lines: keys, tables, elements."""
    lines = "".join(tokens).split("\n")
    a, b = r.randrange(len(lines)), r.randrange(len(lines))
    kind = r.randrange(3)
    if kind == 0:
        del lines[a]
    elif kind == 1:
        lines.insert(b, lines[a])
    else:
        lines[a], lines[b] = lines[b], lines[a]
    tokens[:] = _TOKEN.findall("\n".join(lines))


def damaged(r: Random, data: bytes) -> bytes:
    """Bytes with flips, cuts, copies and runs."""
    out = bytearray(data)
    for _ in range(r.choice((1, 1, 2, 4, 8))):
        if not out:
            break
        at, kind = r.randrange(len(out)), r.randrange(6)
        if kind == 0:
            out[at] ^= 1 << r.randrange(8)
        elif kind == 1:
            out[at] = r.randrange(256)
        elif kind == 2:
            del out[at : at + r.randint(1, 64)]
        elif kind == 3:
            out[at:at] = out[at : at + r.randint(1, 64)]
        elif kind == 4:
            out[at : at + 8] = r.choice((b"\xff" * 8, b"\x00" * 8, b"\x7f" + b"\xff" * 7, b"\x01" + b"\x00" * 7))
        else:
            del out[at:]
    return bytes(out)
