"""The form of what the viewer of reports reads, as types; the types of the page (``web/src/wire.ts``) are written from these by ``scripts/wire-types``."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class ArrayInfoForm(TypedDict):
    """Where an array lies among the packed numbers; columns one after the other."""

    type: Literal["f4", "f8", "u2", "u4"]
    at: int
    rows: int
    columns: int


class EllipsoidForm(TypedDict):
    """Mass, centre and ellipsoid of inertia of a link; ``axes``: 3 × 3, principal axes in columns."""

    mass: float
    com: list[float]
    axes: list[float]
    half: list[float]


class BodyForm(TypedDict):
    """A link with the joint before it; ``parent`` −1 is the base, ``placement`` and ``frame`` are 3 × 4."""

    name: str
    parent: int
    slides: bool
    axis: list[float]
    placement: list[float]
    frame: list[float]
    inertia: EllipsoidForm | None


class SurfaceForm(TypedDict):
    """Triangles on a body, by the numbers of their arrays."""

    body: int
    corners: int
    faces: int
    colour: list[float]


class FollowerForm(TypedDict):
    """A joint that follows another."""

    leader: int
    ratio: float
    offset: float


class TipForm(TypedDict):
    """Where the tip is: 3 × 4 on a body."""

    body: int
    pose: list[float]


class MechanismForm(TypedDict):
    """A robot that is drawn."""

    name: str
    joints: int
    bodies: list[BodyForm]
    followers: list[FollowerForm]
    base: list[float]
    tip: TipForm | None
    surfaces: list[SurfaceForm]
    notes: list[str]
    plane: list[int] | None
    low: list[float]
    high: list[float]
    size: float


class AxisForm(TypedDict):
    """``size``: what is natural here; changes below ``noise`` × ``size`` are rounding."""

    label: str
    unit: str
    size: float
    noise: float
    log: NotRequired[bool | None]
    floor: NotRequired[float]
    low: NotRequired[float]


class CurveForm(TypedDict):
    """``y`` and ``x``: array and column; ``t``: an array of its own horizontal axis; ``role``: "target", "edge" of a band, "faint", "before"."""

    name: str
    run: int
    y: list[int]
    colour: str
    dash: int
    x: NotRequired[list[int]]
    t: NotRequired[int]
    joint: NotRequired[int]
    axis: NotRequired[int]
    role: NotRequired[str]
    thick: NotRequired[bool]


class LimitForm(TypedDict):
    """What a joint may do, on one of the axes."""

    joint: int
    low: float | None
    high: float | None
    axis: int


class ChartSpecForm(TypedDict):
    """A chart; ``across``: its horizontal axis where that is not time."""

    id: str
    kind: str
    title: str
    axes: list[AxisForm]
    curves: list[CurveForm]
    across: NotRequired[AxisForm]
    limits: NotRequired[list[LimitForm]]
    bands: NotRequired[list[list[int]]]
    marks: NotRequired[list[float]]
    remark: NotRequired[str]
    small: NotRequired[bool]


class RunInfoForm(TypedDict):
    """A run by the numbers of its arrays."""

    name: str
    status: str
    t: int
    q: int
    robot: int | None
    path: int | None
    samples: int


class JointInfoForm(TypedDict):
    """A joint as tables name it."""

    name: str
    unit: str
    slides: bool


class PageForm(TypedDict):
    """All that a viewer is given; ``live``: of a page that computes (``reports/live.py``)."""

    format: int
    joints: list[JointInfoForm]
    runs: list[RunInfoForm]
    robots: list[MechanismForm]
    charts: list[ChartSpecForm]
    arrays: list[ArrayInfoForm]
    live: NotRequired[Any]


TYPES = (
    ArrayInfoForm,
    EllipsoidForm,
    BodyForm,
    SurfaceForm,
    FollowerForm,
    TipForm,
    MechanismForm,
    AxisForm,
    CurveForm,
    LimitForm,
    ChartSpecForm,
    RunInfoForm,
    JointInfoForm,
    PageForm,
)
