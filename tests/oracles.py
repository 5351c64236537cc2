"""Other programs as judges: the same robot built joint by joint through their own interfaces, no file in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from manipula.robot.robot import Robot


class Judge:
    """Pinocchio's answers for one robot, in the order of the robot's own joints.

    Pinocchio keeps subtrees contiguous, so its joints are numbered depth first; ours keep the order of their source.
    Rotor inertia is Pinocchio's ``armature``; the payload is one more body on the link that carries the tip.
    """

    def __init__(self, robot: Robot) -> None:
        pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (there is none for Windows)")
        self.robot = robot
        self.order = depth_first(robot)  # Pinocchio's joint k is ours number order[k]
        self.rank = np.argsort(self.order)
        self.model = model = pin.Model()
        model.gravity = pin.Motion(np.array(robot.gravity, float), np.zeros(3))
        ids = {-1: 0}
        self.link_in_joint = {-1: se3(robot.base)}
        for i in self.order:
            joint, link = robot.joints[i], robot.links[i]
            axis = np.array(joint.axis, float)
            turning, sliding = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned
            up = self.link_in_joint[joint.parent]
            kind = turning(axis) if joint.is_revolute else sliding(axis)
            ids[i] = model.addJoint(ids[joint.parent], kind, up * se3(joint.placement), joint.name)
            self.link_in_joint[i] = se3(link.frame)
            model.appendBodyToJoint(ids[i], inertia_of(link), self.link_in_joint[i])
        model.armature = np.array([float(robot.joints[i].armature) for i in self.order])
        if robot.payload is not None:
            f = robot.tip_frame
            model.appendBodyToJoint(ids[f.link], inertia_of(robot.payload), self.link_in_joint[f.link] * se3(f.pose))
        frames = {f.name: f for f in robot.frames} | ({"tip": robot.tip_frame} if robot.tip is not None else {})
        self.frame_ids = {
            name: model.addFrame(
                pin.Frame(f"ours:{name}", ids[f.link], self.link_in_joint[f.link] * se3(f.pose), pin.FrameType.OP_FRAME)
            )
            for name, f in frames.items()
        }
        self.ids = ids
        self.data = model.createData()

    def theirs(self, v: Any) -> np.ndarray:
        return np.asarray(v, float)[self.order]

    def ours(self, v: np.ndarray) -> np.ndarray:
        return np.array(v)[self.rank]

    def _square(self, A: np.ndarray) -> np.ndarray:
        n = self.robot.n
        return np.array(A).reshape(n, n)[np.ix_(self.rank, self.rank)]

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        import pinocchio as pin

        return self.ours(pin.rnea(self.model, self.data, self.theirs(q), self.theirs(qd), self.theirs(qdd)))

    def forward_dynamics(self, q: Any, qd: Any, tau: Any) -> np.ndarray:
        import pinocchio as pin

        return self.ours(pin.aba(self.model, self.data, self.theirs(q), self.theirs(qd), self.theirs(tau)))

    def mass_matrix(self, q: Any) -> np.ndarray:
        import pinocchio as pin

        return self._square(_symmetric(pin.crba(self.model, self.data, self.theirs(q))))

    def coriolis_matrix(self, q: Any, qd: Any) -> np.ndarray:
        import pinocchio as pin

        return self._square(pin.computeCoriolisMatrix(self.model, self.data, self.theirs(q), self.theirs(qd)))

    def gravity(self, q: Any) -> np.ndarray:
        import pinocchio as pin

        return self.ours(pin.computeGeneralizedGravity(self.model, self.data, self.theirs(q)))

    def nonlinear_effects(self, q: Any, qd: Any) -> np.ndarray:
        import pinocchio as pin

        return self.ours(pin.nonLinearEffects(self.model, self.data, self.theirs(q), self.theirs(qd)))

    def kinetic_energy(self, q: Any, qd: Any) -> float:
        """Pinocchio's, of the links alone (it counts the rotors of some joint types and not of others), plus the rotors."""
        import pinocchio as pin

        armature = self.model.armature.copy()
        self.model.armature = np.zeros(self.robot.n)
        links = pin.computeKineticEnergy(self.model, self.data, self.theirs(q), self.theirs(qd))
        self.model.armature = armature
        return float(links) + 0.5 * float(armature @ self.theirs(qd) ** 2)

    def potential_energy(self, q: Any) -> float:
        """Of the moving links; a body fixed to the base is not counted."""
        import pinocchio as pin

        return float(pin.computePotentialEnergy(self.model, self.data, self.theirs(q)))

    def pose(self, q: Any, frame: str = "tip") -> np.ndarray:
        import pinocchio as pin

        pin.framesForwardKinematics(self.model, self.data, self.theirs(q))
        return np.array(self.data.oMf[self.frame_ids[frame]].homogeneous)

    def jacobian(self, q: Any, frame: str = "tip", expressed_in: str = "base") -> np.ndarray:
        """Through ``computeJointJacobians``: ``computeFrameJacobian`` leaves columns of other branches as they were."""
        import pinocchio as pin

        pin.computeJointJacobians(self.model, self.data, self.theirs(q))
        pin.updateFramePlacements(self.model, self.data)
        J = pin.getFrameJacobian(self.model, self.data, self.frame_ids[frame], _axes(expressed_in))
        return np.array(J).reshape(6, -1)[:, self.rank]

    def jacobian_rate(self, q: Any, qd: Any, frame: str = "tip", expressed_in: str = "base") -> np.ndarray:
        import pinocchio as pin

        pin.computeJointJacobiansTimeVariation(self.model, self.data, self.theirs(q), self.theirs(qd))
        pin.updateFramePlacements(self.model, self.data)
        J = pin.getFrameJacobianTimeVariation(self.model, self.data, self.frame_ids[frame], _axes(expressed_in))
        return np.array(J).reshape(6, -1)[:, self.rank]

    def joint_reactions(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """``data.f``: the wrench through every joint in the joint's own frame, (n, 6), force first."""
        self.inverse_dynamics(q, qd, qdd)
        return np.array([self.data.f[self.ids[i]].vector for i in range(self.robot.n)])

    def regressor(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """(n, 10 n), carried from Pinocchio's joint frames to the link frames in which our parameters are given."""
        import pinocchio as pin

        args = (self.theirs(q), self.theirs(qd), self.theirs(qdd))
        n = self.robot.n
        Y = np.array(pin.computeJointTorqueRegressor(self.model, self.data, *args)).reshape(n, 10 * n)[self.rank]
        out = np.empty_like(Y)
        for i in range(n):
            k = 10 * (self.ids[i] - 1)
            out[:, 10 * i : 10 * i + 10] = Y[:, k : k + 10] @ parameter_map(self.link_in_joint[i].homogeneous)
        return out

    def inverse_dynamics_derivatives(self, q: Any, qd: Any, qdd: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        import pinocchio as pin

        args = (self.theirs(q), self.theirs(qd), self.theirs(qdd))
        dq, dqd, M = pin.computeRNEADerivatives(self.model, self.data, *args)
        return self._square(dq), self._square(dqd), self._square(_symmetric(M))

    def forward_dynamics_derivatives(self, q: Any, qd: Any, tau: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        import pinocchio as pin

        args = (self.theirs(q), self.theirs(qd), self.theirs(tau))
        dq, dqd, Minv = pin.computeABADerivatives(self.model, self.data, *args)
        return self._square(dq), self._square(dqd), self._square(_symmetric(Minv))


def depth_first(robot: Robot) -> list[int]:
    """Joint indices, each followed at once by everything it carries."""
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(robot.parents):
        children.setdefault(parent, []).append(i)
    order: list[int] = []
    stack = children.get(-1, [])[::-1]
    while stack:
        i = stack.pop()
        order.append(i)
        stack.extend(children.get(i, [])[::-1])
    return order


def parameter_map(X: np.ndarray) -> np.ndarray:
    """10×10: inertial parameters about frame L to those about frame J, from the 4×4 pose X_JL.

    By the pseudo-inertia ``P = [[Σ, h], [hᵀ, m]]`` with ``Σ = ½ tr(J) 1 − J``, which moves as ``X P Xᵀ``.
    """
    columns = [_parameters(X @ _pseudo(unit) @ X.T) for unit in np.eye(10)]
    return np.stack(columns, axis=1)


def _pseudo(p: np.ndarray) -> np.ndarray:
    m, h = p[0], p[1:4]
    J = np.array([[p[4], p[5], p[7]], [p[5], p[6], p[8]], [p[7], p[8], p[9]]])
    return np.block([[0.5 * np.trace(J) * np.eye(3) - J, h[:, None]], [h[None, :], np.array([[m]])]])


def _parameters(P: np.ndarray) -> np.ndarray:
    J = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[:3, 3], J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])


def inertia_of(body: Any) -> Any:
    import pinocchio as pin

    return pin.Inertia(float(body.mass), np.array(body.com, float), np.array(body.inertia, float))


def se3(pose: Any) -> Any:
    import pinocchio as pin

    return pin.SE3(np.array(pose.R, float), np.array(pose.p, float))


def _axes(expressed_in: str) -> Any:
    import pinocchio as pin

    frames = {"base": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, "body": pin.ReferenceFrame.LOCAL}
    return frames[expressed_in]


def _symmetric(A: np.ndarray) -> np.ndarray:
    """Pinocchio fills the upper triangle only."""
    A = np.atleast_2d(A)
    return np.triu(A) + np.triu(A, 1).T


def pinocchio_model(robot: Robot) -> tuple[Any, Any]:
    """Pinocchio's model and data of a serial chain (joint order as ours; for trees use ``Judge``)."""
    judge = Judge(robot)
    return judge.model, judge.data


def scaled_error(value: Any, reference: Any) -> float:
    """Largest absolute difference, divided by the largest entry of the reference (at least 1)."""
    reference = np.asarray(reference, float)
    difference = np.abs(np.asarray(value, float) - reference)
    return float(np.max(difference, initial=0.0) / max(1.0, np.max(np.abs(reference), initial=0.0)))
