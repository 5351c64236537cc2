"""Simulation: scenarios and their files, plants, compiled loops, verdicts, results and their storage.

``simulate(scenario)`` gives a ``Result``. Each module imports only those below it:

======================  =====================================================================
``exported/``           a whole scenario as JavaScript: for live pages, and as a module
``program_runs``        programmed motions in batches, and controllers that realise one
``run_file``            scenarios of every kind, from a file or at hand, simulated
``iterative_learning``  a motion that is followed better from run to run
``simulate``            ``simulate(scenario)``: the verb of this room
``signals/``            what follows from a recorded run: torques, energies, jerk
``given_motion/``       runs whose motion is given: kinematic runs, inverse dynamics
``retry_with_rodas``    runs made again by methods whose step follows the error
``assembly``            a result from samples, verdicts and settings
``verdicts/``           can the answer be trusted, and can the machine do it?
``recorded``            what a result keeps of the run it was made from, read back
``files/``              scenarios as TOML
``loops/``              compiled loops from initial states to samples
``stored/``             results in files
``checks/``             what is looked at before a run begins
``programmed/``         programmed motion: the tip obeys formulas
``plant_of_scenario``   from a scenario to a plant and its initial state
``initial_posture``     a posture moved onto a reference or onto constraints
``scenario``            ``Scenario``: one run, described
``run_kinds``           the kinds of run: what happens, what is needed, which settings act
``field_values``        what each setting may be
``result``              ``Result``: samples, a status with its reason, an audit of the energy
``provenance``          what a result says about its robot and settings
``limit_checks``        one check for every limited quantity of every joint
``stated_limits``       the limits that a robot and a scenario state
``stepping/``           where steps end, and how two ways of stepping are compared
``plant/``              the equations of a run, over any scalar
``integrators/``        methods of integration, by name; the same steps in JavaScript
``numeric_robot``       a robot with the numbers of one run in the place of its free parameters
``point_motion``        how a point of the arm moves when its joints do
``carried_points``      points in the world: on a base that moves, on tools that change
``point_limits``        limits of points other than the tip, as they are given
``frozen_mapping``      mappings that are values
``progress``            what a run is doing right now
``budgets``             how large a run may be
======================  =====================================================================
"""
