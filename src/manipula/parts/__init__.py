"""One declaration per part: fields with kind, unit, meaning, default and range, and what is made from them.

====================  ==================================================================================
``field``             what one field is: ``Number``, ``PerJoint``, ``Angle``, ``Formula``, ``Choice`` …
``declared``          the fields of a class or function
``checks``            a value against its declaration
``registry``          a kind of part with its registry; ``describe`` gives all of it as plain data
``schema``            JSON Schema of tables that hold parts
``tables``            tables for the documentation
====================  ==================================================================================
"""

from manipula.parts.checks import check_part
from manipula.parts.declared import FieldDeclaration, declared
from manipula.parts.field import Field
from manipula.parts.registry import PartKind, describe

__all__ = ["Field", "FieldDeclaration", "PartKind", "check_part", "declared", "describe"]
