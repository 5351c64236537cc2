"""A certificate for one robot: how far the routes to its equations differ, and whether the laws of mechanics hold.

=================  ================================================================================================
``certify``        the verb: a robot → a certificate
``certificate``    the answer: rows, verdict, JSON, text
``states``         random states within the limits of the robot
``comparison``     how a disagreement is measured, and what counts as rounding
``newton_euler``   the reference: Newton–Euler on plain floats
``own_routes``     Lagrange, composite bodies, symbols, machine code
``exported_code``  exported C, JavaScript and Python, compiled and run
``pinocchio``      the same robot built in Pinocchio
``mujoco``         the same robot built in MuJoCo
``identities``     laws that hold for every robot
``free_runs``      energy of free motion
``surroundings``   versions, machine, tools
``page``           one page to attach to a publication
=================  ================================================================================================
"""
