"""Denavit–Hartenberg parameters.

==============  =====================================================
``rows``        rows → robot: ``from_dh``
``from_robot``  robot → rows: ``to_dh``
==============  =====================================================
"""

from typing import TYPE_CHECKING

from manipula.lazy import names_in

if TYPE_CHECKING:
    from manipula.formats.dh.from_robot import to_dh as to_dh
    from manipula.formats.dh.rows import from_dh as from_dh

__getattr__ = names_in(__name__, to_dh="from_robot", from_dh="rows")
