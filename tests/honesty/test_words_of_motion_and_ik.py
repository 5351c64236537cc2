"""Errors of motions and inverse kinematics name the field, what was found and what is allowed, with units."""

from __future__ import annotations

import math

import numpy as np
import pytest

import manipula as mp
from manipula.errors import ManipulaError
from manipula.motion import paths
from manipula.motion.piecewise import PiecewiseTrajectory

ARM = mp.load("planar-2r")
LINE, TURNED = (
    paths.line((0, 0, 0), (1, 0, 0)),
    paths.line((1, 0, 0), (2, 0, 0)).with_orientation(paths.orientation.constant(np.eye(3))),
)
TOLD = {
    "target not finite": (lambda: mp.solve_ik(ARM, (0.5, math.nan, 0.0)), "target has an entry that is not a finite number: nan; positions are in m"),
    "q0 not finite": (lambda: mp.solve_ik(ARM, (0.5, 0.1, 0.0), q0=(math.inf, 0.0)), r"q0 of '.*' .*: inf \[rad or m\]"),
    "tolerance": (lambda: mp.solve_ik(ARM, (0.5, 0.1, 0.0), tolerance=2.0), r"between 0 and 1 \[m and rad\], found 2"),
    "method": (lambda: mp.solve_ik(ARM, (0.5, 0.1, 0.0), method="magic"), r"method of solve_ik\(\) named 'magic'"),
    "no targets": (lambda: mp.solve_ik(ARM, {}), "target: No target is given"),
    "breaks": (lambda: PiecewiseTrajectory([0.0, 2.0, 1.0], np.zeros((2, 2, 2)), "joint"), r"breaks of a trajectory \[s\].*found \[0\. 2\. 1\.\]"),
    "arc length": (lambda: LINE.position(3.0), r"Arc length 3 is outside the path; allowed is 0 to 1 m \(or rad\)"),
    "concatenate nothing": (lambda: paths.concatenate([]), "found none"),
    "concatenate apart": (lambda: paths.concatenate([LINE, paths.line((2, 0, 0), (3, 0, 0))]), r"starts 1 m \(or rad\) away"),
    "concatenate turned": (lambda: paths.concatenate([LINE, TURNED]), "path 0 has none"),
    "formula breaks": (lambda: mp.formula_motion(["t", "t"], 1.0, breaks=[2.0]), r"duration, 1 s; found \[2\.\]"),
    "orientation": (lambda: mp.formula_motion(["t", "t", "0"], 1.0, orientation=lambda t: [t, t]), r"roll, pitch and yaw \[rad\]; found 2"),
    "joint move": (lambda: mp.joint_move((0.0, 0.0), (1.0, 1.0), velocity=-1.0, acceleration=1.0, jerk=1.0), "'velocity'.*greater than 0.*found -1"),
    "clamped": (lambda: paths.spline([(0, 0), (1, 0), (2, 1)], tangents=[(1, 0), (1, 0)]), "tangents: .*found ends='natural'"),
}  # fmt: skip


@pytest.mark.parametrize("case", TOLD)
def test_what_is_said(case: str) -> None:
    call, told = TOLD[case]
    with pytest.raises(ManipulaError, match=told):
        call()
