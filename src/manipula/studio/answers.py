"""What is answered with the whole package loaded: verbs, signals and files of runs, and the socket on which runs are watched.

Loading it takes longer than all else that a studio does before its page is seen; ``opening`` does it while the page is on its way.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from manipula.errors import DescriptionError, ManipulaError, unknown_name
from manipula.studio.first_answers import FirstAnswers
from manipula.studio.runs import OVER, RunStore, StudioRun, error_in_words
from manipula.studio.signals import signals_of
from manipula.studio.verbs import VERBS, call
from manipula.studio.wire import packed, read_json, with_bytes

RUN_FILES = ("report.html", "live.html", "film.gif", "film.mp4", "scenario.toml",
             *(f"result{s}" for s in (".nc", ".npz", ".csv", ".parquet", ".mcap")))  # fmt: skip
LOOKS_PER_SECOND = 30.0
SAMPLES_EVERY = 4  # looks: a page draws them no faster, and one that is slow must not be flooded
LONGEST_MESSAGE = 4096  # of what a page says on the socket


def answered(runs: RunStore, kept: FirstAnswers, verb: str, question: bytes, is_json: bool) -> Response:
    """``POST /api/<verb>``."""
    if verb not in VERBS:
        return JSONResponse({"error": error_in_words(unknown_name("verb", verb, VERBS))}, 404)
    if not is_json:
        raise DescriptionError("A request is of the type application/json.")
    arguments = read_json(question)
    try:
        answer = call(verb, runs, arguments)
    except ManipulaError as error:  # of what somebody typed: an answer like others
        answer = {"error": error_in_words(error)}
    body, numbers = with_bytes(answer)
    if numbers:
        return Response(body + numbers, media_type="application/octet-stream")
    kept.note(verb, question, answer, body)
    return Response(body, media_type="application/json")


async def signals(request: Request, runs: RunStore) -> Response:
    """Signals of a finished run, as one binary message; ``?names=q,tau`` chooses, ``?run=3`` one of a batch."""
    result = runs.finished(request.path_params["run"])
    asked = request.query_params.get("names", "")
    body = await run_in_threadpool(
        signals_of, result, tuple(n for n in asked.split(",") if n), request.query_params.get("run")
    )
    return Response(body, media_type="application/octet-stream")


async def file_of_run(request: Request, runs: RunStore) -> Response:
    """A run as a file: ``result.nc`` and its relatives, ``report.html``, ``scenario.toml``."""
    name, run = request.path_params["name"], runs.find(request.path_params["run"])
    suffix = Path(name).suffix
    if name not in RUN_FILES:
        raise unknown_name("file", name, RUN_FILES, field="name")
    body = await run_in_threadpool(_written, runs, run, name, suffix)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type="application/octet-stream", headers=headers)


def _written(runs: RunStore, run: StudioRun, name: str, suffix: str) -> bytes:
    from manipula.reports.animation import animate
    from manipula.studio.documents import text_of

    if name == "scenario.toml":
        return text_of(run.document).encode()
    result = runs.finished(run.id)
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


async def watch(socket: WebSocket, runs: RunStore) -> None:
    """The page says ``{"run": id}``; it is sent what the run has computed so far, again and again, and its summary at the end."""
    await socket.accept()
    try:
        while True:
            text = await socket.receive_text()
            if len(text) > LONGEST_MESSAGE:
                return await socket.close(1009, "too long")
            try:
                await _follow(socket, runs.find(read_json(text.encode()).get("run")))
            except ManipulaError as error:
                await socket.send_json({"error": error_in_words(error)})
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
