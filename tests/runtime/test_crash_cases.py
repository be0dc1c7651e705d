"""The handler leans on nothing that a crash may have taken away."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from runtime.lab import PRELOAD, build, crash, waiting_at_most
from runtime.reports import read_record, read_reports

END = ["main", "__libc_start_call_main", "__libc_start_main", "_start"]
CLONE3, ENOSYS = 435, 38  # the system call has this number wherever it is
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall(CLONE3, None, 0)
HAS_CLONE3 = ctypes.get_errno() != ENOSYS
THREAD_END = ["start_thread", "__clone3" if HAS_CLONE3 else "clone"]
"""A container's filter may hide clone3 from the C library."""
POLL, PAUSE, SLEEP = "7", "34", "230"  # system calls of x86-64
OUTERMOST = "the outermost frame"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("cases"), "cases.c", "-O2")


@pytest.mark.parametrize(
    ("case", "signal_number", "chain"),
    [
        ("plain", signal.SIGSEGV, ["plain", *END]),
        ("raise", signal.SIGILL, ["raise", *END]),
        ("in_malloc", signal.SIGSEGV, ["_int_malloc", "in_malloc", *END]),
        ("heap_corrupt", signal.SIGSEGV, ["heap_corrupt", *END]),
        ("double_free", signal.SIGABRT, ["abort", "malloc_printerr", "double_free", *END]),
        ("in_linker", signal.SIGSEGV, ["_dl_lookup_symbol_x", "dlsym", "in_linker", *END]),
        ("full_stack", signal.SIGSEGV, ["full_stack", "full_stack", "full_stack", *END]),
        ("full_in_thread", signal.SIGSEGV, ["full_stack", "full_in_thread", *THREAD_END]),
        ("thread", signal.SIGSEGV, ["plain", "in_thread", *THREAD_END]),
        ("call_of_nothing", signal.SIGSEGV, ["?", "call_of_nothing", *END]),
        (
            "in_own_handler",
            signal.SIGSEGV,
            ["plain", "crash_in_handler", "__restore_rt", "raise", "in_own_handler", *END],
        ),
    ],
)
def test_a_case(cases: Path, case: str, signal_number: int, chain: list[str]) -> None:
    """The chain is there, in this order, and the process ends by the signal."""
    reports, status, output = crash(cases, case)
    assert status == -signal_number, output
    (report,) = reports
    assert report.complete
    assert f"signal {int(signal_number)}," in report.headline
    assert report.end == OUTERMOST
    names = iter(report.names)
    assert all(wanted in names for wanted in chain), report.names
    assert report.names[-len(THREAD_END) :] in (END[-2:], THREAD_END)


def test_what_it_writes_is_its_users_alone(cases: Path, tmp_path: Path) -> None:
    """Words of the stack are in it: keys, passwords, what a user typed."""
    places = {name: tmp_path / name.lower() for name in ("TEXT", "RECORD", "RING")}
    crash(cases, "plain", **{f"WHOCALL_CRASH_{name}": str(path) for name, path in places.items()})
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == dict.fromkeys(
        ("text", "record", "ring"), 0o600
    )


def test_while_a_library_is_relocated(cases: Path) -> None:
    """The dynamic linker does not yet tell of the library that its own lock is held for."""
    library = build(cases.parent, "bad_library.c", "-shared", "-fPIC", "-O2", name="chosen.so")
    (report,), _, _ = crash(cases, "in_library", str(library))
    first, second = report.frames()[:2]
    assert (first.module, first.name) == (str(library), "chosen")
    # Since glibc 2.41 the greater part of it is a function of its own.
    assert second.name in ("_dl_relocate_object", "_dl_relocate_object_no_relro")
    assert report.names[-4:] == END
    assert report.complete


def test_while_a_library_begins(cases: Path) -> None:
    flags = ("-shared", "-fPIC", "-O2", "-DCONSTRUCTOR")
    library = build(cases.parent, "bad_library.c", *flags, name="begins.so")
    (report,), _, _ = crash(cases, "in_library", str(library))
    assert report.names[:2] == ["begin", "call_init"]
    assert report.complete


def test_without_a_stack(cases: Path) -> None:
    """Nothing can be read at the stack pointer: the report says so, and is whole all the same."""
    (report,), status, _ = crash(cases, "without_stack")
    assert report.names == ["munmap"]
    assert report.end == "the stack cannot be read any further"
    assert report.complete
    assert status == -signal.SIGSEGV


def held(program: Path, case: str) -> tuple[subprocess.Popen[bytes], int]:
    """Begin a case whose report waits for a reader: the process, and where it can be read."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)  # less than a report
    environment = {**os.environ, "LD_PRELOAD": str(PRELOAD)}
    started = subprocess.Popen([str(program), case], env=environment, stderr=writer)
    os.close(writer)
    return started, reader


def calls_of_threads(process: int) -> list[str]:
    """The number of the system call that each thread is in."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return [(task / "syscall").read_text().split()[0] for task in tasks]


def test_eight_threads_at_once(cases: Path) -> None:
    """Eight reports one after the other: no line stands in another's."""
    program, reader = held(cases, "eight_threads")
    with waiting_at_most(60):
        while sorted(calls_of_threads(program.pid)) != sorted([POLL, PAUSE, *[SLEEP] * 7]):
            time.sleep(0.01)
    with os.fdopen(reader, errors="replace") as pipe:
        reports = read_reports(pipe.read())
    assert len(reports) == 8
    assert len({report.headline.rpartition("thread")[2] for report in reports}) == 8
    for report in reports:
        assert report.names == ["one_of_eight", *THREAD_END]
        assert report.complete
    assert program.wait(timeout=60) == -signal.SIGSEGV


def test_in_the_handler_itself(cases: Path, tmp_path: Path) -> None:
    """The dynamic linker's list is damaged: what hangs on it is left out, and nothing else."""
    path = tmp_path / "record"
    (report,), status, _ = crash(cases, "in_handler", WHOCALL_CRASH_RECORD=str(path))
    assert "the report itself crashed here (SIGSEGV at address 0x10)" in "\n".join(report.lines)
    assert report.names == ["in_handler", "main", "?", "?", "_start"]
    assert report.complete
    assert status == -signal.SIGSEGV
    record, _ = read_record(path.read_bytes())
    assert [frame[0] for frame in record.threads[0].frames] == [
        frame.address for frame in report.frames()
    ]


def test_a_signal_from_outside_while_it_reports(cases: Path) -> None:
    """A pipe that is read late holds the report up; a second signal takes nothing from it."""
    program, reader = held(cases, "plain")
    with waiting_at_most(60):
        while calls_of_threads(program.pid) != [POLL]:
            time.sleep(0.01)
        program.send_signal(signal.SIGSEGV)
    with os.fdopen(reader, errors="replace") as pipe:
        text = pipe.read()
    assert program.wait(timeout=60) == -signal.SIGSEGV
    (report,) = read_reports(text)
    assert report.names == ["plain", *END]
    assert "the report itself crashed" not in text
    assert report.complete
