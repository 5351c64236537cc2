"""What holds for every test."""

from __future__ import annotations

import signal
import threading

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")  # every run tries the same examples; --hypothesis-profile=default tries others


def pytest_configure() -> None:
    """Ctrl-C is heard, also when the parent (a job in the background, ``nohup``) ignores it; children inherit that."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
