"""MJCF, the format of MuJoCo.

==================  ==========================================================="""

from manipula.formats.mjcf.reader import from_mjcf as from_mjcf
from manipula.formats.mjcf.reader import read_mjcf as read_mjcf
from manipula.formats.mjcf.writer import to_mjcf as to_mjcf
