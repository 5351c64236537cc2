"""SDF → Robot.

A file has one ``<model>``, alone or in a ``<world>``. SDF's conventions: poses are x, y, z, roll, pitch, yaw in the frame that
``relative_to`` names (the model's where none is named); a joint stands in its child's frame unless its ``<pose>`` says otherwise;
the axis is z of the joint unless stated, in the axes that ``expressed_in`` names; the inertia is about the centre of mass, in the axes of
``<inertial><pose>``; what ``<inertial>`` leaves out is 1 kg and 1 kg·m² about each axis. The gravity of a world is (0, 0, −9.8) unless stated.
Included and nested models become part of the one that holds them (``include``, ``nested``); joints of more than one degree of freedom are
refused with the reason. Only included files are opened, inside the folder of the main one or a folder that the caller names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from manipula.errors import DescriptionError, printable
from manipula.formats.appearance import Looks
from manipula.formats.robot_draft import RobotDraft
from manipula.formats.sdf.include import Includes
from manipula.formats.sdf.model import read_model
from manipula.formats.sdf.nested import flatten
from manipula.formats.sdf.values import flag_in, numbers_of
from manipula.formats.xml.reader import Budget, BudgetUsed, Element, read_xml
from manipula.robot import Robot
from manipula.robot.build import MAX_LINKS
from manipula.robot.selection import EVERYTHING, Selection

BUDGET = Budget(depth=24, counts={"link": MAX_LINKS, "frame": MAX_LINKS})
WORLD_GRAVITY = (0.0, 0.0, -9.8)  # SDF's own


def read_sdf(
    path: str | os.PathLike[str], tip: str | None = None, selection: Selection = EVERYTHING,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
) -> Robot:  # fmt: skip
    """The robot in an SDF file."""
    return _built(Path(path), tip, selection, package_dirs)


def from_sdf(
    text_or_path: str | bytes | os.PathLike[str], tip: str | None = None, *, lock: Mapping[str, float] | None = None,
    drop: Sequence[str] | str | None = None, chain: tuple[str, str] | None = None,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
) -> Robot:  # fmt: skip
    """The robot in SDF text or in an SDF file.

    Args:
        tip: name of the link or frame that is the tip; the only leaf when omitted.
        lock, drop, chain: joints held still, branches left out (``load``).
        package_dirs: where the packages of meshes lie, before those of ROS.

    Raises:
        DescriptionError: with file, line, element and attribute.
    """
    return _built(text_or_path, tip, Selection.of(lock, drop, chain), package_dirs)


def _built(
    text_or_path: str | bytes | os.PathLike[str], tip: str | None, selection: Selection,
    package_dirs: Sequence[str | os.PathLike[str]],
) -> Robot:  # fmt: skip
    spent = BudgetUsed()
    root, file = read_xml(text_or_path, BUDGET, spent)
    try:
        return _read(
            root,
            Includes(file, package_dirs, BUDGET, spent),
            Looks(None if file is None else Path(file).parent, package_dirs),
        ).build(tip, selection)
    except DescriptionError as error:
        raise error.at(file=file) from None


def _read(root: Element, includes: Includes, looks: Looks) -> RobotDraft:
    if root.tag != "sdf":
        hint = {"mujoco": " This is MJCF.", "robot": " This is URDF."}
        root.fail(f"SDF starts with <sdf>, found <{printable(root.tag)}>.{hint.get(root.tag, '')}")
    version = _version(root)
    world = root.one("world")
    place = root if world is None else world
    if world is not None and root.one("model") is not None:
        root.fail("A <model> beside a <world>; one robot is one <model>.")
    includes.join(place, version)
    every = list(place.all("model"))
    moving = [model for model in every if not flag_in(model, "static")]
    models = moving if len(moving) == 1 else every  # others that stand still are what the robot stands beside
    if len(models) != 1:
        names = ", ".join(f"'{printable(m.attributes.get('name', '?'), 40)}'" for m in models[:5])
        place.fail(f"{len(models)} models in {place.label}{f' ({names})' if names else ''}; one robot is one <model>.")
    if version < (1, 5) and models[0].one("model") is not None:
        models[0].fail("Nested models are read from SDF 1.5 on, where axes stand in the frames of their joints.")
    flatten(models[0])
    draft = read_model(models[0], version, looks)
    if len(every) > 1:
        draft.notes.append(f"{len(every) - 1} static model(s) beside the robot are not read.")
    if world is not None:
        gravity = world.one("gravity")
        draft.gravity = WORLD_GRAVITY if gravity is None else numbers_of(gravity, 3)
        for joint in world.all("joint"):
            joint.fail("A joint of the world holds a model to something else; a robot is described by one <model>.")
    return draft


def _version(root: Element) -> tuple[int, int]:
    """``1.9`` as (1, 9): older files mean other things by an axis."""
    text = root.get("version").strip()
    major, _, minor = text.partition(".")
    minor = minor.partition(".")[0]
    if major != "1" or not minor.isdecimal() or not minor.isascii() or len(minor) > 3:
        root.fail(f"SDF 1.0 to 1.12 is read, found '{printable(text, 20)}'.", "version")
    return 1, int(minor)
