"""Friction laws: one file per law, one line in the registry gives it its name in files.

==================  ===============================================================
``base``            what a friction law is
``viscous``         proportional to velocity
``coulomb``         dry, smoothed through zero, with viscous friction and an offset
``asymmetric``      dry and viscous, different in the two directions
``stribeck``        falls from a static to a kinetic level as motion begins
``load_dependent``  dry, proportional to the load of the bearing
``stiction``        dry and set-valued: holds a joint exactly at rest
``dahl``            presliding friction: a spring that yields
``lugre``           bristles that bend, slip and damp, under the load of the joint
==================  ===============================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manipula.parts.registry import PartKind, PartRegistry
from manipula.robot.friction.base import FrictionLaw

REGISTRY: PartRegistry[type[FrictionLaw]] = PartRegistry(
    __name__,
    viscous="viscous:Viscous",
    coulomb="coulomb:Coulomb",
    stribeck="stribeck:Stribeck",
    asymmetric="asymmetric:Asymmetric",
    stiction="stiction:Stiction",
    dahl="dahl:Dahl",
    lugre="lugre:LuGre",
    load_dependent="load_dependent:LoadDependent",
)
KIND = PartKind("friction law", "law", REGISTRY, "manipula.robot.friction.REGISTRY", public="mp.friction")
__getattr__ = REGISTRY.names()

if TYPE_CHECKING:
    from manipula.robot.friction.asymmetric import Asymmetric
    from manipula.robot.friction.coulomb import Coulomb
    from manipula.robot.friction.dahl import Dahl
    from manipula.robot.friction.load_dependent import LoadDependent
    from manipula.robot.friction.lugre import LuGre
    from manipula.robot.friction.stiction import Stiction
    from manipula.robot.friction.stribeck import Stribeck
    from manipula.robot.friction.viscous import Viscous

__all__ = [
    "KIND",
    "REGISTRY",
    "Asymmetric",
    "Coulomb",
    "Dahl",
    "FrictionLaw",
    "LoadDependent",
    "LuGre",
    "Stiction",
    "Stribeck",
    "Viscous",
]

__dir__ = REGISTRY.listed(__all__)
