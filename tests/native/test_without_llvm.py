"""A machine without llvmlite: model functions, a simulation and inverse kinematics are interpreted."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np

import model_answers

AGREEMENT = 1e-12  # relative: the interpreter rounds products and sums apart where machine code fuses them


def test_everything_gives_the_same_answers_without_the_compiler() -> None:
    environment = os.environ | {"MANIPULA_NO_LLVM": "1"}
    command = [sys.executable, model_answers.__file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    interpreted, compiled = json.loads(done.stdout), model_answers.answers()
    assert (interpreted.pop("native"), compiled.pop("native")) == (False, True)
    assert interpreted.pop("status") == compiled.pop("status") == ["solved", "finished"]
    for name, expected in compiled.items():
        np.testing.assert_allclose(
            interpreted[name], expected, rtol=AGREEMENT, atol=AGREEMENT * np.abs(expected).max(), err_msg=name
        )
