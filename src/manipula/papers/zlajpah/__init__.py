"""Žlajpah, n-R planar manipulators: the complete model of an arm in a plane and its use for redundant arms.

==============  ==========================================================================
``paper``       the paper from kinmodel and dynmodel to its figures
``as_printed``  equations (2)–(16) as they are printed, misprints included
``table_1``     operations and times against the number of joints
``examples``    the 5-R arm along a line, the 4-R arm along a spline
``redundant``   criteria of redundant arms, and the smallest torques of every instant
==============  ==========================================================================
"""
