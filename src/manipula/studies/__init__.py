"""Studies: thousands of runs of one scenario, on one machine or on a cluster, kept in files that survive anything.

``sweep(study, folder)`` makes them, ``open_study(folder)`` reads them. Each module imports only those below it:

=====================  =====================================================================
``tuning/``            ``tune(study, minimise=…)``: numbers that make a column small
``sweep``              ``sweep(study, folder)``: every run that is not there yet
``pool``               the engine of processes on this machine, which survive being killed
``worker``             such a process
``local_cluster``      a scheduler and workers on the loopback, for trying out
``dask_engine``        the engine of a Dask cluster
``lease``              one client at a time
``dry_run``            what a study would take, from a pilot
``opened``             ``open_study(folder)``: the table, and any run of it
``chunks``             which runs are made next; a chunk made and published
``folder``             the files of a study, and whether they belong to it
``files``              studies as TOML
``own_code``           a user's code inside a study, as a text that changes with it
``evaluate``           some runs made: rows and samples
``plan``               which runs share a compiled loop, and the scenario of every run
``layout``             the table: kinds, units and meanings of its columns
``part_files``         Parquet files that are whole or not there
``study``              ``Study``: base, what varies, samples, seed, what is kept
``axis_checks``        every value against what it will stand for
``columns``            the summary of a run: every number declared once
``tables``             parts given as tables or by name
``paths``              places inside a scenario by name
``draws``              random numbers of run i, by random access
``distributions``      uniform, normal … by their inverse distribution functions
=====================  =====================================================================
"""

from manipula.studies.distributions import choice, log_uniform, normal, triangular, uniform
from manipula.studies.opened import StudyResults, open_study
from manipula.studies.study import Study
from manipula.studies.sweep import sweep
from manipula.studies.tuning.tune import Tuning, tune

__all__ = [
    "Study",
    "StudyResults",
    "Tuning",
    "choice",
    "log_uniform",
    "normal",
    "open_study",
    "sweep",
    "triangular",
    "tune",
    "uniform",
]

__dir__ = __all__.copy
