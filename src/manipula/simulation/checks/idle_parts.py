"""Parts that can never act in a run: refused with what keeps them from it, because nobody asks for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.algebra.expression import parse
from manipula.algebra.scattered import Scattered
from manipula.control.base import Controller, Target
from manipula.errors import DescriptionError, ManipulaError, UnknownNameError, printable
from manipula.identity import is_own
from manipula.lazy import is_made_by
from manipula.physics import kinematics
from manipula.redundancy.arm import Arm
from manipula.robot.drives.flexible import Flexible
from manipula.robot.drives.rigid import Rigid
from manipula.robot.link import TIP
from manipula.simulation.plant.contact import PlaneContact
from manipula.simulation.plant.contact.base import Contact
from manipula.simulation.plant.disturbances import STATE_NAMES, PayloadChange, Wrench, WrenchTable, is_wrench
from manipula.simulation.stated_limits import stated_limits

if TYPE_CHECKING:
    from manipula.robot.robot import Robot
    from manipula.simulation.scenario import Scenario

COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")
POSTURES = 3
NO_LEVER = 1e-12  # [m or rad per rad or m] of a row of the Jacobian


def check_idle(s: Scenario, kind: str) -> None:
    """Does every part of the scenario have something to do?

    Raises:
        DescriptionError: with the part that would change nothing.
    """
    varied = tuple(s.vary or ())
    for i, d in enumerate(s.disturbances):
        own = tuple(path for path in varied if path.startswith(f"disturbances[{i}]"))
        why = "" if own else disturbance_idle(d, float(s.duration or 0.0), s.robot, s.base_motion is not None, loaded_before(s, i))  # fmt: skip
        if why:
            raise DescriptionError(why[0].upper() + why[1:], field=f"disturbances[{i}]")
    for i, contact in enumerate(s.contacts):
        try:
            why = contact.unfit(s.robot)
        except UnknownNameError as error:
            raise UnknownNameError(error.problem, field=f"contacts[{i}].{error.field}") from None
        why = why or ("" if s.base_motion is not None or varied else _never_touches(contact, s.robot))
        if why:
            raise DescriptionError(f"The contact '{contact.name}' has nothing to do: {why}", field=f"contacts[{i}]")
    if not any(path.startswith("disturbances") and path.endswith(".time") for path in varied):
        check_payload_times({i: d.time for i, d in enumerate(s.disturbances) if isinstance(d, PayloadChange)})
    _check_base(s, varied)
    _check_shadowed(s, varied)
    for i, switch in enumerate(s.switches):
        path, duration = f"switches[{i}].time", float(s.duration or 0.0)
        latest = np.max((s.vary or {}).get(path, switch.time)) if switch.time is not None else 0.0
        if latest >= duration:
            raise DescriptionError(
                f"It would never act: it happens at {latest:g} s, when the run of {duration:g} s is over.", field=path
            )
    if s.noise.seed and not (s.noise.position or s.noise.velocity):
        raise DescriptionError("A seed is given, but no noise: position and velocity are 0.", field="noise.seed")
    if s.stop_at_limits and "position" not in stated_limits(s.robot, s.limits, parameters=s.parameters):
        raise DescriptionError(
            f"No joint of '{s.robot.name}' states a position limit as a number, and limits has none: nothing can stop the run.",
            field="stop_at_limits",
        )
    if kind in ("dynamic", "playback"):
        _prescribed(s, kind)
    for i, drive in enumerate(s.drives or () if kind == "free" else ()):
        if isinstance(drive, Rigid) and drive.torque_limit is not None:
            raise DescriptionError(
                "In a free run nothing commands a torque, so this limit could never act; give a controller or torques, or no limit.",
                field=f"drives[{i}].torque_limit",
            )
    model_free = s.controller is not None and s.model not in (None, s.robot) and not _asks_model(s.controller, s.robot)
    if kind == "dynamic" and s.controller is not None and model_free:
        raise DescriptionError(
            f"The controller '{s.controller.name}' computes its torques without a model and would ignore the one given; "
            "leave it out, or take a controller that uses it (manipula parts controller).",
            field="model",
        )


def _check_base(s: Scenario, varied: tuple[str, ...]) -> None:
    """A base that neither moves nor stands anywhere else."""
    if s.base_motion is None or any(path.startswith("base_motion") for path in varied):
        return
    if s.base_motion.motion is None and all(_is_zero(v) for v in (*s.base_motion.position, *s.base_motion.rotation)):
        raise DescriptionError(
            "The base stands still in the origin of the world: it would never act. Give formulas in t, or leave it out.",
            field="base_motion",
        )


def _check_shadowed(s: Scenario, varied: tuple[str, ...]) -> None:
    """Changes that others undo before they can act: of switches the last one in the list holds, of payloads the latest."""
    for i, switch in enumerate(s.switches):
        later = [(j, w) for j, w in enumerate(s.switches) if j > i and w.time is not None]
        covered = {
            what: next((j for j, w in later if getattr(w, what) is not None and w.time <= switch.time), None)
            for what in ("controller", "reference")
            if switch.time is not None and getattr(switch, what) is not None
        }
        if covered and None not in covered.values() and not any(path.startswith("switches") for path in varied):
            j = next(iter(covered.values()))
            raise DescriptionError(
                f"It would never act: switches[{j}] stands behind it in the list, happens no later and holds from then on.",
                field=f"switches[{i}].time",
            )
    changes = [(i, d) for i, d in enumerate(s.disturbances) if isinstance(d, PayloadChange)]
    for i, d in () if any(path.startswith("disturbances") for path in varied) else changes:
        for j, other in changes:
            if d.time < other.time <= 0.0 and (d.tool is None or other.tool is not None):
                raise DescriptionError(
                    f"It would never act: disturbances[{j}] has replaced this load when the run begins.",
                    field=f"disturbances[{i}].time",
                )


class _Watched:
    """An arm that notices whether anything but its number of joints is asked for."""

    def __init__(self, arm: Arm) -> None:
        self._arm, self.asked = arm, False

    def __getattr__(self, name: str) -> Any:
        self.asked = self.asked or name != "n"
        return getattr(self._arm, name)


def _asks_model(controller: Controller, robot: Robot) -> bool:
    """Does a controller look at its model? That of a user may do so later in the run, and counts as one that does."""
    if not is_own(type(controller)):
        return True
    if is_made_by(controller, "manipula.control.simple", "UserFunction"):
        return False
    arm: Any = _Watched(
        Arm(robot.with_parameters(**dict.fromkeys(robot.parameters, 1.0)) if robot.parameters else robot)
    )
    q, n = np.full(robot.n, 0.3), 3 if controller.space == "task" else robot.n
    try:
        ready, target = controller.prepare(arm), Target(*np.ones((3, n)))
        state = ready.initial_state(arm)
        ready.torque(arm, 0.0, q, q, target, state)
        ready.state_rate(arm, 0.0, q, q, target, state)
    except (ManipulaError, ValueError, TypeError, ArithmeticError, IndexError, np.linalg.LinAlgError):
        return True  # told where the run is rehearsed
    return arm.asked


def disturbance_idle(
    d: Wrench | WrenchTable | PayloadChange, duration: float, robot: Robot, moving_base: bool = False, loaded: bool = False
) -> str:  # fmt: skip
    """Why a disturbance can never act in a run of this duration; empty when it can.

    ``loaded``: does the tip carry something by then that an earlier change brought?
    """
    if isinstance(d, Wrench):
        if d.start >= duration:
            return f"the wrench starts at {d.start:g} s, when the run of {duration:g} s is over: it would never act."
        if d.stop <= max(d.start, 0.0):
            return f"the wrench starts at {d.start:g} s and stops at {d.stop:g} s: it would never act."
        if not callable(d.wrench) and all(_is_zero(v) for v in d.wrench):
            return "the wrench is zero as long as it lasts: it would never act."
    elif isinstance(d, WrenchTable):
        if d.times[0] >= duration or d.times[-1] <= 0.0:
            return f"the table holds from {d.times[0]:g} to {d.times[-1]:g} s, the run lasts from 0 to {duration:g} s: it would never act."
        if d.scale == 0.0 or not np.any(d.rows[:, 1:]):
            return "the table of the wrench is zero everywhere: it would never act."
        if not np.any(_during(d, duration)):
            return f"the table of the wrench is zero as long as the run of {duration:g} s lasts: it would never act."
    elif isinstance(d, PayloadChange):
        if d.time >= duration:
            return f"the payload changes at {d.time:g} s, when the run of {duration:g} s is over: it would never act."
        if d.mass == 0.0 and robot.payload is None and not loaded and not _moves_tip(d) and not any(d.inertia or ()):
            return "a payload of 0 kg replaces none: it would never act."
    if is_wrench(d) and d.frame in (*robot.frame_names, "base") and robot.frame(d.frame).link < 0:
        return f"no joint moves the frame '{printable(d.frame)}': the base takes the wrench, it would never act."
    if (
        is_wrench(d)
        and not moving_base
        and robot.is_numeric
        and (given := _acting_components(d))
        and given == powerless(d, robot)
    ):
        return (
            f"no joint can give way to {_listed(given)} on '{printable(d.frame or 'tip')}' in any posture (Jᵀw = 0): the bearings take the "
            "wrench, it would never act."
        )
    return ""


def _during(d: WrenchTable, duration: float) -> np.ndarray:
    """The rows of a table that have a share in what acts between 0 and the end."""
    first = max(int(np.searchsorted(d.times, 0.0, side="right")) - 1, 0)
    last = int(np.searchsorted(d.times, duration, side="left"))
    return d.rows[first : last + (d.interpolation == "linear"), 1:]


def _moves_tip(d: PayloadChange) -> bool:
    """Does a change move the tip against the robot's own tool frame? One that stays may still undo an earlier one."""
    return d.tool is not None and any(v != 0.0 for v in (*d.tool, *d.tool_rpy))


def _never_touches(contact: Contact, robot: Robot) -> str:
    """Why a plane can never push the arm: no joint moves what touches it along its normal; empty when one does."""
    if not isinstance(contact, PlaneContact) or not robot.is_numeric or contact.friction is not None:
        return ""
    rng, normal = Scattered(0), np.array(contact.normal, float)
    centres = np.array(contact.points or ((0.0, 0.0, 0.0),), float)
    for q in rng.uniform(-2.0, 2.0, (POSTURES, robot.n)):
        J = np.asarray(kinematics.jacobian(robot, q, contact.frame), float)
        arms = centres @ np.asarray(kinematics.pose(robot, q, contact.frame), float)[:3, :3].T
        rates = [normal @ (J[:3] + np.cross(J[3:].T, arm).T) for arm in arms]
        if np.abs(rates).max() > NO_LEVER * np.linalg.norm(normal):
            return ""
    return (
        f"no joint moves '{printable(contact.frame or 'tip')}' along the normal {normal.tolist()} of the plane in any posture: it would "
        "never act."
    )


def loaded_before(s: Scenario, index: int) -> bool:
    """Has an earlier change brought a load or moved the tip, which this one can undo? One that is varied may have."""
    now: Any = s.disturbances[index]
    if not isinstance(now, PayloadChange):
        return False
    moving = any(path == f"disturbances[{index}].time" for path in s.vary or ())
    for i, d in enumerate(s.disturbances):
        if i != index and isinstance(d, PayloadChange):
            varied = moving or any(path.startswith(f"disturbances[{i}].") for path in s.vary or ())
            undone = d.mass > 0.0 or any(d.inertia or ()) or (now.tool is not None and _moves_tip(d))
            if varied or (d.time < now.time and undone):
                return True
    return False


def powerless(d: Wrench | WrenchTable, robot: Robot) -> tuple[str, ...]:
    """The components of a wrench that can never act: their row of the Jacobian is zero, looked at in random postures."""
    if (
        not _acting_components(d)
        or d.frame not in (TIP, "tip", "base", *robot.frame_names)
        or (d.frame == TIP and robot.tip is None)
    ):
        return ()
    rng = Scattered(0)
    axes: Any = d.axes
    rows = [kinematics.jacobian(robot, rng.uniform(-2.0, 2.0, robot.n), d.frame, axes) for _ in range(POSTURES)]
    size = np.abs(np.asarray(rows, float)).max(axis=(0, 2), initial=0.0)
    return tuple(name for name in _acting_components(d) if size[COMPONENTS.index(name)] <= NO_LEVER)


def powerless_notes(s: Scenario) -> tuple[str, ...]:
    """A sentence on every wrench of which some components can never act."""
    if s.base_motion is not None or not s.robot.is_numeric:
        return ()
    found = [(i, powerless(d, s.robot)) for i, d in enumerate(s.disturbances) if is_wrench(d)]
    return tuple(
        f"disturbances[{i}]: no joint can give way to {_listed(names)} in any posture, so that the bearings take it; the rest of the wrench acts."
        for i, names in found
        if names
    )  # fmt: skip


def _acting_components(d: Wrench | WrenchTable) -> tuple[str, ...]:
    """The components of a wrench that are not zero; none where a function gives all six."""
    if isinstance(d, WrenchTable):
        return tuple(name for name, column in zip(COMPONENTS, d.rows[:, 1:].T) if np.any(column))
    return () if callable(d.wrench) else tuple(name for name, v in zip(COMPONENTS, d.wrench) if not _is_zero(v))


def _listed(names: tuple[str, ...]) -> str:
    kinds = {"f": "the force", "m": "the moment"}
    return " and ".join(
        f"{kinds[kind]} along {', '.join(own)}" if kind == "f" else f"{kinds[kind]} about {', '.join(own)}"
        for kind in "fm"
        if (own := [name[1] for name in names if name[0] == kind])
    )


def check_payload_times(times: dict[int, float], run: str = "") -> None:
    """No two payload changes at one instant: the tip carries one payload.

    Args:
        times: by the place of the disturbance. run: the beginning of the message, where it is about one run of a batch.
    """
    seen: dict[float, int] = {}
    for i, time in times.items():
        if time in seen:
            raise DescriptionError(
                f"{run}disturbances[{seen[time]}] and disturbances[{i}] both change the payload at {time:g} s, and only one of them could "
                "act; give one change with the mass carried from then on, or different times.",
                field=f"disturbances[{i}].time",
            )
        seen[time] = i


def _is_zero(value: Any) -> bool:
    """Is a component the number 0, or a formula without variables that says so?"""
    if not isinstance(value, str):
        return value == 0.0
    try:
        formula = parse(value, names=("t", *STATE_NAMES))
        return not formula.names and float(formula.evaluate({})) == 0.0
    except (ManipulaError, ValueError, TypeError, ArithmeticError):
        return False  # the run itself meets what cannot be computed


def _prescribed(s: Scenario, kind: str) -> None:
    """A motor whose angle is given obeys nobody."""
    drives = [j.drive for j in s.robot.joints] if s.drives is None else list(s.drives or ())
    for i, drive in enumerate(drives):
        if not isinstance(drive, Flexible) or drive.motor is None:
            continue
        joint = s.robot.joint_names[i]
        if kind == "playback" and not np.any(np.asarray(s.torques[1], float)[..., i]):
            continue
        what = "is played" if s.controller is None else f"the controller '{s.controller.name}' commands"
        raise DescriptionError(
            f"The motor of joint '{joint}' moves as prescribed and would ignore what {what} there; give it no motion of its own.",
            field=f"drives[{i}].motor",
        )
