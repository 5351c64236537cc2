"""One client at a time: a lease file with host, process and heartbeat keeps two from paying for the same runs.

Without it nothing would be lost either (a part that exists is not replaced), only made twice.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import threading
import time
from pathlib import Path
from typing import Any

from manipula.errors import DescriptionError
from manipula.studies.part_files import publish

NAME = "lease.json"
BEAT = 5.0  # s between heartbeats
STALE = 60.0  # s without one, after which a client on another host counts as dead


class Lease:
    """Holds the folder while a study is made; a context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / NAME
        self.own = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started": started(os.getpid()),
            "token": secrets.token_hex(8),
        }
        self._done = threading.Event()
        self._beat: threading.Thread | None = None

    def __enter__(self) -> Lease:
        data = json.dumps(self.own).encode()
        for _ in range(5):
            if publish(self.folder, NAME, data):
                break
            holder, age = self._holder()
            if holder is not None and not is_stale(holder, age):
                raise DescriptionError(
                    f"Another client is making this study (process {holder.get('pid')} on {holder.get('host')}); wait for it, or stop it.",
                    file=str(self.path),
                )
            self._take_over(holder)
        else:
            raise DescriptionError("Other clients took this study over again and again.", file=str(self.path))
        self._beat = threading.Thread(target=self._beating, daemon=True)
        self._beat.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._done.set()
        if self._beat is not None:
            self._beat.join(1.0)
        holder = self._holder()[0]
        if holder is not None and holder.get("token") == self.own["token"]:
            with contextlib.suppress(OSError):
                self.path.unlink()

    def _beating(self) -> None:
        while not self._done.wait(BEAT):
            with contextlib.suppress(OSError):
                os.utime(self.path)

    def _holder(self) -> tuple[dict[str, Any] | None, float]:
        """Who holds it, and the seconds since its last heartbeat; None where nobody does any more, or nobody can tell."""
        try:
            age = time.time() - self.path.stat().st_mtime
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None, 0.0
        except (OSError, ValueError):
            return {}, STALE + 1.0
        return (found if isinstance(found, dict) else {}), age

    def _take_over(self, judged: dict[str, Any] | None) -> None:
        """Move a lease away whose holder is dead; another one that was put in its place meanwhile is put back."""
        if judged is None:
            return
        aside = self.folder / f".stale-{secrets.token_hex(6)}"
        try:
            os.rename(self.path, aside)
            with contextlib.suppress(ValueError):
                if json.loads(aside.read_text(encoding="utf-8")).get("token") != judged.get("token"):
                    with contextlib.suppress(OSError):
                        os.link(aside, self.path)
            aside.unlink()
        except OSError:
            return


def is_stale(holder: dict[str, Any], age: float) -> bool:
    """Is the client that holds a lease dead? Here its process is looked for; elsewhere its heartbeat counts."""
    if holder.get("host") != socket.gethostname():
        return age > STALE
    pid = holder.get("pid")
    if os.name == "nt":
        return age > STALE  # its heartbeat is all that is known
    if not isinstance(pid, int) or not alive(pid):
        return True
    then, now = holder.get("started"), started(pid)
    return then is not None and now is not None and then != now


def alive(pid: int) -> bool:
    """Is there a process of that number?"""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return state_of(pid) not in ("Z", "X")


def state_of(pid: int) -> str:
    """The state of a process as Linux tells it: "Z" has ended and waits to be noticed; "" elsewhere."""
    fields = _stat(pid)
    return fields[0] if fields else ""


def started(pid: int) -> str | None:
    """When a process began, as Linux counts it: a number that is used again is another process."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else None


def _stat(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()
