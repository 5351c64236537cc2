r"""One generic recursive Newton–Euler kernel compiled by numba: what a careful Python programmer would write.

The kernel takes any chain of one-axis joints as arrays, so nothing is specialised to the arm; link frames follow the
recursion of Featherstone (2008, §5.3) in three-vectors, accelerations include :math:`-g` at the base.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .timing import missing, nanoseconds, states

ROWS = 1024


def reason() -> str:
    """Why it cannot be timed here; empty if it can."""
    return missing("numba", "pinocchio")


def available() -> bool:
    """Is numba installed (and Pinocchio, which reads the URDF)?"""
    return not reason()


@functools.cache
def _kernels() -> tuple[Any, Any]:
    """The recursion for one state and for a batch; three-vectors are triples of scalars, as numba likes them."""
    import numba

    @numba.njit
    def cross(a, b):
        return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]

    @numba.njit
    def add(a, b):
        return a[0] + b[0], a[1] + b[1], a[2] + b[2]

    @numba.njit
    def scaled(s, a):
        return s * a[0], s * a[1], s * a[2]

    @numba.njit
    def row(table, i):
        return table[i, 0], table[i, 1], table[i, 2]

    @numba.njit
    def put(table, i, a):
        table[i, 0], table[i, 1], table[i, 2] = a

    @numba.njit
    def turned(R, i, a):
        return (
            R[i, 0, 0] * a[0] + R[i, 0, 1] * a[1] + R[i, 0, 2] * a[2],
            R[i, 1, 0] * a[0] + R[i, 1, 1] * a[1] + R[i, 1, 2] * a[2],
            R[i, 2, 0] * a[0] + R[i, 2, 1] * a[1] + R[i, 2, 2] * a[2],
        )

    @numba.njit
    def turned_back(R, i, a):
        return (
            R[i, 0, 0] * a[0] + R[i, 1, 0] * a[1] + R[i, 2, 0] * a[2],
            R[i, 0, 1] * a[0] + R[i, 1, 1] * a[1] + R[i, 2, 1] * a[2],
            R[i, 0, 2] * a[0] + R[i, 1, 2] * a[1] + R[i, 2, 2] * a[2],
        )

    @numba.njit
    def pose(arm, scratch, i, q):
        """R = R₀ · rotation about z by q (Rodrigues), p = p₀ (+ R₀ z q for a sliding joint)."""
        R, p = scratch.R, scratch.p
        z = row(arm.axes, i)
        put(p, i, row(arm.places, i))
        if arm.prismatic[i]:
            R[i] = arm.rotations[i]
            put(p, i, add(row(p, i), scaled(q, turned(arm.rotations, i, z))))
            return
        s, c = np.sin(q), np.cos(q)
        d = 1.0 - c
        columns = (
            (d * z[0] * z[0] + c, d * z[0] * z[1] + s * z[2], d * z[0] * z[2] - s * z[1]),
            (d * z[0] * z[1] - s * z[2], d * z[1] * z[1] + c, d * z[1] * z[2] + s * z[0]),
            (d * z[0] * z[2] + s * z[1], d * z[1] * z[2] - s * z[0], d * z[2] * z[2] + c),
        )
        for k in range(3):
            R[i, 0, k], R[i, 1, k], R[i, 2, k] = turned(arm.rotations, i, columns[k])

    @numba.njit
    def inverse_dynamics(arm, scratch, q, v, a, tau):
        R, p, w, dw, dv, f, m = scratch
        n = arm.parents.shape[0]
        for i in range(n):
            pose(arm, scratch, i, q[i])
            k, z, centre = arm.parents[i], row(arm.axes, i), row(arm.centres, i)
            if k >= 0:
                place, wk, dwk = row(p, i), row(w, k), row(dw, k)
                linear = add(row(dv, k), add(cross(dwk, place), cross(wk, cross(wk, place))))
                wi, dwi, dvi = turned_back(R, i, wk), turned_back(R, i, dwk), turned_back(R, i, linear)
            else:
                wi, dwi = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
                dvi = turned_back(R, i, (-arm.gravity[0], -arm.gravity[1], -arm.gravity[2]))
            gyroscopic = scaled(v[i], cross(wi, z))
            if arm.prismatic[i]:
                dvi = add(dvi, add(scaled(a[i], z), scaled(2.0, gyroscopic)))
            else:
                dwi = add(dwi, add(scaled(a[i], z), gyroscopic))
                wi = add(wi, scaled(v[i], z))
            put(w, i, wi)
            put(dw, i, dwi)
            put(dv, i, dvi)
            force = scaled(arm.masses[i], add(dvi, add(cross(dwi, centre), cross(wi, cross(wi, centre)))))
            spin = add(turned(arm.inertias, i, dwi), cross(wi, turned(arm.inertias, i, wi)))
            put(f, i, force)
            put(m, i, add(spin, cross(centre, force)))
        for i in range(n - 1, -1, -1):
            k, z = arm.parents[i], row(arm.axes, i)
            force, moment = row(f, i), row(m, i)
            along = force if arm.prismatic[i] else moment
            tau[i] = z[0] * along[0] + z[1] * along[1] + z[2] * along[2]
            if k >= 0:
                force, moment = turned(R, i, force), turned(R, i, moment)
                put(f, k, add(row(f, k), force))
                put(m, k, add(row(m, k), add(moment, cross(row(p, i), force))))

    @numba.njit
    def batch(arm, scratch, q, v, a, tau):
        for r in range(q.shape[0]):
            inverse_dynamics(arm, scratch, q[r], v[r], a[r], tau[r])

    return inverse_dynamics, batch


class Arm(NamedTuple):
    """A tree of one-axis joints as arrays; ``parents`` is −1 at the base."""

    parents: np.ndarray
    prismatic: np.ndarray
    axes: np.ndarray
    rotations: np.ndarray
    places: np.ndarray
    masses: np.ndarray
    centres: np.ndarray
    inertias: np.ndarray
    gravity: np.ndarray


class Scratch(NamedTuple):
    """Memory of the recursion: poses, motions, forces and moments of the links."""

    R: np.ndarray
    p: np.ndarray
    w: np.ndarray
    dw: np.ndarray
    dv: np.ndarray
    f: np.ndarray
    m: np.ndarray


def time_functions(urdf_path: str | Path) -> dict[str, float]:
    """Nanoseconds per evaluation of inverse dynamics: one call, and inside a batch."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(urdf_path))
    n, arm = model.nv, _arm(model)
    scratch = Scratch(np.empty((n, 3, 3)), *(np.empty((n, 3)) for _ in range(6)))
    one, batch = _kernels()
    q, v, a = states(n, ROWS)
    tau = np.empty_like(q)
    batch(arm, scratch, q, v, a, tau)
    expected = pin.rnea(model, model.createData(), q[0], v[0], a[0])
    if not np.allclose(tau[0], expected, rtol=1e-10, atol=1e-10):
        raise RuntimeError(f"The numba kernel computes {tau[0]} instead of {expected}.")
    result = np.empty(n)
    return {
        "inverse_dynamics": nanoseconds(lambda: one(arm, scratch, q[0], v[0], a[0], result)),
        "inverse_dynamics_batch": nanoseconds(lambda: batch(arm, scratch, q, v, a, tau)) / ROWS,
    }


def _arm(model: Any) -> Arm:
    from .pinocchio_cpp import joint_axis

    count = range(1, model.njoints)
    kinds = [joint_axis(model, i) for i in count]
    inertias = [model.inertias[i] for i in count]
    return Arm(
        np.array([model.parents[i] - 1 for i in count]),
        np.array([prismatic for _, prismatic in kinds]),
        np.array([axis for axis, _ in kinds]),
        np.array([model.jointPlacements[i].rotation for i in count]),
        np.array([model.jointPlacements[i].translation for i in count]),
        np.array([inertia.mass for inertia in inertias]),
        np.array([inertia.lever for inertia in inertias]),
        np.array([inertia.inertia for inertia in inertias]),
        np.array(model.gravity.linear),
    )
