"""Mass and inertia of a body: from its ``<inertial>``, else from its geoms, then the compiler's bounds, as MuJoCo does it.

``inertiafromgeom`` is ``auto`` (geoms count where there is no ``<inertial>``), ``true`` (they count before it) or ``false``; only geoms of
the groups in ``inertiagrouprange`` count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.inertia import Moments, central, inertia_from_six
from manipula.algebra.pose import IDENTITY, Pose
from manipula.errors import BudgetError, DescriptionError, UnphysicalError
from manipula.formats.mjcf.geoms import weighs, weight
from manipula.formats.mjcf.meshes import Meshes
from manipula.formats.mjcf.settings import Defaults, Settings
from manipula.formats.xml.reader import Element
from manipula.robot.build import LinkDraft


class Masses:
    """Reads the mass of one body after the other; ``computed`` counts those that came from geoms."""

    def __init__(self, settings: Settings, defaults: Defaults, meshes: Meshes) -> None:
        self.settings, self.defaults, self.meshes = settings, defaults, meshes
        self.computed: list[str] = []
        self.unweighed: dict[str, DescriptionError] = {}  # bodies whose geoms cannot be weighed, and why

    def link(self, name: str, body: Element, inside: list[Any], moves: bool, place: dict[str, Any]) -> LinkDraft:
        """The link of a body with ``inside`` (element, pose of its frame, class); what stands still need not be weighed."""
        inertials = [(item, X_BF) for item, X_BF, _ in inside if item.tag == "inertial"]
        if len(inertials) > 1:
            inertials[1][0].fail("A second <inertial> in the same body.")
        own = self.settings.of(body)
        mode = own.inertia_from_geom
        geoms: list[tuple[Element, Pose]] = []
        if mode == "true" or (mode == "auto" and not inertials):
            filled = ((self.defaults.filled(g, c), X) for g, X, c in inside if g.tag == "geom")
            geoms = [(g, X) for g, X in filled if weighs(g, own)]
        if geoms and (moves or self.settings.total_mass > 0):
            try:
                link = self._from_geoms(name, geoms, place)
                self.computed.append(name)
            except BudgetError:
                raise
            except DescriptionError as error:
                self.unweighed[name] = error
                link = LinkDraft(name, described=False, **place)
        elif inertials and not geoms:
            link = self._stated(name, *inertials[0], place)
        else:
            link = LinkDraft(name, described=False, **place)
        return self._bounded(link, body)

    def _from_geoms(self, name: str, geoms: list[tuple[Element, Pose]], place: dict[str, Any]) -> LinkDraft:
        total: Moments | None = None
        for geom, X_BF in geoms:
            part = weight(geom, X_BF, self.settings, self.meshes)
            total = part if total is None else total + part
        assert total is not None
        mass, com, inertia = central(total)
        return LinkDraft(name, float(mass), tuple(map(float, com)), (inertia + inertia.T) / 2, **place)

    def _stated(self, name: str, inertial: Element, X_BF: Pose, place: dict[str, Any]) -> LinkDraft:
        mass = inertial.number("mass")
        if mass < 0:
            where = {"file": inertial.file, "line": inertial.line, "field": "mass"}
            raise UnphysicalError(f"The mass must not be negative, found {mass:g}.", **where)
        X_FI = self.settings.pose(inertial)
        if "fullinertia" in inertial.attributes:
            if "diaginertia" in inertial.attributes or X_FI.rotation != IDENTITY.rotation:
                inertial.fail("fullinertia is in the axes of its frame; it excludes diaginertia and an orientation.")
            inertia = inertia_from_six(*inertial.numbers("fullinertia", 6))
        else:
            inertia = np.diag(inertial.numbers("diaginertia", 3, (0.0, 0.0, 0.0)))
        inertial.get("pos")
        return LinkDraft.with_inertial_frame(name, mass, X_BF @ X_FI, inertia, **place)

    def _bounded(self, link: LinkDraft, body: Element) -> LinkDraft:
        """``boundmass``, ``boundinertia``, ``balanceinertia``; a body without any mass gets the least one at its own ``pos``."""
        s = self.settings.of(body)
        if s.least_mass > 0 or s.least_inertia > 0:
            if not link.described:
                link.com = tuple(s.pose(body).translation)
            link.mass = max(float(link.mass), s.least_mass)
            link.described = True
        elif not (s.balance and link.described):
            return link
        moments, axes = np.linalg.eigh(np.array(link.inertia, float))
        changed = np.maximum(moments, s.least_inertia)
        if s.balance and changed[0] + changed[1] < changed[2]:
            changed = np.full(3, changed.mean())
        if not np.array_equal(changed, moments):
            link.inertia = axes @ np.diag(changed) @ axes.T
        return link


def scale_total(links: list[LinkDraft], moving: set[str], settings: Settings) -> str | None:
    """``settotalmass``: all bodies scaled so that their masses add up to it; a note, or ``None`` when it is not set.

    Bodies that ``fusestatic`` takes for parts of the world (those not in ``moving``) do not count.
    """
    if settings.total_mass <= 0:
        return None
    counted = [link for link in links if link.name in moving or not settings.fuse]
    total = sum(float(link.mass) for link in counted)
    if total <= 0:
        return None
    factor = settings.total_mass / total
    for link in counted:
        link.mass, link.inertia = link.mass * factor, np.array(link.inertia, float) * factor
    return f"all masses are scaled by {factor:.6g} to the total of {settings.total_mass:g} kg (settotalmass)."
