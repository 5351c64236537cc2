"""Pinocchio in a C++ loop: what the library can do without Python in between.

The program ``pinocchio_loop.cpp`` is compiled with ``g++ -O3 -march=native`` against the headers that Pinocchio's wheel carries
(cmeel prefix) and Eigen's (the wheel ``cmeel-eigen``, or a system package). Nothing of the wheel's libraries is linked, so
all instructions of the processor may be used and Eigen may align as it likes. The model is read from the URDF by Pinocchio's
Python interface and passed on as numbers; the torques of one state are compared before any time is believed.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from manipula.native.store.object_cache import default_folder

from .timing import TOTAL_SECONDS, missing

SOURCE = Path(__file__).with_name("pinocchio_loop.cpp")
FLAGS = (
    "-O3",
    "-march=native",
    "-DNDEBUG",
    "-std=c++17",
    "-w",
    *(
        # Pinocchio's list of joints is longer than Boost's lists are by default
        "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
        "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
        "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
        "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
    ),
)
EVALUATIONS_PER_WINDOW = 128
AGREEMENT = 1e-12  # relative; the same algorithm, compiled twice


def _prefixes() -> list[Path]:
    found = [Path(entry) / "cmeel.prefix" for entry in sys.path if (Path(entry) / "cmeel.prefix").is_dir()]
    return [*found, Path("/usr"), Path("/usr/local")]


def _include(header: str, *subfolders: str) -> Path | None:
    folders = (prefix / "include" / sub for prefix in _prefixes() for sub in ("", *subfolders))
    return next((folder for folder in folders if (folder / header).exists()), None)


def reason() -> str:
    """Why it cannot be timed here; empty if it can."""
    if absent := missing("pinocchio"):
        return absent
    if shutil.which("g++") is None:
        return "No g++ on this machine."
    for header, package in (
        ("pinocchio/fwd.hpp", "pin"),
        ("Eigen/Core", "cmeel-eigen"),
        ("boost/variant.hpp", "cmeel-boost"),
    ):
        if _include(header, "eigen3") is None:
            return f"Header {header} not found; pip install {package}."
    return ""


def available() -> bool:
    """Can it be built and timed here?"""
    return not reason()


def build_folder() -> Path:
    """Where compiled programs are kept: beside the object cache."""
    objects = default_folder()
    return Path(tempfile.gettempdir(), "manipula-peers") if objects is None else objects.parent / "peers"


def build() -> Path:
    """The compiled program; compiled at the first request (some minutes) and whenever source, flags or headers change."""
    headers = [_include(h, "eigen3") for h in ("pinocchio/fwd.hpp", "Eigen/Core", "boost/variant.hpp")]
    command = ["g++", *FLAGS, *(f"-I{folder}" for folder in dict.fromkeys(headers))]
    digest = hashlib.sha256(SOURCE.read_bytes() + " ".join(command).encode()).hexdigest()[:16]
    folder = build_folder()
    program = folder / f"pinocchio_loop_{digest}"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = program.with_suffix(".new")
        done = subprocess.run(
            [*command, str(SOURCE), "-o", str(temporary)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"g++ refused the loop:\n{done.stderr[-2000:]}")
        temporary.replace(program)
    return program


def joint_axis(model: Any, index: int) -> tuple[np.ndarray, bool]:
    """Axis of a joint in its own frame, and whether it slides along it (else turns about it)."""
    joint = model.joints[index]
    if joint.nq != 1 or joint.nv != 1:
        raise ValueError(f"Joint '{model.names[index]}' is a {joint.shortname()}; only one-axis joints are known here.")
    data = joint.createData()
    joint.calc(data, np.zeros(1), np.ones(1))
    motion = np.asarray(data.S).reshape(6)
    prismatic = bool(np.abs(motion[:3]).max() > 0.5)
    return (motion[:3] if prismatic else motion[3:]), prismatic


def _described(urdf_path: str | Path) -> tuple[str, np.ndarray]:
    """The model as numbers for the program, and the torques at its first state."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(urdf_path))
    lines = [str(model.njoints - 1)]
    for i in range(1, model.njoints):
        axis, prismatic = joint_axis(model, i)
        placement, inertia = model.jointPlacements[i], model.inertias[i]
        tensor = inertia.inertia
        numbers = [*axis, *placement.rotation.ravel(), *placement.translation, inertia.mass, *inertia.lever]
        numbers += [tensor[0, 0], tensor[0, 1], tensor[1, 1], tensor[0, 2], tensor[1, 2], tensor[2, 2]]
        lines.append(f"{model.parents[i]} {'P' if prismatic else 'R'} " + " ".join(f"{x:.17g}" for x in numbers))
    lines.append(" ".join(f"{x:.17g}" for x in model.gravity.linear))
    ramp = np.arange(1, model.nv + 1)
    return "\n".join(lines), pin.rnea(model, model.createData(), 0.1 * ramp, 0.2 * ramp, 0.3 * ramp)


def time_functions(urdf_path: str | Path) -> dict[str, float]:
    """Nanoseconds per evaluation of each function, for the arm in a URDF file."""
    described, expected = _described(urdf_path)
    arguments = [str(EVALUATIONS_PER_WINDOW), str(int(1000 * TOTAL_SECONDS))]
    done = subprocess.run([str(build()), *arguments], input=described, capture_output=True, text=True, check=True)
    table = {line.split()[0]: [float(x) for x in line.split()[1:]] for line in done.stdout.splitlines()}
    check = np.array(table.pop("check"))
    if not np.allclose(check, expected, rtol=AGREEMENT, atol=AGREEMENT * np.abs(expected).max()):
        raise RuntimeError(f"The C++ loop computes other torques than Pinocchio itself: {check} instead of {expected}.")
    times = {name: values[0] for name, values in table.items()}
    for name in ("mass_matrix", "forward_dynamics"):  # two variants of one algorithm: the faster one counts
        times[name] = min(times[name], times.pop(f"{name}_local"))
    return times
