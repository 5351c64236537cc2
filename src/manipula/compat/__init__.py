"""Names that users of other libraries know, as thin functions over a compiled model.

====================  ==================================
``pinocchio``         ``rnea``, ``aba``, ``crba`` …
``robotics_toolbox``  ``fkine``, ``jacob0``, ``accel`` …
====================  ==================================
"""
