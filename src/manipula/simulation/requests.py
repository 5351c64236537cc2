"""Requests that a kind of run would not honour: refused before anything is computed, never dropped."""

from __future__ import annotations

from manipula.errors import DescriptionError
from manipula.simulation.criteria_notes import criteria_of
from manipula.simulation.scenario import Scenario

TURNING = 'runs of kind "inverse_dynamics" and track() honour it'


def check_requests(s: Scenario) -> None:
    """Does the run do everything that the scenario asks for?

    Raises:
        DescriptionError: with the field that would be ignored, and where it is honoured.
    """
    kind = s.resolved_kind()
    _whole_parts(s, kind)
    _orientation(s, kind)
    _criteria(s, kind)


def _whole_parts(s: Scenario, kind: str) -> None:
    """Controllers, torques and references that this kind of run would not look at."""
    needed = {"kinematic": s.reference, "inverse_dynamics": s.reference, "playback": s.torques}
    if kind in needed and needed[kind] is None:
        return  # refused for what is missing, which says more than what is too much
    controller = s.controller
    if controller is not None and kind != "dynamic":
        raise DescriptionError(
            f"A run of kind '{kind}' asks no controller; the one given ('{controller.name}') would be ignored.",
            field="controller",
        )
    if s.torques is not None and kind != "playback":
        raise DescriptionError(
            f"Torques over time act in runs of kind 'playback'; a {kind} run would ignore them.", field="torques"
        )
    if s.reference is None:
        return
    if kind in ("free", "playback"):
        raise DescriptionError(
            f"A {kind} run follows no reference: give a controller, or kind = 'kinematic' or 'inverse_dynamics'.",
            field="reference",
        )
    if controller is not None and getattr(controller, "goal", None) is not None:
        raise DescriptionError(
            f"The controller '{controller.name}' has a goal of its own and would ignore the reference; give one of them.",
            field="reference",
        )
    if controller is not None and controller.space == "none":
        raise DescriptionError(
            f"The controller '{controller.name}' follows no reference and would ignore the one given.",
            field="reference",
        )


def _orientation(s: Scenario, kind: str) -> None:
    if kind == "inverse_dynamics" or not getattr(s.reference, "has_orientation", False):
        return
    who = "A kinematic run" if kind == "kinematic" else f"A {kind} run"
    if s.controller is not None and kind == "dynamic":
        who = f"The controller '{s.controller.name}'"
    raise DescriptionError(
        f"The reference says how the tool is turned. {who} follows positions only and would ignore that: give the path "
        f"without an orientation; {TURNING}.",
        field="reference.orientation",
    )


def _criteria(s: Scenario, kind: str) -> None:
    for criterion in criteria_of(s):
        why = criterion.idle(s.robot)
        if why:
            raise DescriptionError(f"The criterion '{criterion.name}' has nothing to do: {why}.", field="criteria")
    if kind in ("kinematic", "inverse_dynamics"):
        return
    for name, given in (("criteria", bool(s.criteria)), ("gain", bool(s.gain))):
        if given:
            raise DescriptionError(
                f"'{name}' of a scenario belongs to kinematic runs; a {kind} run would ignore it. "
                "Task-space controllers have criteria and gains of their own.",
                field=name,
            )
