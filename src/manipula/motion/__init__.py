"""Where to go: paths, time laws, and motions made of them.

==================  =====================================================
``time_optimal``    the fastest motion along a path within limits
``joint_move``      synchronised jerk-limited moves between joint vectors
``limits``          does a motion keep its limits?
``reference_from``  motions from logs: smoothing splines with a stated error
``pose_motion``     position and orientation as seven coordinates
``pose_table``      position and orientation as tables of polynomials
``shaped``          references that do not excite a vibration
``waypoints``       motions through points at given times
``formula_motion``  motions whose coordinates are formulas in time
``piecewise``       motions as tables of polynomials
``trajectory``      a path followed under a time law
``paths/``          curves by arc length, one primitive per file
``timing/``         time laws s(t)
``path_grid``       a path cut into intervals, refined where it has to be
``path_limits``     limits as rows along a path, for ``time_optimal``
``phase_plane``     the fastest speed profile under linear constraints
``words``           motions in words
``oriented``        whether a motion says how the tool is turned
``breaks``          which piece a number lies on
``looks``           where a function has to be looked at so that nothing is passed over
==================  =====================================================
"""
