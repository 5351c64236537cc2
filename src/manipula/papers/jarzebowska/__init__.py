"""Jarzębowska, Augustynek & Urbaś, task-based motions: a programmed ellipse with LuGre friction and without.

==============  ==========================================================================
``paper``       the paper from its equations to tracking
``gpme``        M, h, g, u, v, K by traces of 4×4 matrices, as printed and corrected
``motion``      the programmed motion, figures 3 and 4
``planning``    vibration, power, jerk, feasibility, the library, tracking
==============  ==========================================================================
"""
