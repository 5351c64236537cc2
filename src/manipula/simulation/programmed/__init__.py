"""Programmed motion: the tip obeys formulas; motion, friction and torques follow. It knows no controllers.

=======================  =========================================================
``motion``               ``programmed_motion``: the verb, and its checks
``scenario``             ``ProgramScenario``: a programmed motion as a value
``constraint``           ``Constraint``: formulas, their level, their rows A and b
``equations``            ``ProgrammedPlant``: the equations over any scalar
``kernels``              their machine code
``start``                an initial state on the constraints
``instants``             where constraints and drives change quickly, or jump
``traced``               user code, compiled and in Python: the same function?
``run``                  integration with changing independent coordinates
``verdict``              what became of the run
``friction_comparison``  the same motion with and without friction
=======================  =========================================================
"""
