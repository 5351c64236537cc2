"""TOML, the format that holds everything a robot knows.

================  =====================================================================
``reader``        TOML → robot: ``from_toml``
``parts``         links, joints, limits, friction, drives, frames of a file
``fields``        tables whose every key is asked for once, with its line; numbers and formulas
``budget``        what a text may hold at most, counted before it is parsed
``visuals``       ``[[visual]]``: what links look like
``part_tables``   tables of parts: the name in a registry and the fields that the part declares
``schema``        JSON Schema of robot files
``lines``         the line on which each key stands
``writer``        robot → TOML: ``to_toml``
``dh_writer``     rows of DH parameters → TOML: ``dh_to_toml``
``formula_text``  an expression as text that reads back equal
================  =====================================================================
"""

from typing import TYPE_CHECKING

from manipula.lazy import names_in

if TYPE_CHECKING:
    from manipula.formats.toml.dh_writer import dh_to_toml as dh_to_toml
    from manipula.formats.toml.reader import from_toml as from_toml
    from manipula.formats.toml.writer import to_toml as to_toml

__getattr__ = names_in(__name__, dh_to_toml="dh_writer", from_toml="reader", to_toml="writer")
