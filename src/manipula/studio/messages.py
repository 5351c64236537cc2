"""The form of every message between the page and the server, as types. The types of the page (``web/src/studio/wire.ts``) are written from these by
``scripts/wire-types``, and a test holds real answers against them.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict, is_typeddict

from manipula.reports.page_types import PageForm

Document = dict[str, Any]  # the scenario file as plain values
State = Literal[
    "waiting", "reading", "compiling", "integrating", "verifying", "evaluating", "writing", "done", "failed", "stopped"
]


class ToldForm(TypedDict):
    """An error; ``field``: beside which it is shown."""

    kind: str
    message: str
    problem: NotRequired[str]
    field: NotRequired[str | None]
    line: NotRequired[int | None]
    file: NotRequired[str | None]


class SummaryForm(TypedDict):
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
    error: NotRequired[ToldForm]
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


class ProgressForm(TypedDict):
    """A line of text on the socket; numbers come in binary messages beside it."""

    run: NotRequired[str]
    state: NotRequired[State]
    paused: NotRequired[bool]
    summary: NotRequired[SummaryForm]
    error: NotRequired[ToldForm]


class EntryForm(TypedDict):
    """An arm of the catalog."""

    name: str
    description: str
    n: int
    source: str


class RunKindForm(TypedDict):
    """A kind of run and the settings that act in it."""

    what: str
    needs: str
    settings: list[str]


class HelloForm(TypedDict):
    """What stays the same while the studio is open."""

    studio: str
    version: str
    catalog: list[EntryForm]
    parts: Any
    kinds: dict[str, RunKindForm]
    levels: list[str]
    formats: list[str]
    charts: list[str]
    usual_charts: list[str]
    first: Document | None


class DrawnForm(TypedDict):
    """What the viewer shows: words, and numbers packed as text."""

    page: PageForm
    arrays: str


class JointForm(TypedDict):
    """A joint with its limits; none where there is none."""

    name: str
    kind: str
    lower: float | None
    upper: float | None
    velocity: float | None
    acceleration: float | None
    effort: float | None
    follows: Any


class RobotSeenForm(TypedDict):
    """A robot as the page lists and draws it."""

    name: str
    n: int
    joints: list[JointForm]
    frames: list[str]
    tip: str | None
    postures: Any
    start: list[float]
    dh: Any
    notes: list[str]
    drawn: DrawnForm | None


class FindingForm(TypedDict):
    """What the doctor says, and of which body."""

    severity: str
    code: str
    place: str
    sentence: str
    advice: str
    value: Any
    body: int | None


class DiagnosisForm(TypedDict):
    """All findings."""

    robot: str
    ok: bool
    errors: int
    warnings: int
    findings: list[FindingForm]


class SeenForm(TypedDict):
    """Answer of ``robot``."""

    robot: RobotSeenForm
    doctor: DiagnosisForm


class CheckedForm(TypedDict):
    """Answer of ``check``."""

    ok: bool
    error: NotRequired[ToldForm]
    kind: NotRequired[str]
    duration: NotRequired[float]
    joints: NotRequired[list[str]]


class MadeForm(TypedDict):
    """A document."""

    document: Document


class ChosenForm(TypedDict):
    """A document with a part in it; ``also``: other settings that changed with it."""

    document: Document
    also: list[str]


class TextForm(TypedDict):
    """A text, of equations or of a file."""

    text: str
    format: NotRequired[str]


class CodeForm(TypedDict):
    """Files of source code, and one text of them that compiles alone."""

    files: dict[str, str]
    text: str


class IkForm(TypedDict):
    """Answer of ``ik``."""

    q: list[float] | None
    postures: list[list[float]]
    ok: bool
    status: str
    reason: str
    residual: Any
    method: str


class FollowedForm(TypedDict):
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


class ResidualForm(TypedDict):
    """A programmed constraint at a posture."""

    equation: str
    value: float | None


class ResidualsForm(TypedDict):
    """All of them."""

    constraints: list[ResidualForm]


class CardForm(TypedDict):
    """A key number."""

    title: str
    value: str
    unit: str
    remark: str


class ComparedForm(TypedDict):
    """Runs beside each other: rows of words, a name and one cell per run (differences: per run but the first)."""

    names: list[str]
    numbers: list[list[str]]
    differences: list[list[str]]
    settings: list[list[str]]


class NumbersForm(TypedDict):
    """Key numbers of runs, and what differs."""

    cards: list[list[CardForm]]
    compared: ComparedForm | None


class LeftOutForm(TypedDict):
    """A chart that was chosen and that these runs have nothing for."""

    kind: str
    why: str


class RunsDrawnForm(NumbersForm):
    """Runs over each other; their numbers stand behind the JSON."""

    page: PageForm
    arrays: Any
    left_out: list[LeftOutForm]


class JudgedForm(NumbersForm):
    """A run that is over."""

    summary: SummaryForm


class BegunForm(SummaryForm):
    """A run that was begun; what it looks like where that is known already. Key numbers and verdict may come later (``judged``)."""

    drawn: NotRequired[RunsDrawnForm]


class ListedForm(TypedDict):
    """All runs, the latest first."""

    runs: list[SummaryForm]


class StudyEntryForm(TypedDict):
    """A study in the folder of the studio."""

    name: str
    runs: int
    done: int
    statuses: dict[str, int]
    varied: list[str]
    problem: NotRequired[str]


class StudiesForm(TypedDict):
    """All of them; ``folder``: its name."""

    folder: str
    studies: list[StudyEntryForm]


class StudyColumnForm(TypedDict):
    """A column that can be drawn."""

    name: str
    unit: str
    meaning: str


class PointForm(TypedDict):
    """A run of a study in a plane of two columns; none where a number is missing."""

    run: int
    x: float | None
    y: float | None
    status: str


class StudyTableForm(TypedDict):
    """Two columns of a study; ``thinned``: every how many runs."""

    name: str
    runs: int
    done: int
    columns: list[StudyColumnForm]
    x: str
    y: str
    points: list[PointForm]
    thinned: int


class StudyRunForm(TypedDict):
    """A run of a study as a document, and its row."""

    document: Document
    row: dict[str, str | float | bool | None]


# in the order in which they stand
TYPES = tuple(v for v in tuple(globals().values()) if is_typeddict(v) and v is not PageForm)
ANSWERS: dict[str, Any] = {
    "hello": HelloForm,
    "schema": Any,
    "choose": ChosenForm,
    "new": MadeForm,
    "open": MadeForm,
    "write": TextForm,
    "check": CheckedForm,
    "robot": SeenForm,
    "as_dh": MadeForm,
    "ik": IkForm,
    "path": FollowedForm,
    "residual": ResidualsForm,
    "equations": TextForm,
    "code": CodeForm,
    "run": BegunForm,
    "judged": JudgedForm,
    "stop": SummaryForm,
    "pause": SummaryForm,
    "status": SummaryForm,
    "runs": ListedForm,
    "pin": SummaryForm,
    "view": RunsDrawnForm,
    "document": MadeForm,
    "studies": StudiesForm,
    "study": StudyTableForm,
    "study_run": StudyRunForm,
}
