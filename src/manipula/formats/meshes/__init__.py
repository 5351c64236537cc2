"""Triangles from mesh files, under budgets. Coordinates are read, and the plain colours of COLLADA
and glTF; no textures, normals or animations.

=============  ==================================================================
``reader``     ``read_mesh``: the format follows the suffix
``triangles``  corners and faces, and how many may be
``stl``        STL, binary and text
``obj``        OBJ
``msh``        MSH of MuJoCo
``dae``        COLLADA
``gltf``       glTF and GLB
``nodes``      trees of nodes with transforms, which the last two have
=============  ==================================================================
"""

from typing import TYPE_CHECKING

from manipula.lazy import names_in

if TYPE_CHECKING:
    from manipula.formats.meshes.reader import MESH_BYTES as MESH_BYTES
    from manipula.formats.meshes.reader import SUFFIXES as SUFFIXES
    from manipula.formats.meshes.reader import read_mesh as read_mesh
    from manipula.formats.meshes.triangles import Triangles as Triangles
    from manipula.formats.meshes.triangles import check_mesh as check_mesh

__getattr__ = names_in(
    __name__, MESH_BYTES="reader", SUFFIXES="reader", read_mesh="reader", Triangles="triangles", check_mesh="triangles"
)
