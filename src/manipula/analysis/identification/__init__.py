"""A robot from measurements: inertia and friction from torques, kinematics from poses.

=====================  =====================================================================
``estimate``           ``identify``: parameters from measured motion
``identified``         what an identification found
``base_parameters``    the fewest parameters that torques depend on
``excitation``         trajectories that make parameters visible
``regressor_columns``  the columns that are identified
``physical``           the closest parameters of bodies that can exist
``pseudo_inertia``     which parameters belong to a body that can exist
``bounds``             what is known of the links beforehand
``blas_threads``       small least-squares problems on one thread
=====================  =====================================================================
"""
