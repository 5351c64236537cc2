"""The same robot built in MuJoCo body by body, no file in between."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from manipula.algebra.pose import Pose
from manipula.algebra.rotation import to_quaternion_wxyz
from manipula.certificate.own_routes import Certified, Route, Ways
from manipula.certificate.pinocchio import PEER, peer_ways, refuse_balance
from manipula.errors import CompileError
from manipula.formats.mjcf.bodies import written_inertia
from manipula.robot.robot import Robot


class BuiltInMujoco:
    r"""A tree of free joints, moved by the coordinates of the robot: :math:`\bar q = Gq`, :math:`\tau = G^T\bar\tau`.

    Body frames sit in the joints, so that the motion of a joint is about its own origin; friction, ranges and contacts are left out.
    """

    def __init__(self, robot: Robot, frame: str) -> None:
        refuse_balance(robot)
        mujoco: Any = importlib.import_module("mujoco")
        self.mujoco = mujoco
        free = robot.uncoupled
        tree = free.robot
        spec = mujoco.MjSpec()
        spec.compiler.degree = False
        spec.option.gravity = np.array(robot.gravity, float)
        bodies: dict[int, Any] = {-1: spec.worldbody}
        inside = {-1: tree.base}
        for i, (joint, link) in enumerate(zip(tree.joints, tree.links)):
            body = bodies[i] = bodies[joint.parent].add_body(
                name=f"body{i}", **_placed(inside[joint.parent] @ joint.placement)
            )
            inside[i] = link.frame
            _weigh(body, link, link.frame)
            kind = mujoco.mjtJoint.mjJNT_HINGE if joint.is_revolute else mujoco.mjtJoint.mjJNT_SLIDE
            body.add_joint(
                name=f"joint{i}", type=kind, axis=np.array(joint.axis, float), armature=float(joint.armature)
            )
        if tree.payload is not None:
            f = tree.tip_frame
            carried = bodies[f.link].add_body(name="payload", **_placed(inside[f.link] @ f.pose))
            _weigh(carried, tree.payload, Pose.of(np.eye(3), np.zeros(3)))
        f = tree.frame(frame)
        bodies[f.link].add_site(name="certified", **_placed(inside[f.link] @ f.pose))
        self.model = spec.compile()
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.data = mujoco.MjData(self.model)
        self.G = np.zeros((tree.n, robot.n))
        for i in range(tree.n):
            place = int(self.model.joint(f"joint{i}").dofadr[0])
            self.G[place, free.coordinate[i]] = float(free.ratio[i])

    def _set(self, q: Any, qd: Any = 0.0, qdd: Any = 0.0) -> Any:
        for name, value in (("qpos", q), ("qvel", qd), ("qacc", qdd)):
            getattr(self.data, name)[:] = self.G @ value if np.ndim(value) else 0.0
        return self.data

    def torque(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """Gᵀ of the inverse dynamics."""
        self.mujoco.mj_inverse(self.model, self._set(q, qd, qdd))
        return self.G.T @ self.data.qfrc_inverse

    def mass_matrix(self, q: Any) -> np.ndarray:
        """Gᵀ M G, column by column."""
        self.mujoco.mj_forward(self.model, self._set(q))
        columns = []
        for unit in np.eye(self.model.nv):
            column = np.zeros(self.model.nv)
            self.mujoco.mj_mulM(self.model, self.data, column, unit)
            columns.append(column)
        return self.G.T @ np.stack(columns, axis=1) @ self.G

    def gravity(self, q: Any) -> np.ndarray:
        """Gᵀ of the bias at rest."""
        self.mujoco.mj_forward(self.model, self._set(q))
        return self.G.T @ self.data.qfrc_bias

    def bias(self, q: Any, qd: Any) -> np.ndarray:
        """Gᵀ of the bias without that at rest."""
        still = self.gravity(q)
        self.mujoco.mj_forward(self.model, self._set(q, qd))
        return self.G.T @ self.data.qfrc_bias - still

    def acceleration(self, q: Any, qd: Any, tau: Any) -> np.ndarray:
        """M of the coordinates solved with."""
        if self.G.shape[0] == self.G.shape[1]:
            self._set(q, qd).qfrc_applied[:] = self.G @ tau
            self.mujoco.mj_forward(self.model, self.data)
            found = self.G.T @ self.data.qacc
            self.data.qfrc_applied[:] = 0.0
            return found
        return np.linalg.solve(self.mass_matrix(q), tau - self.torque(q, qd, np.zeros(len(qd))))

    def pose(self, q: Any) -> np.ndarray:
        """4×4 pose of the frame."""
        self.mujoco.mj_forward(self.model, self._set(q))
        site, X = self.data.site("certified"), np.eye(4)
        X[:3, :3], X[:3, 3] = site.xmat.reshape(3, 3), site.xpos
        return X

    def jacobian(self, q: Any) -> np.ndarray:
        """(6, n) at the origin of the frame, base axes, linear part first."""
        self.mujoco.mj_forward(self.model, self._set(q))
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        self.mujoco.mj_jacSite(self.model, self.data, linear, angular, self.model.site("certified").id)
        return np.vstack([linear, angular]) @ self.G


def _placed(pose: Pose) -> dict[str, np.ndarray]:
    return {"pos": np.array(pose.p, float), "quat": np.array(to_quaternion_wxyz(np.array(pose.R, float)), float)}


def _weigh(body: Any, own: Any, frame: Pose) -> None:
    """Mass, centre of mass and inertia of a body given in ``frame``; what has no mass gets none.

    MuJoCo takes no moment of zero, as of a rod about its own axis: those are lifted by less than rounding.
    """
    R, p = np.array(frame.R, float), np.array(frame.p, float)
    taken = written_inertia(own, getattr(own, "name", "payload"))
    body.mass, body.ipos, body.explicitinertial = float(own.mass), p + R @ np.array(own.com, float), True
    if not taken.exact:
        body.inertia = np.diag(taken.tensor)
        body.iquat = np.array(to_quaternion_wxyz(R if taken.R is None else R @ taken.R), float)
        return
    I = R @ taken.tensor @ R.T
    body.fullinertia = np.array([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def _ways(case: Certified) -> Ways:
    if importlib.util.find_spec("mujoco") is None:
        raise CompileError("MuJoCo is not installed (pip install mujoco).")
    return peer_ways(BuiltInMujoco(case.robot, case.frame), case)


MUJOCO = Route("MuJoCo", PEER, _ways, ours=False)
