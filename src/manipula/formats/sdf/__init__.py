"""SDF, the format of Gazebo and Drake; read, not written.

===========  ==============================================================
``reader``   SDF → robot: ``from_sdf``
``include``  files that take the place of ``<include>``
``nested``   models inside a model, made one
``model``    links, joints and frames of a ``<model>``
``poses``    ``<pose relative_to=…>``: who stands where, in whose frame
``visuals``  ``<visual>``: what links look like
``values``   texts of elements as numbers, flags and poses
===========  ==============================================================
"""

from manipula.formats.sdf.reader import from_sdf as from_sdf
from manipula.formats.sdf.reader import read_sdf as read_sdf
