"""Khang & Trung, RobotDyn: a SCARA by Lagrange's equations.

==============  ==========================================================================
``paper``       the paper from its tables to figures 4 to 7
``dynamics``    M, h_kij, tau and generalised forces in symbols, term by term
``motion``      the time law, the trajectory, both elbows
==============  ==========================================================================
"""
