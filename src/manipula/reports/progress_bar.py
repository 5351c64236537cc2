"""How far long work is, shown while it goes: as a bar in a notebook, as a line in a terminal, not at all elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np

from manipula.native.calling.watched_calls import watching
from manipula.reports.page import text
from manipula.simulation.progress import listening

LOOK_S = 0.2  # between two pictures of the bar


class ProgressBar:
    """A bar for runs and for studies.

    As a context it shows every run that is made inside it: which phase it is in, and of a simulation how much of its time is computed. Given to
    ``sweep`` as ``progress`` it shows how many runs of a study are made. In a notebook it is one output that changes in its place; in a terminal a
    line on standard error; elsewhere (a script whose output goes into a file) nothing is written.
    """

    def __init__(self) -> None:
        self._phase, self._samples = "", None
        self._began = time.perf_counter()
        self._shown: Any = None
        self._stack = ExitStack()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.words = ""  # that are shown

    def __enter__(self) -> ProgressBar:
        self._began = time.perf_counter()
        self._stack.enter_context(listening(self._begins))
        self._stack.enter_context(watching(self._watch))
        self._over.clear()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self._stack.close()
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if error is None:
            self._show("done", 1.0)
        else:
            self._show("ended early", self._share())
        self._end_line()

    def __call__(self, progress: Any) -> None:
        """How far a study is (``sweep(…, progress=bar)``)."""
        share = progress.done / max(progress.runs, 1)
        failed = f", {progress.failed} not finished" if progress.failed else ""
        self._show(f"{progress.done} of {progress.runs} runs{failed}", share)
        if progress.done >= progress.runs:
            self._end_line()

    # ------------------------------------------------------------------------------------------------------------------
    def _begins(self, phase: str) -> None:
        self._phase, self._samples = phase, None if phase != "integrating" else self._samples

    def _watch(self, name: str, outputs: Mapping[str, np.ndarray], stop: Any) -> None:
        self._samples = outputs.get("samples")

    def _share(self) -> float | None:
        """Of the samples of a loop, how many are computed."""
        samples = self._samples
        if samples is None or samples.ndim < 2:
            return None
        return float(np.isfinite(samples.reshape(-1, samples.shape[-1])[:, 0]).mean())

    def _look(self) -> None:
        while not self._over.wait(LOOK_S):
            if self._phase:
                self._show(self._phase, self._share())

    def _show(self, words: str, share: float | None) -> None:
        seconds = time.perf_counter() - self._began
        self.words = f"{words}{'' if share is None else f' {100 * share:.0f} %'}, {seconds:.1f} s"
        if _in_notebook():
            value = "" if share is None else f' value="{share:.4f}"'
            page = f'<progress max="1"{value} style="width:18em"></progress> {text(self.words)}'
            self._display({"text/html": page, "text/plain": self.words})
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{self.words}")
            sys.stderr.flush()

    def _display(self, forms: dict[str, str]) -> None:
        from IPython.display import display

        if self._shown is None:
            self._shown = display(forms, raw=True, display_id=True)
        else:
            self._shown.update(forms, raw=True)

    def _end_line(self) -> None:
        self._shown = None
        if not _in_notebook() and sys.stderr.isatty():
            sys.stderr.write("\n")


def progress_bar() -> ProgressBar:
    """A progress bar: ``with mp.progress_bar(): mp.simulate(scenario)``, or ``mp.sweep(study, folder, progress=mp.progress_bar())``."""
    return ProgressBar()


def _in_notebook() -> bool:
    """Does IPython show what is displayed here? It is asked only where somebody has loaded it."""
    shell = sys.modules.get("IPython")
    return shell is not None and shell.get_ipython() is not None
