"""Compiled loops from initial states to samples, and how they are run.

=====================  =========================================================================
``setup``              ``prepare_run``: a plant, a compiled loop and the numbers that go into it
``loop``               ``CompiledLoop``: the machine code of one kind of run
``digital``            what a digital controller does at its instants
``fixed``              runs with a constant step, and their verification
``repetition``         a run against its repetitions: where they begin, what differences say
``coarse_repetition``  runs that longer steps may verify
``decisions``          what a digital controller decides and steps cannot tell
``adaptive``           runs whose step follows the error
``events``             steps that end where contacts open or close, joints stick or slip
``following``          a run followed again from one of its states
``interpreted``        controllers that are called from Python, and what they remember
``probing``            user code asked at more times than the steps will
``watching``           a run looked at on every step and known instant, for its limits
``singular_posture``   postures in which a controller has no inverse
``not_finite``         whose number it was, where a run ends in none
=====================  =========================================================================
"""
