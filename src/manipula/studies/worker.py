"""A process that makes chunks for a pool: one line of JSON in, one line out; it ends as soon as nobody listens any more.

Nothing is pickled, and no module of the user is imported: the study travels as its TOML text.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from typing import Any, TextIO


def main() -> None:
    """Read the study, then chunks, until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the client's to handle
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # whatever prints must not speak between the answers
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, lines), daemon=True).start()
    _serve(lines, answers)


def _listen(stream: TextIO, lines: queue.SimpleQueue[str]) -> None:
    for line in stream:
        lines.put(line)
    os._exit(0)  # the client is gone or needs no more: parts are whole or not there


def _serve(lines: queue.SimpleQueue[str], answers: TextIO) -> None:
    from manipula.errors import ManipulaError
    from manipula.studies.axis_checks import checked_before
    from manipula.studies.chunks import ChunkMaker
    from manipula.studies.files import study_of
    from manipula.studies.folder import StudyFolder

    def say(**content: Any) -> None:
        answers.write(json.dumps(content) + "\n")

    try:
        begin = json.loads(lines.get())
        with checked_before():
            study = study_of(begin["study"])
        maker = ChunkMaker(study, StudyFolder(begin["folder"]), threads=begin["threads"])
    except ManipulaError as error:
        return say(stop=str(error))
    say(ready=True)
    while True:
        task = json.loads(lines.get())
        try:
            made = maker.make(task["first"], task["last"])
            say(made=made._asdict())
        except ManipulaError as error:
            say(stop=str(error))
