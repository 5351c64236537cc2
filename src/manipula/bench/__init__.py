"""How fast it is, beside other libraries, in one run on one machine. Ratios, never absolutes.

=================  =============================================
``tables``         everything measured, as ratios
``ours``           our own times for one arm
``planar_family``  cost against the number of joints
``machine_loops``  machine code called without Python in between
``felt/``          the speed a person feels
``peers/``         other libraries, timed in the same way
=================  =============================================
"""
