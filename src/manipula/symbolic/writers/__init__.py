"""Formulas for readers: one file per notation. A writer gets formulas, never SymPy trees.

==========  =====================================================
``base``    signs, parentheses, order: what every notation shares
``text``    plain text in the papers' notation, ASCII or Unicode
``latex``   LaTeX, aligned and broken into lines
``matlab``  statements for MATLAB and Octave
``mathml``  MathML, drawn by browsers without a script
==========  =====================================================
"""
