"""Answers to the first questions of a page, kept on disk for the next studio: the page is filled with them while the package is still being loaded.

They are answers that nothing but the question and the package determines. They lie in the user's folder of compiled code (``native.store``), under a key made
of every source file of the package, the catalog, the versions of Python and NumPy, the processor, and the bytes of the question; so another package,
robot or question finds nothing, and ``manipula cache clear`` and ``MANIPULA_CACHE=off`` hold for them too.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from manipula.native.store import object_cache

FIRST_QUESTIONS = ("hello", "schema", "new", "robot")
OF_THIS_STUDIO = ("studio", "first")  # what of "hello" the package does not determine
LARGEST = 4 * 2**20  # bytes of an answer
MESH = b'"mesh"'  # of a robot that is shown with files beside it


class FirstAnswers:
    """What earlier studios of this package answered."""

    def __init__(self) -> None:
        package = Path(__file__).parents[1]
        text = hashlib.sha256(f"studio answer\0{sys.version}\0".encode() + _version_of("numpy"))
        text.update(object_cache.sources(package))
        for path in sorted((package / "robot" / "catalog").iterdir()):
            if path.is_file():
                text.update(hashlib.sha256(path.name.encode() + b"\0" + path.read_bytes()).digest())
        self._version = text.digest()
        self._written: set[str] = set()
        self._last: dict[str, tuple[bytes, bytes]] = {}  # by verb: question and answer that are not on disk yet

    def find(self, verb: str, question: bytes, studio: dict[str, Any]) -> bytes | None:
        """The answer to a question, or None where nobody asked it before; ``studio``: of "hello", what is this studio's own."""
        if verb not in FIRST_QUESTIONS:
            return None
        found = object_cache.load(self._key(verb, question))
        if found is None or verb != "hello":
            return found
        own = json.dumps({name: studio[name] for name in OF_THIS_STUDIO}, ensure_ascii=False, allow_nan=False).encode()
        return own[:-1] + b", " + found[1:]

    def note(self, verb: str, question: bytes, answer: dict[str, Any], body: bytes) -> None:
        """An answer that was given; the first one to each verb is written at once, the last one by ``close``."""
        if verb not in FIRST_QUESTIONS or "error" in answer or len(body) > LARGEST or MESH in question:
            return
        if verb == "hello":
            shared = {name: value for name, value in answer.items() if name not in OF_THIS_STUDIO}
            body = json.dumps(shared, ensure_ascii=False, allow_nan=False).encode()
        self._last[verb] = question, body
        if verb not in self._written:
            self._written.add(verb)
            self._write(verb)

    def close(self) -> None:
        """Keep what was asked last: a page begins where it was left."""
        for verb in tuple(self._last):
            self._write(verb)

    def _write(self, verb: str) -> None:
        question, body = self._last.pop(verb)
        key = self._key(verb, question)
        if object_cache.load(key) != body:
            object_cache.store(key, body)

    def _key(self, verb: str, question: bytes) -> bytes:
        return self._version + verb.encode() + b"\0" + question


def _version_of(package: str) -> bytes:
    """What a package says of its version, without loading it."""
    found = find_spec(package)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).with_name("version.py").read_bytes()
