"""How the atoms of a formula are called: SymPy symbols, the papers' short text (``c1``, ``s23``, ``ddq1``), LaTeX."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from manipula.errors import DescriptionError, printable, unknown_name
from manipula.robot.robot import Robot
from manipula.symbolic.expression_tree import is_fraction

GREEK_LETTERS: dict[str, str] = dict(zip(
    ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi", "pi", "rho",
     "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
    "αβγδεζηθικλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩ",
))  # fmt: skip
INDEXED = ("Ek", "Ep", "rC", "vC")  # a letter and its first index: kinetic and potential energy, centres of mass
FRICTION = "tauf"  # a torque with the index f
Names = str | Sequence[Sequence[str]]
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_RESERVED = ("pi", "e", "i", "sin", "cos", "tan", "sqrt", "exp", "log", "abs", "sign", "tanh", "atan2")
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class SymbolNames:
    """Names of one robot's variables.

    Args:
        names: "numbered" calls joint variables ``q1 … qn`` in the order of ``robot.joint_names``, rates ``dq1``, accelerations
            ``ddq1``; when a parameter of the robot has such a name already, the variables are called ``joint1 …`` instead.
            "joints" calls them as the joints are called, with ``d`` and ``dd`` behind: ``th1``, ``th1d``, ``th1dd``. Or three
            names per joint.

    ``c23`` is cos(q2 + q3); with ten joints or more the numbers are kept apart, ``c2_3``.
    """

    def __init__(self, robot: Robot, names: Names = "numbered") -> None:
        taken = set(robot.parameters)
        triples = self._numbered(robot.n, taken) if names == "numbered" else _given_names(robot, names, taken)
        self.q, self.qd, self.qdd = ([sympy.Symbol(t[k]) for t in triples] for k in range(3))
        self.phases: dict[int, float] = {}  # constant parts of angles, known once the robot was posed
        self._apart = "_" if robot.n > 9 else ""
        self._taken = taken | {name for triple in triples for name in triple}
        self._symbols: dict[Hashable, Any] = {}

    @staticmethod
    def _numbered(n: int, taken: set[str]) -> list[tuple[str, str, str]]:
        letters = ("q", "joint", "joint_variable_")
        for letter in letters:
            triples = [(f"{letter}{i}", f"d{letter}{i}", f"dd{letter}{i}") for i in range(1, n + 1)]
            if letter == letters[-1] or not any(name in taken for triple in triples for name in triple):
                return triples
        raise AssertionError

    def sympy(self, key: Any) -> Any:
        """The SymPy expression of an atom."""
        found = self._symbols.get(key)
        if found is None:
            found = self._symbols[key] = self._make(key)
        return found

    def _make(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return key
        kind, what = key
        if kind in ("q", "qd", "qdd"):
            return getattr(self, kind)[what]
        if kind in ("c", "s"):
            angle = sympy.Add(*(k * self.q[j] for j, k in self._moving(what)))
            constant = self.constant(what)
            if constant:
                angle = angle + sympy.Float(constant, 17)
            canonical = self.is_short(what)  # nothing for SymPy to rewrite, and asking takes a millisecond
            return (sympy.cos if kind == "c" else sympy.sin)(angle, evaluate=not canonical)
        if kind in ("cos", "sin"):
            return getattr(sympy, kind)(what)
        return sympy.Symbol(what)  # ("name", text)

    def _moving(self, angle: Any) -> list[tuple[int, int]]:
        return [(j, k) for j, k in angle if j < len(self.q)]

    def constant(self, angle: Any) -> float:
        """The constant part of an angle [rad]."""
        return sum(k * self.phases[j] for j, k in angle if j >= len(self.q))

    def is_short(self, angle: Any) -> bool:
        """Is it a plain sum of joint variables, ``c23``?"""
        return all(k == 1 and j < len(self.q) for j, k in angle)

    def text(self, key: Any) -> str:
        """The short text of an atom; valid input for :mod:`manipula.algebra.expression`."""
        if isinstance(key, tuple) and key[0] in ("c", "s"):
            kind, angle = key
            short = self.short(kind, angle)
            if short:
                return short
            terms = [("" if k == 1 else "-" if k == -1 else f"{k}*") + str(self.q[j]) for j, k in self._moving(angle)]
            terms += [decimal(self.constant(angle))] if self.constant(angle) else []
            return f"{'cos' if kind == 'c' else 'sin'}({' + '.join(terms).replace('+ -', '- ')})"
        expression = self.sympy(key)
        return (
            expression.name
            if expression.is_Symbol
            else _PlainPrinter().doprint(readable(expression)).replace("**", "^")
        )

    def short(self, kind: str, angle: Any) -> str:
        """``c23`` for cos(q2 + q3); empty where the angle is no plain sum, or a parameter is called so."""
        name = kind + self._apart.join(str(j + 1) for j, _ in angle) if self.is_short(angle) else ""
        return "" if name in self._taken else name

    def abbreviations(self, keys: set[Any]) -> dict[str, Any]:
        """For every short name in use, the SymPy expression it stands for: the names table of the parser."""
        return {self.text(k): self.sympy(k) for k in self.abbreviated(keys)}

    def abbreviated(self, keys: set[Any]) -> list[Any]:
        """Keys of the sines and cosines that have short names: cosines first, sums of few joints first."""
        short = [k for k in keys if isinstance(k, tuple) and k[0] in ("c", "s") and self.short(*k)]
        return sorted(short, key=lambda k: (k[0], len(k[1]), k[1]))

    def unicode(self, key: Any) -> str:
        """As text with dots and subscripts: ``q̈₁``, ``c₂₃``, ``m₁``."""
        if isinstance(key, tuple) and key[0] in ("qd", "qdd"):
            stem, index = self.parts(key[1])
            stem = GREEK_LETTERS.get(stem, stem) + ("\u0307" if key[0] == "qd" else "\u0308")
            return stem + index.translate(_SUBSCRIPTS)
        text = re.sub(r"(?<=[A-Za-z_])(\d+)", lambda m: m[1].translate(_SUBSCRIPTS), self.text(key)).replace("*", "·")
        return re.sub(r"[a-z]+", lambda m: "τ_f" if m[0] == FRICTION else GREEK_LETTERS.get(m[0], m[0]), text)

    def parts(self, i: int) -> tuple[str, str]:
        """Letter and index of joint variable i: ``q``, ``1``; of a name without a number: the name."""
        match = re.fullmatch(r"([A-Za-z_]+?)_?(\d+)", self.q[i].name)
        return (match[1].rstrip("_"), match[2]) if match else (self.q[i].name, "")

    def latex(self, key: Any, digits: int | None = None) -> str:
        """LaTeX of an atom: ``\\ddot{q}_{1}``, ``c_{23}``, ``m_{1}``; numbers inside with this many digits."""
        if isinstance(key, tuple):
            kind, what = key
            if kind in ("q", "qd", "qdd"):
                stem, index = self.parts(what)
                accent = {"q": "%s", "qd": r"\dot{%s}", "qdd": r"\ddot{%s}"}[kind] % latex_name(stem)
                return f"{accent}_{{{index}}}" if index else accent
            if kind in ("c", "s"):
                if self.short(kind, what):
                    return f"{kind}_{{{(',' if self._apart else '').join(str(j + 1) for j, _ in what)}}}"
                return self.latex_function(kind, what, digits)
        expression = self.sympy(key)
        if expression.is_Symbol:
            return latex_name(expression.name)
        return _LatexPrinter(digits, {s: latex_name(s.name) for s in expression.free_symbols}).doprint(
            readable(expression)
        )

    def latex_function(self, kind: str, angle: Any, digits: int | None = None) -> str:
        """``\\cos(q_{2} + q_{3})``, written out."""
        parts = [
            (" - " if k < 0 else " + ") + ("" if abs(k) == 1 else str(abs(k))) + self.latex(("q", j)) for j, k in self._moving(angle)
        ]  # fmt: skip
        constant = self.constant(angle)
        parts += [(" - " if constant < 0 else " + ") + decimal(abs(constant), digits)] if constant else []
        inside = "".join(parts).removeprefix(" + ")
        return rf"\{'cos' if kind == 'c' else 'sin'}({'-' + inside[3:] if inside.startswith(' - ') else inside})"


def _given_names(robot: Robot, names: Any, taken: set[str]) -> list[tuple[str, str, str]]:
    """Names of joint variables, rates and accelerations as the robot's file or its reader has them."""
    if isinstance(names, str):
        if names != "joints":
            raise unknown_name("choice of names", names, ("numbered", "joints"), field="names")
        triples = [(name, f"{name}d", f"{name}dd") for name in robot.joint_names]
    else:
        try:
            triples = [tuple(triple) for triple in names]
        except TypeError:
            triples = []
        if len(triples) != robot.n or any(len(t) != 3 or not all(isinstance(x, str) for x in t) for t in triples):
            raise DescriptionError(
                f"Names are 'numbered', 'joints', or three words for each of {robot.n} joints (q, rate, acceleration).", field="names"
            )  # fmt: skip
    seen = set(taken)
    for name in (name for triple in triples for name in triple):
        if not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
            raise DescriptionError(
                f"'{printable(name, 40)}' cannot be the name of a joint variable: letters, digits and _ after a letter, and no "
                f"function's name; use names='numbered', or give three names per joint.", field="names"
            )  # fmt: skip
        if name in seen:
            raise DescriptionError(
                f"'{name}' would be the name of two things; give three names per joint.", field="names"
            )
        seen.add(name)
    return triples  # pyright: ignore[reportReturnType]


def decimal(value: float, digits: int | None = None) -> str:
    """The shortest text that reads back as the same float (``0.35``), or with this many significant digits; no empty fraction."""
    text = repr(value)
    if digits is not None:
        text = repr(float(f"{value:.{digits}g}"))
    return text[:-2] if text.endswith(".0") else text


class _PlainPrinter(StrPrinter):
    """SymPy's text with floats as short as they can be: ``0.35``, where SymPy shows the 17 digits that it holds."""

    def _print_Float(self, expr: Any) -> str:
        return decimal(float(expr))


class _LatexPrinter(LatexPrinter):
    """SymPy's LaTeX with rounded decimals."""

    def __init__(self, digits: int | None, symbol_names: dict[Any, str]) -> None:
        super().__init__({"symbol_names": symbol_names})
        self._digits = digits

    def _print_Float(self, expr: Any) -> str:
        mantissa, e, exponent = decimal(float(expr), self._digits).partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else mantissa


def readable(expression: Any) -> Any:
    """The expression with decimals in place of fractions that nobody reads: 0.35 for 7/20."""
    long = [x for x in expression.atoms(sympy.Rational) if not is_fraction(Fraction(int(x.p), int(x.q)))]
    return expression.xreplace({x: sympy.Float(float(x), 17) for x in long})


def latex_name(name: str) -> str:
    """``m1`` → ``m_{1}``, ``I1z`` → ``I_{1z}``, ``alpha2`` → ``\\alpha_{2}``, ``rC1`` → ``r_{C,1}``; other names upright, escaped."""
    match = re.fullmatch(r"([A-Za-z]+?)_?(\d+(?:_\d+)*[A-Za-z]*)?", name)
    if match is None:
        escaped = re.sub(r"([_#%&$])", r"\\\1", re.sub(r"[^\w ]", "", name.encode("ascii", "replace").decode()))
        return rf"\mathrm{{{escaped}}}"
    stem, index = match[1], (match[2] or "").replace("_", ",")
    if stem in GREEK_LETTERS:
        base = "\\" + stem
    elif len(stem) == 1:
        base = stem
    elif stem in INDEXED or stem == FRICTION or (stem[0] in "mI" and set(stem[1:]) <= set("xyz")):
        letter, of = (r"\tau", "f") if stem == FRICTION else (stem[0], stem[1:])
        return rf"{letter}_{{{of}{(',' + index) if index else ''}}}"
    else:
        base = rf"\mathrm{{{stem}}}"
    return f"{base}_{{{index}}}" if index else base


def natural(name: str) -> tuple[Any, ...]:
    """Sort key that puts m2 before m10."""
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.split(r"(\d+)", name) if part)
