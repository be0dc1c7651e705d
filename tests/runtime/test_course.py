"""After the report the signal takes its course: handlers that were there, and the core."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from runtime.lab import LIBRARIES, build, crash


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    return build(folder, "installed.c", str(LIBRARIES / "libwhocall.a"))


def test_an_earlier_handler_is_called(installed: Path) -> None:
    """With siginfo and context as the kernel gave them, after the report where that is wanted."""
    (report,), status, output = crash(installed, "chain", "first", preload=False)
    assert status == 7
    assert report.complete
    assert report.names[:2] == ["boom", "main"]
    assert "the earlier handler was called: boom, with the address" in output


def test_an_earlier_handler_that_lets_it_happen(installed: Path) -> None:
    """It takes itself away and returns; the instruction crashes again: one report, of that."""
    for order in ((), ("first",)):
        reports, status, output = crash(installed, "gives_up", *order, preload=False)
        assert status == -signal.SIGSEGV
        assert output.count("the earlier handler gives up") == 1
        assert len(reports) == 1


def test_an_ignored_signal_stays_ignored(installed: Path) -> None:
    reports, status, output = crash(installed, "ignored", preload=False)
    assert status == 0
    assert "still here" in output
    assert reports == []


def test_wrong_options(installed: Path) -> None:
    _, status, output = crash(installed, "wrong", preload=False)
    assert status == 4
    assert "whocall_install: Invalid argument" in output
