"""A robot from measurements: inertia and friction from torques, kinematics from poses.

=====================  =====================================================================
``read_log``           ``read_log``: logs as they come from robots
``log_units``          units of columns, as somebody says or the file does
``log_tables``         CSV, Parquet, NetCDF and npz as named columns
``log``                ``Log``: what was measured in one run
``filtering``          filters without phase shift, derivatives, decimation
``from_log``           ``identify_log``: from a log to a robot, validated on other data
``log_identified``     what was found, and how well it predicts
``payload``            ``identify_payload``: what a robot carries
``drive_gains``        ``identify_drive_gains``: torque per ampere
``calibration``        ``calibrate``: geometry from measured poses
``calibrated``         what a calibration found
``kinematic_errors``   errors of a chain, and how the measured frame moves with them
``measured_poses``     poses from files
``friction_search``    widths of dry friction
``intervals``          how sure an estimate is
``shared_noise``       noise that neighbouring samples share behind a filter, and what it does to intervals
``folded``             least squares of many equations, some rows at a time
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
