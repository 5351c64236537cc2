"""The form of every message between the page and the server, as types. The types of the page (``web/src/studio/wire.ts``) are written from these by
``scripts/wire-types``, and a test holds real answers against them.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from manipula.reports.page_types import Page

Document = dict[str, Any]  # the scenario file as plain values
State = Literal[
    "waiting", "reading", "compiling", "integrating", "verifying", "evaluating", "writing", "done", "failed", "stopped"
]


class Told(TypedDict):
    """An error; ``field``: beside which it is shown."""

    kind: str
    message: str
    problem: NotRequired[str]
    field: NotRequired[str | None]
    line: NotRequired[int | None]
    file: NotRequired[str | None]


class Summary(TypedDict):
    """How a run stands; the verdict comes with its end."""

    id: str
    state: State
    name: str
    robot: str
    duration: float
    seconds: float
    n: int
    pinned: bool
    paused: bool
    error: NotRequired[Told]
    status: NotRequired[str]
    reason: NotRequired[str]
    ok: NotRequired[bool]
    feasible: NotRequired[bool | None]
    feasibility: NotRequired[str]
    broken: NotRequired[list[str]]
    remarks: NotRequired[list[str]]
    notes: NotRequired[list[str]]
    trusted_until: NotRequired[Any]
    error_estimate: NotRequired[Any]
    reached: NotRequired[float]
    signals: NotRequired[list[str]]
    samples: NotRequired[int]
    runs: NotRequired[int]


class Progress(TypedDict):
    """A line of text on the socket; numbers come in binary messages beside it."""

    run: NotRequired[str]
    state: NotRequired[State]
    paused: NotRequired[bool]
    summary: NotRequired[Summary]
    error: NotRequired[Told]


class Entry(TypedDict):
    """An arm of the catalog."""

    name: str
    description: str
    n: int
    source: str


class RunKind(TypedDict):
    """A kind of run and the settings that act in it."""

    what: str
    needs: str
    settings: list[str]


class Hello(TypedDict):
    """What stays the same while the studio is open."""

    version: str
    catalog: list[Entry]
    parts: Any
    kinds: dict[str, RunKind]
    levels: list[str]
    formats: list[str]
    charts: list[str]
    usual_charts: list[str]
    first: Document | None


class Drawn(TypedDict):
    """What the viewer shows: words, and numbers packed as text."""

    page: Page
    arrays: str


class Joint(TypedDict):
    """A joint with its limits; none where there is none."""

    name: str
    kind: str
    lower: float | None
    upper: float | None
    velocity: float | None
    acceleration: float | None
    effort: float | None
    follows: Any


class RobotSeen(TypedDict):
    """A robot as the page lists and draws it."""

    name: str
    n: int
    joints: list[Joint]
    frames: list[str]
    tip: str | None
    postures: Any
    start: list[float]
    dh: Any
    notes: list[str]
    drawn: Drawn | None


class Finding(TypedDict):
    """What the doctor says, and of which body."""

    severity: str
    code: str
    place: str
    sentence: str
    advice: str
    value: Any
    body: int | None


class Diagnosis(TypedDict):
    """All findings."""

    robot: str
    ok: bool
    errors: int
    warnings: int
    findings: list[Finding]


class Seen(TypedDict):
    """Answer of ``robot``."""

    robot: RobotSeen
    doctor: Diagnosis


class Checked(TypedDict):
    """Answer of ``check``."""

    ok: bool
    error: NotRequired[Told]
    kind: NotRequired[str]
    duration: NotRequired[float]
    joints: NotRequired[list[str]]


class Made(TypedDict):
    """A document."""

    document: Document


class Chosen(TypedDict):
    """A document with a part in it; ``also``: other settings that changed with it."""

    document: Document
    also: list[str]


class Text(TypedDict):
    """A text, of equations or of a file."""

    text: str
    format: NotRequired[str]


class Code(TypedDict):
    """Files of source code."""

    files: dict[str, str]


class Ik(TypedDict):
    """Answer of ``ik``."""

    q: list[float] | None
    postures: list[list[float]]
    ok: bool
    status: str
    reason: str
    residual: Any
    method: str


class Followed(TypedDict):
    """The reference along its way."""

    space: str
    t: list[float]
    points: list[list[float]]
    velocity: list[list[float]]
    duration: float
    breaks: list[float]
    reached: list[bool]
    tip: NotRequired[list[list[float]]]
    q: NotRequired[list[list[float]]]
    manipulability: NotRequired[list[float]]
    reason: NotRequired[str]


class Residual(TypedDict):
    """A programmed constraint at a posture."""

    equation: str
    value: float | None


class Residuals(TypedDict):
    """All of them."""

    constraints: list[Residual]


class Card(TypedDict):
    """A key number."""

    title: str
    value: str
    unit: str
    remark: str


class Compared(TypedDict):
    """Runs beside each other: rows of words, a name and one cell per run (differences: per run but the first)."""

    names: list[str]
    numbers: list[list[str]]
    differences: list[list[str]]
    settings: list[list[str]]


class RunsDrawn(Drawn):
    """Runs over each other."""

    cards: list[list[Card]]
    left_out: list[str]
    compared: Compared | None


class Listed(TypedDict):
    """All runs, the latest first."""

    runs: list[Summary]


class StudyEntry(TypedDict):
    """A study in the folder of the studio."""

    name: str
    runs: int
    done: int
    statuses: dict[str, int]
    varied: list[str]
    problem: NotRequired[str]


class Studies(TypedDict):
    """All of them; ``folder``: its name."""

    folder: str
    studies: list[StudyEntry]


class StudyColumn(TypedDict):
    """A column that can be drawn."""

    name: str
    unit: str
    meaning: str


class Point(TypedDict):
    """A run of a study in a plane of two columns; none where a number is missing."""

    run: int
    x: float | None
    y: float | None
    status: str


class StudyTable(TypedDict):
    """Two columns of a study; ``thinned``: every how many runs."""

    name: str
    runs: int
    done: int
    columns: list[StudyColumn]
    x: str
    y: str
    points: list[Point]
    thinned: int


class StudyRun(TypedDict):
    """A run of a study as a document, and its row."""

    document: Document
    row: dict[str, str | float | bool | None]


TYPES = (
    Told, Summary, Progress, Entry, RunKind, Hello, Drawn, Joint, RobotSeen, Finding, Diagnosis, Seen, Checked, Made, Chosen, Text, Code, Ik, Followed,
    Residual, Residuals, Card, Compared, RunsDrawn, Listed, StudyEntry, Studies, StudyColumn, Point, StudyTable, StudyRun,
)  # fmt: skip
ANSWERS: dict[str, Any] = {
    "hello": Hello, "schema": Any, "choose": Chosen, "new": Made, "open": Made, "write": Text, "check": Checked, "robot": Seen, "as_dh": Made, "ik": Ik,
    "path": Followed, "residual": Residuals, "equations": Text, "code": Code, "run": Summary, "stop": Summary, "pause": Summary, "status": Summary,
    "runs": Listed, "pin": Summary, "view": RunsDrawn, "document": Made, "studies": Studies, "study": StudyTable, "study_run": StudyRun,
}  # fmt: skip
