"""URDF, the format of ROS.

=================  ==================================================================
``reader``         URDF → robot: ``from_urdf``
``origins``        ``<origin>`` as a pose
``visuals``        ``<visual>``: what links look like
``transmissions``  gear ratio and rotor inertia
``extension``      base, tool, payload and gravity, taken back from ``<manipula>``
``shapes``         what links look like → ``<visual>``
``writer``         robot → URDF: ``to_urdf``
=================  ==================================================================
"""

from manipula.formats.urdf.reader import from_urdf as from_urdf
from manipula.formats.urdf.reader import read_urdf as read_urdf
from manipula.formats.urdf.writer import to_urdf as to_urdf
