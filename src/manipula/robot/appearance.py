"""What a robot looks like: simple bodies and meshes fixed to its links. No number of the physics depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from manipula.algebra.arguments import LARGEST
from manipula.algebra.pose import IDENTITY, Pose
from manipula.errors import BudgetError, DescriptionError, printable, unknown_name
from manipula.robot.checks import check_number, check_pose

ShapeKind = Literal["box", "sphere", "cylinder", "capsule", "ellipsoid", "mesh"]
Colour = tuple[float, float, float, float]
NUMBERS: dict[str, int] = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3, "mesh": 3}
"""How many numbers the size of each kind has."""
MOST_SHAPES = 4000


@dataclass(frozen=True)
class Visual:
    """One piece of a robot's appearance.

    Attributes:
        link: number of the body that carries it (``Frame.link``), −1 for the base.
        kind: "box", "sphere", "cylinder", "capsule", "ellipsoid" or "mesh".
        size: [m] edges x, y, z of a box; radius of a sphere; radius and length (without the caps) of a cylinder or capsule along z;
            half axes of an ellipsoid; for a mesh the factors by which the numbers of its file are multiplied.
        pose: X_LS, where it stands in the frame of the link.
        colour: red, green, blue, opacity, 0 … 1; ``None`` leaves it to the viewer.
        file: path of the mesh file, absolute; nothing opens it before somebody looks.
    """

    link: int
    kind: ShapeKind
    size: tuple[float, ...]
    pose: Pose = IDENTITY
    colour: Colour | None = None
    file: str = ""


@dataclass
class VisualDraft:
    """A shape as a file states it, on a link given by its name."""

    link: str
    kind: str
    size: tuple[Any, ...]
    pose: Pose = IDENTITY
    colour: Any = None
    file: str = ""
    line: int | None = None
    field: str | None = None


def placed(draft: VisualDraft, link: int, pose: Pose) -> Visual:
    """The shape of a draft on a body, ``pose`` being the drafted link's frame there.

    Raises:
        DescriptionError: a kind, size, colour or pose that none can have.
    """
    here: dict[str, Any] = {"line": draft.line, "field": draft.field}
    if draft.kind not in get_args(ShapeKind):
        raise unknown_name("shape", draft.kind, get_args(ShapeKind), **here)
    what = f"The size of a {draft.kind} on '{printable(draft.link)}'"
    if len(draft.size) != NUMBERS[draft.kind]:
        raise DescriptionError(f"{what} has {NUMBERS[draft.kind]} numbers, found {len(draft.size)}.", **here)
    mirrored = draft.kind == "mesh"
    size = tuple(check_number(v, what, at_least=None if mirrored else 0.0, largest=LARGEST, **here) for v in draft.size)
    colour = draft.colour
    if colour is not None:
        if len(colour) != 4:
            raise DescriptionError(f"A colour is red, green, blue and opacity, found {printable(colour)}.", **here)
        colour = tuple(min(1.0, max(0.0, check_number(v, "A part of a colour", **here))) for v in colour)
    where = check_pose(draft.pose, f"A shape on '{printable(draft.link)}'", **here)
    return Visual(link, draft.kind, size, pose @ where, colour, draft.file)  # pyright: ignore[reportArgumentType]


def check_shape_count(count: int) -> None:
    """Refuse more shapes than any viewer shows, before work is done."""
    if count > MOST_SHAPES:
        raise BudgetError(f"{count} shapes are more than the {MOST_SHAPES} that one robot may have.")
