"""MJCF, the format of MuJoCo.

==================  ==================================================================
``reader``          MJCF → robot: ``from_mjcf``
``trusted_folder``  which files may be opened
``include``         files that take the place of ``<include>``
``attach``          models that are attached, bodies that are replicated
``settings``        compiler, options, default classes, orientations
``schema``          which elements and attributes MJCF has
``keywords``        attributes that take one of a few words
``joints``          hinges and slides; free and ball joints with the reason of their refusal
``equalities``      joints that are bound to each other; closed loops
``couplings``       which of them lead, follow or are held
``keyframes``       named postures
``sections``        tendons, deformables, assets: refused or told
``objects``         bodies that float beside the arm and are left out
``gravcomp``        weight of bodies that something else carries
``unmodelled``      what is refused unless the selection leaves it out
``masses``          mass and inertia of a body, stated or computed
``geoms``           what geoms weigh
``visuals``         what the viewer shows
``meshes``          what meshes weigh
``actuators``       what actuators add to their joints
``extension``       what ``to_mjcf`` says in ``<custom>``, taken back
``bodies``          bodies with masses and moments that MuJoCo accepts
``shapes``          what links look like → geoms
``writer``          robot → MJCF: ``to_mjcf``
==================  ==================================================================
"""

from manipula.formats.mjcf.reader import from_mjcf as from_mjcf
from manipula.formats.mjcf.reader import read_mjcf as read_mjcf
from manipula.formats.mjcf.writer import to_mjcf as to_mjcf
