"""The speed a person feels: whole calls, new processes and commands, beside other libraries in one run.

===============  ==================================================
``table``        all rows in one run
``rows``         one line of the table, and how its times are taken
``processes``    new processes: first runs, commands
``first_run``    what a new process is asked for
``simulations``  runs of a Panda, alone and in batches
``planning``     fastest motions, moves, inverse kinematics
``dynamics``     batches of dynamics, identification
===============  ==================================================
"""
