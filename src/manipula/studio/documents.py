"""Documents of the page ⇄ scenario files ⇄ scenarios, and files that somebody opens or drops.

What the page edits is the scenario file as plain values. Nothing is known about it here but that: the readers of files check it, and their
errors name the field, which is where the page shows them.
"""

from __future__ import annotations

import tomllib
from contextlib import suppress
from os import PathLike
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from manipula.analysis.manipulability import manipulability
from manipula.errors import DescriptionError, ManipulaError, printable, unknown_name
from manipula.formats.appearance import MeshFolders
from manipula.formats.catalog import catalog_names
from manipula.formats.guard import read_text
from manipula.formats.load import READABLE, load
from manipula.formats.toml.budget import check_size
from manipula.formats.toml.fields import Fields
from manipula.formats.toml.writer import to_toml
from manipula.model import model_of
from manipula.motion.trajectory import Trajectory
from manipula.robot.joint import Joint
from manipula.robot.robot import Robot
from manipula.simulation.files.document import ScenarioDocument
from manipula.simulation.files.reference import read_reference
from manipula.simulation.files.robot import read_robot
from manipula.simulation.files.scenario_file import scenario_of
from manipula.simulation.files.scenario_read import read_state
from manipula.simulation.files.text import toml_text
from manipula.simulation.programmed.scenario import ProgramScenario
from manipula.simulation.scenario import Scenario
from manipula.studio.page_words import ENTER_THEM
from manipula.studio.wire import from_json, to_json

MESHES: set[Path] = set()  # folders of the meshes of the file that the studio began with; documents show no other ones
LEAST_BENT, WORST_CONDITION = 2, 1e3  # joints; condition of the Jacobian from which on an arm counts as straight


def text_of(document: Any) -> str:
    """The document as the text of a scenario file, which ``manipula run`` runs."""
    if not isinstance(document, dict):
        raise DescriptionError("A document is a table.", field="document")
    text = toml_text(from_json(document))
    check_size(text, None)
    return text


def scenario_from(document: Any) -> Scenario | ProgramScenario:
    """The scenario that a document describes; no files are opened for it but meshes of the file that the studio began with.

    Raises:
        DescriptionError: with the field that is wrong.
    """
    return scenario_of(_read(text_of(document)))


def _read(text: str, name: str | None = None) -> ScenarioDocument:
    return ScenarioDocument(text, name, package_dirs=[folder for folder in MESHES if folder.is_dir()])


def robot_from_document(document: Any) -> Robot:
    """The robot of a document alone, whatever else is wrong or missing in it."""
    return _begun_reading(document, ())[1]


def numeric_robot_from_document(document: Any) -> Robot:
    """The same with the values that the document states for free parameters; of a list for many runs the first.

    Raises:
        DescriptionError: names the parameters that have no value.
    """
    return _with_values(robot_from_document(document), document)


def _with_values(robot: Robot, document: Any) -> Robot:
    stated = document.get("parameters") if isinstance(document, dict) else None
    values = {}
    for name, value in (stated if isinstance(stated, dict) else {}).items():
        first = value[0] if isinstance(value, list) and value else value
        if name in robot.parameters and isinstance(first, (int, float)) and not isinstance(first, bool):
            values[name] = float(first)
    robot = (robot.with_parameters(**values) if values else robot).with_values()
    if robot.parameters:
        raise DescriptionError(
            f"The arm has numbers without a value: {', '.join(robot.parameters[:12])}. {ENTER_THEM}.",
            field="parameters",
        )
    return robot


def start_from_document(document: Any) -> list[float] | None:
    """The initial posture that a document states (of a batch the first), or None where it states none or a wrong one."""
    try:
        root, robot = _begun_reading(document, ("q0", "q0_deg"))
        q0 = read_state(root, "q0", robot)
    except ManipulaError:
        return None
    start = None if q0 is None else np.atleast_2d(np.asarray(q0, float))[0]
    return None if start is None or start.shape != (robot.n,) or not np.isfinite(start).all() else start.tolist()


def reference_from_document(document: Any) -> tuple[Robot, Trajectory, Any]:
    """Robot, reference and initial posture (or None) of a document, whatever else is wrong in it."""
    root, robot = _begun_reading(document, ("reference", "q0", "q0_deg"))
    table = root.table("reference")
    if table is None:
        raise DescriptionError("The document has no reference.", field="reference")
    return _with_values(robot, document), read_reference(table), read_state(root, "q0", robot)


def _begun_reading(document: Any, keys: tuple[str, ...]) -> tuple[Fields, Robot]:
    if not isinstance(document, dict):
        raise DescriptionError("A document is a table.", field="document")
    read = _read(text_of({key: document[key] for key in ("constants", "robot", *keys) if key in document}))
    root = read.fields()
    if root.has("constants"):
        read.define_constants(root.table("constants"))  # pyright: ignore[reportArgumentType]
    robot = read_robot(root)
    if robot is None:
        raise DescriptionError("The robot is missing.", field="robot")
    return root, robot


def opened_file(file: str | PathLike[str]) -> dict[str, Any]:
    """The document of a file that the studio begins with; the mesh files of a robot may be shown from now on."""
    path = Path(file)
    document = opened(path.name, read_text(path), path)
    robot, folders = document.get("robot"), MeshFolders(path.parent)
    for shape in robot.get("visual", []) if isinstance(robot, dict) else []:
        with suppress(DescriptionError):  # one that is not there is told of by whoever reads the document
            found = folders.find(shape.get("file", ""))
            shape["file"] = str(found)
            MESHES.add(found.parent)
    return document


def opened(name: Any, text: Any, path: Path | None = None) -> dict[str, Any]:
    """A file of the user as a document: a scenario as it is, a robot as the robot of a new scenario.

    Args:
        name: of the file; its suffix says the format. text: what it holds.
        path: where it lies; none: it stands alone and can name no other file.
    """
    if not isinstance(name, str) or not isinstance(text, str):
        raise DescriptionError("A file has a name and a text.", field="file")
    plain = PurePosixPath(PureWindowsPath(name).name).name
    suffix = PurePosixPath(plain).suffix.lower()
    if suffix not in READABLE:
        raise DescriptionError(
            f"The format follows the suffix; found '{printable(suffix)}', known are {', '.join(READABLE)}.", file=plain
        )
    if suffix == ".toml":
        return _opened_toml(plain, text)
    robot = _as_robot(suffix, text, plain) if path is None else load(path)
    return _with_robot(robot, PurePosixPath(plain).stem)


def _opened_toml(name: str, text: str) -> dict[str, Any]:
    check_size(text, name)
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DescriptionError(f"This is not TOML: {printable(error, 160)}.", file=name) from None
    if any(key in found for key in ("link", "dh", "planar")):
        robot = _as_robot(".toml", text, name)  # is it right?
        return _begun({"format": 1, "name": robot.name, "robot": to_json(found)}, robot)
    read = _read(text, name)
    scenario_of(read)
    return to_json(read.root)


def _as_robot(suffix: str, text: str, name: str) -> Robot:
    """The robot in a text, read like a file that stands alone in a folder: it can name no other."""
    with TemporaryDirectory(prefix="manipula-") as folder:
        path = f"{folder}/robot{suffix}"
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
        try:
            return load(path)
        except DescriptionError as error:
            error.file = name if error.file == path else error.file and name
            raise type(error)(error.problem.replace(folder, ""), file=error.file, line=error.line, field=error.field) from None  # fmt: skip


def _with_robot(robot: Robot, name: str) -> dict[str, Any]:
    return _begun({"format": 1, "name": name, "robot": to_json(tomllib.loads(to_toml(robot)))}, robot)


def from_catalog(name: Any) -> dict[str, Any]:
    """A new document for a robot of the catalog."""
    if name not in catalog_names():
        raise unknown_name("robot", str(name), catalog_names(), field="name")
    return _begun({"format": 1, "name": name, "robot": name}, load(name))


def _begun(document: dict[str, Any], robot: Robot) -> dict[str, Any]:
    """The document with a first motion that can be changed: every joint moves a little under computed torque; an arm that cannot do that falls."""
    start = _bent(robot, starting_posture(robot))
    goal = [_further(joint, q) for joint, q in zip(robot.joints, start)]
    move = {"kind": "joint_move", "start": start, "goal": goal, "velocity": 1.0, "acceleration": 4.0, "jerk": 40.0}
    moving = {
        **document,
        "duration": 2.0,
        "q0": start,
        "reference": move,
        "controller": {"law": "computed_torque", "kp": 100.0, "kv": 20.0},
    }
    try:
        scenario_from(moving)
    except ManipulaError:
        return {**document, "duration": 2.0}
    return moving


def _bent(robot: Robot, start: list[float]) -> list[float]:
    """The posture, or one with bent joints where the tip could not move in every direction (a straight arm)."""
    bent = []
    for k, (joint, q) in enumerate(zip(robot.joints, start)):
        step = round(0.3 + 0.1 * (k % 3), 4) if joint.is_revolute else 0.0
        high = joint.limits.upper
        bent.append(round(q + step, 4) if high is None or q + step <= high else q)
    if robot.n < LEAST_BENT or robot.parameters:
        return start
    try:
        lost = manipulability(model_of(robot.numeric), np.array([start, bent]), "position").condition
    except ManipulaError:
        return start
    return bent if not lost[0] < WORST_CONDITION and lost[1] < WORST_CONDITION else start


def starting_posture(robot: Robot) -> list[float]:
    """Zero, or the middle of the range of joints that cannot stand at zero."""
    out = []
    for joint in robot.joints:
        low, high = joint.limits.lower, joint.limits.upper
        ends = [float(end) for end in (low, high) if end is not None]
        inside = (low is None or low <= 0.0) and (high is None or high >= 0.0)
        out.append(0.0 if inside else round(sum(ends) / len(ends), 4))
    return out


def _further(joint: Joint, q: float) -> float:
    """A position some way from q, on the side where there is more room."""
    step = 0.6 if joint.is_revolute else 0.1
    low, high = joint.limits.lower, joint.limits.upper
    up, down = (np.inf if high is None else high - q), (np.inf if low is None else q - low)
    return round(q + min(step, 0.5 * up) if up >= down else q - min(step, 0.5 * down), 4)
