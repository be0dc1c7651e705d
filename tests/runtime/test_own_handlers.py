"""Programs with handlers of their own: these come first, and a report tells what is final."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from runtime.lab import LIBRARIES, build, crash

ORDERS = ["before", "after"]
SEGV, ABRT = -signal.SIGSEGV, -signal.SIGABRT
FIRST = "whocall: a handler of the program had it first, and ends the process"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    return build(folder, "own_handler.c", "-O1", str(LIBRARIES / "libwhocall.a"))


def said_alone(own: Path, way: str) -> tuple[int, str]:
    """The status and the output without any handler of ours."""
    _, status, output = crash(own, way, "alone", preload=False)
    return status, output


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("way", ["mends", "mends_once", "jumps"])
def test_what_it_recovers_from_is_nobodys_business(own: Path, way: str, order: str) -> None:
    """By the page that it makes writable, or a jump; with its mask and its flags."""
    reports, status, output = crash(own, way, order, preload=order == "after")
    assert reports == []
    told = [line for line in output.splitlines() if not line.startswith("it is ")]
    assert (status, told) == (0, said_alone(own, way)[1].splitlines())
    assert ("it is gone" in output) == (way == "mends_once" and order == "after")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("way", "status", "ending"),
    [
        ("gives_up", SEGV, ""),
        ("sends_again", SEGV, ""),
        ("aborts", ABRT, f"{FIRST} by SIGABRT (signal 6, code -6: raised by the program itself)"),
        (
            "blocks_and_aborts",
            ABRT,
            f"{FIRST} by SIGABRT (signal 6, code -6: raised by the program itself)",
        ),
        ("exits", 3, FIRST),
    ],
)
def test_what_it_ends_by_is_reported(
    own: Path, way: str, status: int, ending: str, order: str
) -> None:
    """The report is of the crash, and not of what the handler did; nothing of it is lost."""
    (report,), ended, output = crash(own, way, order, preload=order == "after")
    assert ended == status == said_alone(own, way)[0]
    assert "own handler, with the address\n" in output
    assert report.complete
    assert "crashed: SIGSEGV (signal 11, code 2: no permission for the address)" in report.headline
    assert report.names[:2] == ["boom", "main"]
    told = [line for line in report.lines if line.startswith(FIRST)]
    assert told == ([ending] if ending else [])


@pytest.mark.parametrize("way", ["sends_at_once", "exits_at_once"])
def test_what_ends_it_at_once(own: Path, way: str) -> None:
    """Where the handler never returns, functions in front of the C library's tell."""
    (report,), status, _ = crash(own, way, "after")
    assert status == said_alone(own, way)[0]
    assert report.names[:2] == ["boom", "main"]
    assert report.lines[0].startswith(FIRST)


def test_a_report_before_it(own: Path) -> None:
    given = {"WHOCALL_CRASH_HANDLERS": "report-first"}
    (report,), status, output = crash(own, "jumps", "after", **given)
    assert (report.names[:2], status) == (["boom", "main"], 0)
    assert output.endswith("recovered\n") or "recovered\n" in output


def test_it_takes_the_place_of_ours(own: Path) -> None:
    reports, status, _ = crash(own, "aborts", "after", WHOCALL_CRASH_HANDLERS="leave")
    (report,) = reports
    assert status == ABRT
    assert "crashed: SIGABRT" in report.headline
