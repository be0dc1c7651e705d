"""Reports in programs that make them hard, and what they leave of the program's own ways."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from runtime.lab import LIBRARIES, PRELOAD, build, crash, waiting_at_most
from runtime.reports import read_reports

POLL = "7"  # the system call of x86-64
SLEEPS = re.compile(r"^\d+ +(?:clock_)?nanosleep\(", re.MULTILINE)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    return build(folder, "hostile.c", "-O1", str(LIBRARIES / "libwhocall.a"))


def sleeps(program: Path, case: str, **settings: str) -> tuple[int, str]:
    """How often a program's threads sleep, and what it says."""
    trace = program.parent / f"{case}.trace"
    given = {"LD_PRELOAD": str(PRELOAD), **settings}
    variables = [word for name, value in given.items() for word in ("-E", f"{name}={value}")]
    command = ["strace", "-f", "-o", trace, "-e", "trace=nanosleep,clock_nanosleep"]
    ran = subprocess.run(
        [*command, *variables, program, case], capture_output=True, text=True, check=False
    )
    return len(SLEEPS.findall(trace.read_text())), ran.stderr


def test_a_crash_after_that_of_a_vforked_child(hostile: Path) -> None:
    """Nobody waits for a thread of the child, whose state is in the parent's memory."""
    count, text = sleeps(hostile, "after_vfork")
    reports = read_reports(text)
    assert [report.complete for report in reports] == [True, True]
    assert all(report.names[:2] == ["boom", "after_vfork"] for report in reports)
    assert count < 200


def test_threads_that_block_all_signals(hostile: Path) -> None:
    """Each is named as one that gives no answer, and nobody waits for forty seconds."""
    count, text = sleeps(hostile, "forty_threads", WHOCALL_CRASH_THREADS="all")
    (report,) = read_reports(text)
    assert report.complete
    assert sum("gives no answer: it blocks signals" in line for line in report.lines) == 40
    assert count < 200


def test_a_stack_that_was_taken_away(hostile: Path) -> None:
    """The thread that takes its own away has the handler's again; its own was what it asked for."""
    (report,), status, _ = crash(hostile, "stack_taken_away")
    assert status == -signal.SIGSEGV
    assert report.complete
    assert report.names[0] == "overflow"


def test_a_thread_of_c11_has_a_stack_for_the_handler(hostile: Path) -> None:
    (report,), status, _ = crash(hostile, "c11_thread")
    assert status == -signal.SIGSEGV
    assert report.complete
    assert report.names[0] == "overflow"


def test_a_pipe_that_nobody_reads_any_more(hostile: Path) -> None:
    """The program's handler decides how it ends, and not SIGPIPE."""
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run([hostile, "handled"], stderr=writer, check=False)
    os.close(writer)
    assert ran.returncode == 7


def test_a_file_that_may_not_grow(hostile: Path, tmp_path: Path) -> None:
    with (tmp_path / "text").open("w") as text:
        ran = subprocess.run([hostile, "limited"], stderr=text, check=False)
    assert ran.returncode == 7
    assert (tmp_path / "text").stat().st_size == 100


def test_a_pipe_that_nobody_reads(hostile: Path, tmp_path: Path) -> None:
    """It is full before the report ends: the report is given up, the record is whole."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    while True:
        try:
            os.write(writer, b"x" * 4096)
        except BlockingIOError:
            break
    os.set_blocking(writer, True)
    settings = {"LD_PRELOAD": str(PRELOAD), "WHOCALL_CRASH_RECORD": str(tmp_path / "record")}
    ran = subprocess.run(
        [hostile, "boom"], stderr=writer, env={**os.environ, **settings}, check=False, timeout=60
    )
    assert ran.returncode == -signal.SIGSEGV
    assert (tmp_path / "record").stat().st_size > 1000
    os.close(reader)
    os.close(writer)


def test_a_stack_for_handlers_that_is_too_small(hostile: Path) -> None:
    """Nothing is written below it; a line says what to do."""
    reports, status, output = crash(hostile, "small_stack", preload=False)
    assert status == 7
    assert reports == []
    assert ": the stack for signal handlers is too small for a report" in output


def test_a_signal_from_outside_waits(hostile: Path) -> None:
    """It comes when the report is made, where the program has a handler and may live on."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)  # less than a report
    program = subprocess.Popen([hostile, "handled"], stderr=writer)
    os.close(writer)
    with waiting_at_most(60):
        while Path(f"/proc/{program.pid}/syscall").read_text().split()[0] != POLL:
            time.sleep(0.01)
    program.send_signal(signal.SIGABRT)
    with os.fdopen(reader, errors="replace") as pipe:
        first, second = read_reports(pipe.read())
    assert program.wait(timeout=60) == -signal.SIGABRT
    assert first.complete
    assert second.complete
    assert "crashed: SIGSEGV" in first.headline
    assert "crashed: SIGABRT (signal 6, code 0: sent by a process)" in second.headline


def test_one_instruction_crashes_in_two_calls(hostile: Path) -> None:
    reports, status, _ = crash(hostile, "twice", preload=False)
    assert status == 0
    assert [report.names[:2] for report in reports] == [["boom", "tries"]] * 2


def test_a_text_that_cannot_be_written(hostile: Path) -> None:
    """Standard error has it then."""
    (report,), _, _ = crash(hostile, "boom", WHOCALL_CRASH_TEXT="/nowhere/text")
    assert report.complete


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"WHOCALL_CRASH_RING": "/nowhere/ring"},
            "WHOCALL_CRASH_RING=/nowhere/ring: No such file or directory; there is no ring",
        ),
        (
            {"WHOCALL_CRASH_RING": "ring", "WHOCALL_CRASH_RING_SIZE": "64k"},
            "WHOCALL_CRASH_RING_SIZE=64k is no number of bytes from 4096 on; the ring has 65536",
        ),
        ({"WHOCALL_CRASH_THREADS": "yes"}, 'WHOCALL_CRASH_THREADS=yes: "all" is all it knows'),
    ],
)
def test_settings_that_are_wrong(hostile: Path, settings: dict[str, str], told: str) -> None:
    """A sentence at the start; crashes are reported all the same."""
    (report,), status, output = crash(hostile, "boom", **settings)
    assert f"libwhocall-crash: {told}\n" in output
    assert report.complete
    assert status == -signal.SIGSEGV


def test_nothing_is_bound_in_the_handler(tmp_path: Path) -> None:
    """Of a program that binds its own calls late, none of the static library's are among them."""
    source = "#include <whocall.h>\nint main(void) { return whocall_install(0); }\n"
    (tmp_path / "lazy.c").write_text(source)
    include = f"-I{Path(__file__).resolve().parents[2] / 'native' / 'runtime'}"
    command = ["gcc", tmp_path / "lazy.c", include, LIBRARIES / "libwhocall.a", "-Wl,-z,lazy"]
    subprocess.run([*command, "-o", tmp_path / "lazy"], check=True)
    said = subprocess.run(
        ["readelf", "-rW", tmp_path / "lazy"], capture_output=True, text=True, check=True
    )
    late = re.findall(r"JUMP_SLOT?\S* +\S+ (\w+)", said.stdout)
    assert late == []
