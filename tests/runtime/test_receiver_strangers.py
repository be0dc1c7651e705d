"""What strangers say to a receiver, or do to it: nobody waits for that, nothing of it counts."""

from __future__ import annotations

import contextlib
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
from pathlib import Path

import pytest
from places.needs import ATTACHING, OTHER_OWNERS

from runtime.lab import PRELOAD, crash
from runtime.receivers import Running, receiver

pytestmark = pytest.mark.needs(ATTACHING)


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
