"""Arguments that several paths share, declared once."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from manipula.parts.field import Choice, Flag, Number, Part, Rows, VectorField


def point(meaning: str) -> Any:
    """The declaration of a point in space."""
    return VectorField("m", f"{meaning}; two coordinates mean z = 0", (2, 3))


def direction(meaning: str) -> Any:
    """The declaration of a direction in space, of any length."""
    return VectorField("1", meaning, (2, 3))


Center = Annotated[Any, point("centre")]
Start = Annotated[Any, point("start")]
End = Annotated[Any, point("end")]
Normal = Annotated[Any, direction("normal of the plane; the path runs anticlockwise seen from its tip")]
Axis = Annotated[
    Any, direction("direction of the start from the centre; none: base x made perpendicular to the normal")
]
First = Annotated[Any, direction("direction of the first side")]
Second = Annotated[Any, direction("direction of the second side")]
Turns = Annotated[float, Number("1", "how many times around", above=0.0)]
Radius = Annotated[float, Number("m", "radius", above=0.0)]
Width = Annotated[float, Number("m", "width, along the axis or the first side", above=0.0)]
Height = Annotated[float, Number("m", "height, across the axis or along the second side", above=0.0)]
Points = Annotated[Any, Rows("m", "points, two or three coordinates each")]
Closed = Annotated[bool, Flag("back to the first point")]
Blend = Annotated[
    float, Number("m", "distance from corners where the path leaves the side; 0: sharp corners", least=0.0)
]
BlendShape = Annotated[
    Literal["parabolic", "circular", "quintic"],
    Choice("rounding of corners; only quintic keeps the curvature continuous"),
]
Ends = Annotated[
    Literal["natural", "clamped", "periodic", "not-a-knot"],
    Choice("ends of the spline: natural without curvature, clamped with given tangents, periodic closed"),
]
Spacing = Annotated[Literal["chord", "centripetal", "uniform"], Choice("spacing of the spline's parameter")]
Tangents = Annotated[Any, Rows("1", "directions at the two ends, for clamped")]
Interpolation = Annotated[
    Literal["polyline", "spline"], Choice("spline is smooth, polyline straight between the points")
]
Space = Annotated[Literal["task", "joint"], Choice("coordinates of the tip, or of the joints")]
Whole = Annotated[Any, Part("path", "the path that is changed")]
