"""What a number may be, and small mathematics for any of them. It knows no robots.

===================  ======================================================================
``ops``              functions of one scalar that work for every kind of number
``linear``           small linear algebra: cross products, skew matrices, factorisations
``rotation``         rotations as 3×3 matrices; the check of a rotation
``rotation_vector``  rotation vectors and how they change, beyond a half turn too
``pose``             where one frame stands in another
``inertia``          the ten inertial parameters of a body and how they move between frames
``jet``              truncated power series: the number behind exact derivatives
``coefficients``     arithmetic of the coefficients of a power series
``derivatives``      gradients, Jacobians and derivatives of any order
``trigpoly``         trigonometric polynomials with one unique form
``trig_fold``        their short forms: sums of angles, products across groups
``symbols``          SymPy expressions as fields of a description
``expression``       formulas in files, read once, without ``eval``
``grammar``          what a formula may be made of
``bounded``          SymPy expressions built under bounds
``hyperbolic``       sinh, cosh and tanh that SymPy decides about quickly
``arguments``        what an argument of a public function may be
``fields``           fields of frozen parts
``ranges``           ranges of numbers: what a formula gives between two ends
``needles``          what hides between the places at which a formula was looked at
``scattered``        numbers without a pattern: where something is tried out
``value``            what makes an answer a value
===================  ======================================================================
"""
