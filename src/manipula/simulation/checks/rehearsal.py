"""One evaluation of a run on plain numbers: parts that do not fit together are named before anything is compiled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from manipula.control.base import target_of
from manipula.control.memory import renewed, snapshot
from manipula.control.simple import UserFunction
from manipula.errors import DescriptionError, ManipulaError, ShapeError
from manipula.identity import is_own
from manipula.simulation.checks.requests import check_requests
from manipula.simulation.plant.numbers import varied
from manipula.simulation.plant.own_parts import check_own_parts
from manipula.simulation.plant.plant import Plant
from manipula.simulation.plant.surroundings import Surroundings
from manipula.simulation.plant_of_scenario import initial_state, plant_of
from manipula.simulation.scenario import Scenario


def rehearse(s: Scenario) -> None:
    """Check that robot, reference, controller, friction, drives and disturbances belong together.

    Raises:
        DescriptionError, ShapeError: with the field that does not fit.
    """
    check_requests(s)
    kind = s.resolved_kind()
    if kind in ("kinematic", "inverse_dynamics"):
        return
    # its start is enough, and a table of all of it may be long
    if s.base_motion is not None and s.base_motion.motion is not None:
        from manipula.simulation.plant.base_table import start_of_motion  # and with it every path and time law

        s = s.replace(base_motion=replace(s.base_motion, motion=start_of_motion(s.base_motion.motion)))
    plant, dimension, followed = plant_of(s)
    for path, value in (s.vary or {}).items():
        varied(plant, path, value)
    if s.robot.parameters or isinstance(plant.controller, UserFunction):
        return
    if plant.controller is not None and not is_own(plant.controller):
        plant = replace(plant, controller=renewed(plant.controller))  # a rehearsal leaves nothing in its memory
    q, qd = initial_state(s)
    target = np.zeros((3, dimension))
    if followed is not None and not isinstance(followed, tuple):
        at = np.asarray(followed.derivatives(0.0, 2), float)
        target[:, : at.shape[-1]] = at[..., :dimension]
    torques = None if plant.torques is None else lambda t: np.zeros(s.robot.n)
    at_start = target_of(lambda k: target[k] if k < 3 else np.zeros(dimension), plant.turned)
    rehearse_plant(replace(plant, reference=lambda t: at_start, torques=torques), q[0], qd[0])


def check_memories(plant: Plant) -> None:
    """Friction laws and drives of a user keep what they remember in ``states``, where the integrator can see it."""
    check_own_parts(plant.friction, plant.drives)
    for name, parts in (("friction", plant.friction), ("drives", plant.drives)):
        for i, part in enumerate(parts):
            if part is None or is_own(part):
                continue
            fresh = renewed(part)
            first = _torques(fresh)
            held = snapshot(fresh)
            if _torques(fresh) != first or snapshot(fresh) != held:
                raise DescriptionError(
                    f"'{part.name}' remembers something between calls, which the integrator cannot see: it belongs into "
                    "'states' with a 'state_rate'.",
                    field=f"{name}[{i}]",
                )


def _torques(part: Any) -> list[Any]:
    """Torques at a few speeds, forwards and backwards; None where the part fails (which the run will tell)."""
    found: list[Any] = []
    state, loads = (0.1,) * int(part.states), ({"load": 2.0} if hasattr(part, "needs_load") else {})
    for v in (0.5, -0.3, 1.2, -0.3, 0.5):
        try:
            out = part.torque(v, state, **loads) if loads else part.torque(v, 0.1, 0.2, v, state, 0.01)
            found.append(float(out))
        except Exception:  # a user's part at a state that it may never see
            found.append(None)
    return found if found[:2] == found[:2:-1] else [*found, object()]


def rehearse_plant(plant: Plant, q: np.ndarray, qd: np.ndarray) -> None:
    """The state's rate at the start, part by part; a failure is reported with the part that made it."""
    field = "controller"
    try:
        x = plant.start(q, qd).astype(float)
        command = plant.command(0.0, x, q, qd)
        if np.shape(command) != (plant.layout.n,):
            raise ShapeError(
                f"The controller gives torques of shape {np.shape(command)}, expected ({plant.layout.n},)."
            )
        for i, law in enumerate(plant.friction):
            if law is not None:
                field = f"friction[{i}]"
                law.torque(qd[i], plant.layout.friction_states(x)[i], 1.0)
        field = "disturbances"
        plant.external_torques(Surroundings(plant.mechanism(0.0), q, qd), 0.0)
        field = "contacts"
        for contact in plant.contacts:
            contact.touch(Surroundings(plant.mechanism(0.0), q, qd))
        field = "drives"
        plant.flow(0.0, x, None, command)
    except DescriptionError as error:
        raise error.at(field=field) from None
    except ManipulaError:
        raise
    except (ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError) as error:
        if field.startswith("friction"):
            law = plant.friction[int(field[9:-1])]
            raise DescriptionError(
                f"The law '{getattr(law, 'name', type(law).__name__)}' fails at the start: {type(error).__name__}: {error}.",
                field=field,
            ) from error
        raise DescriptionError(
            f"The numbers given do not fit this robot of {plant.layout.n} joints: {error}.", field=field
        ) from None
