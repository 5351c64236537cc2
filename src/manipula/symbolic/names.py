"""How the atoms of a formula are called: SymPy symbols, the papers' short text (``c1``, ``s23``, ``ddq1``), LaTeX."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import sympy

from manipula.robot.robot import Robot

_GREEK = (
    *(
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
    ),
    *("pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
)
GREEK_LETTERS: dict[str, str] = dict(zip(
    ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "pi", "rho", "sigma",
     "tau", "phi", "chi", "psi", "omega"),
    "αβγδεζηθκλμνξπρστφχψω",
))  # fmt: skip
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class SymbolNames:
    """Names of one robot's variables.

    Joint variables are ``q1 … qn`` in the order of ``robot.joint_names``; rates ``dq1``, accelerations ``ddq1``. When a
    parameter of the robot has such a name already, the variables are called ``joint1 …`` instead. ``c23`` is
    cos(q2 + q3); with ten joints or more the numbers are kept apart, ``c2_3``.
    """

    def __init__(self, robot: Robot) -> None:
        taken = set(robot.parameters)
        indices = range(1, robot.n + 1)
        letters = ("q", "joint", "joint_variable_")
        self.letter = next(
            x
            for x in letters
            if x == letters[-1] or not any(f"{d}{x}{i}" in taken for i in indices for d in ("", "d", "dd"))
        )
        self.q = [sympy.Symbol(f"{self.letter}{i}") for i in indices]
        self.qd = [sympy.Symbol(f"d{self.letter}{i}") for i in indices]
        self.qdd = [sympy.Symbol(f"dd{self.letter}{i}") for i in indices]
        self.phases: dict[int, float] = {}  # constant parts of angles, known once the robot was posed
        self._apart = "_" if robot.n > 9 else ""
        self._taken = taken
        self._symbols: dict[Hashable, Any] = {}

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
            if self.is_short(angle):
                short = kind + self._apart.join(str(j + 1) for j, _ in angle)
                if short not in self._taken:
                    return short
            terms = [("" if k == 1 else "-" if k == -1 else f"{k}*") + str(self.q[j]) for j, k in self._moving(angle)]
            terms += [repr(self.constant(angle))] if self.constant(angle) else []
            return f"{'cos' if kind == 'c' else 'sin'}({' + '.join(terms).replace('+ -', '- ')})"
        return str(self.sympy(key)).replace("**", "^")

    def abbreviations(self, keys: set[Any]) -> dict[str, Any]:
        """For every short name in use, the SymPy expression it stands for: the names table of the parser."""
        return {self.text(k): self.sympy(k) for k in keys if isinstance(k, tuple) and k[0] in ("c", "s")
                and "(" not in self.text(k)}  # fmt: skip

    def unicode(self, key: Any) -> str:
        """As text with dots and subscripts: ``q̈₁``, ``c₂₃``, ``m₁``."""
        if isinstance(key, tuple) and key[0] in ("qd", "qdd"):
            dots = "\u0307" if key[0] == "qd" else "\u0308"
            return f"{self.letter}{dots}{str(key[1] + 1).translate(_SUBSCRIPTS)}"
        text = re.sub(r"(?<=[A-Za-z_])(\d+)", lambda m: m[1].translate(_SUBSCRIPTS), self.text(key)).replace("*", "·")
        return re.sub(r"[a-z]+", lambda m: GREEK_LETTERS.get(m[0], m[0]), text)

    def latex(self, key: Any) -> str:
        """LaTeX of an atom: ``\\ddot{q}_{1}``, ``c_{23}``, ``m_{1}``."""
        if isinstance(key, tuple):
            kind, what = key
            if kind in ("q", "qd", "qdd"):
                letter = self.letter if len(self.letter) == 1 else rf"\mathrm{{{self.letter.rstrip('_')}}}"
                accent = {"q": "%s", "qd": r"\dot{%s}", "qdd": r"\ddot{%s}"}[kind] % letter
                return f"{accent}_{{{what + 1}}}"
            if kind in ("c", "s"):
                if self.is_short(what):
                    return f"{kind}_{{{(',' if self._apart else '').join(str(j + 1) for j, _ in what)}}}"
                parts = [
                    ("-" if k < 0 else "+") + ("" if abs(k) == 1 else str(abs(k))) + f"{self.latex(('q', j))}"
                    for j, k in self._moving(what)
                ]
                parts += [f"{self.constant(what):+.17g}"] if self.constant(what) else []
                return rf"\{'cos' if kind == 'c' else 'sin'}({''.join(parts).lstrip('+')})"
        expression = self.sympy(key)
        return latex_name(expression.name) if expression.is_Symbol else sympy.latex(expression)


def latex_name(name: str) -> str:
    """``m1`` → ``m_{1}``, ``I1z`` → ``I_{1z}``, ``alpha2`` → ``\\alpha_{2}``; other names upright, escaped."""
    match = re.fullmatch(r"([A-Za-z]+?)_?(\d+(?:_\d+)*[A-Za-z]*)?", name)
    if match is None:
        escaped = re.sub(r"([_#%&$])", r"\\\1", re.sub(r"[^\w ]", "", name))
        return rf"\mathrm{{{escaped}}}"
    stem, index = match[1], match[2]
    if stem in _GREEK:
        base = "\\" + stem
    elif len(stem) == 1:
        base = stem
    elif stem[0] in "mI" and set(stem[1:]) <= set("xyz"):
        return rf"{stem[0]}_{{{stem[1:]}{(',' + index) if index else ''}}}"
    else:
        base = rf"\mathrm{{{stem}}}"
    return f"{base}_{{{index.replace('_', ',')}}}" if index else base


def natural(name: str) -> tuple[Any, ...]:
    """Sort key that puts m2 before m10."""
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.split(r"(\d+)", name) if part)
