"""The equations, once, over any scalar. They know neither the compiler nor files.

===================  =========================================================================
``functions``        the table of all functions of a robot: equation, inputs, units, algorithm
``mechanism``        a robot prepared for recursions
``coupling``         coordinates that move several bodies
``reduction``        functions of free joints as functions of coupled ones
``lift``             weight that something else carries
``joint_transform``  vectors and tensors between a joint frame and its parent
``spatial_vector``   bodies and joint axes seen from one frame
``kinematics``       poses, Jacobian and its time derivative
``newton_euler``     inverse dynamics, gravity, velocity terms
``composite``        mass matrix by composite bodies, and forward dynamics through it
``articulated``      forward dynamics by articulated bodies
``forward``          which of the two is cheaper
``coriolis``         Christoffel matrix
``energy``           kinetic and potential energy
``derivatives``      derivatives of inverse and forward dynamics
``regressor``        the equations as a linear function of the inertial parameters
``reactions``        wrenches that pass through the joints
``constrained``      motion under constraints by Lagrange multipliers
``programmed``       programmed motion in independent coordinates
``planar``           the complete model of a planar arm by running sums
``lagrange_euler``   M, h and g by 4×4 matrices: the independent second route
===================  =========================================================================
"""
