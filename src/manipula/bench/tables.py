"""Everything measured, as ratios: a table for the terminal, Markdown for the documentation, JSON for machines."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from manipula.bench import ours
from manipula.bench.peers import peers
from manipula.formats.load import load
from manipula.formats.urdf import to_urdf

GOALS = (  # label, our key, peer, peer key, must hold
    ("inverse dynamics, batch, vs Pinocchio C++", ("inverse_dynamics", "batch"), "pinocchio_cpp", "inverse_dynamics", 20.0),
    ("forward dynamics, batch, vs Pinocchio C++", ("forward_dynamics", "batch"), "pinocchio_cpp", "forward_dynamics", 30.0),
    ("inverse dynamics, one state, vs Pinocchio C++", ("inverse_dynamics", "one"), "pinocchio_cpp", "inverse_dynamics", 8.0),
    ("forward dynamics, one state, vs Pinocchio C++", ("forward_dynamics", "one"), "pinocchio_cpp", "forward_dynamics", 8.0),
    ("mass matrix, one state, vs Pinocchio C++", ("mass_matrix", "one"), "pinocchio_cpp", "mass_matrix", 5.0),
    ("inverse dynamics, one Python call, vs Pinocchio from Python", ("inverse_dynamics", "call"), "pinocchio_python", "inverse_dynamics", 5.0),
    ("derivatives of inverse dynamics, one, vs Pinocchio C++", ("inverse_dynamics_derivatives", "one"), "pinocchio_cpp",
     "inverse_dynamics_derivatives", 3.0),
    ("derivatives of inverse dynamics, batch, vs Pinocchio C++", ("inverse_dynamics_derivatives", "batch"), "pinocchio_cpp",
     "inverse_dynamics_derivatives", 9.0),
    ("closed loop, one robot, vs MuJoCo rollout", ("closed_loop", "one"), "mujoco_peer", "closed_loop_step", 12.0),
    ("closed loop, batch, vs MuJoCo rollout", ("closed_loop", "batch"), "mujoco_peer", "closed_loop_step_batch", 35.0),
)  # fmt: skip


def measure(
    robots: tuple[str, ...], with_peers: bool = True, progress: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """Our times and those of every peer that is installed, arm by arm, in one run."""
    found: dict[str, Any] = {"machine": ours.machine(), "robots": {}, "missing": {}}
    for name in robots:
        robot = load(name)
        progress(f"{name}: manipula")
        entry: dict[str, Any] = {"n": robot.n, "ours": ours.time_model(robot), "peers": {}}
        entry["ours"]["closed_loop"] = ours.time_loop(robot)
        if with_peers:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "arm.urdf"
                path.write_text(to_urdf(robot), encoding="utf-8")
                for peer, module in peers().items():
                    if not module.available():
                        found["missing"][peer] = module.reason()
                        continue
                    progress(f"{name}: {peer}")
                    try:
                        entry["peers"][peer] = module.time_functions(path)
                    except Exception as error:
                        found["missing"][f"{peer} ({name})"] = f"{type(error).__name__}: {str(error)[:200]}"
        found["robots"][name] = entry
    return found


def ratios(found: dict[str, Any], robot: str) -> list[tuple[str, float, float, float, float]]:
    """(label, our ns, their ns, ratio, must hold) of the goals that can be judged for one arm."""
    entry = found["robots"][robot]
    rows = []
    for label, (function, way), peer, key, goal in GOALS:
        theirs = entry["peers"].get(peer, {}).get(key)
        if theirs is None and key.endswith("_batch"):
            theirs = entry["peers"].get(peer, {}).get(key.removesuffix("_batch"))
        mine = entry["ours"].get(function, {}).get(way)
        if theirs is not None and mine is not None:
            rows.append((label, mine, theirs, theirs / mine, goal))
    return rows


def markdown(found: dict[str, Any]) -> str:
    """The page ``docs/performance.md`` is made of."""
    m = found["machine"]
    lines = [
        (
            f"Machine: {m['cpu']} ({m['llvm_cpu']}), {m['cores']} cores, load {m['load']}; Python {m['python']}, NumPy {m['numpy']}, "
            f"llvmlite {m['llvmlite']}. Times are minima over short windows, one thread; only the ratios mean something."
        ),
        "",
    ]
    for name, entry in found["robots"].items():
        lines += [
            f"### {name} ({entry['n']} joints)", "",
            "| function | operations | trace ms | compile ms | one state ns | batch ns | batch of 4096 from Python ns | Python call ns |",
            "|---|---|---|---|---|---|---|---|",
        ]  # fmt: skip
        for function, v in entry["ours"].items():
            if function != "closed_loop":
                lines.append(
                    f"| {function} | {v['operations']:.0f} | {1e3 * v['trace_seconds']:.1f} | {1e3 * v['compile_one_seconds']:.0f} + "
                    f"{1e3 * v['compile_batch_seconds']:.0f} | {v['one']:.0f} | {v['batch']:.1f} | {v['batch_call']:.1f} | {v['call']:.0f} |"
                )
        lines += ["", "| peer | function | ns |", "|---|---|---|"]
        for peer, times in entry["peers"].items():
            lines += [f"| {peer} | {function} | {ns:.0f} |" for function, ns in times.items()]
        rows = ratios(found, name)
        if rows:
            lines += ["", "| | ours ns | theirs ns | ratio | must hold |", "|---|---|---|---|---|"]
            lines += [
                f"| {label} | {mine:.1f} | {theirs:.0f} | **{ratio:.1f}×** | {goal:.0f}× |"
                for label, mine, theirs, ratio, goal in rows
            ]
        lines.append("")
    if found["missing"]:
        lines += ["Not measured: " + "; ".join(f"{k}: {v}" for k, v in found["missing"].items()), ""]
    return "\n".join(lines)
