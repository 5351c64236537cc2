r"""Errors of a chain's geometry, and how the measured frame moves with them.

Joint j stands at :math:`P_j\,T(\delta t_j)\,R(\delta r_j)` in its parent instead of :math:`P_j`: six errors, three of place [m] and three of
direction (a rotation vector [rad]), in the axes of its own frame. They hold what DH rows (a, α, d, θ) and origins of URDF can be wrong by; the turn
about the joint's axis is the zero of its encoder. The base in the measuring device's frame and the tool on the last link have six errors each.

With :math:`a = R\,J_r(\delta r)\,e_k`, the direction in which the k-th turn acts, and the place p of that joint, the frame E moves by

.. math:: \frac{\partial p_E}{\partial \delta t_k} = R_0 e_k, \qquad \frac{\partial p_E}{\partial \delta r_k} = a\times(p_E - p),
          \qquad \frac{\partial \omega_E}{\partial \delta r_k} = a

[Hollerbach, Khalil & Gautier 2016].
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from manipula.algebra.pose import Pose
from manipula.robot.link import Frame
from manipula.robot.robot import Robot

AXES = ("x", "y", "z", "rx", "ry", "rz")


def rotation_matrix(v: np.ndarray) -> np.ndarray:
    """exp of a rotation vector (3,)."""
    return Rotation.from_rotvec(v).as_matrix()


def right_jacobian(v: np.ndarray) -> np.ndarray:
    r"""J_r: R(v + dv) = R(v) R(J_r dv)."""
    angle = float(np.linalg.norm(v))
    K = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    if angle < 1e-4:
        return np.eye(3) - 0.5 * K + K @ K / 6.0
    return np.eye(3) - (1.0 - np.cos(angle)) / angle**2 * K + (angle - np.sin(angle)) / angle**3 * (K @ K)


def matrix_of(pose: Pose) -> np.ndarray:
    """4×4 numbers."""
    return np.asarray(pose.matrix(), float)


def moved(error: np.ndarray) -> np.ndarray:
    """T(δt) R(δr) of six errors."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = rotation_matrix(error[3:]), error[:3]
    return X


@dataclass(frozen=True)
class SerialChain:
    """The joints between base and measured frame, with a place for errors before each, at the base and at the tool.

    Attributes:
        robot: as described. frame: the measured one. joints: numbers of the joints on the way, from the base; those that follow others count from n.
    """

    robot: Robot
    frame: Frame
    joints: tuple[int, ...]

    @classmethod
    def to(cls, robot: Robot, frame: str = "") -> SerialChain:
        """The chain that ends in a frame; the tip when none is named."""
        end = robot.frame(frame) if frame else robot.tip_frame
        way, link = [], end.link
        while link >= 0:
            way.append(link)
            link = robot.moving_joints[link].parent
        return cls(robot, end, tuple(reversed(way)))

    @property
    def places(self) -> tuple[str, ...]:
        """What may be wrong: the base, the joints, the tool; six errors each."""
        return ("base", *(self.robot.moving_joints[j].name for j in self.joints), "tool")

    def poses(self, q: np.ndarray, base: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses (samples, 4, 4) of the frame in the device's frame, and how they move: (samples, 6, 6 places), place before turn.

        Args:
            base: (4, 4) pose of the base in the device's frame. errors: (places, 6).
        """
        at = np.broadcast_to(base, (len(q), 4, 4))
        seats: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

        def stop(nominal: np.ndarray, error: np.ndarray) -> np.ndarray:
            before = at @ nominal
            after = before @ moved(error)
            seats.append((before[:, :3, :3], after[:, :3, :3] @ right_jacobian(error[3:]), after[:, :3, 3]))
            return after

        at = stop(np.eye(4), errors[0])
        for k, j in enumerate(self.joints, 1):
            joint, link, own = self.robot.moving_joints[j], self.robot.bodies[j], self._positions(q, j)
            at = stop(matrix_of(joint.placement), errors[k])
            step = np.broadcast_to(np.eye(4), at.shape).copy()
            axis = np.asarray(joint.axis, float)
            if joint.is_revolute:
                step[:, :3, :3] = Rotation.from_rotvec(own[:, None] * axis).as_matrix()
            else:
                step[:, :3, 3] = own[:, None] * axis
            at = at @ step @ matrix_of(link.frame)
        at = stop(matrix_of(self.frame.pose), errors[-1])
        J = np.zeros((len(q), 6, 6 * len(seats)))
        for k, (shift, turn, place) in enumerate(seats):
            J[:, :3, 6 * k : 6 * k + 3] = shift
            arm = (at[:, :3, 3] - place)[:, None, :]
            J[:, :3, 6 * k + 3 : 6 * k + 6] = np.cross(turn.transpose(0, 2, 1), arm).transpose(0, 2, 1)
            J[:, 3:, 6 * k + 3 : 6 * k + 6] = turn
        return at, J

    def _positions(self, q: np.ndarray, j: int) -> np.ndarray:
        """(samples,) of a joint on the way; one that follows another stands where that one puts it."""
        if j < self.robot.n:
            return q[:, j]
        f = self.robot.followers[j - self.robot.n]
        return float(f.offset) + float(f.ratio) * q[:, f.leader]

    def corrected(self, errors: np.ndarray) -> Robot:
        """The robot with the errors of joints and tool; the base belongs to the device."""
        n, joints = self.robot.n, list(self.robot.moving_joints)
        for k, j in enumerate(self.joints, 1):
            if errors[k].any():
                joints[j] = replace(
                    joints[j], placement=Pose.from_matrix(matrix_of(joints[j].placement) @ moved(errors[k]))
                )
        followers = tuple(replace(f, joint=j) for f, j in zip(self.robot.followers, joints[n:]))
        robot = self.robot.replace(joints=tuple(joints[:n]), followers=followers)
        if not errors[-1].any():
            return robot
        if self.frame == robot.tip_frame:  # what sits on the tip frame, a tool
            return robot.replace(tool=Pose.from_matrix(matrix_of(robot.tool) @ moved(errors[-1])))
        tool = replace(self.frame, pose=Pose.from_matrix(matrix_of(self.frame.pose) @ moved(errors[-1])))
        return robot.replace(frames=tuple(tool if f == self.frame else f for f in robot.frames))


def differences(measured: np.ndarray, poses: np.ndarray) -> np.ndarray:
    """(samples, 3 or 6): measured − predicted; places [m] and, for full poses, turns [rad] as rotation vectors in the device's axes."""
    place = measured[..., :3, 3] - poses[:, :3, 3] if measured.ndim == 3 else measured - poses[:, :3, 3]
    if measured.ndim != 3:
        return place
    turn = Rotation.from_matrix(measured[:, :3, :3] @ poses[:, :3, :3].transpose(0, 2, 1)).as_rotvec()
    return np.concatenate([place, turn], axis=1)
