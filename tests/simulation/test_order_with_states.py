"""Integrators keep their order when friction and drives bring states of their own: their Jacobian is the whole one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import manipula as mp
from manipula import native
from manipula.simulation.loops.setup import prepare_run

PLAIN = mp.planar([1.0, 0.8], masses=[2.0, 1.0])
ARM = replace(PLAIN, joints=tuple(replace(j, rotor_inertia=1e-4, gear_ratio=100.0) for j in PLAIN.joints))
LAWS = {
    "rigid": {},
    "flexible": {"drives": mp.drives.Flexible(1e3, 5.0)},
    "lugre": {
        "friction": mp.friction.LuGre(
            sigma0=100.0, sigma1=1.0, sigma2=0.1, v_stribeck=0.1, mu_static=0.2, mu_kinetic=0.1, diameter=0.05, load=2.0
        )
    },
    "dahl": {"friction": mp.friction.Dahl(20.0, 0.5)},
    "pid": {"controller": mp.control.PID(20.0, 4.0, 3.0, goal=(0.4, -0.2))},
}


def scenario(kind: str, **more):
    parts = {"controller": mp.control.PDGravity(20.0, 2.0, goal=(0.4, -0.2)), **LAWS[kind]}
    return mp.Scenario(ARM, q0=(0.1, 0.3), qd0=(0.4, -0.3), duration=0.05, sample=0.05, **parts, **more)


@pytest.mark.parametrize("kind", LAWS)
def test_jacobian_and_time_derivative_of_the_flow_against_differences(kind: str) -> None:
    run = prepare_run(scenario(kind, integrator="rodas"))
    loop = run.loop

    def flow(x, p, breaks, coefficients, t):
        rate = loop.traced(p, breaks, coefficients).flow(t, x).rate
        return {"f": rate, "J": native.derivative(rate, x), "second": native.time_derivative(rate, dict(zip(x, rate)))}

    kernel = native.compile_function(flow, {**loop.inputs, "t": ()}, "flow", shared=("breaks", "coefficients"))
    x, h = run.x0[0] + 0.01 * np.arange(1, run.x0.shape[1] + 1), 1e-6
    f, J, second = kernel(x, run.p[0], *run.inputs, 0.01)
    rate = lambda y: kernel(y, run.p[0], *run.inputs, 0.01)[0]
    found = np.stack([(rate(x + d) - rate(x - d)) / (2 * h) for d in h * np.eye(len(x))], axis=1)
    assert np.abs(J - found).max() < 1e-6 * (1.0 + np.abs(found).max())
    assert np.abs(second - J @ f).max() < 1e-9 * (1.0 + np.abs(J @ f).max())


@pytest.mark.parametrize("kind", ["flexible", "lugre", "pid"])
def test_rodas_converges_at_its_order(kind: str) -> None:
    """A tolerance 1e4 times smaller: an order 4 method wins about that factor, one with a wrong Jacobian hardly a hundred."""
    best = mp.simulate(scenario(kind, integrator="dop853", tolerance=1e-9, verify=False))
    coarse, fine = (mp.simulate(scenario(kind, integrator="rodas", tolerance=t, verify=False)) for t in (1e-1, 1e-5))
    errors = [np.abs(r.q - best.q).max() + np.abs(r.qd - best.qd).max() for r in (coarse, fine)]
    assert errors[1] < 1e-3 * errors[0] + 1e-13
