"""The equations of a run, over any scalar.

===================  =============================================================================
``plant``            ``Plant``: arm, friction, drives, controller and disturbances in one function
``sticking``         joints that friction holds: constraints with a bounded reaction
``events``           instants that depend on the state
``friction_loads``   friction that depends on the load of its joint: the loop and its solution
``disturbances``     ``Wrench``, ``WrenchTable``, ``PayloadChange``, ``Noise``, ``Actuator``
``wrenches``         external wrenches as numbers: formulas, functions, tables
``tool_change``      payloads and tools that change during a run
``contact/``         what the arm may touch: planes, end stops
``base_motion``      a base that moves as given
``base_table``       the motion of a base as a table of polynomials
``force_sensor``     what a force sensor at the tip reads
``surroundings``     frames of the arm in the world, as wrenches and contacts see them
``encoder``          ``Encoder``: how positions and speeds are measured
``switch``           ``Switch``: gains and references that change at a time or an event
``layout``           where everything stands in the state vector
``per_joint``        parts given for the joints: one for all, one each, or by name
``parameters``       numbers inside parts, taken out and put in
``own_parts``        laws and drives that somebody wrote: do they give what is needed?
``numbers``          the numbers of a plant by name: ``controller.kp``
``free_parameters``  a robot's free parameters inside its laws and drives: their numbers in every run
===================  =============================================================================
"""
