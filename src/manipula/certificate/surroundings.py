"""What computed a certificate, and where."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

from manipula.certificate.exported_code import compiler, node
from manipula.version import __version__

LIBRARIES = ("numpy", "scipy", "sympy", "llvmlite", "pin", "mujoco")


def versions() -> dict[str, str]:
    """Of this package, Python, the libraries and tools that took part; those that are not there are left out."""
    found = {"manipula": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    for name, tool in (("C compiler", compiler()), ("node", node())):
        if tool is not None and (told := _told(tool)):
            found[name] = told
    return found


def machine() -> dict[str, str]:
    """Processor and system."""
    model, info = "", Path("/proc/cpuinfo")
    if info.exists():
        lines = (line.partition(":") for line in info.read_text(errors="replace").splitlines())
        model = next((value.strip() for key, _, value in lines if key.strip() == "model name"), "")
    return {
        "processor": model or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "system": platform.platform(terse=True),
        "cores": str(os.cpu_count() or 1),
    }


def now() -> str:
    """Date and time (UTC)."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _told(tool: str) -> str:
    try:
        done = subprocess.run([tool, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.splitlines()[0].strip()[:80] if done.returncode == 0 and done.stdout else ""
