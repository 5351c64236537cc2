"""``compile(robot)``: machine code says what the physics says, on one state and on many."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from manipula.algebra.derivatives import jacobian as derivative
from manipula.errors import BudgetError, DescriptionError, ShapeError, UnknownNameError
from manipula.formats.planar import planar
from manipula.model import Model, compile
from manipula.physics import articulated, composite, coriolis, derivatives, energy, kinematics, newton_euler, reactions
from manipula.physics import planar as planar_arm
from manipula.physics.forward import SPATIAL_FROM, uses_articulated
from manipula.physics.functions import FUNCTIONS
from manipula.physics.regressor import regressor
from manipula.robot.robot import Robot
from strategies import random_robot, random_state

SAME = 1e-13  # regrouped constants and another order of sums; scaled by the largest entry
SOLVED = 1e-11  # the same after a division by M, whose condition number here is below 1000

CHAIN = random_robot(
    np.random.default_rng(81),
    4,
    oblique=True,
    drives=True,
    base=True,
    tool=True,
    gravity=True,
    payload=True,
    name="chain",
)
TREE = random_robot(np.random.default_rng(82), 5, tree=True, oblique=True, drives=True, tool=True, name="tree")
PLANAR = planar([0.5, 0.4, 0.3], [2.0, 1.5, 1.0], payload=0.5, name="planar")


@pytest.fixture(scope="module", params=[CHAIN, TREE, PLANAR], ids=lambda r: r.name)
def model(request: pytest.FixtureRequest) -> Model:
    return compile(request.param)


def plain_physics(robot: Robot, q: Any, qd: Any, x: Any) -> dict[str, Any]:
    """Every function of a model, by the physics on floats."""
    w = np.array([1.0, -2.0, 0.5, 0.3, 0.7, -0.4])
    return {
        "pose": kinematics.pose(robot, q),
        "poses": kinematics.poses(robot, q, robot.frame_names),
        "position": kinematics.position(robot, q),
        "jacobian": kinematics.jacobian(robot, q),
        "jacobian_rate": kinematics.jacobian_rate(robot, q, qd),
        "pose_derivatives": derivative(lambda y: kinematics.pose(robot, y), q),
        "external_torque": kinematics.jacobian(robot, q).T @ w,
        "inverse_dynamics": newton_euler.inverse_dynamics(robot, q, qd, x),
        "forward_dynamics": composite.forward_dynamics(robot, q, qd, x),
        "mass_matrix": composite.mass_matrix(robot, q),
        "inverse_mass_matrix": composite.inverse_mass_matrix(robot, q),
        "coriolis_matrix": coriolis.coriolis_matrix(robot, q, qd),
        "bias": newton_euler.bias(robot, q, qd),
        "nonlinear_effects": newton_euler.nonlinear_effects(robot, q, qd),
        "gravity": newton_euler.gravity(robot, q),
        "kinetic_energy": energy.kinetic_energy(robot, q, qd),
        "potential_energy": energy.potential_energy(robot, q),
        "regressor": regressor(robot, q, qd, x),
        "joint_reactions": reactions.joint_reactions(robot, q, qd, x),
        "inverse_dynamics_derivatives": derivatives.inverse_dynamics_derivatives(robot, q, qd, x),
        "forward_dynamics_derivatives": derivatives.forward_dynamics_derivatives(robot, q, qd, x),
    }


def call(model: Model, name: str, q: Any, qd: Any, x: Any) -> Any:
    inputs = FUNCTIONS[name].inputs
    values = {"q": q, "qd": qd, "qdd": x, "tau": x, "wrench": np.array([1.0, -2.0, 0.5, 0.3, 0.7, -0.4])}
    return getattr(model, name)(*(values[i] for i in inputs))


def parts(value: Any) -> list[np.ndarray]:
    return [np.asarray(v, float) for v in value] if isinstance(value, tuple) else [np.asarray(value, float)]


def close(name: str, value: np.ndarray, reference: np.ndarray) -> bool:
    assert value.shape == reference.shape, name
    tolerance = SOLVED if name.startswith(("forward_dynamics", "inverse_mass_matrix")) else SAME
    return bool(np.max(np.abs(value - reference)) <= tolerance * max(1.0, np.max(np.abs(reference))))


COMPARED = [name for name in FUNCTIONS if name not in ("planar_model",)]


@pytest.mark.parametrize("name", COMPARED)
def test_machine_code_is_the_physics(model: Model, name: str) -> None:
    rng = np.random.default_rng(1)
    states = [random_state(rng, model.n) for _ in range(9)]
    batch = [np.stack([s[k] for s in states]) for k in range(3)]
    together = parts(call(model, name, *batch))
    for k, state in enumerate(states):
        expected = parts(plain_physics(model.robot, *state)[name])
        alone = parts(call(model, name, *state))
        assert len(expected) == len(alone)
        for one, many, reference in zip(alone, together, expected):
            assert close(name, one, reference)
            assert np.array_equal(one, many[k])  # a state alone and in a batch: the same bits


def test_every_function_is_compared() -> None:
    q, qd, x = random_state(np.random.default_rng(2), TREE.n)
    assert set(plain_physics(TREE, q, qd, x)) | {"planar_model"} == set(FUNCTIONS)


def test_other_frames_and_axes(model: Model) -> None:
    q, qd, _ = random_state(np.random.default_rng(3), model.n)
    for name in ("link1", "base"):
        assert close("pose", model.pose(q, name), kinematics.pose(model.robot, q, name))
        for axes in ("base", "body"):
            assert close("jacobian", model.jacobian(q, name, axes), kinematics.jacobian(model.robot, q, name, axes))
            rate = kinematics.jacobian_rate(model.robot, q, qd, name, axes)
            assert close("jacobian_rate", model.jacobian_rate(q, qd, name, axes), rate)
    with pytest.raises(UnknownNameError, match="Did you mean 'link1'"):
        model.pose(q, "lnk1")


def test_planar_model() -> None:
    model = compile(PLANAR)
    q, qd, _ = random_state(np.random.default_rng(4), 3)
    expected = planar_arm.planar_model(planar_arm.planar_arm(PLANAR), q, qd)
    for value, reference in zip(model.planar_model(q, qd), expected, strict=True):
        assert close("planar_model", value, np.asarray(reference, float))
    with pytest.raises(DescriptionError, match="not a planar n-R arm"):
        compile(CHAIN).planar_model(np.zeros(4), np.zeros(4))
    assert hasattr(model, "planar_model")
    assert not hasattr(compile(CHAIN), "planar_model")  # what asks objects for all they have goes on


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_planar_model_keeps_its_number_of_operations(n: int) -> None:
    """2n² + 34n − 30 of the recursions; changes of sign, which the tracer moves to the results, are counted apart."""
    count = compile(planar([0.4] * n, [1.0] * n)).operation_count("planar_model")
    assert count["div"] == 0
    assert 0 < count["total"] <= 2 * n * n + 34 * n - 28


def test_linearisation_is_the_derivative_of_the_equations_of_motion(model: Model) -> None:
    n = model.n
    q, qd, tau = random_state(np.random.default_rng(5), n)
    A, B = model.linearise(q, qd, tau)

    def rate(x: np.ndarray) -> np.ndarray:
        acceleration = articulated.forward_dynamics(model.robot, x[:n], x[n : 2 * n], x[2 * n :])
        return np.concatenate([x[n : 2 * n], acceleration])

    exact = derivative(rate, np.concatenate([q, qd, tau]))
    assert close("forward_dynamics", A, exact[:, : 2 * n])
    assert close("forward_dynamics", B, exact[:, 2 * n :])


def test_long_arms_use_articulated_bodies() -> None:
    robot = random_robot(np.random.default_rng(83), SPATIAL_FROM, prismatic=False, drives=True)
    model = compile(robot)
    assert uses_articulated(model.lean_mechanism)
    assert not uses_articulated(compile(CHAIN).lean_mechanism)
    assert uses_articulated(compile(planar([0.3] * 8, [1.0] * 8)).lean_mechanism)
    q, qd, tau = random_state(np.random.default_rng(6), robot.n)
    qdd = model.forward_dynamics(q, qd, tau)
    left_over = newton_euler.inverse_dynamics(robot, q, qd, qdd) - tau
    size = max(1.0, np.max(np.abs(composite.mass_matrix(robot, q) * qdd)))
    assert np.max(np.abs(left_over)) <= SAME * size


def test_leading_axes_broadcast() -> None:
    model = compile(PLANAR)
    rng = np.random.default_rng(7)
    q, qd = rng.uniform(-1, 1, (5, 1, 3)), rng.uniform(-1, 1, (4, 3))
    qdd = np.array([1.0, 2.0, 3.0])
    tau = model.inverse_dynamics(q, qd, qdd)
    assert tau.shape == (5, 4, 3)
    assert np.array_equal(tau[2, 3], model.inverse_dynamics(q[2, 0], qd[3], qdd))
    assert np.array_equal(model.gravity([0.1, 0.2, 0.3]), model.gravity(np.array([0.1, 0.2, 0.3])))
    backwards = np.arange(6.0)[::-2]
    assert np.array_equal(model.gravity(backwards), model.gravity(backwards.copy()))
    assert model.mass_matrix(np.zeros((0, 3))).shape == (0, 3, 3)
    out = np.empty((5, 4, 3))
    assert model.inverse_dynamics(q, qd, qdd, out=out) is out
    assert np.array_equal(out, tau)
    many = rng.uniform(-1, 1, (3000, 3))
    assert np.array_equal(model.mass_matrix(many, threads=1), model.mass_matrix(many, threads=2))


def test_wrong_shapes_name_the_robot() -> None:
    model = compile(PLANAR)
    for wrong in (np.zeros(2), np.zeros((3, 4)), 1.0):
        with pytest.raises(ShapeError, match=r"planar.*\(\.\.\., 3\)|planar.*3"):
            model.gravity(wrong)


def test_what_cannot_be_compiled_says_why() -> None:
    with pytest.raises(DescriptionError, match=r"free parameters \(l\).*with_parameters\(l=1.0"):
        compile(planar(["l"], [1.0]))
    with pytest.raises(DescriptionError, match="A Robot is needed, found str"):
        compile("panda.urdf")  # pyright: ignore[reportArgumentType]
    with pytest.raises(BudgetError, match=r"mass_matrix.*360000 entries"):
        compile(planar([0.1] * 600, [1.0] * 600)).mass_matrix(np.zeros(600))
    with pytest.raises(UnknownNameError, match="Did you mean 'mass_matrix'"):
        compile(PLANAR).operation_count("mass_matrx")
    tree = TREE.replace(tip=None)
    with pytest.raises(DescriptionError, match="several frames that could be its tip"):
        compile(tree).pose(np.zeros(5))
    assert compile(tree).mass_matrix(np.zeros(5)).shape == (5, 5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_says_what_it_is(name: str) -> None:
    """Docstring with shapes and units, signature, keywords, the usual TypeErrors with the function's name."""
    model, entry = compile(PLANAR), FUNCTIONS[name]
    function = getattr(model, name)
    text = function.__doc__
    assert "(..., " in text
    assert "[" in text
    assert list(inspect.signature(function).parameters)[: len(entry.inputs)] == list(entry.inputs)
    assert {"out", "threads"} < set(inspect.signature(function).parameters)
    values = {i: np.full(shape, 0.1 + k) for k, (i, shape) in enumerate(entry.shapes(3).items())}
    for one, other in zip(parts(function(**values)), parts(function(*values.values())), strict=True):
        assert np.array_equal(one, other)
    results = function(*values.values())
    found = results if isinstance(results, tuple) else (results,)
    assert name == "poses" or entry.entries(3) == sum(np.size(r) for r in found)
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'qdot'"):
        function(**values, qdot=0.0)
    with pytest.raises(TypeError, match=rf"{name}\(\) got multiple values for argument 'q'"):
        function(values["q"], **values)
    with pytest.raises(TypeError, match=rf"{name}\(\).* missing.*{entry.inputs[-1]}"):
        function(*list(values.values())[:-1])


def test_functions_say_what_they_are_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANIPULA_NO_LLVM", "1")
    model = compile(PLANAR.replace(name="interpreted"))
    assert str(inspect.signature(model.bias)) == "(q, qd, *, out=None, threads=None)"
    assert "[N m, N]" in (model.bias.__doc__ or "")
    q, qd, _ = random_state(np.random.default_rng(6), 3)
    assert close("bias", model.bias(qd=qd, q=q), compile(PLANAR).bias(q, qd))
