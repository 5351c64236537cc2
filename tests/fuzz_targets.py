"""What the fuzzer feeds, and what it demands: one kind of error, and the same value after a round trip.

A target makes a text from a ``random.Random`` and tries it. Accepted input is written and read again; what comes back must be
equal. ``Different`` says that it was not; any exception but the package's own is a finding by itself.
"""

from __future__ import annotations

import functools
import math
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import fuzz_measured as measured
from fuzz_seeds import CSV, DH, FULL, MJCF, PLANAR, SCENARIO_WORDS, SVG, TABLE, TOML_WORDS, TREE, XML_WORDS
from fuzz_text import NUMBERS, damaged, formula, long_formula, mutated
from manipula import planar
from manipula.algebra.expression import parse, scalar
from manipula.algebra.pose import Pose
from manipula.algebra.rotation import about_axis
from manipula.errors import DescriptionError, ManipulaError
from manipula.formats.catalog import catalog_names, load_catalog
from manipula.formats.dh import from_dh, to_dh
from manipula.formats.mjcf import from_mjcf, to_mjcf
from manipula.formats.table import from_table, to_table
from manipula.formats.toml import dh_to_toml, from_toml, to_toml
from manipula.formats.toml.formula_text import formula_text
from manipula.formats.urdf import from_urdf, to_urdf
from manipula.motion import paths
from manipula.motion.paths.primitive import from_description

ROOT = Path(__file__).resolve().parent.parent


class Different(AssertionError):
    """What was written does not read back equal."""


@dataclass(frozen=True)
class Target:
    """A way into the package.

    Attributes:
        make: the text of one case. run: reads it; True when it was accepted.
        allowed: the only errors that may come out.
    """

    make: Callable[[Random], Any]
    run: Callable[[Any], bool]
    allowed: type[Exception] = DescriptionError


def same(first: Any, second: Any, what: str) -> None:
    if first != second or hash(first) != hash(second):
        raise Different(what)


# formulas


def make_formula(r: Random) -> str:
    kind = r.random()
    if kind < 0.75:
        return formula(r, r.randint(1, 6))
    text = long_formula(r) if kind < 0.85 else formula(r, 4)
    return text if kind < 0.85 else mutated(r, text, ("sin", "max", "x", "^", "e", "pi", "(", ")"))


def run_formula(text: str) -> bool:
    expression = parse(text)
    value = expression.evaluate(dict.fromkeys(expression.names, 0.7))
    if not isinstance(value, float) or not math.isfinite(value):
        raise Different(f"evaluates to {value!r}")
    return True


def run_symbolic(text: str) -> bool:
    found = scalar(text)
    if isinstance(found, float):
        if not math.isfinite(found):
            raise Different(f"is {found!r}")
        return True
    written = formula_text(found)
    try:
        again = scalar(written)
    except DescriptionError as error:
        if len(written) > 1500 or "units of" in str(error) or "at most 400" in str(error):
            return True  # too long to be read: told, not wrong
        raise Different(f"does not read back: {error}") from None
    if again != found:
        raise Different(f"reads back as {again}")
    return True


# robots

TOML_SEEDS = (
    PLANAR,
    TREE,
    DH,
    to_toml(load_catalog("planar-2r")),
    dh_to_toml(to_dh(planar([1, 2], [1, 1]), "modified")),
)


def run_toml(text: str) -> bool:
    robot = from_toml(text + "\n")
    try:
        written = to_toml(robot)
    except DescriptionError:
        return False  # told: a formula without words in files
    try:
        again = from_toml(written)
    except DescriptionError as error:
        if "characters" in str(error) or "at most 400" in str(error) or "units of" in str(error):
            return True
        raise Different(f"what was written is refused: {error}") from None
    same(again, robot, "TOML")
    return True


@functools.cache
def numeric_robots() -> tuple[Any, ...]:
    fork = from_toml(TREE).with_parameters(m2=0.5, a=0.3, phi=0.2)
    return (
        fork,
        planar([0.4, 0.3], [2, 1]),
        *(load_catalog(name) for name in catalog_names()[:4] if not load_catalog(name).parameters),
    )


@functools.cache
def urdf_seeds() -> tuple[str, ...]:
    return tuple(to_urdf(robot) for robot in numeric_robots()[:3])


@functools.cache
def mjcf_seeds() -> tuple[str, ...]:
    return (MJCF, *(to_mjcf(robot) for robot in numeric_robots()[1:3]))


def make_xml(seeds: Callable[[], tuple[str, ...]]) -> Callable[[Random], Any]:
    def make(r: Random) -> Any:
        seed = r.choice(seeds())
        if r.random() < 0.1:
            return damaged(r, seed.encode())
        return mutated(r, seed, XML_WORDS, seeds())

    return make


def run_xml(read: Callable[[Any], Any], write: Callable[[Any], str]) -> Callable[[Any], bool]:
    def run(text: Any) -> bool:
        if isinstance(text, str) and "<" not in text:
            return False  # this would be a path
        robot = read(text)
        try:
            written = write(robot)
        except DescriptionError:
            return False  # told
        again = read(written)
        if again.replace(notes=()) != robot.replace(notes=()):
            _nearly(again, robot)
        return True

    return run


def _nearly(again: Any, robot: Any) -> None:
    """XML may place frames otherwise on the same axis, and rounds: links stand where they stood, bodies weigh what they weighed."""
    if (
        again.joint_names != robot.joint_names
        or again.tip != robot.tip
        or set(again.frame_names) != set(robot.frame_names)
    ):
        raise Different("names, order or tip")
    first, second = (_placed(r) for r in (again, robot))
    largest = float(np.max(np.abs(second), initial=1.0))
    if not np.allclose(first, second, rtol=1e-9, atol=1e-9 * largest):
        raise Different("places or bodies")
    if [j.limits for j in again.joints] != [j.limits for j in robot.joints]:
        raise Different("limits")


def _placed(robot: Any) -> np.ndarray:
    """Poses of all links at a posture without symmetry, their centres of mass, masses and inertias."""
    poses, out = [], []
    for i, (joint, link) in enumerate(zip(robot.joints, robot.links)):
        q = 0.3 + 0.1 * i
        turned = about_axis(joint.axis, q) if joint.is_revolute else np.eye(3)
        moved = Pose.of(turned, (0, 0, 0) if joint.is_revolute else [q * v for v in joint.axis])
        parent = poses[joint.parent] if joint.parent >= 0 else robot.base
        poses.append(parent @ joint.placement @ moved @ link.frame)
        X = poses[-1]
        out += [*np.ravel(X.R), *X.p, link.mass, *X.apply(link.com), *np.ravel(X.R @ np.array(link.inertia) @ X.R.T)]
    return np.array(out, float)


def run_table(text: str) -> bool:
    robot = from_table(text + "\n")
    if robot.parameters:
        return True
    try:
        written = to_table(robot)
    except DescriptionError:
        return False
    from_table(written)
    return True


def make_rows(r: Random) -> list[dict[str, Any]]:
    keys = (
        "a",
        "alpha",
        "d",
        "theta",
        "mass",
        "com",
        "inertia",
        "joint",
        "name",
        "link",
        "limits",
        "gear_ratio",
        "rotor_inertia",
        "wrong",
    )
    odd = (0.0, 1.0, -1.0, 1e-9, math.pi / 2, 1e60, 1e200, math.nan, math.inf, None, "m", "2*x", "", [], [0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
           "prismatic", "revolute", (1, 2), {}, b"x", True, 10**400, [1, 1, 1, 0, 0, 0])  # fmt: skip
    rows: list[dict[str, Any]] = []
    for _ in range(r.randint(1, 4)):
        row: dict[str, Any] = {k: r.uniform(-2, 2) for k in ("a", "alpha", "d", "theta") if r.random() < 0.7}
        row |= {
            "mass": r.uniform(0, 3),
            "com": [r.uniform(-1, 1) for _ in range(3)],
            "inertia": [1.0, 1.0, 1.0, 0, 0, 0],
        }
        if r.random() < 0.35:
            row[r.choice(keys)] = r.choice(odd)
        rows.append(row)
    return rows


def run_rows(rows: list[dict[str, Any]]) -> bool:
    robot = from_dh(rows, "standard")
    if robot.parameters:
        return True
    for convention in ("standard", "modified"):
        try:
            table = to_dh(robot, convention)
        except DescriptionError:
            continue
        same(from_toml(dh_to_toml(table)).replace(notes=()), table.to_robot().replace(notes=()), "DH in TOML")
    return True


# paths


def make_csv(r: Random) -> tuple[str, dict[str, Any]]:
    text = mutated(r, CSV, ("x", ",", "\n", ";", "#", '"', *NUMBERS)) + "\n"
    options: dict[str, Any] = {}
    if r.random() < 0.5:
        options["interpolation"] = r.choice(("polyline", "spline", "none"))
    if r.random() < 0.2:
        options["space"] = r.choice(("joint", "task", "x"))
    if r.random() < 0.2:
        options["ends"] = r.choice(("natural", "periodic", "not-a-knot", "clamped"))
    if r.random() < 0.2:
        options["spacing"] = r.choice(("chord", "centripetal", "uniform"))
    if r.random() < 0.2:
        options["delimiter"] = r.choice((",", ";", "", "\n", "ab", "\r", '"', "1"))
    if r.random() < 0.2:
        options["columns"] = r.choice((["x", "y"], [0, 1], [0], [], ["q"], [9], [True, 0], "xy", 5))
    if r.random() < 0.2:
        options["blend"] = r.choice((0.1, 1e9, -1.0, 1e-300, math.nan))
    if r.random() < 0.1:
        options["closed"] = True
    return text, options


def run_csv(case: tuple[str, dict[str, Any]]) -> bool:
    return _path(paths.from_csv(case[0], **case[1]))


def run_svg(text: str) -> bool:
    return _path(paths.from_svg(text))


def _path(path: Any) -> bool:
    if not np.all(np.isfinite(path.position(np.linspace(0, path.length, 5)))):
        raise Different("a point of the path is not finite")
    if from_description(path.description) != path:
        raise Different("path")
    return True


# scenarios

SCENARIOS = tuple(path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("[!p]*.toml")))
PROGRAMS = tuple(path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("program*.toml")))


@functools.cache
def scenario_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    (folder / "points.csv").write_text(CSV, encoding="utf-8")
    (folder / "drawing.svg").write_text(f'<svg><path d="{SVG}"/></svg>', encoding="utf-8")
    (folder / "arm.toml").write_text(to_toml(planar([1, 1], [1, 1])), encoding="utf-8")
    return folder


def run_scenario(text: str) -> bool:
    from manipula.simulation.files.scenario_file import file_text, load_text
    from manipula.simulation.programmed.start import check_gradients

    found = load_text(text, scenario_folder(), file="scenario.toml")
    if found.kind == "programmed" and found.independent is not None:
        plant, state = found.motion.plant, (np.array(found.q0), np.zeros(found.robot.n))
        start = plant.start(*state)
        check_gradients(plant, plant.rows(plant.mechanism(), *state, 0.1))  # as a run does
        replace(plant, independent=found.independent).flow(0.1, start)
    try:
        written = file_text(found)
    except DescriptionError:
        return False
    again = load_text(written, file="again.toml")
    if again != found:
        raise Different("scenario")
    return True


def make_result(r: Random) -> tuple[str, bytes]:
    suffix, data = r.choice(stored_results())
    return suffix, damaged(r, data)


@functools.cache
def stored_results() -> tuple[tuple[str, bytes], ...]:
    """A short run in every format that results are kept in."""
    from manipula import Scenario, simulate

    result = simulate(Scenario(planar([1, 1], [1, 1]), q0=(0.1, 0.2), duration=0.05, step=0.01, verify=False))
    found = []
    for suffix in (".npz", ".csv", ".nc"):
        file = scenario_folder() / f"result{suffix}"
        result.save(file)
        found.append((suffix, file.read_bytes()))
    return tuple(found)


def run_result(case: tuple[str, bytes]) -> bool:
    from manipula import load_result

    file = scenario_folder() / f"case{os.getpid()}{case[0]}"
    file.write_bytes(case[1])
    load_result(file)
    return True


def run_library(text: str) -> bool:
    from manipula.simulation.programmed.scenario import ProgramScenario

    file = scenario_folder() / f"entry{os.getpid()}.toml"
    file.write_text(text, encoding="utf-8", errors="replace")
    ProgramScenario.load(file)
    return True


def seeds(texts: tuple[str, ...], words: tuple[str, ...]) -> Callable[[Random], str]:
    return lambda r: mutated(r, r.choice(texts), words, texts)


TARGETS: dict[str, Target] = {
    "formula": Target(make_formula, run_formula),
    "symbolic": Target(make_formula, run_symbolic),
    "toml": Target(seeds(TOML_SEEDS, TOML_WORDS), run_toml),
    "table": Target(seeds((TABLE,), ("th1", "th2", "a1", "m1", ";", ",", "[", "]", "0", "1", "^", "%")), run_table),
    "rows": Target(make_rows, run_rows, ManipulaError),
    "urdf": Target(make_xml(urdf_seeds), run_xml(from_urdf, to_urdf)),
    "mjcf": Target(make_xml(mjcf_seeds), run_xml(from_mjcf, to_mjcf)),
    "csv": Target(make_csv, run_csv, ManipulaError),
    "svg": Target(seeds((SVG,), (*"MLHVCSQTAZmlhvcsqtaz", "0", "1", "1e10", "1e-10", ",")), run_svg),
    "scenario": Target(seeds((*SCENARIOS, FULL), SCENARIO_WORDS), run_scenario),
    "program": Target(seeds(PROGRAMS, SCENARIO_WORDS), run_scenario),
    "library": Target(seeds(PROGRAMS[:1], SCENARIO_WORDS), run_library),
    "result": Target(make_result, run_result),
    "sdf": Target(measured.make_sdf, measured.run_sdf),
    "mesh": Target(measured.make_mesh, measured.run_mesh),
    "log": Target(measured.make_log, measured.run_log),
    "poses": Target(measured.make_poses, measured.run_poses),
}
