"""A studio is there before all of the package is loaded; what it answers meanwhile is what it would answer later."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest

pytest.importorskip("uvicorn", reason="the studio is an extra")

from manipula.errors import CompileError
from manipula.studio import opening, serving
from manipula.studio.documents import from_catalog
from manipula.studio.first_answers import FIRST_QUESTIONS, FirstAnswers
from manipula.studio.runs import RunStore
from manipula.studio.verbs import call
from manipula.studio.verbs.catalogue import only_once

OWN = {"studio": "abc", "first": None}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("MANIPULA_CACHE_DIR", str(tmp_path / "objects"))
    monkeypatch.delenv("MANIPULA_CACHE", raising=False)
    return FirstAnswers()


def questions():
    """The first questions of a page with their arguments."""
    document = from_catalog("planar-2r")
    return {"hello": {}, "schema": {}, "new": {"robot": "planar-2r"}, "robot": {"document": document}}


def given(verb: str, arguments: dict, runs: RunStore):
    answer = call(verb, runs, arguments)
    return json.dumps(arguments).encode(), answer, json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()


def loaded(code: str) -> set[str]:
    """Packages that a fresh interpreter has loaded after this code."""
    end = "; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code + end], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_the_address_waits_for_no_large_library() -> None:
    """All that is loaded when the address is said: not even the server; the package is loaded in the background later."""
    code = """
import sys
from manipula.cli.app import app
from manipula.studio import serving
serving._answer = lambda *given: None
said = []
serving.serve(browser=False, say=lambda address: said.append((address, *sys.modules)), studies=".")
assert said[0][0].startswith("http://127.0.0.1:")
sys.modules = dict.fromkeys(said[0])
""".strip().replace("\n", "; ")
    assert not {"numpy", "sympy", "scipy", "llvmlite", "uvicorn", "starlette", "asyncio"} & loaded(code)


def test_what_is_missing_is_said_before_an_address(monkeypatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(serving, "find_spec", lambda name: None if name == "starlette" else object())
    with pytest.raises(CompileError, match=r"manipula\[studio\].*starlette"):
        serving.serve(browser=False, say=said.append)
    assert said == []


def test_a_browser_that_keeps_its_caller_does_not_keep_the_server(monkeypatch) -> None:
    """Some wait for seconds until they give control back."""
    asked, served = threading.Event(), threading.Event()
    monkeypatch.setattr("webbrowser.open", lambda address: (asked.set(), served.wait(20)))
    monkeypatch.setattr(serving, "_answer", lambda *given: served.set())
    serving.serve(say=lambda address: None)
    assert served.is_set()
    assert asked.wait(20)


def test_a_page_whose_questions_are_known_goes_first(kept, monkeypatch) -> None:
    """The package is loaded when a page has its arm, or asks what nobody knows."""
    monkeypatch.setattr(opening, "PATIENCE_S", 60.0)
    for verb, arguments in questions().items():
        kept.note(verb, *given(verb, arguments, RunStore()))
    for last, asks in (("robot", questions()["robot"]), ("check", {})):
        begun = opening.Opening(None, None)
        loading = threading.Event()
        monkeypatch.setattr(
            begun, "opened", lambda loading=loading, begun=begun: (loading.set(), (None, RunStore()))[1]
        )
        begun.begin()
        for verb in ("hello", "schema", "new"):
            assert begun.known(verb, json.dumps(questions()[verb]).encode()) is not None
        assert not loading.is_set()
        assert (begun.known(last, json.dumps(asks).encode()) is None) == (last == "check")
        assert loading.wait(20)
        begun.close()


def test_what_a_page_asks_first_needs_no_computer_algebra() -> None:
    ask = "from manipula.studio.verbs import call; from manipula.studio.runs import RunStore; r = RunStore(); d = call('new', r, {'robot': 'scara-khang'})"
    asked = "; ".join(
        [
            ask,
            "call('hello', r, {}); call('schema', r, {})",
            *(f"call('{v}', r, d)" for v in ("robot", "path", "check")),
        ]
    )
    assert not {"sympy", "scipy", "matplotlib"} & loaded(asked)


def test_another_studio_finds_the_same_answers(kept) -> None:
    runs = RunStore(None, None, OWN["studio"])
    assert set(questions()) == set(FIRST_QUESTIONS)
    for verb, arguments in questions().items():
        asked, answer, body = given(verb, arguments, runs)
        assert kept.find(verb, asked, OWN) is None
        kept.note(verb, asked, answer, body)
        assert json.loads(FirstAnswers().find(verb, asked, OWN)) == json.loads(body)
        assert FirstAnswers().find(verb, asked + b" ", OWN) is None


def test_each_studio_says_its_own_name(kept) -> None:
    kept.note("hello", *given("hello", {}, RunStore({"robot": "mine"})))
    found = json.loads(FirstAnswers().find("hello", b"{}", {"studio": "other", "first": {"robot": "ä"}}))
    assert (found["studio"], found["first"]) == ("other", {"robot": "ä"})


def test_what_was_asked_last_is_kept_at_the_end(kept) -> None:
    runs = RunStore()
    two = [given("new", {"robot": name}, runs) for name in ("planar-2r", "planar-3r", "scara-khang")]
    for asked in two:
        kept.note("new", *asked)
    found = [FirstAnswers().find("new", asked, OWN) is not None for asked, _, _ in two]
    kept.close()
    assert (found, FirstAnswers().find("new", two[2][0], OWN)) == ([True, False, False], two[2][2])


def test_refusals_and_other_verbs_are_not_kept(kept) -> None:
    kept.note("new", b"{}", {"error": {}}, b"{}")
    kept.note("check", b"{}", {"ok": True}, b"{}")
    assert FirstAnswers().find("new", b"{}", OWN) is None
    assert FirstAnswers().find("check", b"{}", OWN) is None


def test_another_package_finds_nothing(kept, monkeypatch) -> None:
    kept.note("schema", *given("schema", {}, RunStore()))
    monkeypatch.setattr("manipula.native.store.object_cache.sources", lambda root: b"other")
    assert FirstAnswers().find("schema", b"{}", OWN) is None


def test_a_cache_that_is_off_keeps_nothing(kept, monkeypatch) -> None:
    monkeypatch.setenv("MANIPULA_CACHE", "off")
    kept.note("schema", *given("schema", {}, RunStore()))
    assert FirstAnswers().find("schema", b"{}", OWN) is None


def test_what_two_ask_for_is_made_once() -> None:
    begun, go = threading.Event(), threading.Event()
    made = []

    def make():
        made.append(1)
        begun.set()
        go.wait(20)
        return {}

    known = only_once(make)
    threads = [threading.Thread(target=known) for _ in range(3)]
    for thread in threads:
        thread.start()
    begun.wait(20)
    go.set()
    for thread in threads:
        thread.join(20)
    assert len(made) == 1


def test_the_browser_is_started_without_the_key(monkeypatch) -> None:
    """Other users of the machine see with which words a program was started."""
    opened, given, said = [], [], []
    asked = threading.Event()
    monkeypatch.setattr("webbrowser.open", lambda address: (opened.append(address), asked.set()))
    monkeypatch.setattr(serving, "_answer", lambda *words: given.extend(words))
    serving.serve(say=said.append)
    assert asked.wait(20)
    token, ticket = given[2], given[-1]
    assert said == [f"http://127.0.0.1:{given[1]}/?token={token}"]
    assert opened == [f"http://127.0.0.1:{given[1]}/?ticket={ticket}"]
    assert len({token, ticket}) == 2
    assert len(ticket) >= 32
    given.clear()
    serving.serve(browser=False, say=said.append)
    assert given[-1] is None  # nobody is given one
