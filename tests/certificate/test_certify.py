"""A certificate agrees for robots of every kind, says what was not run, and fails when a route is broken."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from coupled_pairs import follower_of_a, hand
from manipula.certificate import certify as verb
from manipula.certificate import comparison, exported_code, identities, own_routes
from manipula.certificate.certificate import NOT_RUN, Certificate
from manipula.certificate.own_routes import OWN, Route
from manipula.certificate.states import random_states
from manipula.cli.app import app
from manipula.codegen.c import C
from manipula.errors import BudgetError, DescriptionError
from manipula.physics import composite, coriolis, energy
from manipula.robot.friction import FrictionLaw
from strategies import random_robot

FEW = 3
ROUTES = {route.name: route for route in verb.ALL_ROUTES}
WITHOUT_TOOLS = tuple(r for r in verb.ALL_ROUTES if r.name not in ("exported C", "exported JavaScript"))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without compilers and Node, which start slowly."""
    monkeypatch.setattr(verb, "ALL_ROUTES", WITHOUT_TOOLS)


@dataclass(frozen=True)
class Drag(FrictionLaw):
    """Somebody's own law."""

    drag: Any
    name: ClassVar[str] = "drag"

    def torque(self, qd, state=(), load=0.0):
        return self.drag * qd * qd * qd


def with_friction(robot: mp.Robot, law: FrictionLaw) -> mp.Robot:
    return robot.replace(joints=tuple(dataclasses.replace(j, friction=law) for j in robot.joints))


ROBOTS = {
    "one joint": lambda: mp.planar([0.5], [2.0]),
    "tree": lambda: random_robot(np.random.default_rng(3), 4, tree=True, fixed=True, oblique=True, limits=True, drives=True,
                                 friction=True, base=True, gravity=True),
    "payload and tool": lambda: random_robot(np.random.default_rng(4), 3, tool=True, payload=True, oblique=True),
    "slides on a turn": lambda: follower_of_a("ratio = 0.1\noffset = 0.05", kind="prismatic"),
    "two fingers": lambda: mp.from_toml(hand()),
    "own friction": lambda: with_friction(mp.planar([0.5], [2.0]), Drag(0.3)),
    "bristles": lambda: with_friction(mp.planar([0.5], [2.0]), mp.friction.LuGre(100.0, 1.0, 0.1, 0.5, 0.8, 0.1)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROBOTS)
def test_all_roads_agree(quick: None, name: str) -> None:
    robot = ROBOTS[name]()
    found = mp.certify(robot, states=FEW)
    assert found.ok, found.text()
    ran = {row.route for row in found.rows if row.error is not None}
    assert {"Lagrange, 4×4 matrices", "Lagrange, symbols", "machine code, batch", "exported Python", "laws"} <= ran
    assert ("friction" in {row.quantity for row in found.rows}) == any(j.friction is not None for j in robot.joints)
    assert len([r for r in found.rows if r.group == "identities"]) == len(identities.LAWS)
    assert found.digest == robot.digest


@pytest.mark.parametrize("peer", ["pinocchio", "mujoco"])
def test_other_programs_judge_what_they_can_hold(quick: None, peer: str) -> None:
    title = {"pinocchio": "Pinocchio", "mujoco": "MuJoCo"}[peer]
    found = mp.certify(ROBOTS["tree"](), states=FEW)
    rows = [row for row in found.rows if row.route == title]
    assert len(rows) == 7
    if importlib.util.find_spec(peer) is None:
        assert all(row.status == NOT_RUN and "not installed" in row.note for row in rows)
    else:
        assert all(row.error is not None and row.error < 1e-13 for row in rows)


def test_exported_code_is_compiled_and_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "ALL_ROUTES", exported_code.EXPORTED)
    robot = with_friction(mp.planar([0.5, 0.4], [2.0, 1.0]), mp.friction.Viscous(0.2))
    found = mp.certify(robot, states=FEW)
    assert found.ok, found.text()
    for name, tool in (("exported C", exported_code.compiler()), ("exported JavaScript", exported_code.node())):
        rows = [row for row in found.rows if row.route == name]
        assert len(rows) == 8
        assert all((row.error is not None) == (tool is not None) for row in rows), found.text()


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exported_code, "compiler", lambda: None)
    monkeypatch.setattr(exported_code, "node", lambda: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("MANIPULA_NO_LLVM", "1")
    found = mp.certify(mp.planar([0.5], [2.0]), states=2)
    assert found.ok
    told = {row.route: row.note for row in found.not_run}
    assert "compiler" in told["exported C"]
    assert "Node" in told["exported JavaScript"]
    assert "pip install pin" in told["Pinocchio"]
    assert "pip install mujoco" in told["MuJoCo"]
    assert "MANIPULA_NO_LLVM" in told["machine code, batch"]
    assert "Not run: MuJoCo, Pinocchio, exported C, exported JavaScript, machine code" in found.verdict()


def test_large_robots_leave_out_closed_forms_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "ALL_ROUTES", OWN[:5])
    monkeypatch.setattr(identities, "LAWS", {})
    monkeypatch.setattr(verb, "LAWS", {})
    monkeypatch.setattr(verb, "energy_rows", lambda case: [])
    found = mp.certify(random_robot(np.random.default_rng(1), 30, drives=True), states=2)
    assert found.ok, found.text()
    told = {row.route: row.note for row in found.not_run}
    assert "30 bodies" in told["Lagrange, 4×4 matrices"]
    assert "terms" in told["Lagrange, symbols"]
    assert {"Newton–Euler, symbols", "articulated bodies"} <= {r.route for r in found.rows if r.error is not None}


def test_a_robot_without_mass_has_no_accelerations_and_says_so(quick: None) -> None:
    found = mp.certify(mp.from_dh([{"a": 0.5}, {"a": 0.4}], "standard"), states=2)
    assert found.ok, found.text()
    reasons = {row.quantity: row.note for row in found.not_run if row.route in ("Newton–Euler", "laws", "free motion")}
    assert {"acceleration", "∂q̈/∂(q, q̇, τ)", "T + V without friction"} <= set(reasons)
    assert all("moves no inertia of its own" in note for note in reasons.values())


# ---------------------------------------------------------------------- it can fail
def wrong(f: Any, size: float = 1e-9) -> Any:
    """The function with one number changed by a part in a thousand million."""

    def changed(*arguments: Any, **options: Any) -> Any:
        found = np.array(f(*arguments, **options))
        found.flat[0] = found.flat[0] * (1.0 + size) + size
        return found if found.shape else found[()]

    return changed


@pytest.mark.parametrize(
    ("module", "name", "fails"),
    [(composite, "mass_matrix", "composite bodies"), (composite, "forward_dynamics", "composite bodies"),
     (own_routes.articulated, "forward_dynamics", "articulated bodies"), (own_routes, "lagrange_euler", "Lagrange, 4×4 matrices")],
)  # fmt: skip
def test_a_wrong_number_on_a_road_is_a_disagreement(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, fails: str
) -> None:
    monkeypatch.setattr(verb, "ALL_ROUTES", (ROUTES[fails],))
    robot = mp.planar([0.5, 0.4], [2.0, 1.0])
    if name == "lagrange_euler":
        right = own_routes.lagrange_euler
        monkeypatch.setattr(module, name, lambda r, q: right(r, q)._replace(g=wrong(lambda: right(r, q).g)()))
    else:
        monkeypatch.setattr(module, name, wrong(getattr(module, name)))
    found = mp.certify(robot, states=FEW)
    assert not found.ok
    assert fails in {row.route for row in found.failed}
    assert "disagree" in found.verdict()


@pytest.mark.parametrize("law", ["g = ∂V/∂q", "T = ½ q̇ᵀ M q̇", "Ṁ − 2C is skew"])
def test_a_broken_law_is_a_disagreement(monkeypatch: pytest.MonkeyPatch, law: str) -> None:
    monkeypatch.setattr(verb, "ALL_ROUTES", ())
    monkeypatch.setattr(verb, "LAWS", {law: identities.LAWS[law]})
    module, name = {
        "g = ∂V/∂q": (energy, "potential_energy"), "T = ½ q̇ᵀ M q̇": (energy, "kinetic_energy"),
        "Ṁ − 2C is skew": (coriolis, "coriolis_matrix"),
    }[law]  # fmt: skip
    robot = mp.planar([0.5, 0.43], [2.0, 1.0])
    assert mp.certify(robot, states=FEW).ok
    if name == "potential_energy":
        right = energy.potential_energy
        monkeypatch.setattr(module, name, lambda r, q: right(r, q) * (1 + 1e-9))
    else:
        right = getattr(mp.Model(robot), name)
        monkeypatch.setattr(mp.Model, name, staticmethod(wrong(right)))
    failed = [row for row in mp.certify(robot, states=FEW).failed if row.group == "identities"]
    assert [row.quantity for row in failed] == [law]
    assert failed[0].error is not None


def test_wrong_exported_code_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    if exported_code.compiler() is None:
        pytest.skip("no C compiler")
    monkeypatch.setattr(verb, "ALL_ROUTES", (ROUTES["exported C"],))
    robot = mp.planar([0.5, 0.4], [2.0, 1.0])
    monkeypatch.setattr(C, "calls", {**C.calls, "cos": "cos({0} + 1e-9)"})
    assert "torque" in {row.quantity for row in mp.certify(robot, states=FEW).failed}
    monkeypatch.setattr(C, "calls", {**C.calls, "cos": "cos({0}"})
    broken = mp.certify(robot, states=FEW)
    assert {row.status for row in broken.rows if row.route == "exported C"} == {"disagrees"}
    assert "ended with 1" in broken.failed[0].note


def test_a_road_that_raises_is_a_disagreement_and_another_program_that_does_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(case: Any) -> Any:
        raise ZeroDivisionError("nothing")

    def refused(case: Any) -> Any:
        raise BudgetError("Too large.")

    routes = (
        Route("mine", ("g",), broken),
        Route("theirs", ("g",), broken, ours=False),
        Route("large", ("g",), refused),
    )
    monkeypatch.setattr(verb, "ALL_ROUTES", routes)
    found = {row.route: row for row in mp.certify(mp.planar([0.5], [2.0]), states=2).rows}
    assert (found["mine"].status, found["mine"].note) == ("disagrees", "ZeroDivisionError: nothing")
    assert (found["theirs"].status, found["theirs"].note) == ("not run", "It says: nothing")
    assert (found["large"].status, found["large"].note) == ("not run", "Too large.")


def test_what_is_no_number_disagrees() -> None:
    reference = np.ones((2, 3))
    assert not comparison.error(np.full((2, 3), np.nan), reference, 1.0) <= 1.0
    assert comparison.error(np.ones((2, 2)), reference, 1.0) == np.inf
    row = verb.CertifiedRow.of("routes", "a", "g", float("nan"), 1e-12, 2)
    assert row.status == "disagrees"
    kept = Certificate("r", "d", "k", (row,), 2, 0, (), "", {}, {})
    assert json.loads(json.dumps(kept.to_dict(), allow_nan=False))["rows"][0]["error"] == "nan"


# ---------------------------------------------------------------------- states, refusals, words
def test_states_are_within_the_limits_and_repeat() -> None:
    robot = random_robot(np.random.default_rng(8), 6, limits=True)
    drawn, again = random_states(robot, 200, 5), random_states(robot, 200, 5)
    assert np.array_equal(drawn.q, again.q)
    assert not np.array_equal(drawn.q, random_states(robot, 200, 6).q)
    low, high = robot.position_limits.T
    assert (drawn.q >= low).all()
    assert (drawn.q <= high).all()
    for i, joint in enumerate(robot.joints):
        if joint.limits.velocity:
            assert np.abs(drawn.qd[:, i]).max() <= joint.limits.velocity


def test_refusals() -> None:
    symbolic = mp.load("scara-khang", symbolic=True).with_values(but=("m1",))
    with pytest.raises(DescriptionError, match=r"m1.*with_parameters"):
        mp.certify(symbolic)
    with pytest.raises(DescriptionError, match="takes a Robot, found str"):
        mp.certify("panda")  # pyright: ignore[reportArgumentType]
    for words in ({"states": 1}, {"states": 2.5}, {"seed": -1}, {"limit": "many"}):
        with pytest.raises(DescriptionError, match=next(iter(words))):
            mp.certify(mp.planar([1.0], [1.0]), **words)


def test_a_certificate_is_a_value_with_words(quick: None, tmp_path: Path) -> None:
    found = mp.certify(mp.compile(mp.planar([0.5], [2.0])), states=2, seed=4)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["ok"] is True
    assert told["seed"] == 4
    assert told["versions"]["manipula"] == mp.__version__
    assert re.fullmatch(r"[0-9a-f]{64}", told["digest"])
    assert len(told["rows"]) == len(found.rows)
    assert "1e-12" in " ".join(told["method"])
    assert found.worst is not None
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert found.digest in page
    assert "http://" not in page
    assert "https://" not in page
    for word in ("Laws of mechanics", "seed", "version of numpy", "processor"):
        assert word in page
    with pytest.raises(DescriptionError, match=r"\.html"):
        found.report(tmp_path / "page.pdf")


def test_hostile_names_stay_text(quick: None, tmp_path: Path) -> None:
    robot = dataclasses.replace(mp.planar([0.5], [2.0]), name="<script>alert(1)</script>")
    page = mp.certify(robot, states=2).report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page


def test_the_command(quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "c.html"
    done = CliRunner().invoke(app, ["certify", "planar-2r", "--states", "2", "-o", str(page)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("planar-2r: all ")
    assert page.exists()
    told = CliRunner().invoke(app, ["certify", "planar-2r", "--states", "2", "--json"])
    assert json.loads(told.output)["ok"] is True
    monkeypatch.setattr(verb, "ALL_ROUTES", (ROUTES["composite bodies"],))
    monkeypatch.setattr(composite, "mass_matrix", wrong(composite.mass_matrix))
    failed = CliRunner().invoke(app, ["certify", "planar-2r", "--states", "2"])
    assert failed.exit_code == 1
    assert "disagree" in failed.output
    assert CliRunner().invoke(app, ["certify", "planar-2r", "-o", "c.txt"]).exit_code == 2
