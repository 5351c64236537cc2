"""One target: where descents start, how they run, which postures there are.

==================  =================================================================
``distinct``        all postures, duplicates removed
``continuum``       which of them stand for infinitely many
``optimise``        methods that solve as a whole in Python
``starts``          the compiled search: first starts, restarts, many targets at once
``race``            several starts for one target, side by side
``driver``          one start in machine code, refinement, residuals
``at_once``         ordinary targets of a closed form, answered by one call
``analytic``        branches of a closed form within the limits
``algebraic``       elimination and closed forms, asked for by name
``unwound``         whole turns towards q0 or the middle of the ranges
``inspection``      all branches found, judged and sorted in machine code
``parameter_scan``  the free parameter of a redundant closed form
``joint_box``       joint limits: clipping, whole turns, where starts are drawn
``reach``           how far a frame can be from the shoulder
``confined``        directions in which no joint moves a frame
==================  =================================================================
"""
