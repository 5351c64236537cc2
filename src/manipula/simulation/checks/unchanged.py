"""Settings that are honoured and change nothing, or do what nobody wants: gains that hold already, a load that is carried already,
a delay as long as the run, a feedback that drives away, torques that are taken for volts. Told in notes, because a study may pass such a value on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.lazy import is_made_by
from manipula.redundancy.arm import Arm
from manipula.robot.robot import Robot
from manipula.simulation.plant.disturbances import PayloadChange, inertia_matrix

if TYPE_CHECKING:
    from manipula.control.lqr import LQR
    from manipula.simulation.scenario import Scenario

NO_BODY = (0.0, (0.0, 0.0, 0.0), ((0.0,) * 3,) * 3)
GROWS = 1e-9  # of the largest eigenvalue: less is rounding
BARE = ("pd", "pid", "cascade", "motor_pd", "torque_table", "user")  # laws with a command in the unit of their gains
MODELLED = ("gravity", "inertia")  # flags of these that add torques of the model


def unchanged_notes(s: Scenario) -> tuple[str, ...]:
    """A sentence on every change to what holds already, on a delay that outlasts the run, and on a gain that drives away."""
    varied = tuple(s.vary or ())
    found = [*_payloads(s, varied), *_switches(s, varied)]
    if s.actuator.delay and s.actuator.delay >= float(s.duration or 0.0):
        what = "the command decided at the start is held throughout" if s.torques is None else "no torque of the table but the first arrives"  # fmt: skip
        found.append(f"actuator.delay: {s.actuator.delay:g} s is not shorter than the run of {s.duration:g} s: {what}.")
    return (*found, *_away(s, varied), *_volts(s))


def _payloads(s: Scenario, varied: tuple[str, ...]) -> list[str]:
    """Changes to the load that the tip carries already, with the tip where it is already."""
    changes = {i: d for i, d in enumerate(s.disturbances) if isinstance(d, PayloadChange)}
    if any(path.startswith(f"disturbances[{i}]") for i in changes for path in varied) or s.robot.parameters:
        return []
    own = s.robot.payload
    carried = NO_BODY if own is None else _body(own.mass, own.com, own.inertia)
    tool: Any = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    found = []
    for i, d in sorted(changes.items(), key=lambda entry: entry[1].time):
        new = _body(d.mass, d.com, ((0.0,) * 3,) * 3 if d.inertia is None else inertia_matrix(d.inertia))
        place = tool if d.tool is None else (tuple(map(float, d.tool)), tuple(map(float, d.tool_rpy)))
        if (new, place) == (carried, tool):
            found.append(f"disturbances[{i}]: the tip carries this load already, so that it changes nothing.")
        carried, tool = new, place
    return found


def _body(mass: Any, com: Any, inertia: Any) -> tuple[Any, ...]:
    """What is carried, as it acts: a mass of 0 has no place."""
    place = tuple(map(float, com)) if mass else (0.0, 0.0, 0.0)
    return float(mass), place, tuple(tuple(map(float, row)) for row in inertia)


def _switches(s: Scenario, varied: tuple[str, ...]) -> list[str]:
    """Switches at given times to the gains in force. One that depends on the state may happen before or after any other."""
    changes = [(i, w) for i, w in enumerate(s.switches) if w.controller is not None]
    if any(w.when is not None for _, w in changes) or any(p.startswith(("switches", "controller")) for p in varied):
        return []
    found, acting = [], s.controller
    for i, w in sorted(changes, key=lambda entry: entry[1].time):
        if type(w.controller) is type(acting) and w.controller == acting and w.reference is None:
            found.append(f"switches[{i}]: these gains are in force already, so that it changes nothing.")
        acting = w.controller
    return found


def _away(s: Scenario, varied: tuple[str, ...]) -> list[str]:
    """Gains that are given as a matrix: the arm linearised at the goal must come back to it."""
    model = s.robot if s.model is None else s.model
    given = [("controller", s.controller), *((f"switches[{i}].controller", w.controller) for i, w in enumerate(s.switches))]  # fmt: skip
    found = []
    for field, law in given:
        if not is_made_by(law, "manipula.control.lqr", "LQR"):
            continue
        from manipula.control.lqr import LQR

        assert isinstance(law, LQR)
        if law.gain is None or model.parameters or any(p.startswith(field) for p in varied):
            continue
        rate = _growth(model, law)
        if rate > 0.0:
            found.append(
                f"{field}.gain: the arm linearised at the goal leaves it under this gain (its errors grow with e^(t·{rate:.3g}/s)); "
                "τ = g − K·error brings it back with gains above zero."
            )
    return found


def _volts(s: Scenario) -> list[str]:
    """Laws that compute torques, before drives whose command is a voltage."""
    law: Any = s.controller
    drives = [j.drive for j in s.robot.joints] if s.drives is None else s.drives
    volts = [j.name for j, d in zip(s.robot.joints, drives) if getattr(d, "command", "") == "voltage"]
    bare = getattr(law, "name", "") in BARE and not any(getattr(law, flag, False) for flag in MODELLED)
    if law is None or not volts or bare or not type(law).__module__.startswith("manipula."):
        return []
    return [
        f"drives: the command of {', '.join(volts)} is a voltage; torques that '{law.name}' computes from the model of the arm act there as volts."
    ]


def _growth(robot: Robot, law: LQR) -> float:
    """The largest real part of the eigenvalues of the loop at rest at the goal, 0 where none is above zero [1/s]."""
    from manipula.physics.derivatives import forward_dynamics_derivatives

    n = robot.n
    q, still = np.asarray(per_joint(law.goal, n), float), np.zeros(n)
    arm = Arm(robot)
    dq, dqd, dtau = (
        np.asarray(d, float)
        for d in forward_dynamics_derivatives(arm.lean, q, still, np.asarray(arm.gravity(q), float))
    )
    K = np.asarray(law.gain, float)
    rates = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [dq - dtau @ K[:, :n], dqd - dtau @ K[:, n:]]]))
    largest = float(rates.real.max())
    return largest if largest > GROWS * float(np.abs(rates).max()) else 0.0
