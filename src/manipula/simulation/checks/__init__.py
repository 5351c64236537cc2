"""What is looked at before a run begins: nothing that was asked for is dropped.

==================  =========================================================================
``base_motion``     a base whose speed jumps
``rehearsal``       one evaluation on plain numbers: parts that do not fit together are named
``requests``        settings that this kind of run would not honour
``idle_parts``      parts that can never act
``unchanged``       changes to what holds already, and feedback that drives away
``early_ends``      references and tables that do not last as long as the run
``immovable``       references that go where no joint can move what follows them
``own_reference``   a path or time law of a user's own: the same motion when differentiated?
``varied``          disturbances whose numbers differ from run to run of a batch
==================  =========================================================================
"""
