"""MJCF, the format of MuJoCo.

==============  ==================================================================
``reader``      MJCF → robot: ``from_mjcf``
``settings``    compiler, options, default classes, orientations
``sections``    what stands beside the bodies: actuators, tendons, equalities, files
``extension``   what ``to_mjcf`` says in ``<custom>``, taken back
``bodies``      bodies with masses and moments that MuJoCo accepts
``writer``      robot → MJCF: ``to_mjcf``
==============  ==================================================================
"""

from manipula.formats.mjcf.reader import from_mjcf as from_mjcf
from manipula.formats.mjcf.reader import read_mjcf as read_mjcf
from manipula.formats.mjcf.writer import to_mjcf as to_mjcf
