"""A signal asks where the process stands: a report as of a crash, and the program goes on."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from runtime.lab import LIBRARIES, build, crash
from runtime.reports import read_record
from runtime.test_annotations import resolved

QUESTION = 4


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("asked"), "asked.c", "-O1")


def test_it_goes_on_and_is_asked_again(asked: Path, tmp_path: Path) -> None:
    path = tmp_path / "records"
    reports, status, output = crash(
        asked, "twice", WHOCALL_CRASH_QUESTION="USR1", WHOCALL_CRASH_RECORD=str(path)
    )
    assert status == 0
    assert "went on after 1\n" in output
    assert len(reports) == 2
    data = path.read_bytes()
    for number, report in enumerate(reports, 1):
        assert "] goes on, asked by SIGUSR1 (signal 10, code -6: raised by" in report.headline
        assert report.complete
        assert "busy" in report.names
        record, size = read_record(data)
        data = data[size:]
        assert (record.flags, record.signal, record.sequence) == (QUESTION, signal.SIGUSR1, number)
        addresses = [address for address, *_ in record.threads[0].frames]
        assert addresses == [frame.address for frame in report.frames()]
    assert data == b""
    said = resolved(path)
    assert said.count("] goes on, asked by SIGUSR1 (signal 10, code -6), thread ") == 2
    assert said.count("asked.c:2") >= 2  # lines of sources


def test_other_threads_tell_where_they_wait(asked: Path) -> None:
    reports, status, output = crash(
        asked, "twice", WHOCALL_CRASH_QUESTION="SIGUSR1", WHOCALL_CRASH_THREADS="all"
    )
    assert (status, "went on after 1\n" in output) == (0, True)
    for report in reports:
        lines = "\n".join(report.lines)
        assert "worker+0x" in lines.partition("end of the stack")[2]


def test_a_watchdog(asked: Path) -> None:
    (report,), status, output = crash(asked, "watchdog", WHOCALL_CRASH_QUESTION="ALRM")
    assert (status, "went on after 1\n" in output) == (0, True)
    assert "] goes on, asked by SIGALRM (signal 14, code 128), thread " in report.headline
    assert "busy" in report.names


def test_a_crash_behind_a_question(asked: Path) -> None:
    reports, status, _ = crash(asked, "twice", "crash", WHOCALL_CRASH_QUESTION="USR1")
    assert status == -signal.SIGSEGV
    assert [" crashed: SIGSEGV " in each.headline for each in reports] == [False, False, True]
    assert reports[-1].names[0] == "main"


@pytest.fixture(scope="module")
def often(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("often"), "asked_often.c", "-O1")


def test_threads_answer_each_of_several_questions(often: Path) -> None:
    """Who was held for one report is out of its handler, or waited for, before the next asks."""
    for _ in range(3):
        reports, status, _ = crash(
            often, "again", WHOCALL_CRASH_QUESTION="USR1", WHOCALL_CRASH_THREADS="all"
        )
        assert (len(reports), status) == (3, 0)
        for report in reports:
            others = [line for line in report.lines if line.startswith("thread ")]
            assert len(others) == 4
            assert not [line for line in others if "no answer" in line]


def test_a_question_gives_way_to_a_crash(often: Path) -> None:
    """What waits for its turn is not waited for when the process ends."""
    began = time.monotonic()
    reports, status, _ = crash(
        often, "crash", WHOCALL_CRASH_QUESTION="USR1", WHOCALL_CRASH_THREADS="all"
    )
    assert status == -signal.SIGSEGV
    assert [each for each in reports if " crashed: SIGSEGV " in each.headline]
    assert time.monotonic() - began < 15  # 25 s where it was waited for


def test_the_child_of_a_vfork_is_asked(often: Path) -> None:
    """It has its parent's memory, whose threads may be held for a report."""
    _, status, _ = crash(often, "vfork", WHOCALL_CRASH_QUESTION="USR1", WHOCALL_CRASH_THREADS="all")
    assert status == 7


def test_a_timer_has_no_sender(often: Path) -> None:
    (report,), status, _ = crash(often, "timer", WHOCALL_CRASH_QUESTION="USR1")
    assert status == 0
    assert "SIGUSR1 (signal 10, code -2: a timer has run out), thread " in report.headline


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGRTMAX - 3])
def test_a_signal_that_is_not_to_be_had_costs_no_crash(asked: Path, number: int) -> None:
    reports, status, output = crash(
        asked, "watchdog", "crash", WHOCALL_CRASH_QUESTION=str(int(number))
    )
    assert status == -signal.SIGALRM  # alarm(), which nobody handles
    assert f"libwhocall-crash: WHOCALL_CRASH_QUESTION={int(number)} is " in output
    assert "RING" not in output
    assert reports == []


@pytest.mark.parametrize("name", ["KILL", "9", "nonsense"])
def test_what_is_no_signal_to_ask_by(asked: Path, name: str) -> None:
    """Then SIGUSR1 is what it was."""
    reports, status, output = crash(asked, "twice", WHOCALL_CRASH_QUESTION=name)
    assert (reports, status) == ([], -signal.SIGUSR1)
    assert f"libwhocall-crash: WHOCALL_CRASH_QUESTION={name} " in output


def test_a_program_that_installs_it(tmp_path: Path) -> None:
    library = LIBRARIES / "libwhocall.a"
    exe = build(tmp_path, "asked.c", "-DINSTALLS", str(library))
    reports, status, output = crash(exe, "twice", preload=False)
    assert status == -signal.SIGUSR1
    assert "went on after 1\n" in output
    assert len(reports) == 2
    assert all("busy" in report.names for report in reports)
