"""Scenarios in TOML: how each part of a run is read from a file and written to one.

==================  ========================================================================
``scenario_file``   ``load_file``, ``save_scenario``, ``file_text``: scenarios of every kind
``scenario_read``   a Scenario from the tables of its file
``scenario_write``  a Scenario as the text of its file
``programmed``      programmed motions, both ways: ``[program]``
``library``         programmed motions under a name, in a folder
``reference``       references, both ways
``robot``           the robot of a scenario, both ways
``parts``           controllers, criteria, friction laws, drives, disturbances, both ways
``document``        a parsed file: constants, files beside it, errors with their line
``text``            plain values as TOML text
``schema``          JSON Schema of scenario files
==================  ========================================================================
"""
