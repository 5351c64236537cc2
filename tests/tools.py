"""Programs that tests use when they are there and answer."""

from __future__ import annotations

import functools
import shutil
import subprocess


@functools.cache
def missing_tool(name: str) -> str:
    """Why a program cannot be used here; empty when it can. A program that is found but refuses to start counts as missing."""
    if shutil.which(name) is None:
        return f"{name} is not installed"
    try:
        done = subprocess.run([name, "--version"], capture_output=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{name} does not start: {error}"
    return (
        ""
        if done.returncode == 0
        else f"{name} does not work here: {done.stderr.decode(errors='replace')[:200].strip()}"
    )
