"""Denavit–Hartenberg parameters.

==============  =====================================================
``rows``        rows → robot: ``from_dh``
``from_robot``  robot → rows: ``to_dh``
==============  =====================================================
"""

from manipula.formats.dh.from_robot import to_dh as to_dh
from manipula.formats.dh.rows import from_dh as from_dh
