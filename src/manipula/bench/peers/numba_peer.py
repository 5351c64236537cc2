r"""One generic recursive Newton–Euler kernel compiled by numba: what a careful Python programmer would write.

The kernel takes any chain of one-axis joints as arrays, so nothing is specialised to the arm; link frames follow the
recursion of Featherstone (2008, §5.3) in three-vectors, accelerations include :math:`-g` at the base.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from .timing import missing, nanoseconds, states

ROWS = 1024


def reason() -> str:
    """Why it cannot be timed here; empty if it can."""
    return missing("numba", "pinocchio")


def available() -> bool:
    """Is numba installed (and Pinocchio, which reads the URDF)?"""
    return not reason()


# Columns of the table of links, and of the scratch memory.
AXIS, ROTATION, PLACE, MASS, CENTRE, INERTIA, COLUMNS = 0, 3, 12, 15, 16, 19, 28
R, P, W, DW, DV, F, M, SCRATCH_COLUMNS = 0, 9, 12, 15, 18, 21, 24, 27


@functools.cache
def _kernel() -> Any:
    """The recursion over rows of states; three-vectors are triples of scalars, as numba likes them."""
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
    def get(t, i, at):
        return t[i, at], t[i, at + 1], t[i, at + 2]

    @numba.njit
    def put(t, i, at, a):
        t[i, at], t[i, at + 1], t[i, at + 2] = a

    @numba.njit
    def turned(t, i, at, a):
        """The matrix in columns at … at + 8, times a."""
        return (
            t[i, at] * a[0] + t[i, at + 1] * a[1] + t[i, at + 2] * a[2],
            t[i, at + 3] * a[0] + t[i, at + 4] * a[1] + t[i, at + 5] * a[2],
            t[i, at + 6] * a[0] + t[i, at + 7] * a[1] + t[i, at + 8] * a[2],
        )

    @numba.njit
    def turned_back(t, i, at, a):
        return (
            t[i, at] * a[0] + t[i, at + 3] * a[1] + t[i, at + 6] * a[2],
            t[i, at + 1] * a[0] + t[i, at + 4] * a[1] + t[i, at + 7] * a[2],
            t[i, at + 2] * a[0] + t[i, at + 5] * a[1] + t[i, at + 8] * a[2],
        )

    @numba.njit
    def pose(links, x, i, z, prismatic, q):
        """R = R₀ · rotation about z by q (Rodrigues), p = p₀ (+ R₀ z q for a sliding joint)."""
        p = get(links, i, PLACE)
        if prismatic:
            p = add(p, scaled(q, turned(links, i, ROTATION, z)))
            s, c = 0.0, 1.0
        else:
            s, c = np.sin(q), np.cos(q)
        put(x, i, P, p)
        d = 1.0 - c
        first = (d * z[0] * z[0] + c, d * z[0] * z[1] + s * z[2], d * z[0] * z[2] - s * z[1])
        second = (d * z[0] * z[1] - s * z[2], d * z[1] * z[1] + c, d * z[1] * z[2] + s * z[0])
        third = (d * z[0] * z[2] + s * z[1], d * z[1] * z[2] - s * z[0], d * z[2] * z[2] + c)
        x[i, R], x[i, R + 3], x[i, R + 6] = turned(links, i, ROTATION, first)
        x[i, R + 1], x[i, R + 4], x[i, R + 7] = turned(links, i, ROTATION, second)
        x[i, R + 2], x[i, R + 5], x[i, R + 8] = turned(links, i, ROTATION, third)

    @numba.njit
    def inverse_dynamics(parents, prismatic, links, gravity, x, q, v, a, tau):
        """Rows of q, v, a → rows of tau; x is scratch memory."""
        n = parents.shape[0]
        for r in range(q.shape[0]):
            for i in range(n):
                k, z, centre = parents[i], get(links, i, AXIS), get(links, i, CENTRE)
                pose(links, x, i, z, prismatic[i], q[r, i])
                if k >= 0:
                    place, wk, dwk = get(x, i, P), get(x, k, W), get(x, k, DW)
                    linear = add(get(x, k, DV), add(cross(dwk, place), cross(wk, cross(wk, place))))
                    wi, dwi, dvi = turned_back(x, i, R, wk), turned_back(x, i, R, dwk), turned_back(x, i, R, linear)
                else:
                    wi, dwi = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
                    dvi = turned_back(x, i, R, (-gravity[0], -gravity[1], -gravity[2]))
                gyroscopic = scaled(v[r, i], cross(wi, z))
                if prismatic[i]:
                    dvi = add(dvi, add(scaled(a[r, i], z), scaled(2.0, gyroscopic)))
                else:
                    dwi = add(dwi, add(scaled(a[r, i], z), gyroscopic))
                    wi = add(wi, scaled(v[r, i], z))
                put(x, i, W, wi)
                put(x, i, DW, dwi)
                put(x, i, DV, dvi)
                force = scaled(links[i, MASS], add(dvi, add(cross(dwi, centre), cross(wi, cross(wi, centre)))))
                spin = add(turned(links, i, INERTIA, dwi), cross(wi, turned(links, i, INERTIA, wi)))
                put(x, i, F, force)
                put(x, i, M, add(spin, cross(centre, force)))
            for i in range(n - 1, -1, -1):
                k, z = parents[i], get(links, i, AXIS)
                force, moment = get(x, i, F), get(x, i, M)
                along = force if prismatic[i] else moment
                tau[r, i] = z[0] * along[0] + z[1] * along[1] + z[2] * along[2]
                if k >= 0:
                    force, moment = turned(x, i, R, force), turned(x, i, R, moment)
                    put(x, k, F, add(get(x, k, F), force))
                    put(x, k, M, add(get(x, k, M), add(moment, cross(get(x, i, P), force))))

    return inverse_dynamics


def time_functions(urdf_path: str | Path) -> dict[str, float]:
    """Nanoseconds per evaluation of inverse dynamics: one call, and inside a batch."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(urdf_path))
    n, arm = model.nv, _arm(model)
    kernel = _kernel()
    q, v, a = states(n, ROWS)
    tau = np.empty_like(q)
    kernel(*arm, q, v, a, tau)
    expected = pin.rnea(model, model.createData(), q[0], v[0], a[0])
    if not np.allclose(tau[0], expected, rtol=1e-10, atol=1e-10):
        raise RuntimeError(f"The numba kernel computes {tau[0]} instead of {expected}.")
    first = [x[:1] for x in (q, v, a, tau)]
    return {
        "inverse_dynamics": nanoseconds(lambda: kernel(*arm, *first)),
        "inverse_dynamics_batch": nanoseconds(lambda: kernel(*arm, q, v, a, tau)) / ROWS,
    }


def _arm(model: Any) -> tuple[np.ndarray, ...]:
    """Parents (−1 at the base), kinds of joints, the table of links, gravity and scratch memory."""
    from .pinocchio_cpp import joint_axis

    count = range(1, model.njoints)
    kinds = [joint_axis(model, i) for i in count]
    links = np.empty((model.nv, COLUMNS))
    for link, i, (axis, _) in zip(links, count, kinds):
        place, body = model.jointPlacements[i], model.inertias[i]
        link[:] = *axis, *place.rotation.ravel(), *place.translation, body.mass, *body.lever, *body.inertia.ravel()
    parents = np.array([model.parents[i] - 1 for i in count])
    prismatic = np.array([sliding for _, sliding in kinds])
    return parents, prismatic, links, np.array(model.gravity.linear), np.empty((model.nv, SCRATCH_COLUMNS))
