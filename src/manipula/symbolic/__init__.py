"""The equations for people: derived on polynomials, condensed, written.

=====================  =======================================================================
``equations``          ``equations(robot)``: M, C, h, g, tau, energies and kinematics in SymPy
``link_equations``     the same for links: T, A, p, U, centres of mass, energies, Christoffel symbols
``written_equations``  the equations in every notation
``derive``             the physics run on trigonometric polynomials
``exact``              a robot whose numbers are exact
``angle_sums``         sums of angles of parallel joints in place of angles
``collect``            from terms to a formula that people can read
``motion_formulas``    the terms of the equations of motion as formulas
``link_formulas``      what belongs to one link: pose, velocity, centre of mass, energies
``expression_tree``    sums, products and powers with their order and parentheses
``levels``             how much is condensed; lumped constants
``base_parameters``    the fewest inertial constants, in symbols
``recursive``          torques as a sequence of assignments
``linearise``          small motions about a state
``friction``           friction laws in symbols
``budget``             how large a robot may be at a level
``names``              what variables are called
``to_sympy``           formulas as SymPy expressions
``lower``              formulas as machine code
``document``           sections of labelled formulas
``render``             the document as text, Unicode, LaTeX, HTML, MATLAB or JSON
``latex_page``         a whole LaTeX document
``writers/``           one notation per file
=====================  =======================================================================
"""
