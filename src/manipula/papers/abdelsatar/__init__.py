"""Abdelsatar, generic Lagrange algorithm: a text table in, torques in symbols out.

===============  ==========================================================================
``paper``        the data file, tau as text, and arms with sliding joints
``algorithm``    the paper's own algorithm, step by step in SymPy
===============  ==========================================================================
"""
