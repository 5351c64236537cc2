"""All rows in one run: for the terminal, for the documentation, and for machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from manipula.bench import ours
from manipula.bench.felt import dynamics, planning, processes, simulations
from manipula.bench.felt.rows import FeltRow
from manipula.bench.peers import eaik_peer, mujoco_peer, pinocchio_cpp, ruckig_peer, toppra_peer

Group = Callable[[bool], list[FeltRow]]
GROUPS: Mapping[str, Group] = {  # in the order of the table; each takes whether peers are measured
    "a run": lambda peers: simulations.beside_rollout(1, 4.0, 10.0, 5.0, peers),
    "many runs": lambda peers: simulations.beside_rollout(256, 0.4, 30.0, None, peers),
    "fixed cost": lambda peers: simulations.fixed_cost(),
    "new processes": lambda peers: processes.first_runs(),
    "commands": lambda peers: processes.commands(),
    "dynamics": dynamics.beside_pinocchio,
    "time-optimal motion": lambda peers: planning.fastest_motion(with_peers=peers),
    "moves of joints": planning.joint_moves,
    "all postures": lambda peers: planning.all_postures(with_peers=peers),
    "inverse kinematics that fails": lambda peers: planning.failing_ik(),
    "large batches": lambda peers: simulations.large_batches(),
    "identification": lambda peers: dynamics.identification(),
}
PEERS = {
    "MuJoCo": mujoco_peer,
    "Pinocchio C++": pinocchio_cpp,
    "toppra": toppra_peer,
    "ruckig": ruckig_peer,
    "EAIK": eaik_peer,
}
HEAD = ("what", "ours", "theirs", "ratio", "must hold")


def measure(with_peers: bool = True, progress: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """Every row, the machine, and what could not be measured and why."""
    found: dict[str, Any] = {"machine": ours.machine(), "rows": [], "missing": {}}
    if with_peers:
        found["missing"] = {name: peer.reason() for name, peer in PEERS.items() if not peer.available()}
    for name, group in GROUPS.items():
        progress(name)
        try:
            found["rows"] += group(with_peers)
        except Exception as error:  # one row less, and said; the others count all the same
            found["missing"][name] = f"{type(error).__name__}: {str(error)[:200]}"
    return found


def plain(found: Mapping[str, Any]) -> dict[str, Any]:
    """For JSON."""
    return {**found, "rows": [row.plain() for row in found["rows"]]}


def markdown(found: Mapping[str, Any]) -> str:
    """The section of ``docs/performance.md``."""
    m, rows = found["machine"], found["rows"]
    judged = [row for row in rows if row.holds is not None]
    lines = [
        "## What a person feels",
        "",
        (
            "Whole calls, new processes and commands (`manipula bench --felt`), not single functions. A ratio is that of two times of one run, in "
            "which both libraries take turns with the same problem and gave the same answer first; without a peer it is time: of the processor "
            "for whole processes (and on the wall in brackets), else on the wall. Least times of many, calls shorter than 10 ms repeated until they take "
            "that long; one thread unless said. Derived signals of "
            "a result are computed when they are looked at: both are given."
        ),
        "",
        (
            f"Machine: {m['cpu']} ({m['llvm_cpu']}), {m['cores']} cores, load {m['load']} at the start; Python {m['python']}, NumPy {m['numpy']}, "
            f"llvmlite {m['llvmlite']}. {sum(row.holds for row in judged)} of {len(judged)} goals hold; those in bold do not."
        ),
        "",
        f"| {' | '.join(HEAD)} |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        *cells, goal = row.cells()
        lines.append(f"| {' | '.join(cells)} | {f'**{goal}**' if row.holds is False else goal} |")
    if found["missing"]:
        lines += ["", "Not measured: " + "; ".join(f"{k}: {v}" for k, v in found["missing"].items())]
    return "\n".join(lines) + "\n"
