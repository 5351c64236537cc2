"""Optimisation on top of studies: which numbers make a column small.

=============  =========================================================================
``tune``       ``tune(study, minimise=…)``: generations of candidates, kept in a folder
``goals``      what is made small, what is kept, over which conditions
``searches``   methods by name: differential evolution, Optuna
``gde3``       differential evolution for several objectives
``pareto``     dominance, fronts, crowding
=============  =========================================================================
"""
