"""Reports that a receiver makes, while the process stands still: whole, and those of the core."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from places.needs import ATTACHING, KERNEL_CORES

from runtime.campaign import backtraces_of_core, crashed_thread, run
from runtime.lab import PRELOAD, build, crash
from runtime.receivers import Running, receiver

COUNT = 15
pytestmark = pytest.mark.needs(ATTACHING)

CASES = {
    "plain": -signal.SIGSEGV, "abort": -signal.SIGABRT, "trap": -signal.SIGILL,
    "in_malloc": -signal.SIGSEGV, "full_stack": -signal.SIGSEGV, "thread": -signal.SIGSEGV,
    "full_in_thread": -signal.SIGSEGV, "call_of_nothing": -signal.SIGSEGV,
}  # fmt: skip


@pytest.mark.needs(KERNEL_CORES)
@pytest.mark.parametrize("case", CASES)
def test_the_report_is_that_of_the_core(
    case: str, cases: Path, running: Running, tmp_path: Path
) -> None:
    folder = tmp_path / "crash"
    folder.mkdir()
    reports, status, output = crash(cases, case, folder=folder, **running.settings)
    (told,) = running.reports()
    assert status == CASES[case]
    (core,) = folder.glob("core*")
    known = backtraces_of_core(core)
    assert crashed_thread(told) == crashed_thread(known)
    assert [each["lwp"] for each in told["threads"]] == [each["lwp"] for each in known["threads"]]
    assert told["threads"][0]["signal"] == known["threads"][0]["signal"]
    # In the process there is the first line, and where the report is.
    assert not reports[0].frames()
    (text,) = running.taken(".txt")
    assert f"whocall: the report is in {str(text).removesuffix('.taken')}\n" in output
    assert text.stat().st_mode & 0o777 == 0o600
    assert text.read_text().startswith("cases[")


@pytest.mark.needs(KERNEL_CORES)
def test_destroyed_processes(tmp_path: Path) -> None:
    outcome = run(COUNT, 0, tmp_path, by_receiver=True)
    assert set(outcome.kinds) == {"the same frames"}, outcome.lines()


def test_annotations_are_told(running: Running, tmp_path: Path) -> None:
    libraries = PRELOAD.parent
    program = build(
        tmp_path, "annotated.c", f"-L{libraries}", "-lwhocall", f"-Wl,-rpath,{libraries}"
    )
    crash(program, "crash", preload=False, **running.settings)
    crash(program, "crash", **running.settings)
    (text,) = running.taken(".txt")
    assert "annotation: " in text.read_text().split("\n\n")[0]


def test_nobody_listens(cases: Path, tmp_path: Path) -> None:
    nobody = tmp_path / "nobody"
    reports, status, _ = crash(cases, "plain", WHOCALL_CRASH_RECEIVER=str(nobody))
    assert status == -signal.SIGSEGV
    assert reports[0].complete
    (line,) = [line for line in reports[0].lines if "receiver" in line]
    assert f"the receiver at {nobody} has made no report (nobody listens there)" in line
    assert reports[0].frames()


def test_one_that_comes_later_is_found(cases: Path, tmp_path: Path) -> None:
    """The program was there first."""
    (tmp_path / "later").mkdir()
    waiting = tmp_path / "go"
    os.mkfifo(waiting)
    settings = {
        **os.environ, "LD_PRELOAD": str(PRELOAD),
        "WHOCALL_CRASH_RECEIVER": str(tmp_path / "later" / "crashes.sock"),
    }  # fmt: skip
    script = f"import os; open({str(waiting)!r}).read(); os.kill(os.getpid(), 11)"
    with (
        subprocess.Popen([sys.executable, "-c", script], env=settings) as program,
        receiver(tmp_path / "later", "--json") as made,
    ):
        waiting.write_text("now")
        assert program.wait(60) == -signal.SIGSEGV
        assert made.reports()[0]["threads"][0]["signal"] == "SIGSEGV"


def test_descriptors_that_are_closed(running: Running) -> None:
    """Daemons close whatever they find; the path leads there all the same."""
    script = "import os; os.closerange(3, 4096); os.kill(os.getpid(), 11)"
    settings = {**os.environ, "LD_PRELOAD": str(PRELOAD), **running.settings}
    ran = subprocess.run([sys.executable, "-c", script], env=settings, check=False)
    assert ran.returncode == -signal.SIGSEGV
    assert len(running.reports()) == 1


def test_descriptors_that_something_else_has_taken(running: Running) -> None:
    script = (
        "import os, socket; os.closerange(3, 4096); a, b = socket.socketpair();"
        "[os.dup2(a.fileno(), number) for number in range(50, 200)];"
        "os.kill(os.getpid(), 11)"
    )
    settings = {**os.environ, "LD_PRELOAD": str(PRELOAD), **running.settings}
    ran = subprocess.run([sys.executable, "-c", script], env=settings, check=False)
    assert ran.returncode == -signal.SIGSEGV
    assert len(running.reports()) == 1


def test_many_at_once(cases: Path, running: Running) -> None:
    settings = {**os.environ, "LD_PRELOAD": str(PRELOAD), **running.settings}
    programs = [
        subprocess.Popen([cases, "plain"], env=settings, stderr=subprocess.DEVNULL)
        for _ in range(24)
    ]
    assert {each.wait(100) for each in programs} == {-signal.SIGSEGV}
    assert len(running.reports()) == len(programs)


THREADS = """
#include <pthread.h>
#include <unistd.h>
__attribute__((noinline)) static void boom(void) { *(volatile int *)16 = 1; __asm__(""); }
static void *run(void *unused) { usleep(100000); boom(); return unused; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""


def test_a_main_thread_that_has_ended(running: Running, tmp_path: Path) -> None:
    source = tmp_path / "threads.c"
    source.write_text(THREADS)
    program = tmp_path / "threads"
    subprocess.run(["gcc", "-O1", source, "-o", program, "-pthread"], check=True)
    crash(program, **running.settings)
    (told,) = running.reports()
    names = [frame["function"] for frame in told["threads"][0]["frames"]]
    assert names[:2] == ["boom", "run"]
    assert len(told["threads"]) == 1


SMALL = """
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int count, char **words) {
  char *memory = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t small = {.ss_sp = memory + 16384, .ss_size = sysconf(_SC_MINSIGSTKSZ) + atoi(words[1])};
  if (count > 2) mprotect(memory, 16384, PROT_NONE);
  if (sigaltstack(&small, 0) != 0) return 7;
  raise(SIGFPE);
  return 8;
}
"""


@pytest.mark.parametrize("guard", [[], ["guard"]])
@pytest.mark.parametrize("listens", [True, False])
def test_small_stacks(listens: bool, guard: list[str], running: Running, tmp_path: Path) -> None:
    """Whose handler has no room for a report ends as it would, at once. (One whose stack does not
    even take what a handler begins with is the kernel's, which begins it again and again.)
    """
    source = tmp_path / "small.c"
    source.write_text(SMALL)
    program = tmp_path / "small"
    subprocess.run(["gcc", "-O1", source, "-o", program], check=True)
    settings = running.settings if listens else {}
    for size in range(1000, 9000, 700):
        reports, status, output = crash(program, str(size), *guard, **settings)
        assert status in (-signal.SIGFPE, -signal.SIGSEGV, 7), (size, status)
        assert "crashed here" not in output, (size, output)
    assert reports
    assert reports[0].complete or listens
