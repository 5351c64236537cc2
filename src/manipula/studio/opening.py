"""What takes long to load is loaded in the background: the address is printed and the page sent meanwhile.

The package with its numbers, models and parts takes about as long to load as a browser takes to open the page. Both begin together. A question of the
page that needs the package waits for it, unless an earlier studio answered the same one (``first_answers``). Loading and answering take turns on one lock
of Python, and browser and studio on few processors, so a page whose questions are known goes first: what is left is loaded when it has its arm.
"""

from __future__ import annotations

import contextlib
import importlib
import secrets
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manipula.errors import ManipulaError

if TYPE_CHECKING:
    from types import ModuleType

    from manipula.studio.first_answers import FirstAnswers
    from manipula.studio.runs import RunStore

USUAL_ARM = "scara-khang"  # what a new visitor sees (FIRST in web/src/studio/first.ts)
FIRST_SIGHT = "robot"  # the last question of a page that needs nothing but what is known
PATIENCE_S = 1.0  # for a page; a browser that takes longer to open finds everything loaded
TURN_S = 0.001  # between the threads, while one of them loads and the other sends the page


class Opening:
    """The answers of one studio and its runs, from when they are loaded.

    Args:
        first: the document that a page begins with. folder: where studies are.
    """

    def __init__(self, first: dict[str, Any] | None, folder: Path | None) -> None:
        self.first, self.folder = first, folder
        self.name = secrets.token_hex(8)  # by which a page knows that the studio was started anew
        self._kept: FirstAnswers | None = None
        self._runs: RunStore | None = None
        self._reading, self._loading = threading.Lock(), threading.Lock()
        self._closed = False
        self._ready = False
        self._turn = threading.Event()  # the page has what is known, or asked for something else

    def begin(self) -> None:
        """Load in the background."""
        threading.Thread(target=self._prepare, name="manipula-opening", daemon=True).start()

    @property
    def is_ready(self) -> bool:
        """Is everything loaded and warm, so that answers are computed as fast as they are found?"""
        return self._ready

    def known(self, verb: str, question: bytes) -> bytes | None:
        """What an earlier studio answered."""
        found = self.kept().find(verb, question, {"studio": self.name, "first": self.first})
        if found is None or verb == FIRST_SIGHT:
            self._turn.set()
        return found

    def opened(self) -> tuple[ModuleType, RunStore]:
        """The answers and the runs; waits until they are loaded."""
        if self._runs is None:
            with self._loading:  # other questions wait for the same
                if self._runs is None:
                    importlib.import_module("manipula.studio.answers")
                    from manipula.studio.runs import RunStore

                    self._runs = RunStore(self.first, self.folder, self.name)
                    if self._closed:
                        self._runs.close()
        from manipula.studio import answers

        return answers, self._runs

    def kept(self) -> FirstAnswers:
        """Answers on disk."""
        with self._reading:
            if self._kept is None:
                from manipula.studio.first_answers import FirstAnswers

                self._kept = FirstAnswers()
            return self._kept

    def close(self) -> None:
        """End all runs."""
        self._closed = True
        self._turn.set()
        if self._kept is not None:
            self._kept.close()
        if self._runs is not None:
            self._runs.close()

    def _prepare(self) -> None:
        """Load, and answer what every page asks first, so that models and lists are there when it does."""
        before = sys.getswitchinterval()
        sys.setswitchinterval(TURN_S)
        try:
            self.kept()
            self._turn.wait(PATIENCE_S)
            _, runs = self.opened()
            from manipula.studio.verbs import call

            for name in ("hello", "schema"):
                call(name, runs, {})
            document = self.first or call("new", runs, {"robot": USUAL_ARM})["document"]
            for name in ("robot", "path", "check"):
                with contextlib.suppress(ManipulaError):  # a file without a reference has no path
                    call(name, runs, {"document": document})
        except Exception as error:  # the next request of the page meets it again, and reports it
            traceback.print_exception(error, file=sys.stderr)
        finally:
            self._ready = True
            sys.setswitchinterval(before)
