"""Connections that nobody uses do not keep the page from its server."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import urllib.request
from contextlib import suppress

import pytest

pytest.importorskip("uvicorn", reason="the studio is an extra")

IDLE = 300
HALF = b"POST /api/hello HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n"


@pytest.fixture(scope="module")
def address():
    process = subprocess.Popen(
        [sys.executable, "-m", "manipula", "studio", "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    yield process.stdout.readline().strip()
    process.terminate()
    process.wait(30)
    process.stdout.close()


@pytest.mark.parametrize("said", [b"", b"GET / HT", HALF])
def test_the_page_comes_whatever_waits_beside_it(address, said):
    port = int(re.match(r"http://127\.0\.0\.1:(\d+)/", address).group(1))
    waiting = []
    try:
        for _ in range(IDLE):
            one = socket.create_connection(("127.0.0.1", port), timeout=30)
            waiting.append(one)
            if said:
                one.sendall(said)
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert answer.status == 200
    finally:
        for one in waiting:
            one.close()


def test_a_connection_that_says_nothing_is_closed(address):
    port = int(re.match(r"http://127\.0\.0\.1:(\d+)/", address).group(1))
    with socket.create_connection(("127.0.0.1", port), timeout=60) as one:
        one.sendall(b"GET /")
        with suppress(ConnectionResetError):
            assert one.recv(10) == b""
