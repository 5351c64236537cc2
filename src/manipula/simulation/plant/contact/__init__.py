"""What the arm may touch: one file per part, one line in the registry gives it its name in files.

================  ========================================================================
``base``          what a contact is, and what it tells: forces, penetration, energy
``compression``   the force of a compressed surface: Hertz, Hunt and Crossley
``plane``         spheres or points of the arm against a wall, a table, the ground
``end_stop``      stops at the ends of the joints' ranges
================  ========================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manipula.parts.registry import PartKind, PartRegistry
from manipula.simulation.plant.contact.base import Contact, Touch

REGISTRY: PartRegistry[type[Contact]] = PartRegistry(__name__, plane="plane:PlaneContact", end_stop="end_stop:EndStop")
KIND = PartKind("contact", "kind", REGISTRY, "manipula.simulation.plant.contact.REGISTRY", public="mp.contact")
__getattr__ = REGISTRY.names()

if TYPE_CHECKING:
    from manipula.simulation.plant.contact.end_stop import EndStop
    from manipula.simulation.plant.contact.plane import PlaneContact

__all__ = ["KIND", "REGISTRY", "Contact", "EndStop", "PlaneContact", "Touch"]

__dir__ = REGISTRY.listed(__all__)
