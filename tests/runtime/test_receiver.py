"""Reports that a receiver makes, while the process stands still: whole, true, and never in the way
of how the process ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from places.needs import ATTACHING, KERNEL_CORES, OTHER_OWNERS

from runtime.campaign import backtraces_of_core, crashed_thread, run
from runtime.lab import PRELOAD, build, crash
from runtime.receivers import WHOCALL, Running, receiver, wait_until

COUNT = 15
pytestmark = pytest.mark.needs(ATTACHING)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with receiver(tmp_path, "--json") as made:
        yield made


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("cases"), "cases.c", "-O1")


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


def test_children_of_a_program(tmp_path: Path) -> None:
    """What a program starts is heard of too; the status is that of the program."""
    script = "import os; print('it runs'); pid = os.fork(); pid or os.kill(os.getpid(), 11);"
    script += "os.waitpid(pid, 0); raise SystemExit(7)"
    command = [sys.executable, WHOCALL, "receive", "-o", tmp_path / "kept", "--", sys.executable]
    ran = subprocess.run([*command, "-c", script], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (7, "it runs\n")
    (report,) = (tmp_path / "kept").iterdir()
    assert f": SIGSEGV: {report}\n" in ran.stderr


def test_it_is_killed_in_the_middle(cases: Path, tmp_path: Path) -> None:
    """The crash ends as it would have, with a report of its own, and nothing half-written."""
    (tmp_path / "core").mkdir()
    for at in range(8):
        with receiver(tmp_path, "--json") as made:
            settings = {**os.environ, "LD_PRELOAD": str(PRELOAD), **made.settings}
            program = subprocess.Popen(
                [cases, "eight_threads"], env=settings, stderr=subprocess.PIPE, text=True,
                cwd=tmp_path / "core",
            )  # fmt: skip
            time.sleep(0.01 + 0.03 * at)
            made.process.kill()
            said = program.communicate(timeout=60)[1]
        assert program.returncode == -signal.SIGSEGV
        assert "whocall: end of the report" in said or "whocall: the report is in" in said
        for text in made.store.iterdir():
            assert text.suffix != ".txt" or text.read_text().count("\nThread ") > 1


def test_nobody_reads_what_it_says(cases: Path, tmp_path: Path) -> None:
    """A pipe takes so much, and crashed processes wait for none of it."""
    command = [sys.executable, WHOCALL, "receive", "--socket", tmp_path / "s", "-o", tmp_path / "k"]
    here, there = os.pipe()
    fcntl.fcntl(there, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(there, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(there, b"x" * 512)
    os.set_blocking(there, True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=there, text=True) as made:
        try:
            assert made.stdout is not None
            made.stdout.readline()
            reports, _, output = crash(cases, "plain", WHOCALL_CRASH_RECEIVER=str(tmp_path / "s"))
            assert "whocall: the report is in" in output
            assert not reports[0].complete
        finally:
            made.terminate()
    os.close(here)
    os.close(there)


def test_no_zombies(cases: Path, running: Running) -> None:
    for _ in range(3):
        crash(cases, "plain", **running.settings)
    children = Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children")
    wait_until(lambda: not children.read_text().split(), "its processes end")


def test_a_store_that_is_full(cases: Path, tmp_path: Path) -> None:
    with receiver(tmp_path, "--quota", "1") as made:
        (made.store / "something").write_bytes(b"0" * 4096)
        reports, status, _ = crash(cases, "plain", **made.settings)
        assert f"is not told of: {made.store} is full: " in made.end()[1]
    assert status == -signal.SIGSEGV
    assert reports[0].complete
    assert [path.name for path in made.store.iterdir()] == ["something"]


def greeted(made: Running, record: bytes = b"") -> socket.socket:
    """Connects as a process does that crashes, and says that."""
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.connect(str(made.socket))
    ours.settimeout(60)
    if record:
        with contextlib.suppress(OSError):
            ours.send(record)
    return ours


def record_of_crash(program: bytes, thread: int = 0) -> bytes:
    """A record as a process sends it that has crashed."""
    lwp = thread or os.getpid()

    def section(kind: int, body: bytes) -> bytes:
        return struct.pack("<II", kind, len(body)) + body + bytes(-len(body) % 8)

    registers = struct.pack("<17Q", *[0] * 17)
    thread_body = struct.pack("<II16sIIIIII", lwp, 1, b"t", 17, 0, 0, 0, 1, 0) + registers
    sections = section(1, program) + section(3, thread_body)
    size = 64 + len(sections)
    header = bytearray(
        struct.pack(
            "<8sBBHHHIIQQIIIiQ", b"WHOCRASH", 1, 8, 1, 62, 0, size, 0, 1, 0,
            os.getpid(), lwp, 11, 1, 16,
        )
    )  # fmt: skip
    header[20:24] = struct.pack("<I", zlib.crc32(bytes(header) + sections))
    return bytes(header) + sections


RECORDS = {
    "letters": b"x" * 200, "too much": b"WHOCRASH" * 8000, "an end": b"WHOCRASH\x01\x08\x01\x00",
    "zeros": bytes(64),
}  # fmt: skip


@pytest.mark.parametrize("record", RECORDS)
def test_records_of_strangers(record: str, cases: Path, running: Running) -> None:
    with greeted(running, RECORDS[record]) as ours:
        assert ours.recv(1000)[:1] == b"-"
        assert ours.recv(1000) == b""
    crash(cases, "plain", **running.settings)
    assert len(running.reports()) == 1
    status, said = running.end()
    assert status == 0
    assert "and is not told of: " in said
    assert "Traceback" not in said


def test_long_names(cases: Path, running: Running) -> None:
    with greeted(running, record_of_crash(b"\xff" * 15000)) as ours:
        assert ours.recv(1000) == b"READY"
        ours.send(b"GO")
        assert ours.recv(1000)[:1] == b"+"
    crash(cases, "plain", **running.settings)
    assert len(running.reports()) == 2
    assert all(len(path.name) < 120 for path in running.store.iterdir())


@pytest.mark.parametrize("said", [b"NO", b"", b"x" * 5000])
def test_one_that_is_not_looked_at(said: bytes, cases: Path, running: Running) -> None:
    with greeted(running, record_of_crash(b"p")) as ours:
        assert ours.recv(1000) == b"READY"
        if said:
            ours.send(said)
        assert ours.recv(1000)[:1] == b"-"
    crash(cases, "plain", **running.settings)
    assert len(running.reports()) == 1


def test_those_that_say_nothing_delay_nobody(cases: Path, running: Running) -> None:
    with contextlib.ExitStack() as silent:
        for _ in range(50):
            silent.enter_context(greeted(running))
        begun = time.monotonic()
        crash(cases, "plain", **running.settings)
        assert len(running.reports()) == 1
        assert time.monotonic() - begun < 15


def test_a_worker_that_is_stopped(cases: Path, running: Running) -> None:
    """By its user, whose right that is."""
    children = Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children")
    with greeted(running, record_of_crash(b"p")) as ours:
        assert ours.recv(1000) == b"READY"
        (worker,) = map(int, children.read_text().split())
        os.kill(worker, signal.SIGSTOP)
        crash(cases, "plain", **running.settings)
        assert len(running.reports()) == 1
        os.kill(worker, signal.SIGKILL)
        assert ours.recv(1000)[:1] == b"-"
    assert len(children.read_text().split()) == 0


def test_few_files(cases: Path, tmp_path: Path) -> None:
    with receiver(tmp_path, "--json") as made, contextlib.ExitStack() as silent:
        resource.prlimit(made.process.pid, resource.RLIMIT_NOFILE, (40, 40))
        for _ in range(60):
            silent.enter_context(greeted(made))
        crash(cases, "plain", **made.settings)
        silent.close()
        crash(cases, "plain", **made.settings)
        assert made.process.poll() is None
        assert made.reports()


@pytest.mark.parametrize(
    ("sent", "to_all"), [(signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGHUP, False)]
)
def test_a_program_ends_as_it_wishes(sent: signal.Signals, to_all: bool, tmp_path: Path) -> None:
    """Ctrl-C comes to both; what ends us is handed on. Its last crash is heard, too."""
    script = f"""
import os, signal, sys, time
def end(number, frame):
    time.sleep(0.6)
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSEGV)
    os.wait()
    os._exit(5)
signal.signal({int(sent)}, end)
print("ready", flush=True)
time.sleep(60)
"""
    command = [sys.executable, WHOCALL, "receive", "-o", tmp_path / "kept", "--", sys.executable]
    with subprocess.Popen(
        [*command, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL),
    ) as made:  # fmt: skip
        assert made.stdout is not None
        assert made.stdout.readline() == "ready\n"
        (os.killpg if to_all else os.kill)(made.pid, sent)
        assert made.wait(60) == 5
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_the_end_of_a_terminal_leaves_nothing(tmp_path: Path) -> None:
    with receiver(tmp_path) as made:
        made.process.send_signal(signal.SIGHUP)
        assert made.process.wait(60) == 0
        assert not made.socket.exists()


@pytest.mark.needs(OTHER_OWNERS)
def test_another_users_process() -> None:
    """With that user's rights: a process of root's is nobody's."""
    nobody = 65534
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        folder = Path(place)
        folder.chmod(0o755)
        library = shutil.copy(PRELOAD, folder)
        with receiver(folder, "--json", "--everyone") as made:
            settings = {**made.settings, "LD_PRELOAD": library}
            ran = subprocess.run(
                [sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"],
                env=settings, capture_output=True, text=True, cwd="/", check=False,
                user=nobody, group=nobody, extra_groups=[],
            )  # fmt: skip
            assert ran.returncode == -signal.SIGSEGV
            (told,) = made.reports()
            assert told["threads"][0]["frames"]
            (report,) = made.taken(".txt")
            assert report.stat().st_uid == os.geteuid()


def test_somebody_listens_already(running: Running, tmp_path: Path) -> None:
    command = [sys.executable, WHOCALL, "receive", "--socket", running.socket, "-o", tmp_path]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert (
        ran.stderr
        == f"whocall: {running.socket}: nobody can listen there: Address already in use\n"
    )


def test_one_that_was_killed_leaves_its_place(cases: Path, tmp_path: Path) -> None:
    with receiver(tmp_path) as first:
        first.process.kill()
    assert first.socket.exists()
    with receiver(tmp_path, "--json") as second:
        crash(cases, "plain", **second.settings)
        assert len(second.reports()) == 1
        assert second.end()[0] == 0
    assert not second.socket.exists()
    (tmp_path / "crashes.sock").write_text("a file of the user's")
    command = [sys.executable, WHOCALL, "receive", "--socket", first.socket, "-o", tmp_path]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    assert first.socket.read_text() == "a file of the user's"


@pytest.mark.parametrize(
    ("words", "said"),
    [([], "receive takes --socket PATH, at which it listens, or -- PROGRAM to start"),
     (["--socket", "/nowhere/at"], "/nowhere/at: nobody can listen there: No such file or"),
     (["--socket", "/tmp/" + "x" * 200], "AF_UNIX path too long"),
     (["--", "/no/such/program"], "/no/such/program: cannot be started: No such file or directory"),
     (["-o", "/proc/kept", "--", "true"], "/proc/kept: no report can be kept there")],
)  # fmt: skip
def test_what_cannot_be_done(words: list[str], said: str, tmp_path: Path) -> None:
    command = [sys.executable, WHOCALL, "receive", *words]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == (2 if not words else 1)
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
