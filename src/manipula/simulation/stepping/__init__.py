"""Where steps end, and how two ways of stepping are compared.

=================  =========================================================
``grid``           samples, whole steps, known instants; when a run must end
``instants``       where tables jump and formulas in t change quickly
``corners``        where a motion that is given jumps
``coarse``         longer steps for a repetition, where nothing can hide from them
``rests_at_zero``  does an arm at q = 0 rest there by numbers that are zero?
``verification``   a run against its repetition in other, finer steps
=================  =========================================================
"""
