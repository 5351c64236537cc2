"""What the page may ask for: ``POST /api/<verb>`` with a table of arguments gives a table.

===============  ====================================================
``catalogue``    robots, parts with their fields, examples, schema
``describing``   documents: open, check, write; robots and their doctor
``moving``       inverse kinematics, the reference along its path
``deriving``     equations and source code
``running``      start, pause, stop, list and read runs
``studies``      studies in a folder, their columns, any run of them
===============  ====================================================

A verb is a function of the studio's runs and its arguments by name. Arguments that it does not have are refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from manipula.errors import DescriptionError, printable, unknown_name
from manipula.studio.runs import RunStore
from manipula.studio.verbs import catalogue, deriving, describing, moving, running, studies

VERBS: dict[str, Callable[..., Any]] = {
    name: function
    for room in (catalogue, describing, moving, deriving, running, studies)
    for name, function in room.VERBS.items()
}


def call(name: str, runs: RunStore, arguments: dict[str, Any]) -> Any:
    """The answer of a verb, as plain values.

    Raises:
        DescriptionError: there is no such verb, or an argument is missing, unknown or wrong.
    """
    if name not in VERBS:
        raise unknown_name("verb", name, VERBS)
    function = VERBS[name]
    known = list(inspect.signature(function).parameters.values())[1:]
    for given in arguments:
        if given not in {p.name for p in known}:
            raise unknown_name("argument", given, [p.name for p in known], field=printable(given))
    for parameter in known:
        if parameter.default is parameter.empty and parameter.name not in arguments:
            raise DescriptionError(f"'{name}' needs '{parameter.name}'.", field=parameter.name)
    return function(runs, **arguments)
