"""Every kind of part with its registry, in one place for tables, command line and forms."""

from __future__ import annotations

from collections import ChainMap
from typing import Any

from manipula.codegen import LANGUAGES
from manipula.control import KIND as CONTROLLERS
from manipula.errors import unknown_name
from manipula.ik.methods import REGISTRY as METHODS
from manipula.motion import paths, timing
from manipula.parts.registry import PartKind, describe
from manipula.redundancy.null_space import KIND as CRITERIA
from manipula.redundancy.tasks import KIND as TASKS
from manipula.reports.plots import PLOTS
from manipula.robot.drives import KIND as DRIVES
from manipula.robot.friction import KIND as FRICTION
from manipula.simulation.files.reference import KIND as REFERENCES
from manipula.simulation.integrators import ADAPTIVE, FIXED
from manipula.simulation.plant.base_motion import BaseMotion
from manipula.simulation.plant.contact import KIND as CONTACTS
from manipula.simulation.plant.disturbances import KIND as DISTURBANCES
from manipula.simulation.plant.disturbances import Actuator, Noise
from manipula.simulation.plant.encoder import Encoder
from manipula.simulation.plant.switch import Switch

KINDS: dict[str, PartKind] = {
    kind.name: kind
    for kind in (
        FRICTION,
        DRIVES,
        CONTROLLERS,
        CRITERIA,
        TASKS,
        paths.KIND,
        timing.KIND,
        REFERENCES,
        DISTURBANCES,
        CONTACTS,
        PartKind("switch", "", {"switch": Switch}, "manipula.simulation.plant.switch", public="mp"),
        PartKind("base motion", "", {"base_motion": BaseMotion}, "manipula.simulation.plant.base_motion", public="mp"),
        PartKind(
            "signal path",
            "",
            {"noise": Noise, "encoder": Encoder, "actuator": Actuator},
            "manipula.simulation.plant.disturbances",
            public="mp",
        ),
        PartKind("integrator", "", ChainMap(ADAPTIVE, FIXED), "manipula.simulation.integrators"),  # pyright: ignore[reportArgumentType]
        PartKind("method of inverse kinematics", "", METHODS, "manipula.ik.methods.REGISTRY"),
        PartKind("plot", "", PLOTS, "manipula.reports.plots.PLOTS"),
        PartKind("language", "", LANGUAGES, "manipula.codegen.LANGUAGES"),
    )
}


def find_kind(name: str) -> PartKind:
    """The kind of part of that name, singular or plural, a word of it (``law``) or with hyphens (``friction-law``)."""
    wanted = name.replace("-", " ").replace("_", " ").lower()
    forms = {k: {k, f"{k}s", *k.split(), *(f"{w}s" for w in k.split())} for k in KINDS}
    exact = [k for k in KINDS if wanted in (k, f"{k}s", {"criteria": "criterion"}.get(wanted))]
    found = exact or [k for k, words in forms.items() if wanted in words] or ["criterion"] * (wanted == "criteria")
    if not found:
        raise unknown_name("kind of part", name, KINDS, field="kind")
    return KINDS[found[0]]


def describe_parts() -> dict[str, Any]:
    """Every part of every kind as plain data: what it is, and its fields with kind, unit, meaning, default and range."""
    return describe(KINDS.values())
