"""What a live page needs beside the report: the closed loop of its run as a module, and where the computed signals go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manipula.codegen.javascript import JavaScript
from manipula.reports.charts import Shown
from manipula.simulation.exported.loop import exported_loop
from manipula.simulation.result import Result


def live_module(result: Result, wanted: Sequence[str] | None, shown: Shown) -> tuple[dict[str, Any], str]:
    """What the page needs to know about the run, and its equations as a module.

    Args:
        wanted: paths of the numbers that get sliders, such as "controller.kp", "friction[0].damping", "payload.mass", "q0[1]"; None: gains, friction,
            payload and start, as many as fit.

    Raises:
        DescriptionError, CompileError: says why this run cannot be computed in a page.
    """
    loop, packer = exported_loop(result, wanted), shown.packer
    told = {
        **loop.stepping, "parameters": [x.told() for x in loop.numbers], "p": loop.p.tolist(), "x0": loop.x0.tolist(),
        "times": packer.add(loop.times, "f8"), "index": packer.add(shown.index, "u4"), "signals": loop.signals,
        "arrays": {str(at): name for (owner, name), at in packer.known.items() if owner == shown.run}, "status": result.status,
    }  # fmt: skip
    module = JavaScript().module(loop.program("run", ("The closed loop of one run.",)))
    return told, module + "\nglobalThis.manipulaLoop = { flow, observe };\n"
