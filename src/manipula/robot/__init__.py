"""What a manipulator is: data, checked, frozen, in SI units.

=================  ==================================================
``robot``          ``Robot``: links, joints, frames, gravity
``link``           a moving body, named frames, payloads
``joint``          how a link moves against its parent
``coupled_joint``  a joint that follows another
``appearance``     what links look like
``limits``         what a joint may do
``friction/``      friction laws, one per file
``drives/``        drives, one per file
``catalog/``       robots as TOML files
``drafts``         links, joints and frames as a file states them
``selection``      joints held still, branches left out
``select_built``   the same of a robot that is built
``coupling``       which joints follow which
``build``          from drafts of links and joints to a Robot
``checks``         what every number, name, pose and body must fulfil
``consistency``    do the fields of a robot belong together?
``doctor``         is this model physical?
``doctor_rules/``  its questions, one function each
``parameter_values``  numbers of free parameters
``digest``         a fingerprint of a robot
``once``           answers computed once per mechanism
=================  ==================================================
"""

from __future__ import annotations

from manipula.robot.coupled_joint import CoupledJoint
from manipula.robot.joint import Joint
from manipula.robot.limits import Limits
from manipula.robot.link import Balance, Frame, Link, Payload
from manipula.robot.robot import Robot

__all__ = ["Balance", "CoupledJoint", "Frame", "Joint", "Limits", "Link", "Payload", "Robot"]
