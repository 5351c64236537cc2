"""Programs that tests use when they are there and answer, and work done without the rights of root."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path


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


@contextlib.contextmanager
def ordinary_user() -> Iterator[Path]:
    """A folder below which the body writes as somebody who is not root; root becomes nobody for so long."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if os.name != "posix" or os.geteuid() != 0:
            yield folder
            return
        nobody = 65534  # on every POSIX system
        os.chown(folder, nobody, -1)
        os.seteuid(nobody)
        try:
            yield folder
        finally:
            os.seteuid(0)
