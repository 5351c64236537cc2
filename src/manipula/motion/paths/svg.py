"""A path drawn as SVG path data: ``M L H V C S Q T A Z``, upper case absolute, lower case relative.

Grammar and the conversion of arcs from end points to centre: SVG 2, §9.3 and appendix B.2. The reader is a scanner of
numbers and letters with a budget; nothing in the text is executed or fetched.
"""

from __future__ import annotations

import math
import os
import re
from typing import Annotated, Any

import numpy as np

from manipula.algebra.arguments import LARGEST, flag, positive, whole_number
from manipula.errors import BudgetError, DescriptionError, printable
from manipula.formats.guard import read_text
from manipula.motion.paths.base import Curve, Path
from manipula.motion.paths.checks import vector3
from manipula.motion.paths.ellipse import EllipticArc
from manipula.motion.paths.fields import point
from manipula.motion.paths.polynomial import bezier, joined
from manipula.motion.paths.primitive import primitive
from manipula.parts.field import File, Flag, Number, Whole

MAX_CHARACTERS = 4_000_000
MAX_SEGMENTS = 10_000
MAX_ARCS = 1000  # each is measured on its own
SHORTEST = 1e-60  # [m] of a segment: its cube is still a number
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BLANK = re.compile(r"[\s,]*")
_ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
_D_ATTRIBUTE = re.compile(r"<path\b[^<>]*?\sd\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


@primitive
def from_svg(
    source: Annotated[str, File("SVG path data, or an .svg file", of=".svg", example="M 0 0 h 100 v 60 h -100 z")],
    *,
    scale: Annotated[float, Number("m", "metres for one SVG unit", above=0.0)] = 1.0,
    origin: Annotated[Any, point("where the SVG origin lies")] = (0.0, 0.0, 0.0),
    flip_y: Annotated[bool, Flag("turn SVG's y, which points down, up")] = True,
    index: Annotated[int, Whole("which path of a file, from 0", least=0)] = 0,
) -> Path:
    """The curve of SVG path data such as ``"M 0 0 L 100 0 A 50 50 0 0 1 100 100 Z"``, in the x–y plane.

    Args:
        source: path data, or the name of an ``.svg`` file (its path number ``index`` is taken, transforms in the file
            are not applied).
        scale: metres for one SVG unit.
        origin: where the SVG origin lies [m].
        flip_y: SVG's y points down; True turns it up.

    The data must be one connected stroke: a second ``M`` that jumps is an error.
    """
    file, data = _path_data(source, whole_number(index, "index", 0, MAX_SEGMENTS))
    try:
        segments = _SvgReader(data).segments()
    except DescriptionError as error:
        raise error.at(file=file) from None
    factor = positive(scale, "scale")
    A = np.array([[factor, 0.0], [0.0, -factor if flag(flip_y, "flip_y") else factor], [0.0, 0.0]])
    shift = vector3(origin, "origin")
    path = Path(_curves(segments, A, shift))
    if file is not None:
        path.read = {"source": data, "index": 0}
    return path


def _path_data(source: Any, index: int) -> tuple[str | None, str]:
    text = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(text, str):
        raise DescriptionError(f"'source' is path data or the name of a file; found {type(source).__name__}.")
    if not text.lower().endswith(".svg"):
        return None, text
    content = read_text(text, MAX_CHARACTERS)
    found = [a or b for a, b in _D_ATTRIBUTE.findall(content)]
    if not 0 <= index < len(found):
        raise DescriptionError(
            f"The file has {len(found)} paths; there is no path {index} (they count from 0).", file=text
        )
    return text, found[index]


def _curves(segments: list[Any], A: np.ndarray, shift: np.ndarray) -> list[Curve]:
    """Runs of Bézier pieces become one curve each, arcs one curve each."""
    out: list[Curve] = []
    pieces: list[np.ndarray] = []
    widths: list[float] = []
    arcs = sum(not isinstance(segment, np.ndarray) for segment in segments)
    if arcs > MAX_ARCS:
        raise BudgetError(f"The SVG path has {arcs} arcs; at most {MAX_ARCS} are allowed.")
    for segment in [*segments, None]:
        if isinstance(segment, np.ndarray):
            control = segment @ A.T + shift
            pieces.append(bezier(control))
            widths.append(float(np.sum(np.linalg.norm(np.diff(control, axis=0), axis=1))))
            if not widths[-1] > SHORTEST:
                raise DescriptionError(
                    f"The SVG path has a segment of {widths[-1]:.3g} m; at least {SHORTEST:g} is needed."
                )
            continue
        if pieces:
            out.append(joined(pieces, widths))
            pieces, widths = [], []
        if segment is not None:
            center, a, b, start, end = segment
            sign = 1.0 if end > start else -1.0  # u runs upwards: measure a clockwise arc the other way round
            out.append(EllipticArc(A @ center + shift, A @ a, sign * (A @ b), np.array([sign * start, sign * end])))
    if not out:
        raise DescriptionError("The SVG path draws nothing: it has no segment of non-zero length.")
    return out


class _SvgReader:
    """Scanner of path data; ``segments`` gives control points (k, 2) or arcs (centre, a, b, start, end)."""

    def __init__(self, data: str) -> None:
        if len(data) > MAX_CHARACTERS:
            raise BudgetError(f"The SVG path has {len(data)} characters; at most {MAX_CHARACTERS} are allowed.")
        self.data, self.at = data, 0
        self.here, self.subpath_start = np.zeros(2), np.zeros(2)
        self.control: np.ndarray | None = None
        self.out: list[Any] = []

    def fail(self, problem: str) -> DescriptionError:
        around = printable(self.data[max(0, self.at - 12) : self.at + 12], 30)
        return DescriptionError(f"SVG path, character {self.at} near '{around}': {problem}")

    def blank(self) -> None:
        match = _BLANK.match(self.data, self.at)
        assert match is not None
        self.at = match.end()

    def number(self) -> float:
        match = _NUMBER.match(self.data, self.at)
        if match is None:
            raise self.fail("a number is expected.")
        value = float(match.group())
        if not abs(value) <= LARGEST:
            raise self.fail(f"the number is too large; at most {LARGEST:g}.")
        self.at = match.end()
        self.blank()
        return value

    def flag(self) -> bool:
        """Arc flags are single digits that need no separator."""
        character = self.data[self.at : self.at + 1]
        if character not in ("0", "1"):
            raise self.fail("an arc flag, 0 or 1, is expected.")
        self.at += 1
        self.blank()
        return character == "1"

    def arguments(self, command: str) -> list[float]:
        if command == "A":
            radii = [self.number(), self.number(), self.number()]
            return [*radii, float(self.flag()), float(self.flag()), self.number(), self.number()]
        return [self.number() for _ in range(_ARGUMENTS[command])]

    def segments(self) -> list[Any]:
        self.blank()
        previous = ""
        while self.at < len(self.data):
            letter = self.data[self.at]
            command = letter.upper()
            if command not in _ARGUMENTS or not letter.isascii():
                raise self.fail(f"'{printable(letter)}' is not one of the commands M L H V C S Q T A Z.")
            if not previous and command != "M":
                raise self.fail("path data must start with M.")
            self.at += 1
            self.blank()
            first = True
            while first or (command != "Z" and self.at < len(self.data) and _NUMBER.match(self.data, self.at)):
                actual = "L" if command == "M" and not first else command
                self.draw(actual, self.arguments(actual), letter.islower(), previous)
                previous, first = actual, False
                if len(self.out) > MAX_SEGMENTS:
                    raise BudgetError(f"The SVG path has more than {MAX_SEGMENTS} segments.")
        return self.out

    def draw(self, command: str, x: list[float], relative: bool, previous: str) -> None:
        base = self.here if relative else np.zeros(2)
        if command == "M":
            target = base + x
            if self.out and np.linalg.norm(target - self.here) > 0:
                raise self.fail("a second M lifts the pen; a path must be one connected stroke.")
            self.here = self.subpath_start = target
        elif command == "Z":
            self.bezier([self.here, self.subpath_start])
        elif command in "LHV":
            if command == "H":
                target = np.array([base[0] + x[0], self.here[1]])
            elif command == "V":
                target = np.array([self.here[0], base[1] + x[0]])
            else:
                target = base + x
            self.bezier([self.here, target])
        elif command == "A":
            self.arc(x, base + x[5:])
        else:
            points = [base + x[i : i + 2] for i in range(0, len(x), 2)]
            if command in "ST":  # the first control point mirrors the last one of the same family
                family = "CS" if command == "S" else "QT"
                mirrored = previous in family and previous != "" and self.control is not None
                points.insert(0, 2 * self.here - self.control if mirrored and self.control is not None else self.here)
            self.control = points[-2]
            self.bezier([self.here, *points])

    def bezier(self, control: list[np.ndarray]) -> None:
        points = np.array(control)
        self.here = points[-1]
        size = np.max(np.ptp(points, axis=0))
        if size == 0:
            return
        ends = points[-1] - points[0]
        if len(points) == 4 and np.array_equal(points[0], points[1]) and np.array_equal(points[2], points[3]):
            points = np.array([points[0], points[3]])  # both handles drawn in: a straight line
        elif len(points) == 3 and not np.any(ends) and not np.any(points[1] - points[0]):
            return
        self.out.append(points)

    def arc(self, x: list[float], target: np.ndarray) -> None:
        """End-point to centre parametrisation (SVG 2, B.2.4); radii too small are enlarged (B.2.5)."""
        rx, ry, angle = abs(x[0]), abs(x[1]), math.radians(x[2])
        start = self.here
        if np.array_equal(start, target):
            return
        if rx == 0 or ry == 0:
            self.bezier([start, target])
            return
        axes = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        half = axes @ (start - target) / 2
        excess = (half[0] / rx) ** 2 + (half[1] / ry) ** 2
        if excess > 1:
            rx, ry = rx * math.sqrt(excess), ry * math.sqrt(excess)
        h = half / [rx, ry]
        if not np.any(h * h):  # an ellipse so large that the stroke is straight to the last digit
            self.bezier([start, target])
            return
        square = max(0.0, 1.0 / float(h @ h) - 1.0)
        sign = -1.0 if bool(x[3]) == bool(x[4]) else 1.0
        c = sign * math.sqrt(square) * np.array([h[1], -h[0]])  # in units of the radii
        center = axes.T @ (c * [rx, ry]) + (start + target) / 2
        first = math.atan2(h[1] - c[1], h[0] - c[0])
        sweep = math.atan2(-h[1] - c[1], -h[0] - c[0]) - first
        if x[4] and sweep < 0:
            sweep += 2 * math.pi
        elif not x[4] and sweep > 0:
            sweep -= 2 * math.pi
        self.out.append((center, rx * axes[0], ry * axes[1], first, first + sweep))
        self.here = target
