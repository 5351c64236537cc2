"""Runs whose motion is given: kinematic runs and inverse dynamics. Torques follow from the motion.

===================  ===================================================================
``run``              ``kinematic`` and ``inverse_dynamics``: from a scenario to a result
``along_reference``  the joint motion along a reference of joints or of the tip
``kinematic``        resolved motion rate with null-space criteria
``joint_motion``     a joint motion at its samples
``reach``            how far an arm can follow a task reference, and why no further
``torques``          torques behind a joint motion, with what friction remembers
``watching``         the motion on every step and known instant, for its limits
``verdict``          what became of the run
===================  ===================================================================
"""
