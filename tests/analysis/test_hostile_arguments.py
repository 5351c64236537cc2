"""Every public function of a robot and of its analysis refuses what it cannot use with one clear error of this package."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.analysis.manipulability import limit_distance, manipulability
from manipula.analysis.power import power_report
from manipula.analysis.singularities import singularities
from manipula.analysis.vibration import fast_part, natural_modes, spectrum
from manipula.analysis.workspace import workspace
from manipula.physics.functions import FUNCTIONS

ARM = mp.planar([0.5, 0.4], [2.0, 1.5], name="arm")
MODEL = mp.compile(ARM)
GEARED = dataclasses.replace(ARM, joints=tuple(dataclasses.replace(j, rotor_inertia=0.1) for j in ARM.joints))
FLEXIBLE = [mp.drives.Flexible(stiffness=100.0, damping=1.0)] * 2
T = np.linspace(0.0, 1.0, 40)
MOTION = np.stack([np.sin((k + 1.3) * 5.0 * T) for k in range(2)], axis=1)
Q = np.array([0.3, 0.4])

HOSTILE: dict[str, Any] = {
    "a text": "abc",
    "an empty text": "",
    "nothing": None,
    "nan": float("nan"),
    "infinity": float("inf"),
    "negative": -3,
    "zero": 0,
    "too many": 10**12,
    "a complex number": 2j,
    "an object": object(),
    "a list of texts": ["a", "b"],
    "ragged rows": [[1.0], [1.0, 2.0]],
    "three numbers": [1.0, 2.0, 3.0],
    "nan inside": np.array([np.nan, 1.0]),
    "an empty array": np.zeros((0, 2)),
    "a dictionary": {"lower": 1.0},
    "bytes": b"\x00",
    "a set": {1, 2},
}


def identified(**changed: Any) -> Any:
    values = {"q": MOTION, "qd": 0.5 * MOTION[::-1], "qdd": 3.0 * np.roll(MOTION, 7, axis=0), "tau": MOTION}
    return mp.identify(**{"robot": ARM, **values, "physical": False, **changed})


CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "compile": (mp.compile, {"robot": ARM}),
    "doctor": (mp.doctor, {"robot": ARM}),
    "equations": (
        lambda **x: mp.equations(**x).M,
        {"robot": ARM, "level": "compact", "inertia": "given", "right_angles": "nearest", "limit": 1000},
    ),
    "equations.text": (lambda **x: mp.equations(ARM).text(**x), {"only": "M"}),
    "equations.T": (lambda **x: mp.equations(ARM).T(**x), {"frame": 1}),
    "equations.jacobian": (lambda **x: mp.equations(ARM).jacobian(**x), {"frame": "tip", "expressed_in": "base"}),
    "equations.compile": (lambda **x: mp.equations(ARM).compile(**x), {"what": "g", "values": {}}),
    "workspace": (
        lambda **x: workspace(**x),
        {"model": ARM, "cells": 4, "box": [[-1, 1], [-1, 1], [0, 0]], "frame": "tip", "limits": True, "orientations": 0,
         "postures": 0, "seed": 0},
    ),
    "manipulability": (manipulability, {"model": ARM, "q": Q, "kind": "position", "frame": "tip", "length": 1.0}),
    "limit_distance": (limit_distance, {"robot": ARM, "q": Q, "relative": False}),
    "singularities": (
        singularities,
        {"model": ARM, "motion": MOTION[:5], "kind": "position", "frame": "tip", "samples": 5, "threshold": 0.1},
    ),
    "natural_modes": (natural_modes, {"robot": GEARED, "q": Q, "drives": FLEXIBLE, "locked": True}),
    "power_report": (power_report, {"result": None}),
    "spectrum": (spectrum, {"t": T, "signal": MOTION, "trend": 1}),
    "fast_part": (fast_part, {"t": T, "signal": MOTION, "cutoff": 5.0}),
    "feasibility": (mp.feasibility, {"motion": None, "limits": None, "robot": ARM, "tip": None, "samples": 21}),
    "base_parameters": (mp.base_parameters, {"robot": ARM, "extras": ()}),
    "identify": (
        identified,
        {"robot": ARM, "q": MOTION, "qd": MOTION, "qdd": MOTION, "tau": MOTION, "extras": (), "weights": "joint",
         "physical": False, "prior": None, "prior_weight": 1e-3, "masses": None, "centres": None, "total_mass": None,
         "confidence": 0.9},
    ),
    "identify, physical": (
        lambda **x: identified(physical=True, extras=(), **x),
        {"prior": ARM, "prior_weight": 1e-3, "masses": None, "centres": None, "total_mass": None},
    ),
    "excitation": (
        mp.excitation,
        {"robot": ARM, "duration": 5.0, "harmonics": 3, "extras": (), "velocity": None, "acceleration": None, "starts": 2,
         "iterations": 1, "seed": 0},
    ),
    "with_parameters": (lambda values: ARM.with_parameters(l1=values), {"values": 1.0}),
    "replace": (ARM.replace, {"name": "arm", "gravity": (0.0, 0.0, 0.0), "payload": None, "base": np.eye(4), "tool": np.eye(4), "tip": None}),
    "frame": (ARM.frame, {"name": "tip"}),
    "Model.kernel": (MODEL.kernel, {"function": "gravity"}),
    "Model.operation_count": (MODEL.operation_count, {"function": "gravity"}),
    "Model.linearise": (MODEL.linearise, {"q": Q, "qd": Q, "tau": Q}),
}  # fmt: skip
for _name, _function in FUNCTIONS.items():
    _values = {key: np.full(shape, 0.1) for key, shape in _function.shapes(2).items()}
    _options: dict[str, Any] = {"frame": {"frame": "tip"}, "frames": {"frames": ("tip",)}}.get(_function.at, {})
    if _name.startswith("jacobian"):
        _options["expressed_in"] = "base"
    CALLS[f"Model.{_name}"] = (getattr(MODEL, _name), {**_values, **_options})


@pytest.mark.parametrize("name", CALLS)
def test_hostile_values_are_refused_clearly(name: str) -> None:
    call, valid = CALLS[name]
    wrong = []
    for argument in valid:
        for kind, value in HOSTILE.items():
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    call(**{**valid, argument: value})
                except mp.ManipulaError as error:
                    if len(str(error)) > 900:
                        wrong.append(f"{argument} = {kind}: a message of {len(str(error))} characters")
                except Exception as error:
                    wrong.append(f"{argument} = {kind}: {type(error).__name__}: {error}"[:200])
    assert not wrong, "\n".join(wrong)


def test_export_refuses_clearly(tmp_path: Path) -> None:
    valid: dict[str, Any] = {"robot": ARM, "language": "c", "directory": tmp_path / "x", "functions": ["gravity"], "parameters": "baked",
                             "prefix": "arm", "frame": "tip", "force": True}  # fmt: skip
    wrong = []
    for argument in set(valid) - {"directory"}:
        for kind, value in HOSTILE.items():
            try:
                mp.export(**{**valid, argument: value})
            except mp.ManipulaError:
                pass
            except Exception as error:
                wrong.append(f"{argument} = {kind}: {type(error).__name__}: {error}"[:200])
    assert not wrong, "\n".join(wrong)


def test_the_base_is_a_known_frame_once() -> None:
    for call in (lambda: ARM.frame("nowhere"), lambda: MODEL.pose(Q, "nowhere")):
        with pytest.raises(mp.UnknownNameError) as refused:
            call()
        known = str(refused.value).split("Known: ")[1].rstrip(".").split(", ")
        assert known.count("base") == 1
        assert len(known) == len(set(known))
