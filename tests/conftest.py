"""What holds for every test."""

from __future__ import annotations

import signal
import threading


def pytest_configure() -> None:
    """Ctrl-C is heard, also when the parent (a job in the background, ``nohup``) ignores it; children inherit that."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
