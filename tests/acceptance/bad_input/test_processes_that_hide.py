"""Processes that the kernel hides, or that end while they are read: a sentence, and no more."""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from places import mounts
from places.needs import ATTACHING, OWN_MOUNTS

from acceptance.bad_input.test_processes import waiting
from acceptance.helpers.broken_files import SCRIPT, Crash

ROUNDS = 16
PTRACE, READ_MEMORY = 101, 310  # calls of x86-64
EPERM = 0x50001
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
THREADS = """
#include <pthread.h>
#include <unistd.h>
static int deeper(volatile int n) { if (n == 0) for (;;) pause(); return deeper(n - 1) + 1; }
static void *work(void *unused) { (void)unused; deeper(200); return 0; }
int main(void) {
  pthread_t thread;
  for (int i = 0; i < 40; i++) pthread_create(&thread, 0, work, 0);
  write(1, "r", 1);
  deeper(200);
  return 0;
}
"""


def _asked(
    pid: int, *start: str, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*start, sys.executable, str(SCRIPT), "bt", "--pid", str(pid), "--all"],
        capture_output=True, text=True, check=False, timeout=120, preexec_fn=before,
    )  # fmt: skip


@pytest.mark.needs(OWN_MOUNTS)
def test_proc_shows_nothing_of_others(made: Crash) -> None:
    """hidepid=2, as administrators of shared machines mount it."""
    inside = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'
    with waiting(made.exe) as process:
        alone = [sys.executable, mounts.__file__, "sh", "-c", inside, "sh", *WITHOUT_RIGHTS]
        ran = _asked(process.pid, *alone)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"whocall: process {process.pid}: "), ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def _without_calls() -> None:
    """A filter of the kernel that refuses what debuggers need, as older containers have it."""
    rows = [(0x20, 0, 0, 0)]
    for call in (PTRACE, READ_MEMORY):
        rows += [(0x15, 0, 1, call), (6, 0, 0, EPERM)]
    rows.append((6, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *row) for row in rows))
    program = struct.pack("<HxxxxxxQ", len(rows), ctypes.addressof(code))
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    libc.prctl(22, 2, program)


def test_a_filter_that_refuses_to_trace(made: Crash) -> None:
    with waiting(made.exe) as process:
        ran = _asked(process.pid, before=_without_calls)
        assert process.poll() is None
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"whocall: process {process.pid}: "), ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.needs(ATTACHING)
def test_processes_that_end_while_they_are_read(tmp_path: Path) -> None:
    exe = tmp_path / "threads"
    build = ["gcc", "-O1", "-fno-optimize-sibling-calls", "-pthread", "-x", "c", "-", "-o", exe]
    subprocess.run(build, input=THREADS, text=True, check=True)
    chance = random.Random(5)
    statuses = set()
    whole = 0.0
    for number in range(ROUNDS):
        with subprocess.Popen([exe], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.read(1)
            begin = time.monotonic()
            reader = subprocess.Popen(
                [sys.executable, str(SCRIPT), "bt", "--pid", str(process.pid), "--all"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            if number > 0:  # the first tells how long it takes
                time.sleep(chance.uniform(0.3, 1.0) * whole)
                process.kill()
            out, err = reader.communicate(timeout=60)
            whole = time.monotonic() - begin
            process.kill()
        assert "Traceback" not in err, err
        assert reader.returncode in (0, 1), err
        last = (err.splitlines() or [""])[-1]  # warnings may come before
        assert reader.returncode == 0 or last.startswith("whocall: process"), err
        assert number > 0 or out.count("Thread ") >= 1
        statuses.add(reader.returncode)
    assert 0 in statuses
