"""What an identification found: estimates with confidence, residuals, a robot, a report."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from manipula.algebra.inertia import Moments, central
from manipula.algebra.pose import mat3, vec3
from manipula.algebra.value import Value
from manipula.analysis.identification.base_parameters import BaseParameters
from manipula.analysis.identification.pseudo_inertia import is_physical
from manipula.errors import SolveError, printable
from manipula.robot.friction import Coulomb, FrictionLaw, Stribeck, Viscous
from manipula.robot.robot import Robot

SHARP = 1e-3  # rad/s or m/s, width of the step that stands for the sign of the velocity in a friction law


@dataclass(frozen=True, eq=False, repr=False)
class Known(Value):
    """What was taken from the given robot: rotor inertia (n,) and friction laws, one or None per joint."""

    armature: np.ndarray
    friction: tuple[FrictionLaw | None, ...]

    def torque(self, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Its share of the torque, (..., n)."""
        total = self.armature * np.asarray(qdd, float)
        for i, law in enumerate(self.friction):
            if law is not None:
                total[..., i] += np.vectorize(law.torque, otypes=[float])(np.asarray(qd, float)[..., i])
        return total


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Value):
    """Result of :func:`~manipula.analysis.identification.estimate.identify`.

    Attributes:
        base: base parameters and their definitions.
        beta: (b,) least squares estimate; covariance: (b, b).
        sigma: (n,) standard deviation of the torque residual of each joint.
        parameters: (p,) physically consistent parameters, in the order of ``base.columns.names``; ``None`` when not asked.
        residuals: (samples, n) torque minus prediction with ``beta``; physical_residuals: with ``parameters``.
        torque: (samples, n) as measured.
        condition: condition number of the weighted regressor, columns of one length.
        confidence: level of :attr:`interval`.
        known: rotor inertia and friction that were taken from the given robot.
        not_excited: numbers of the base parameters that the data do not show; they are kept at the prior.
    """

    base: BaseParameters
    beta: np.ndarray
    covariance: np.ndarray
    sigma: np.ndarray
    parameters: np.ndarray | None
    residuals: np.ndarray
    physical_residuals: np.ndarray | None
    torque: np.ndarray
    condition: float
    confidence: float
    known: Known
    not_excited: tuple[int, ...] = ()

    @property
    def standard_deviation(self) -> np.ndarray:
        """(b,) of ``beta``."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def relative_deviation(self) -> np.ndarray:
        """(b,) standard deviation over the size of the estimate."""
        return self.standard_deviation / np.maximum(np.abs(self.beta), 1e-300)

    @property
    def interval(self) -> np.ndarray:
        """(b, 2) confidence interval of each base parameter (Student's t)."""
        freedom = max(self.residuals.size - self.base.count, 1)
        half = stats.t.ppf(0.5 + self.confidence / 2, freedom) * self.standard_deviation
        return np.stack([self.beta - half, self.beta + half], axis=-1)

    @property
    def rms(self) -> np.ndarray:
        """(n,) root mean square of the residual [N·m, N]."""
        return np.sqrt(np.mean(self.residuals**2, axis=0))

    @property
    def fit(self) -> np.ndarray:
        """(n,) share of the torque's variance that is explained, 1 is all of it."""
        spread = np.sum((self.torque - self.torque.mean(axis=0)) ** 2, axis=0)
        return 1.0 - np.sum(self.residuals**2, axis=0) / np.maximum(spread, 1e-300)

    @property
    def physical_beta(self) -> np.ndarray:
        """(b,) base parameters of the physically consistent estimate."""
        return self.base.values(self._physical())

    @property
    def is_physical(self) -> np.ndarray:
        """(links,) whether each link of the consistent estimate can exist; those of joints that follow others come last."""
        return is_physical(self._physical()[: self.base.columns.inertial].reshape(-1, 10))

    @property
    def friction(self) -> dict[str, np.ndarray]:
        """(n,) each: "viscous", "coulomb", "stribeck", "offset", "armature" as far as identified; physical where that was asked."""
        columns = self.base.columns
        found = {}
        for extra in columns.extras:
            part = columns.part(extra)
            if self.parameters is not None:
                found[extra] = self.parameters[part].copy()
                continue
            wanted = [k for k in range(part.start, part.stop) if (extra, k - part.start) not in columns.left_out]
            if all(k in self.base.kept for k in wanted):
                found[extra] = np.zeros(columns.n)
                found[extra][[k - part.start for k in wanted]] = self.beta[[self.base.kept.index(k) for k in wanted]]
        return found

    def predict(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, *, physical: bool = False) -> np.ndarray:
        """Torque of a motion, (..., n), from ``beta`` or from the physically consistent estimate."""
        beta = self.physical_beta if physical else self.beta
        return self.base.regressor(q, qd, qdd) @ beta + self.known.torque(qd, qdd)

    @property
    def robot(self) -> Robot:
        """The robot as identified: links (payload included in them), rotor inertia, friction laws.

        Its inverse dynamics plus its friction is ``predict(…, physical=True)``; Coulomb friction, identified with the sign of the
        velocity, gets a step of width SHARP.
        """
        pi = self._physical()
        columns = self.base.columns
        robot = columns.model.robot
        found = self.friction
        links, joints, followers = [], [], []
        for i, link in enumerate(robot.bodies):
            m, mx, my, mz, xx, xy, yy, xz, yz, zz = pi[10 * i : 10 * i + 10].tolist()
            second = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            mass, com, inertia = central(Moments(m, np.array([mx, my, mz]), second))
            links.append(
                dataclasses.replace(link, mass=float(mass), com=vec3(com), inertia=mat3(inertia), described=True)
            )
        for i, joint in enumerate(robot.joints):
            of_joint = {name: float(values[i]) for name, values in found.items()}
            changes: dict[str, Any] = {}
            if "armature" in of_joint:  # the stated gear stays, the rotor is what it must be behind it
                gear = float(joint.gear_ratio) or 1.0
                changes |= {"rotor_inertia": of_joint.pop("armature") / gear**2, "gear_ratio": gear}
            if of_joint:
                width, fading = (float(np.broadcast_to(v, columns.n)[i]) for v in (columns.smooth, columns.v_stribeck))
                changes["friction"] = _law(**of_joint, width=width or SHARP, fading=fading)
            joints.append(dataclasses.replace(joint, **changes))
        for follower, link in zip(robot.followers, links[robot.n :]):
            joint = follower.joint
            if "armature" in found:  # what its leader feels of its rotor is part of what was identified there
                joint = dataclasses.replace(joint, rotor_inertia=0.0)
            followers.append(dataclasses.replace(follower, joint=joint, link=link))
        notes = (*robot.notes, *self.given_masses)
        return dataclasses.replace(
            robot,
            links=tuple(links[: robot.n]),
            joints=tuple(joints),
            followers=tuple(followers),
            payload=None,
            notes=notes,
        )

    @property
    def given_masses(self) -> tuple[str, ...]:
        """A sentence on every link that was described without mass: bodies that can exist have one."""
        pi, links = self._physical(), self.base.columns.model.robot.bodies
        return tuple(
            f"link '{printable(link.name, 60)}' was described without mass; a body that can exist has one, so that it got {pi[10 * i]:.4g} kg."
            for i, link in enumerate(links)
            if link.mass == 0.0
        )

    def _physical(self) -> np.ndarray:
        if self.parameters is None:
            raise SolveError("Only base parameters were identified; use identify(..., physical=True).", self)
        return self.parameters

    def text(self) -> str:
        """The report: base parameters with deviations, fit of every joint, physical links."""
        samples, n = self.torque.shape
        names = self.base.columns.model.robot.joint_names
        out = [f"{samples} samples, {n} joints, {self.base.count} base parameters, condition number {self.condition:.1f}", "",
               f"  {'base parameter':<16}{'estimate':>13}{'std. dev.':>12}{'%':>8}   {100 * self.confidence:g} % interval"]  # fmt: skip
        rows = zip(self.base.names, self.beta, self.standard_deviation, 100 * self.relative_deviation, self.interval)
        out += [f"  {name:<16}{b:>13.6g}{s:>12.3g}{r:>8.2f}   [{lo:.6g}, {hi:.6g}]" for name, b, s, r, (lo, hi) in rows]
        out += ["", f"  {'joint':<24}{'rms residual':>14}{'sigma':>12}{'fit':>10}"]
        out += [
            f"  {name[:23]:<24}{r:>14.4g}{s:>12.4g}{f:>10.5f}"
            for name, r, s, f in zip(names, self.rms, self.sigma, self.fit)
        ]
        if self.parameters is not None and self.physical_residuals is not None:
            rms = np.sqrt(np.mean(self.physical_residuals**2, axis=0))
            kind = "all links can exist" if bool(np.all(self.is_physical)) else "NOT physical"
            out += ["", f"  physically consistent estimate ({kind}), rms residual "
                        + ", ".join(f"{r:.4g}" for r in rms)]  # fmt: skip
            for i in range(self.base.columns.bodies):
                m, *first = self.parameters[10 * i : 10 * i + 4]
                c = np.array(first) / m
                out.append(f"  link {i + 1}: mass {m:.5g} kg, centre of mass [{c[0]:.4g}, {c[1]:.4g}, {c[2]:.4g}] m")
            out += [f"  {sentence}" for sentence in self.given_masses]
            for extra, values in self.friction.items():
                out.append(f"  {extra}: " + ", ".join(f"{v:.4g}" for v in values))
        return "\n".join(out)


def _law(
    width: float, fading: float, viscous: float = 0.0, coulomb: float | None = None, stribeck: float = 0.0,
    offset: float | None = None,
) -> FrictionLaw:  # fmt: skip
    """The friction law with these constants."""
    if stribeck != 0.0:
        kinetic = coulomb or 0.0
        return Stribeck(max(kinetic + stribeck, 0.0), kinetic, fading, width, viscous, offset or 0.0)
    if coulomb is None and offset is None:
        return Viscous(viscous)
    return Coulomb(coulomb or 0.0, width, viscous, offset or 0.0)
