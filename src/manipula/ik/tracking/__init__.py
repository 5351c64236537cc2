"""Joint motions along task motions.

=================  ================================================================
``track``          ``track``: many postures followed side by side, off their limits
``cyclic``         ``track_cyclic``: a closed path of the tip closes in the joints
``posture_graph``  a global search over postures at many places
``beyond_reach``   where a path leaves the reach, and by how much
``self_motion``    one compiled step along the motion, with secondary criteria
``continuation``   the one posture that is connected to a given one
``splines``        the joint trajectory through the samples
=================  ================================================================
"""
