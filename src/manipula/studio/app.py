"""Addresses of the server. The page and its files are answered here, at once; what needs the rest of the package, by ``answers``."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from manipula.errors import ManipulaError
from manipula.reports import viewer
from manipula.reports.page import style
from manipula.studio.guard import Guard, Refused
from manipula.studio.opening import Opening

STATIC = Path(str(files("manipula.reports"))) / "web" / "built"
FONT = "math.woff"
PAGE_FILES = ("first.js", "studio.js", "studio.css", FONT)
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".woff": "font/woff",
}
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
<script type="module" async src="/static/first.js"></script>
<script type="module" src="/static/studio.js"></script>
</head>
<body><div id="studio"><noscript><p>The studio needs JavaScript, which is switched off.</p></noscript></div></body>
</html>
"""
MISSING = (
    "The page of the studio was not built when this package was installed (its build needs Node from PyPI and the npm registry). "
    "Install it again where both can be reached: pip install --force-reinstall manipula[studio]."
)


def application(
    port: int, token: str, first: dict[str, Any] | None = None, folder: Path | None = None, ticket: str | None = None
) -> Guard:
    """The guarded application of one studio.

    Args:
        first: the document that a page begins with. folder: where studies are. ticket: lets one page in, as the token does (``guard``).
    """
    opening = Opening(first, folder)

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        opening.begin()
        try:
            yield
        finally:
            opening.close()

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
    app.state.opening = opening
    return Guard(app, port, token, ticket)


def refuse(request: Request, error: Exception) -> JSONResponse:
    """Wrong input: what, where, and what is allowed."""
    from manipula.studio.runs import error_in_words

    return JSONResponse({"error": error_in_words(error)}, 422)


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
    name, opening = request.path_params["verb"], _opening(request)
    is_json = request.headers.get("content-type", "").partition(";")[0].strip() == "application/json"
    question = await request.body()
    if is_json and not opening.is_ready:
        known = await run_in_threadpool(opening.known, name, question)
        if known is not None:
            return Response(known, media_type="application/json")
    answers, runs = await run_in_threadpool(opening.opened)
    return await run_in_threadpool(answers.answered, runs, opening.kept(), name, question, is_json)


async def signals(request: Request) -> Response:
    """Signals of a finished run."""
    answers, runs = await run_in_threadpool(_opening(request).opened)
    return await answers.signals(request, runs)


async def file_of_run(request: Request) -> Response:
    """A run as a file."""
    answers, runs = await run_in_threadpool(_opening(request).opened)
    return await answers.file_of_run(request, runs)


async def watch(socket: WebSocket) -> None:
    """A run while it goes."""
    answers, runs = await run_in_threadpool(_opening(socket).opened)
    await answers.watch(socket, runs)


def _opening(connection: HTTPConnection) -> Opening:
    return connection.app.state.opening
