"""Reports that a receiver makes, while the process stands still: whole, true, and never in the way
of how the process ends.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
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
    assert line.startswith(f"whocall: the receiver at {nobody} has made no report (error 2)")
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


def greeted(made: Running, data: bytes, files: int = 1) -> socket.socket:
    """Greets as a process does that crashes; our end of the pair."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out, theirs:
        out.connect(str(made.socket))
        rights = array.array("i", [theirs.fileno()] * files)
        extras = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if files else []
        out.sendmsg([data], extras)
    ours.settimeout(60)
    return ours


@pytest.mark.parametrize("greeting", [b"", b"WHOCALL", b"WHOCALL2", b"x" * 70000])
@pytest.mark.parametrize("files", [0, 1, 2, 100])
def test_wrong_greetings_are_not_heard(
    greeting: bytes, files: int, cases: Path, running: Running
) -> None:
    with greeted(running, greeting, files) as ours:
        assert ours.recv(100) == b""
    crash(cases, "plain", **running.settings)
    assert len(running.reports()) == 1


RECORDS = {
    "nothing": b"", "letters": b"x" * 200, "too much": b"WHOCRASH" * 8000,
    "an end": b"WHOCRASH\x01\x08\x01\x00", "zeros": bytes(64),
}  # fmt: skip


@pytest.mark.parametrize("record", RECORDS)
def test_records_of_strangers(record: str, cases: Path, running: Running) -> None:
    with greeted(running, b"WHOCALL1") as ours:
        assert ours.recv(100) == b"READY"
        try:
            ours.send(RECORDS[record])
        except OSError:
            ours.close()
        else:
            assert ours.recv(100) == b""
    crash(cases, "plain", **running.settings)
    assert len(running.reports()) == 1
    status, said = running.end()
    assert status == 0
    assert "and is not told of: " in said
    assert "Traceback" not in said


def test_one_that_says_nothing_more_delays_nobody(cases: Path, running: Running) -> None:
    with greeted(running, b"WHOCALL1"):
        begun = time.monotonic()
        crash(cases, "plain", **running.settings)
        assert len(running.reports()) == 1
        assert time.monotonic() - begun < 15


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
