"""`whocall receive` as a command: what it starts, how it ends, and what it leaves behind."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from places.needs import ATTACHING

from runtime.lab import PRELOAD, crash
from runtime.receivers import WHOCALL, Running, receiver, wait_until

pytestmark = pytest.mark.needs(ATTACHING)


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
