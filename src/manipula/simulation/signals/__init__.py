"""What follows from a recorded run.

==================  ========================================================================
``observed``        accelerations, torques, poses, energies and works at every sample
``happened``        when switches happened, and what was given but did nothing
``jerk``            third derivatives of joints and points, and where the acceleration jumps
``jerk_instants``   when the acceleration jumps, to rounding
``jerk_of_points``  of points in the world, and of a tip whose tool is changed
``jerk_sources``    where the exact jerk of a result comes from
``point_trace``     the motion of any point of the arm
``to_reference``    a run as the reference of another one
==================  ========================================================================
"""
