"""Where the tip can be: maps of the reachable and the dexterous workspace on a grid, decided by inverse kinematics cell by cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.arguments import finite_array, flag, whole_number
from manipula.algebra.value import Value
from manipula.analysis.manipulability import manipulability
from manipula.errors import BudgetError, DescriptionError, ShapeError
from manipula.ik.diagnose import out_of_reach
from manipula.ik.search.joint_box import start_box
from manipula.ik.solve import solver_for
from manipula.ik.targets import movable, read_targets
from manipula.ik.task import Task
from manipula.model import Model, model_of
from manipula.robot.link import TIP
from manipula.robot.robot import Robot

MOST_CELLS = 2_000_000
MOST_POSTURES = 10_000
MOST_SEED = 2**63 - 1
EFFORT = 400  # iterations after which a cell counts as out of reach
CLOSE = 1e-6  # m and rad: a cell whose centre is met this well is reachable
SAMPLES = 20_000  # postures that give the bounding box


@dataclass(frozen=True, eq=False, repr=False)
class WorkspaceMap(Value):
    """Cells of a grid.

    Attributes:
        axes: centres of the cells along x, y, z [m]; one entry along an axis that the tip cannot leave.
        reachable: (nx, ny, nz), whether some posture puts the tip at the cell's centre.
        q: (nx, ny, nz, n) such a posture, nan elsewhere.
        dexterity: (nx, ny, nz) fraction of the orientations tried that are possible there, or None.
        manipulability: (nx, ny, nz) of the best posture found there, nan elsewhere, or None.
    """

    axes: tuple[np.ndarray, np.ndarray, np.ndarray]
    reachable: np.ndarray
    q: np.ndarray
    dexterity: np.ndarray | None = None
    manipulability: np.ndarray | None = None

    @property
    def spacing(self) -> tuple[float, ...]:
        """Size of a cell along each axis [m]; 0 where there is only one."""
        return tuple(float(a[1] - a[0]) if len(a) > 1 else 0.0 for a in self.axes)

    @property
    def measure(self) -> float:
        """Reachable volume [m³], or area [m²] of a planar arm."""
        size = float(np.prod([d for d in self.spacing if d > 0.0]))
        return size * float(self.reachable.sum())

    @property
    def dexterous(self) -> np.ndarray | None:
        """Cells where every orientation tried is possible."""
        return None if self.dexterity is None else self.dexterity >= 1.0

    def centres(self) -> np.ndarray:
        """(nx, ny, nz, 3) centres of the cells [m]."""
        return np.stack(np.meshgrid(*self.axes, indexing="ij"), axis=-1)


def bounding_box(model: Model, frame: str = TIP, limits: bool = True, seed: int = 0) -> np.ndarray:
    """(3, 2) box around the tips of many random postures [m]."""
    box = start_box(model.robot)
    if not limits:
        turning = np.array([j.is_revolute for j in model.robot.joints])
        box[turning] = -np.pi, np.pi
    q = np.random.default_rng(seed).uniform(box[:, 0], box[:, 1], (SAMPLES, model.n))
    p = model.position(q, frame)
    return np.stack([p.min(axis=0), p.max(axis=0)], axis=1)


def workspace(
    model: Model | Robot,
    cells: int = 24,
    box: Any = None,
    *,
    frame: str = TIP,
    limits: bool = True,
    orientations: int = 0,
    postures: int = 0,
    seed: int = 0,
) -> WorkspaceMap:
    """Map of where a frame can be.

    Args:
        cells: along the longest side of the box.
        box: (3, 2) corners [m]; found from random postures when omitted.
        orientations: how many orientations, evenly spread, are tried in every reachable cell (0: none). An arm that cannot turn its tip
            about every axis is dexterous nowhere.
        postures: how many postures are compared in every cell for the manipulability (0: none).
    """
    model = model_of(model)
    model.robot.frame(frame)
    cells, seed = whole_number(cells, "cells", 1, MOST_CELLS), whole_number(seed, "seed", 0, MOST_SEED)
    orientations = whole_number(orientations, "orientations", 0, MOST_CELLS)
    postures, limits = whole_number(postures, "postures", 0, MOST_POSTURES), flag(limits, "limits")
    corners = bounding_box(model, frame, limits, seed) if box is None else finite_array(box, "box")
    if corners.shape != (3, 2) or np.any(corners[:, 1] < corners[:, 0]):
        raise ShapeError("'box' must have shape (3, 2): low and high along x, y, z [m].")
    axes = _axes(corners, cells)
    if np.prod([len(a) for a in axes]) * max(1, orientations) > MOST_CELLS:
        raise BudgetError(f"More than {MOST_CELLS} targets would have to be solved; take fewer cells or orientations.")
    centres = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    rows = _position_rows(model.robot, frame)
    q, reachable = _solved(model.robot, centres, frame, limits, seed, rows)
    q = np.where(reachable[..., None], q, np.nan)
    dexterity = _dexterity(model, centres, reachable, orientations, frame, limits, seed) if orientations else None
    best = _manipulability(model, centres, reachable, q, postures, frame, limits, rows, seed) if postures else None
    return WorkspaceMap(axes, reachable, q, dexterity, best)


def _solved(
    robot: Robot, targets: np.ndarray, frame: str, limits: bool, seed: int, rows: Any = None, q0: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Postures and whether they meet their targets: inverse kinematics that does not ask why a target is not met."""
    task, poses, lead = read_targets(robot, targets, frame, rows)
    solver = solver_for(robot, task, "levenberg_marquardt", limits)
    q, fine = np.zeros((len(poses), robot.n)), np.zeros(len(poses), bool)
    near = out_of_reach(robot, Task.of("position", frame), poses, limits, CLOSE) == 0.0
    if near.any():
        found = solver.search.many(poses[near], None if q0 is None else q0[near], CLOSE, EFFORT, seed)
        q[near] = found.q
        fine[near] = found.solved & (np.asarray(solver.check(poses[near], found.q), float) <= CLOSE)
    return q.reshape(*lead, robot.n), fine.reshape(lead)


def _axes(corners: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    size = corners[:, 1] - corners[:, 0]
    step = max(float(size.max()), 1e-9) / cells
    out = []
    for low, high in corners:
        if high - low < 1e-9:
            out.append(np.array([0.5 * (low + high)]))
            continue
        count = max(1, round((high - low) / step))
        width = (high - low) / count
        out.append(low + width * (np.arange(count) + 0.5))
    return tuple(out)  # pyright: ignore[reportReturnType]


def _position_rows(robot: Robot, frame: str) -> tuple[str, ...]:
    task = movable(robot, Task.of("position", frame))
    if task is None:
        raise DescriptionError(f"No joint of '{robot.name}' moves frame '{frame}'.")
    return tuple("xyz"[r] for r in task.parts[0][1])


def spread_rotations(count: int) -> np.ndarray:
    """(count, 3, 3) rotations spread evenly: the super-Fibonacci spiral on the 3-sphere [Alexa 2022]."""
    k = np.arange(count) + 0.5
    t, phi, psi = k / count, np.sqrt(2.0), 1.533751168755204288118041
    d = 2.0 * np.pi * k
    r, s = np.sqrt(t), np.sqrt(1.0 - t)
    x, y, z, w = r * np.sin(d / phi), r * np.cos(d / phi), s * np.sin(d / psi), s * np.cos(d / psi)
    R = np.empty((count, 3, 3))
    R[:, 0] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], axis=1)
    R[:, 1] = np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], axis=1)
    R[:, 2] = np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=1)
    return R


def _dexterity(
    model: Model, centres: np.ndarray, reachable: np.ndarray, count: int, frame: str, limits: bool, seed: int
) -> np.ndarray:
    turning = spread_rotations(count)
    cells = centres[reachable]
    targets = np.zeros((len(cells), count, 4, 4))
    targets[..., :3, :3], targets[..., :3, 3], targets[..., 3, 3] = turning, cells[:, None], 1.0
    out = np.zeros(reachable.shape)
    if len(cells):
        out[reachable] = np.mean(_solved(model.robot, targets, frame, limits, seed)[1], axis=1)
    return out


def _manipulability(
    model: Model, centres: np.ndarray, reachable: np.ndarray, q: np.ndarray, count: int, frame: str, limits: bool,
    rows: tuple[str, ...], seed: int,
) -> np.ndarray:  # fmt: skip
    best = np.full(reachable.shape, np.nan)
    if not reachable.any():
        return best
    cells = centres[reachable]
    values = manipulability(model, q[reachable], "position", frame).manipulability
    box, rng = start_box(model.robot), np.random.default_rng(seed)
    for _ in range(count - 1):
        start = rng.uniform(box[:, 0], box[:, 1], (len(cells), model.n))
        other, fine = _solved(model.robot, cells, frame, limits, seed, rows, start)
        values = np.where(fine, np.fmax(values, manipulability(model, other, "position", frame).manipulability), values)
    best[reachable] = values
    return best
