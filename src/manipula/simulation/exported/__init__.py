"""A whole scenario outside Python: its closed loop as functions of time, state and numbers, and as a module that computes the run.

==============  ==========================================================================================
``loop``        which runs can leave Python, and everything that another program needs to compute them
``numbers``     the numbers of a run that may be changed there, with their ranges
``javascript``  ``export(scenario, "javascript", folder)``: an ES module with its own steps, and its test
==============  ==========================================================================================
"""
