"""Threads that are asked for their stacks stay in what they stood in."""

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

WAYS = {
    *("sleep", "usleep", "nanosleep", "semaphore", "read", "poll"),
    *("futex", "accept", "waitpid", "condition"),
}


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("standing"), "standing.c", "-O1")


def answers(lines: list[str]) -> set[str]:
    """The names of the threads that told their stacks."""
    found = (re.fullmatch(r'thread \d+ "(\w+)":', line) for line in lines)
    return {one.group(1) for one in found if one}


def fallen(process: int) -> int:
    """How many of the threads that are to crash are in the handler: they block all signals."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    blocked = (
        re.search(r"^SigBlk:\t(\w+)$", (task / "status").read_text(), re.M) for task in tasks
    )
    return sum(one is not None and int(one.group(1), 16) != 0 for one in blocked)


def test_no_thread_gets_past_what_it_stood_in(standing: Path) -> None:
    """The kernel ends sleep() and poll() for any signal; and what comes behind may be final."""
    (report,), status, output = crash(standing, WHOCALL_CRASH_THREADS="all")
    assert status == -signal.SIGSEGV
    assert report.complete
    assert answers(report.lines) == WAYS
    assert "past" not in output


def test_they_are_asked_again_where_they_stay(standing: Path) -> None:
    """Four threads have crashed before the first report can begin: those that stand are in each."""
    reader, writer = os.pipe()
    os.write(writer, b"\n" * fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096))
    given = {**os.environ, "LD_PRELOAD": str(PRELOAD), "WHOCALL_CRASH_THREADS": "all"}
    command = [str(standing), "4"]
    with (
        waiting_at_most(60),
        subprocess.Popen(
            command, env=given, stderr=writer, stdout=subprocess.PIPE, text=True
        ) as program,
    ):
        os.close(writer)
        while fallen(program.pid) < 4:
            time.sleep(0.01)
        with os.fdopen(reader, errors="replace") as pipe:
            reports = read_reports(pipe.read())
        assert program.stdout is not None
        assert program.stdout.read() == ""
    assert [report.complete for report in reports] == [True] * 4
    for report in reports:
        assert answers(report.lines) == WAYS


def test_they_are_let_go_where_a_handler_takes_over(tmp_path: Path) -> None:
    """It may wait for them."""
    source = tmp_path / "waits.c"
    source.write_text(
        """
        #include <pthread.h>
        #include <semaphore.h>
        #include <signal.h>
        #include <unistd.h>
        #include "whocall.h"
        static sem_t asked, told;
        static void* worker(void* unused) {
          while (sem_wait(&asked) != 0) {
          }
          sem_post(&told);
          return unused;
        }
        static void handler(int number) {
          (void)number;
          sem_post(&asked);
          while (sem_wait(&told) != 0) {
          }
          _exit(7);
        }
        int main(void) {
          pthread_t thread;
          signal(SIGSEGV, handler);
          whocall_crash_options options = WHOCALL_CRASH_OPTIONS;
          options.all_threads = 1;
          whocall_install(&options);
          pthread_create(&thread, NULL, worker, NULL);
          usleep(20000);
          *(volatile int*)16 = 1;
          return 0;
        }
        """
    )
    program = build(tmp_path, str(source), "-O1", str(LIBRARIES / "libwhocall.a"))
    _, status, _ = crash(program, preload=False)
    assert status == 7
