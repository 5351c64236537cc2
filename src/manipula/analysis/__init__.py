"""What a robot, a motion or a run is worth: answers that are values.

=======================  =====================================================================
``feasibility``          does a motion keep every limit, and if not, how much slower would it?
``feasibility_verdict``  what is said about it: a verdict per joint and point
``judged_signals``       the signals of a motion that are compared with limits
``slowing_down``         how much slower a motion must be to keep its limits
``stretched_motion``     the same motion k times as long, where there is one
``infinite``             where a trajectory jumps, and what is infinite there
``point_checks``         limits of points other than the tip
``power``                power and energy of a run
``vibration``            natural modes, spectra, the fast part of a signal
``workspace``            maps of where the tip can be
``manipulability``       manipulability, condition, distance from the limits
``singularities``        nearly singular postures along a motion
``sensitivity``          which inputs move an answer: rank correlations, Sobol indices
``identification/``      a robot from measurements: inertia, friction, base parameters, excitation
=======================  =====================================================================
"""
