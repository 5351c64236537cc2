"""The same robot built in Pinocchio joint by joint, no file in between."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from manipula.certificate.comparison import ACCELERATION, BIAS, GRAVITY, JACOBIAN, MASS, POSE, TORQUE
from manipula.certificate.own_routes import Certified, Route, Ways
from manipula.errors import CompileError, DescriptionError
from manipula.robot.robot import Robot


def refuse_balance(robot: Robot) -> None:
    """The models of other programs that are made here know bodies, not weight that something else carries."""
    if any(link.balance is not None for link in robot.bodies):
        raise DescriptionError("Weight that something else carries is not part of the model that is made for it.")


class BuiltInPinocchio:
    r"""A tree of free joints, moved by the coordinates of the robot: :math:`\bar q = Gq`, :math:`\tau = G^T\bar\tau`.

    Pinocchio keeps subtrees together, so its joints are numbered depth first. Rotor inertia is its ``armature``, the payload one more body.
    """

    def __init__(self, robot: Robot, frame: str) -> None:
        refuse_balance(robot)
        pin: Any = importlib.import_module("pinocchio")
        self.pin = pin
        free = robot.uncoupled
        tree, order = free.robot, depth_first(free.robot.parents)
        self.G = np.zeros((tree.n, robot.n))
        for place, i in enumerate(order):
            self.G[place, free.coordinate[i]] = float(free.ratio[i])
        self.model = model = pin.Model()
        model.gravity = pin.Motion(np.array(robot.gravity, float), np.zeros(3))
        se3 = lambda pose: pin.SE3(np.array(pose.R, float), np.array(pose.p, float))  # noqa: E731
        body = lambda b: pin.Inertia(float(b.mass), np.array(b.com, float), np.array(b.inertia, float))  # noqa: E731
        ids, inside = {-1: 0}, {-1: se3(tree.base)}
        for i in order:
            joint, link = tree.joints[i], tree.links[i]
            kind = pin.JointModelRevoluteUnaligned if joint.is_revolute else pin.JointModelPrismaticUnaligned
            placed = inside[joint.parent] * se3(joint.placement)
            ids[i] = model.addJoint(ids[joint.parent], kind(np.array(joint.axis, float)), placed, f"joint{i}")
            inside[i] = se3(link.frame)
            model.appendBodyToJoint(ids[i], body(link), inside[i])
        model.armature = np.array([float(tree.joints[i].armature) for i in order])
        if tree.payload is not None:
            f = tree.tip_frame
            model.appendBodyToJoint(ids[f.link], body(tree.payload), inside[f.link] * se3(f.pose))
        f = tree.frame(frame)
        self.frame = model.addFrame(
            pin.Frame("certified", ids[f.link], inside[f.link] * se3(f.pose), pin.FrameType.OP_FRAME)
        )
        self.data = model.createData()

    def torque(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """Gᵀ rnea."""
        G = self.G
        return G.T @ self.pin.rnea(self.model, self.data, G @ q, G @ qd, G @ qdd)

    def mass_matrix(self, q: Any) -> np.ndarray:
        """Gᵀ crba G, of which Pinocchio fills the upper triangle."""
        M = np.triu(np.atleast_2d(self.pin.crba(self.model, self.data, self.G @ q)))
        return self.G.T @ (M + np.triu(M, 1).T) @ self.G

    def gravity(self, q: Any) -> np.ndarray:
        """Gᵀ of its generalised gravity."""
        return self.G.T @ self.pin.computeGeneralizedGravity(self.model, self.data, self.G @ q)

    def bias(self, q: Any, qd: Any) -> np.ndarray:
        """Gᵀ C q̇ by its Coriolis matrix."""
        C = self.pin.computeCoriolisMatrix(self.model, self.data, self.G @ q, self.G @ qd)
        return self.G.T @ (np.atleast_2d(C) @ (self.G @ qd))

    def acceleration(self, q: Any, qd: Any, tau: Any) -> np.ndarray:
        """aba; with coupled joints, M of the coordinates is solved with."""
        if self.G.shape[0] == self.G.shape[1]:
            return self.G.T @ self.pin.aba(self.model, self.data, self.G @ q, self.G @ qd, self.G @ tau)
        return np.linalg.solve(self.mass_matrix(q), tau - self.torque(q, qd, np.zeros(len(qd))))

    def pose(self, q: Any) -> np.ndarray:
        """4×4 pose of the frame."""
        self.pin.framesForwardKinematics(self.model, self.data, self.G @ q)
        return np.array(self.data.oMf[self.frame].homogeneous)

    def jacobian(self, q: Any) -> np.ndarray:
        """(6, n) at the origin of the frame, base axes, linear part first."""
        self.pin.computeJointJacobians(self.model, self.data, self.G @ q)
        self.pin.updateFramePlacements(self.model, self.data)
        axes = self.pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = self.pin.getFrameJacobian(self.model, self.data, self.frame, axes)
        return np.array(J).reshape(6, -1) @ self.G


def depth_first(parents: tuple[int, ...]) -> list[int]:
    """Joint indices, each followed at once by everything it carries."""
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(parents):
        children.setdefault(parent, []).append(i)
    order, stack = [], children.get(-1, [])[::-1]
    while stack:
        i = stack.pop()
        order.append(i)
        stack.extend(children.get(i, [])[::-1])
    return order


def peer_ways(peer: Any, case: Certified) -> Ways:
    """The functions of a judge over all states, one by one."""
    s, tau = case.states, case.reference.tau
    each = lambda f, *columns: lambda: [f(*row) for row in zip(*columns)]  # noqa: E731
    return {
        TORQUE: each(peer.torque, s.q, s.qd, s.qdd), MASS: each(peer.mass_matrix, s.q), BIAS: each(peer.bias, s.q, s.qd),
        GRAVITY: each(peer.gravity, s.q), ACCELERATION: each(peer.acceleration, s.q, s.qd, tau), POSE: each(peer.pose, s.q),
        JACOBIAN: each(peer.jacobian, s.q),
    }  # fmt: skip


def _ways(case: Certified) -> Ways:
    if importlib.util.find_spec("pinocchio") is None:
        raise CompileError("Pinocchio is not installed (pip install pin).")
    return peer_ways(BuiltInPinocchio(case.robot, case.frame), case)


PEER = (TORQUE, MASS, BIAS, GRAVITY, ACCELERATION, POSE, JACOBIAN)
PINOCCHIO = Route("Pinocchio", PEER, _ways, ours=False)
