"""Can the answer be trusted, and can the machine do it?

================  ==================================================================
``judge``         conditioning of the mass matrix, early ends, joint limits
``energy``        does the energy of a run with contacts or stiction add up?
``friction``      load-dependent friction without a unique solution
``criteria``      where secondary criteria did not hold
``limits``        a motion against the stated limits: ``Result.feasibility``
``batch_limits``  the samples of all runs of a batch against them, at once
``windows``       windows of the state that steps passed over
``unstopped``     joint limits that were passed within a step of a run that was to end there
``peaks``         the largest values against limits, on every step and known instant
``screening``     which of many runs come near a limit at all
``extremes``      their largest values by one compiled loop
================  ==================================================================
"""
