"""Other libraries: their names as thin functions over a compiled model, their objects in memory as robots.

====================  =========================================================
``pinocchio``         ``rnea``, ``aba``, ``crba`` …
``robotics_toolbox``  ``fkine``, ``jacob0``, ``accel`` …
``zlajpah``           ``kinmodel``, ``dynmodel`` of n-R planar arms
``from_pinocchio``    a ``pinocchio.Model`` → robot
``from_mujoco``       a ``mujoco.MjModel`` → robot
``from_rtb``          a ``DHRobot`` or ``ERobot`` of the Robotics Toolbox → robot
====================  =========================================================
"""
