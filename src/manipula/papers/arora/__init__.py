"""Arora, dynamic modelling of manipulator: a planar 5-R arm by traces of 4×4 matrices.

======================  ==================================================================
``paper``               the paper from its tables to the square
``four_by_four``        Q_j, U_ij and the traces (3.7)–(3.39), as printed and corrected
``dynamics``            T05 and M beside print; what the printed M says about the links
``misprints``           the errata, each evaluated
``square``              the square within joint limits
``inverse_kinematics``  every surveyed method on this arm
======================  ==================================================================
"""
