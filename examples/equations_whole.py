"""Everything between a table and the equations of motion, for people: poses, velocities, pseudo-inertias and Christoffel symbols of a 2R arm.

As text here; as LaTeX (for pdflatex), MathML in a page and a script for MATLAB and Octave in ``out/equations_whole``.
Run it from anywhere: ``python examples/equations_whole.py``.
"""

from pathlib import Path

import sympy

import manipula as mp

arm = mp.load("abdelsatar-2r")
equations = mp.equations(arm)
print(equations.text(only="poses,com_velocities,pseudo_inertia,christoffel,energies"))

out = Path("out/equations_whole")
out.mkdir(parents=True, exist_ok=True)
(out / "arm.tex").write_text(equations.latex(standalone=True), encoding="utf-8")
(out / "arm.html").write_text(equations.html(), encoding="utf-8")
(out / "arm.m").write_text(equations.matlab(), encoding="utf-8")
print("written:", ", ".join(sorted(p.name for p in out.iterdir())))

trace = sum((equations.U(k, 1) * equations.pseudo_inertia(k) * equations.U(k, 1).T).trace() for k in (1, 2))
print("M11 is the trace of U P Uᵀ:", sympy.simplify(trace - equations.M[0, 0]) == 0)
