"""Friction laws in symbols: the law of the joint, run on a SymPy rate."""

from __future__ import annotations

from typing import Any

import sympy

from manipula.robot.joint import Joint


def torque(joint: Joint, qd: sympy.Symbol, i: int) -> Any:
    """Friction torque of joint i (from 0). States of a law are ``z1_1 …``, its normal force is ``fn1``."""
    if joint.friction is None:
        return sympy.Integer(0)
    state = tuple(sympy.Symbol(f"z{i + 1}_{k + 1}") for k in range(joint.friction.states))
    result = joint.friction.torque(qd, state, sympy.Symbol(f"fn{i + 1}"))
    return sympy.nsimplify(result, rational=True) if not isinstance(result, (int, float)) else sympy.Float(result)
