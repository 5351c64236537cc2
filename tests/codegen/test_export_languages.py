"""Every language of the registry: what it writes compiles, runs, and gives the numbers of the physics on plain floats."""

from __future__ import annotations

import ctypes
import dataclasses
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy

from manipula.codegen import LANGUAGES, NAMES
from manipula.codegen.base import SourceProgram
from manipula.codegen.files import write_files
from manipula.codegen.program import robot_program
from manipula.formats.dh import from_dh
from manipula.formats.load import load
from manipula.physics import articulated, composite, coriolis, derivatives, energy, kinematics, newton_euler, reactions
from manipula.physics import regressor as regressors
from manipula.robot.friction.viscous import Viscous
from manipula.robot.robot import Robot
from strategies import random_robot
from tools import missing_tool

SAME = 1e-12  # relative to the largest entry: other compilers and libraries differ by a few roundings
FORWARD = 1e-10  # forward dynamics and its derivatives: roundings grow with the condition of M (up to 1e5 here)
SECONDS = 240
WITHOUT_FRICTION = [name for name in NAMES if name != "friction"]


def symbolic_2r() -> Robot:
    l1, l2, m1, m2, c1, c2, I1, I2, g = sympy.symbols("l1 l2 m1 m2 c1 c2 I1 I2 g", positive=True)
    rows = [
        {"a": l1, "mass": m1, "com": (c1 - l1, 0, 0), "inertia": [0, 0, I1, 0, 0, 0], "friction": Viscous(sympy.Symbol("b1"))},
        {"a": l2, "mass": m2, "com": (c2 - l2, 0, 0), "inertia": [0, 0, I2, 0, 0, 0]},
    ]  # fmt: skip
    return from_dh(rows, "standard", (0, -g, 0), name="2R")


def tree() -> Robot:
    return random_robot(
        np.random.default_rng(11), 6, tree=True, prismatic=True, oblique=True, drives=True, friction=True, fixed=True
    )


ROBOTS = {
    "planar": lambda: (symbolic_2r(), "struct", [*NAMES]),
    "scara": lambda: (load("scara-khang"), "baked", WITHOUT_FRICTION),
    "puma560": lambda: (load("puma560"), "baked", WITHOUT_FRICTION),
    "panda": lambda: (load("panda"), "baked", ["pose", "jacobian", "inverse_dynamics", "forward_dynamics", "mass_matrix"]),
    "tree": lambda: (tree(), "struct", [*NAMES]),
}  # fmt: skip


class Programs(dict[str, tuple[Robot, SourceProgram]]):
    """Each made when it is first asked for: another process may run the tests of the others."""

    def __missing__(self, key: str) -> tuple[Robot, SourceProgram]:
        robot, parameters, functions = ROBOTS[key]()
        return self.setdefault(key, (robot, robot_program(robot, functions, parameters, key, "tip")))


@pytest.fixture(scope="module")
def programs() -> Programs:
    return Programs()


def expected(robot: Robot, name: str, x: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """The function on plain floats, without tracing, without regrouping."""
    q, qd, qdd, tau = (x.get(k) for k in ("q", "qd", "qdd", "tau"))
    if name == "friction":
        torque = [0.0 if j.friction is None else j.friction.torque(v) for j, v in zip(robot.joints, x["qd"])]
        return (np.array(torque, float),)
    result = {
        "pose": lambda: kinematics.pose(robot, q),
        "position": lambda: kinematics.position(robot, q),
        "jacobian": lambda: kinematics.jacobian(robot, q),
        "jacobian_rate": lambda: kinematics.jacobian_rate(robot, q, qd),
        "external_torque": lambda: kinematics.jacobian(robot, q).T @ x["wrench"],
        "mass_matrix": lambda: composite.mass_matrix(robot, q),
        "inverse_mass_matrix": lambda: composite.inverse_mass_matrix(robot, q),
        "coriolis_matrix": lambda: coriolis.coriolis_matrix(robot, q, qd),
        "bias": lambda: newton_euler.bias(robot, q, qd),
        "nonlinear_effects": lambda: newton_euler.nonlinear_effects(robot, q, qd),
        "gravity": lambda: newton_euler.gravity(robot, q),
        "inverse_dynamics": lambda: newton_euler.inverse_dynamics(robot, q, qd, qdd),
        "forward_dynamics": lambda: articulated.forward_dynamics(robot, q, qd, tau),
        "kinetic_energy": lambda: energy.kinetic_energy(robot, q, qd),
        "potential_energy": lambda: energy.potential_energy(robot, q),
        "regressor": lambda: regressors.regressor(robot, q, qd, qdd),
        "joint_reactions": lambda: reactions.joint_reactions(robot, q, qd, qdd),
        "inverse_dynamics_derivatives": lambda: derivatives.inverse_dynamics_derivatives(robot, q, qd, qdd),
        "forward_dynamics_derivatives": lambda: derivatives.forward_dynamics_derivatives(robot, q, qd, tau),
    }[name]()
    parts = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(p, float) for p in parts)


def tolerance(name: str) -> float:
    return FORWARD if name.startswith(("forward", "inverse_mass")) else SAME


def close(found: object, wanted: np.ndarray, limit: float) -> bool:
    difference = np.max(np.abs(np.asarray(found, float).reshape(wanted.shape) - wanted), initial=0.0)
    return bool(difference <= limit * max(np.max(np.abs(wanted), initial=0.0), 1e-9))


def numeric(robot: Robot, program: SourceProgram) -> Robot:
    if not robot.parameters:
        return robot
    return robot.with_parameters(**dict(zip(robot.parameters, program.parameters.tolist())))


@pytest.mark.parametrize("key", ROBOTS)
def test_stored_numbers_are_those_of_the_physics_on_floats(programs, key):
    robot, program = programs[key]
    plain = numeric(robot, program)
    for routine in program.routines:
        assert routine.samples
        for sample in routine.samples:
            wanted = expected(plain, routine.name, dict(sample.inputs))
            for value, numbers in zip(routine.results, wanted):
                assert close(sample.outputs[value.key], numbers, tolerance(routine.name)), (routine.name, value.name)


# ---------------------------------------------------------------------- one runner a language: compile, run the self-test
def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout + done.stderr


def run_c(folder: Path, x: str) -> None:
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    run(["gcc", *strict, "-O0", f"{x}.c", f"{x}_test.c", "-o", "checked", "-lm"], folder)
    assert "0 failures" in run(["./checked"], folder)


def run_python(folder: Path, x: str) -> None:
    assert "all agree" in run([sys.executable, "-W", "error", f"{x}_test.py"], folder)


def run_matlab(folder: Path, x: str) -> None:
    assert "all agree" in run(["octave-cli", "--no-gui", "--norc", "--quiet", "--eval", f"{x}_test"], folder)


def run_julia(folder: Path, x: str) -> None:
    run(["julia", "--startup-file=no", f"{x}_test.jl"], folder)


def run_rust(folder: Path, x: str) -> None:
    run(["rustc", "--edition", "2021", "--test", "-D", "warnings", f"{x}.rs", "-o", "checked"], folder)
    assert "0 failed" in run(["./checked"], folder)


def run_javascript(folder: Path, x: str) -> None:
    assert "all agree" in run(["node", f"{x}_test.mjs"], folder)


RUNNERS = {"c": ("gcc", run_c), "python": (sys.executable, run_python), "matlab": ("octave-cli", run_matlab),
           "julia": ("julia", run_julia), "rust": ("rustc", run_rust), "javascript": ("node", run_javascript)}  # fmt: skip


def runner(language: str):
    tool, function = RUNNERS[language]
    if reason := missing_tool(tool):
        pytest.skip(reason)
    return function


@pytest.mark.parametrize("key", ROBOTS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_generated_code_agrees_with_the_stored_numbers(programs, language, key, tmp_path):
    function = runner(language)
    _, program = programs[key]
    routines = tuple(dataclasses.replace(r, tolerance=tolerance(r.name)) for r in program.routines)
    write_files(tmp_path, LANGUAGES[language].files(dataclasses.replace(program, routines=routines)))
    function(tmp_path, program.prefix)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_wrong_number_is_noticed_by_the_self_test(programs, language, tmp_path):
    """The self-test can fail: with one stored number changed by 1e-9 it must."""
    function = runner(language)
    _, program = programs["planar"]
    first = program.routines[0]
    sample = first.samples[0]
    key = first.results[0].key
    wrong = dataclasses.replace(sample, outputs={**sample.outputs, key: sample.outputs[key] + 1e-9})
    changed = dataclasses.replace(program, routines=(dataclasses.replace(first, samples=(wrong,)),))
    write_files(tmp_path, LANGUAGES[language].files(changed))
    with pytest.raises(AssertionError):
        function(tmp_path, program.prefix)


# ---------------------------------------------------------------------- fresh states, not the stored ones
@pytest.mark.parametrize("key", ["scara", "puma560", "tree"])
def test_compiled_c_agrees_on_fresh_states(programs, key, tmp_path):
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    robot, program = programs[key]
    write_files(tmp_path, LANGUAGES["c"].files(program))
    run(["gcc", "-std=c99", "-O0", "-shared", "-fPIC", f"{key}.c", "-o", f"{key}.so", "-lm"], tmp_path)
    library = ctypes.CDLL(str(tmp_path / f"{key}.so"))
    rng = np.random.default_rng(5)
    for routine in program.routines:
        function = library[f"{key}_{routine.name}"]
        function.restype = None
        for _ in range(5):
            x = {v.key: rng.uniform(-2.0, 2.0, v.size) for v in routine.arguments}
            out = [np.full(max(v.size, 1), np.nan) for v in routine.results]
            arrays = [*([program.parameters] if routine.uses_parameters else []), *x.values(), *out]
            function(*[a.ctypes.data_as(ctypes.c_void_p) for a in arrays])
            for found, wanted in zip(out, expected(robot, routine.name, x)):
                assert close(found, wanted, tolerance(routine.name)), routine.name


def written_module(folder: Path, name: str):
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("key", ["puma560", "tree"])
def test_python_broadcasts_over_leading_axes(programs, key, tmp_path):
    robot, program = programs[key]
    write_files(tmp_path, LANGUAGES["python"].files(program))
    module = written_module(tmp_path, key)
    rng = np.random.default_rng(6)
    lead = [module.Parameters()] if program.fields else []
    for routine in program.routines:
        x = {v.key: rng.uniform(-2.0, 2.0, (3, 1, *v.shape) if k == 0 else (2, *v.shape))
             for k, v in enumerate(routine.arguments)}  # fmt: skip
        found = getattr(module, routine.name)(*lead, *x.values())
        found = found if isinstance(found, tuple) else (found,)
        batch = (3, 1) if len(x) == 1 else (3, 2)
        for value, array in zip(routine.results, found):
            assert np.shape(array) == (*batch, *value.shape)
        spread = {k: np.broadcast_to(v, (*batch, v.shape[-1])) for k, v in x.items()}
        for index in np.ndindex(batch):
            one = expected(robot, routine.name, {k: v[index] for k, v in spread.items()})
            for array, wanted in zip(found, one):
                assert close(array[index], wanted, tolerance(routine.name)), routine.name


def test_changing_the_struct_changes_the_robot(tmp_path):
    """A heavier link through the struct equals a robot described with that mass."""
    robot = load("puma560")
    program = robot_program(robot, ["inverse_dynamics"], "struct", "arm", "tip")
    write_files(tmp_path, LANGUAGES["python"].files(program))
    module = written_module(tmp_path, "arm")
    heavier = robot.replace(
        links=tuple(dataclasses.replace(link, mass=9.0) if i == 2 else link for i, link in enumerate(robot.links)),
        gravity=(0.0, 0.0, -1.62),
    )
    rng = np.random.default_rng(7)
    q, qd, qdd = rng.uniform(-1, 1, (3, 6))
    p = module.Parameters()._replace(m3=9.0, gz=-1.62)
    assert close(module.inverse_dynamics(p, q, qd, qdd), newton_euler.inverse_dynamics(heavier, q, qd, qdd), SAME)
    assert not close(module.inverse_dynamics(module.Parameters(), q, qd, qdd),
                     newton_euler.inverse_dynamics(heavier, q, qd, qdd), 1e-3)  # fmt: skip
