"""``manipula studio``: a server on the loopback address of this machine, a fresh key, a page in the browser."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from manipula.errors import CompileError, DescriptionError

ADDRESS = "127.0.0.1"
FAVOURITE = 8423  # taken where it is free: what a browser keeps for a page, it keeps by port
NEEDED = ("uvicorn", "starlette", "h11", "websockets")
HOW = "The studio needs two more packages: pip install 'manipula[studio]'."


def serve(
    port: int = 0,
    *,
    browser: bool = True,
    say: Callable[[str], None] = print,
    file: str | os.PathLike[str] | None = None,
    studies: str | os.PathLike[str] | None = None,
) -> None:
    """Serve the studio until interrupted.

    Args:
        port: 0 takes the usual one, 8423, or any free one where that is taken.
        browser: open the page.
        say: is given the address, which holds the key.
        file: a scenario or a robot that the page begins with.
        studies: a folder whose studies the page may open; itself or folders in it.

    Raises:
        DescriptionError: the port is taken. CompileError: the packages of the studio are missing.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise CompileError(f"{HOW} ({', '.join(missing)} cannot be found.)")
    first = None if file is None else _opened(file)
    folder = None if studies is None else Path(studies)
    if folder is not None and not folder.is_dir():
        raise DescriptionError("This folder does not exist.", file=str(folder), field="studies")
    listener = listening(port) if port else usual()
    found: int = listener.getsockname()[1]
    token, ticket = secrets.token_urlsafe(24), secrets.token_urlsafe(24) if browser else None
    home = f"http://{ADDRESS}:{found}/"
    say(f"{home}?token={token}")  # the socket listens: what a browser asks waits there while the server is loaded
    if browser:
        threading.Thread(
            target=_browse, args=(f"{home}?ticket={ticket}",), name="manipula-browser", daemon=True
        ).start()
    try:
        _answer(listener, found, token, first, folder, ticket)
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()


def _answer(
    listener: socket.socket,
    found: int,
    token: str,
    first: dict[str, Any] | None,
    folder: Path | None,
    ticket: str | None,
) -> None:
    """Load the server and let it work until it is interrupted."""
    try:
        import uvicorn

        from manipula.studio.app import application
        from manipula.studio.connections import MOST, PatientProtocol
    except ImportError as error:
        raise CompileError(f"{HOW} ({error})") from None
    settings = uvicorn.Config(
        application(found, token, first, folder, ticket), log_level="warning", access_log=False, server_header=False, date_header=False, ws_max_size=2**16,
        timeout_graceful_shutdown=2, limit_concurrency=MOST, proxy_headers=False, http=PatientProtocol,
    )  # fmt: skip
    uvicorn.Server(settings).run(sockets=[listener])


def _browse(address: str) -> None:
    """Open the page; some browsers keep whoever calls them waiting for seconds. Every user of the machine can read this address: it is good once."""
    import webbrowser

    webbrowser.open(address)


def _opened(file: str | os.PathLike[str]) -> dict[str, Any]:
    """The document of a file; what is wrong with it is reported before the studio is there. Without a file the package loads meanwhile."""
    from manipula.studio.documents import opened_file

    return opened_file(file)


def usual() -> socket.socket:
    """The favourite port, or a free one."""
    try:
        return listening(FAVOURITE)
    except DescriptionError:
        return listening(0)


def listening(port: int) -> socket.socket:
    """A socket that only this machine reaches."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise DescriptionError(
            f"Port {port} cannot be used: {getattr(error, 'strerror', None) or error}.", field="port"
        ) from None
    listener.listen(64)
    listener.set_inheritable(True)
    return listener
