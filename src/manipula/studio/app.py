"""Addresses of the server: the page and its files, verbs, signals and files of runs, and the socket on which runs are watched."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import traceback
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from manipula.errors import DescriptionError, ManipulaError, unknown_name
from manipula.reports import viewer
from manipula.reports.animation import animate
from manipula.reports.page import style
from manipula.studio.guard import Guard, Refused
from manipula.studio.runs import OVER, RunStore, StudioRun, told
from manipula.studio.signals import signals_of
from manipula.studio.verbs import VERBS, call
from manipula.studio.wire import packed, read_json

STATIC = Path(str(files("manipula.reports"))) / "web" / "built"
FONT = "math.woff"
PAGE_FILES = ("studio.js", "studio.css", FONT)
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".woff": "font/woff",
}
RUN_FILES = ("report.html", "live.html", "film.gif", "film.mp4", "scenario.toml",
             *(f"result{s}" for s in (".nc", ".npz", ".csv", ".parquet", ".mcap")))  # fmt: skip
LOOKS_PER_SECOND = 30.0
SAMPLES_EVERY = 4  # looks: a page draws them no faster, and one that is slow must not be flooded
LONGEST_MESSAGE = 4096  # of what a page says on the socket
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Manipula studio</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/theme.css">
<link rel="stylesheet" href="/static/studio.css">
<script type="module" src="/static/studio.js"></script>
</head>
<body><div id="studio"><noscript><p>The studio needs JavaScript, which is switched off.</p></noscript></div></body>
</html>
"""
MISSING = (
    "The page of the studio was not built when this package was installed (its build needs Node from PyPI and the npm registry). "
    "Install it again where both can be reached: pip install --force-reinstall manipula[studio]."
)


def application(port: int, token: str, first: dict[str, Any] | None = None, folder: Path | None = None) -> Guard:
    """The guarded application of one studio; ``first``: the document that a page begins with; ``folder``: where studies are."""
    runs = RunStore(first, folder)

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            runs.close()

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/theme.css", theme),
            Route("/static/{name:path}", static),
            Route("/api/{verb}", verb, methods=["POST"]),
            Route("/runs/{run}/signals", signals),
            Route("/runs/{run}/{name}", file_of_run),
            WebSocketRoute("/watch", watch),
        ],
        lifespan=life,
        exception_handlers={ManipulaError: refuse, Refused: turn_away, Exception: fault},
    )
    app.state.runs = runs
    return Guard(app, port, token)


def refuse(request: Request, error: Exception) -> JSONResponse:
    """Wrong input: what, where, and what is allowed."""
    return JSONResponse({"error": told(error)}, 422)


def turn_away(request: Request, error: Exception) -> Response:
    """A request that grew too large while it came in."""
    assert isinstance(error, Refused)
    return Response(error.words, error.status, media_type="text/plain")


def fault(request: Request, error: Exception) -> JSONResponse:
    """A fault of ours: the terminal has the details, the page a sentence."""
    traceback.print_exception(error, file=sys.stderr)
    return JSONResponse(
        {"error": {"kind": "fault", "message": "The program has a fault; its terminal tells where."}}, 500
    )


async def page(request: Request) -> Response:
    """The page itself."""
    if not (STATIC / "studio.js").is_file():
        return Response(MISSING, 503, media_type="text/plain; charset=utf-8")
    return Response(PAGE, media_type=KINDS[".html"])


async def theme(request: Request) -> Response:
    """The colours and rules that the page shares with reports."""
    return Response(style() + viewer.font_rule(f"/static/{FONT}"), media_type=KINDS[".css"])


async def static(request: Request) -> Response:
    """A file of the page, one of those that were built for it."""
    name = request.path_params["name"]
    if name not in PAGE_FILES or not (STATIC / name).is_file():
        return Response("There is no such file.", 404, media_type="text/plain")
    return Response((STATIC / name).read_bytes(), media_type=KINDS[Path(name).suffix])


async def verb(request: Request) -> Response:
    """``POST /api/<verb>``."""
    name = request.path_params["verb"]
    if name not in VERBS:
        return JSONResponse({"error": told(unknown_name("verb", name, VERBS))}, 404)
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise DescriptionError("A request is of the type application/json.")
    arguments = read_json(await request.body())
    try:
        answer = await run_in_threadpool(call, name, request.app.state.runs, arguments)
    except ManipulaError as error:  # of what somebody typed: an answer like others
        answer = {"error": told(error)}
    return Response(json.dumps(answer, ensure_ascii=False, allow_nan=False).encode(), media_type="application/json")


async def signals(request: Request) -> Response:
    """Signals of a finished run, as one binary message; ``?names=q,tau`` chooses, ``?run=3`` one of a batch."""
    store: RunStore = request.app.state.runs
    result = store.finished(request.path_params["run"])
    asked = request.query_params.get("names", "")
    body = await run_in_threadpool(
        signals_of, result, tuple(n for n in asked.split(",") if n), request.query_params.get("run")
    )
    return Response(body, media_type="application/octet-stream")


async def file_of_run(request: Request) -> Response:
    """A run as a file: ``result.nc`` and its relatives, ``report.html``, ``scenario.toml``."""
    store: RunStore = request.app.state.runs
    name, run = request.path_params["name"], store.find(request.path_params["run"])
    suffix = Path(name).suffix
    if name not in RUN_FILES:
        raise unknown_name("file", name, RUN_FILES, field="name")
    body = await run_in_threadpool(_written, store, run, name, suffix)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type="application/octet-stream", headers=headers)


def _written(store: RunStore, run: StudioRun, name: str, suffix: str) -> bytes:
    from manipula.studio.documents import text_of

    if name == "scenario.toml":
        return text_of(run.document).encode()
    result = store.finished(run.id)
    with TemporaryDirectory(prefix="manipula-") as folder:
        path = Path(folder) / f"file{suffix}"
        if name == "report.html":
            result.report(path)
        elif name.startswith("film."):
            animate(result, path, speed=max(1.0, result.reached / 20.0), fps=20)
        elif name == "live.html":
            result.report(path, live=True)  # pyright: ignore[reportCallIssue]
        else:
            result.save(path)
        return path.read_bytes()


async def watch(socket: WebSocket) -> None:
    """The page says ``{"run": id}``; it is sent what the run has computed so far, again and again, and its summary at the end."""
    await socket.accept()
    try:
        while True:
            text = await socket.receive_text()
            if len(text) > LONGEST_MESSAGE:
                return await socket.close(1009, "too long")
            try:
                await _follow(socket, socket.app.state.runs.find(read_json(text.encode()).get("run")))
            except ManipulaError as error:
                await socket.send_json({"error": told(error)})
    except (WebSocketDisconnect, KeyError, RuntimeError, asyncio.CancelledError):  # the page or the studio was closed
        return


async def _follow(socket: WebSocket, run: StudioRun) -> None:
    sent, state, paused, looks = 0, "", False, 0
    while True:
        over = run.state in OVER
        if (run.state, run.paused) != (state, paused):
            state, paused = run.state, run.paused
            await socket.send_json({"run": run.id, "state": state, "paused": paused and not over})
        t, x = run.progress(sent if over or looks % SAMPLES_EVERY == 0 else sys.maxsize)
        looks += 1
        if len(t):
            body: dict[str, tuple[np.ndarray, Any]] = {
                "t": (t, "float64"),
                "q": (x[:, : run.n], "float32"),
                "qd": (x[:, run.n :], "float32"),
            }
            await socket.send_bytes(packed({"run": run.id, "first": sent, "until": float(run.scenario.duration)}, body))
            sent += len(t)
        if over:
            return await socket.send_json({"run": run.id, "state": run.state, "summary": run.summary()})
        await asyncio.sleep(1.0 / LOOKS_PER_SECOND)
