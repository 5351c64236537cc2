"""Formulas to machine code: SymPy expressions walked on traced numbers.

The second route to numbers: Lagrange's equations derived in symbols and lowered, beside Newton–Euler traced directly. The compiler shares
equal parts, so nothing has to be named or split by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from manipula.algebra.arguments import number
from manipula.algebra.symbols import evaluate
from manipula.errors import ShapeError, unknown_name
from manipula.native import Graph, Kernel, compile_graph, trace
from manipula.symbolic.names import natural

if TYPE_CHECKING:
    from manipula.symbolic.equations import Equations

SIGNATURES: dict[str, int] = {
    "M": 1, "g": 1, "potential_energy": 1, "C": 2, "h": 2, "friction": 2, "kinetic_energy": 2, "tau": 3,
}  # fmt: skip
"""Parts of the equations, and how many of q, qd, qdd each takes: as the function of the same meaning of a Model."""
MATRICES = ("M", "C")  # stay matrices also where there is one joint


def lower(
    what: Any,
    inputs: Mapping[str, Sequence[sympy.Symbol]],
    *,
    constants: Mapping[str, float] | None = None,
    before: Sequence[tuple[str, Any]] = (),
    name: str = "formula",
    matrix: bool = False,
) -> Graph:
    """The graph of a SymPy expression or matrix; a column is a vector, unless it is meant as a ``matrix``.

    Args:
        inputs: arguments of the function and the symbols of their entries.
        constants: numbers for other symbols.
        before: named expressions that are computed first, in this order.

    Raises:
        UnknownNameError: a symbol is neither an input nor has a value.
    """

    def function(*arrays: Any) -> Any:
        table: dict[str, Any] = dict(constants or {})
        for symbols, array in zip(inputs.values(), arrays):
            table.update((s.name, array[k]) for k, s in enumerate(symbols))
        known: dict[Any, Any] = {}
        for symbol, formula in before:
            table[symbol] = evaluate(formula, table, known)
        if not isinstance(what, sympy.MatrixBase):
            return evaluate(what, table, known)
        entries = np.empty(len(what), object)
        entries[:] = [evaluate(e, table, known) for e in what]
        return entries if what.shape[1] == 1 and not matrix else entries.reshape(what.shape)

    return trace(function, {key: (len(symbols),) for key, symbols in inputs.items()}, name)


def compile_equations(eq: Equations, what: Any, values: Mapping[str, float]) -> Kernel:
    """See :meth:`Equations.compile`."""
    name = what if isinstance(what, str) else "formula"
    if isinstance(what, str):
        if what not in SIGNATURES:
            raise unknown_name("part of the equations", what, SIGNATURES, field="what")
        what = getattr(eq, what)
    if isinstance(what, bool) or not isinstance(what, (sympy.MatrixBase, sympy.Basic, int, float)):
        raise ShapeError(
            f"compile() takes the name of a part or a SymPy expression or matrix, found {type(what).__name__}."
        )
    if isinstance(what, (int, float)):
        what = number(what, "what")
    named = [(symbol.name, formula) for symbol, formula in eq.assignments] or list(eq.definitions.items())
    before = _needed(what, named)
    variables = {"q": eq.names.q, "qd": eq.names.qd, "qdd": eq.names.qdd}
    free = _free(what) | {n for _, formula in before for n in _free(formula)}
    last = max((k for k, symbols in enumerate(variables.values(), 1) if free & {s.name for s in symbols}), default=1)
    inputs: dict[str, Sequence[sympy.Symbol]] = dict(list(variables.items())[: SIGNATURES.get(name, last)])
    computed = {n for n, _ in named}
    own = {s.name for symbols in variables.values() for s in symbols} | computed
    unset = _without_value(eq, free - own, values, computed)
    if unset:
        inputs["parameters"] = unset
    title = f"{name} of {eq.robot.name}"
    graph = lower(what, inputs, constants=values, before=before, name=title, matrix=name in MATRICES)
    return compile_graph(graph)


def _without_value(
    eq: Equations, free: set[str], values: Mapping[str, float], computed: set[str]
) -> list[sympy.Symbol]:
    """Parameters that become an argument: those of the equations in their order, then other symbols in use."""
    known = {s.name: s for s in eq.parameters if s.name not in computed}
    others = {n: sympy.Symbol(n) for n in sorted(free - set(known), key=natural)}
    strange = set(values) - set(known) - set(others)
    if strange:
        raise unknown_name("parameter", min(strange), [*known, *others], field="values")
    return [s for n, s in (known | others).items() if n not in values]


def _free(expression: Any) -> set[str]:
    return {s.name for s in getattr(expression, "free_symbols", ())}


def _needed(what: Any, before: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Those of the named expressions on which ``what`` depends."""
    wanted, kept = _free(what), []
    for name, formula in reversed(before):
        if name in wanted:
            wanted |= _free(formula)
            kept.append((name, formula))
    return kept[::-1]
