"""What is printed for people: styles where somebody looks, and a line about work that takes long."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading

import pytest

from manipula.cli import live
from manipula.cli.terminal import Terminal

STYLE = re.compile(r"\x1b\[([0-9;]+)m")
ROWS = [["a", "1.5", "a sentence that is longer than what is left of the line"], ["bb", "-2", ""]]


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    out = Terminal()
    out.say(("bad", "bold red"), ": why")
    out.table(("name", "value", "told"), ROWS, sentences=True, styles={(0, 1): "yellow"})
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "45")
    monkeypatch.setenv("TERM", "xterm")


def test_files_and_pipes_get_plain_text(capsys) -> None:
    text = printed(capsys)
    assert "\x1b" not in text
    assert text.splitlines() == [
        "bad: why",
        "name  value  told",
        "a       1.5  a sentence that is longer than",
        "             what is left of the line",
        "bb       -2",
    ]


def test_terminals_get_styles_around_the_same_text(capsys, monkeypatch) -> None:
    plain = printed(capsys)
    monkeypatch.setenv("FORCE_COLOR", "1")
    styled = printed(capsys)
    assert STYLE.sub("", styled) == plain
    assert styled.startswith("\x1b[1;31mbad\x1b[0m: why\n")
    assert "\x1b[33m  1.5\x1b[0m" in styled
    assert STYLE.findall(styled).count("0") * 2 == len(STYLE.findall(styled))  # every style ends


@pytest.mark.parametrize(("name", "value", "left"), [("NO_COLOR", "1", {"1", "0"}), ("TERM", "dumb", set())])
def test_colours_can_be_refused(capsys, monkeypatch, name, value, left) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv(name, value)
    assert set(STYLE.findall(printed(capsys))) == left


def test_the_width_is_that_of_the_terminal_where_nothing_else_is_said(monkeypatch) -> None:
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr("os.get_terminal_size", lambda number: type("Size", (), {"columns": 132})())
    assert Terminal().width == 132

    def nobody(number: int) -> None:
        raise OSError

    monkeypatch.setattr("os.get_terminal_size", nobody)
    assert Terminal().width == 80


def test_long_work_is_told_short_work_is_not(monkeypatch) -> None:
    told: list[str] = []
    seen = threading.Event()

    def shown(state: live.Live) -> None:
        told.append(state.name)
        seen.set()

    monkeypatch.setattr(live, "SOON", 3600.0)
    assert live.Live(shown).background(lambda: 1) == 1
    assert told == []
    monkeypatch.setattr(live, "SOON", -1.0)
    state = live.Live(shown)
    state.phase("integrating")
    assert state.background(lambda: seen.wait(60)) is True
    assert told == ["integrating"]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_is_drawn_on_a_screen_and_taken_away(monkeypatch) -> None:
    monkeypatch.setattr(live, "SOON", -1.0)
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with live.live() as state:
        drawn = threading.Event()
        write = screen.write

        def watched(text: str) -> int:
            if "verifying" in text:
                drawn.set()
            return write(text)

        monkeypatch.setattr(screen, "write", watched)
        state.phase("verifying")
        assert state.background(lambda: drawn.wait(60))
    assert "verifying" in screen.getvalue()
    assert "\x1b[2K" in screen.getvalue()  # erased


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("words", [("catalog",), ("doctor", "planar-2r")])
def test_a_reader_that_has_read_enough_is_no_mistake(words: tuple[str, ...]) -> None:
    """``manipula catalog | head``."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "manipula", *words]
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 1
