"""The bar: on a terminal, for what takes long, and nowhere else."""

from __future__ import annotations

import io
import sys

import pytest

from whocall.cli import progress


class Terminal(io.StringIO):
    """Somebody watches."""

    def isatty(self) -> bool:
        return True


def drawn(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, patience: float) -> str:
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress_bar() as tell:
        tell("walking the stacks of [red]x", 0.25)
        tell("asking gdb", 0.75)
    return stream.getvalue()


def test_it_is_drawn_where_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "asking gdb" in drawn(monkeypatch, Terminal(), 0.0)


def test_what_is_quick_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, Terminal(), 1e9) == ""


def test_where_nobody_watches_it_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, io.StringIO(), 0.0) == ""


def test_without_its_library_it_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert drawn(monkeypatch, Terminal(), 0.0) == ""
