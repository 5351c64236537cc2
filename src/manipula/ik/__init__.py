"""How to get there: joint positions for poses (``solve_ik``) and joint motions along task motions (``track``).

The parts, each importing only those below it:

================  =========================================================
``solve``         ``solve_ik``: one target, many targets, all solutions
``solver``        what is prepared once, and the routes that are tried in turn
``preferred``     the solution nearest to q0 or to the middle of the ranges
``tracking/``     joint motions along a motion of the tip
``diagnose``      why a target was not met
``search/``       starts, descents and lists of all postures for one target
``general/``      all postures of any arm with six revolute joints
``closed_form/``  formulas for arms whose axes allow them
``methods/``      steps of iterative methods, one per file
``targets``       what the caller asked for, as a task and poses
``task``          errors and Jacobians of a task
``base``          ``IkResult``
================  =========================================================
"""
