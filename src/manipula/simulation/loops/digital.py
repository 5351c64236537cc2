"""What a digital controller does at its instants: it measures, decides, and takes its states to the next instant.

Between two loops of a run this is carried along in one vector: commands on their way, what the encoders told last, and the step
within the control period.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula import native
from manipula.redundancy.arm import Motors
from manipula.simulation.plant.plant import Plant


class DigitalControl:
    """The controller of a plant as it acts at instants a period apart, traced or on floats.

    Args:
        discrete: are the states of the controller those of a digital one (held between instants), or integrated along?
        noise: measurement errors, a row per period, and which row is the first of this run; empty for none.
    """

    def __init__(self, plant: Plant, period: Any, discrete: bool, noise: Any) -> None:
        self.plant, self.period, self.discrete, self.noise = plant, period, discrete, noise
        self.n = plant.layout.n
        self.motors = plant.measures_motors
        self.moves_states = discrete and plant.layout.controller > 0

    def shake(self, i: Any) -> Any:
        """Measurement errors in period i: of q, qd and, where they are measured, of motor positions and speeds."""
        if self.noise:
            return native.lookup(self.noise[0], self.noise[1] + i)
        return np.zeros(4 * self.n if self.motors else 2 * self.n)

    def first(self, t: Any, x: Any) -> tuple[Any, Any, Any]:
        """State, command and memory after the decision at the start."""
        return self.next(0.0, t, x, None)

    def next(self, i: Any, t: Any, x: Any, memory: Any) -> tuple[Any, Any, Any]:
        """State, command and memory after the decision that period i begins with."""
        plant, lay, n = self.plant, self.plant.layout, self.n
        now = self.shake(i)
        q, qd = lay.q(x) + now[:n], lay.qd(x) + now[n : 2 * n]
        motors = plant.motors(t, x, q, qd, now[2 * n :]) if self.motors else None
        kept = np.zeros(0)
        if plant.encoder.acts:
            position = q if motors is None else np.concatenate([q, motors.position])
            speed = qd if motors is None else np.concatenate([qd, motors.velocity])
            position = plant.encoder.position(position, n)
            if plant.encoder.velocity == "difference":
                size = len(position)
                speed = np.zeros(size) if memory is None else plant.encoder.speed(memory[:size], position, memory[size:], self.period, n)  # fmt: skip
                kept = np.concatenate([position, speed])
            q, qd = position[:n], speed[:n]
            motors = None if motors is None else Motors(position[n:], speed[n:])
        command = plant.command(t, x, q, qd, motors)
        return (plant.updated(t, x, q, qd, motors, self.period) if self.moves_states else x), command, kept
