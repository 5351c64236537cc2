"""Redundant arms: which of many joint motions serves a task, and what the rest of the motion is used for.

=====================  =================================================================
``tasks/``             tasks with priorities: what an arm is to do, most important first
``hierarchy``          least squares in strict order of priority, with or without bounds
``quadratic_program``  a convex quadratic program within bounds, by an interior-point method
``null_space``         the secondary criteria and their registry
``joint_limits``       keep joints within their range
``obstacle_distance``  keep the arm off a sphere
``criterion``          what a criterion is, and the sum of several
``orientation``        errors of orientation whose closed loop is linear
``arm``                ``Arm``: a robot's equations as controllers and criteria use them
``resolution``         rates and accelerations for one task or a hierarchy
``pseudoinverse``      damped and weighted pseudoinverses, once
=====================  =================================================================
"""
