"""The bar: on a terminal, for what takes long, and gone when anything else is written."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from whocall.base import long_work
from whocall.cli import progress

ERASE = "\r\x1b[K"


class Terminal(io.StringIO):
    """Somebody watches."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """For commands that have taken long."""
    monkeypatch.setattr(long_work, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def watch(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, announce: bool = False) -> None:
    """Begins a command with `stream` as both of its streams; pytest sets its own after fixtures."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "stdout", stream)
    progress.watch(SimpleNamespace(announce=announce))


def test_it_is_drawn_and_erased(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    watch(terminal, monkeypatch)
    long_work.working("Reading [red]x", 0.25)
    progress.leave()
    assert "Reading [red]x" in terminal.getvalue()
    assert terminal.getvalue().endswith(ERASE)
    assert "\x1b[?25" not in terminal.getvalue()  # the cursor stays as it is
    assert sys.stderr is terminal


def test_what_is_written_stands_alone(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    watch(terminal, monkeypatch)
    long_work.working("Reading x", 0.25)
    print("result")
    progress.leave()
    assert terminal.getvalue().endswith(ERASE + "result\n")


def test_a_line_that_has_no_end_yet_is_not_drawn_over(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch(terminal, monkeypatch)
    sys.stdout.write("half a ")
    long_work.working("Reading x", 0.25)
    sys.stdout.write("line\n")
    progress.leave()
    assert terminal.getvalue() == "half a line\n"


def test_what_is_quick_is_silent(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_work, "PATIENCE", 1e9)
    watch(terminal, monkeypatch)
    long_work.working("Reading x", 0.25)
    progress.leave()
    assert terminal.getvalue() == ""


def test_where_nobody_watches_it_is_silent(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    watch(stream, monkeypatch)
    long_work.working("Reading x", 0.25)
    progress.leave()
    assert stream.getvalue() == ""


def test_without_rich_it_is_drawn_by_characters(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    watch(terminal, monkeypatch)
    long_work.working(f"Reading {'x' * 200}", 0.5)
    progress.leave()
    drawn = terminal.getvalue().split(ERASE)[1]
    assert drawn.startswith("[############............]  50% Reading xxx")
    assert drawn.endswith("...")
    assert len(drawn) < 80


def test_within_a_stage_the_share_is_that_of_the_whole(terminal: Terminal) -> None:
    heard: list[tuple[str, float | None]] = []
    long_work.tell_long_work(lambda what, share: heard.append((what, share)))
    long_work.working("alone")
    long_work.stage("walking the stacks", 0.25)
    long_work.working("Reading x", 0.9)
    long_work.still_working()
    long_work.tell_long_work(None)
    long_work.working("nobody")
    assert heard == [
        ("alone", None),
        ("walking the stacks", 0.25),
        ("Reading x", 0.25),
        ("walking the stacks", 0.25),
    ]


def test_a_gdb_that_asks_hears_each_work_once(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch(terminal, monkeypatch, announce=True)
    for what in ("Reading x", "Reading x", "Reading y"):
        long_work.working(what, 0.5)
    progress.leave()
    assert terminal.getvalue() == "Reading x...\nReading y...\n"
