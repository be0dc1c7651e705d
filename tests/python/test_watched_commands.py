"""What people at a terminal see while commands take long: each says what it is about, and leaves
the terminal as it was.
"""

from __future__ import annotations

import fcntl
import gzip
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from programs import Crash, shared

PACKAGE = Path(__file__).resolve().parents[2] / "gdbext"
ERASE = "\r\x1b[K"
SOURCE = """
#include <stdlib.h>
__attribute__((noinline)) int last(int n) { if (n) abort(); return n; }
int main(int c, char **v) { return last(c) + 1; }
"""
# Every moment is a long one: what is shown does not hang on how fast the machine is.
PROGRAM = (
    f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n"
    "import whocall.base.long_work as long_work\n"
    "long_work.PATIENCE = 0.0\n"
    "from whocall.cli.main import main\n"
    "sys.exit(main(sys.argv[1:]))\n"
)
# Of each command that may take long: what it is about.
COMMANDS = {
    "bt {packed}": "Unpacking {packed}",
    "bt {core} --all": "Walking the stacks of {exe}",
    "compare {core}": "Asking gdb for its backtrace of {core}",
    "functions /bin/bash": "Reading the symbols of /bin/bash",
    "audit /bin/bash": "Auditing /bin/bash",
    "export /bin/bash -o {new}": "Making the symbol file of /bin/bash",
    "signatures {archive} -o {new}": "Reading {archive}",
    "resolve {log}": "Resolving {log}",
    "report {core} --json -o {new}": "walking the stacks",
    "triage {folder}": "Looking for cores in {folder}",
    "unpack {packed} -o {new}": "Unpacking {packed}",
}


@pytest.fixture(scope="module")
def crash() -> Crash:
    return shared("watched", SOURCE)


@pytest.fixture
def files(crash: Crash, tmp_path: Path) -> dict[str, Path]:
    packed = tmp_path / "core.gz"
    packed.write_bytes(gzip.compress(crash.core.read_bytes(), 1))
    log = tmp_path / "log"
    log.write_text("a line\n" * 100)
    archive = tmp_path / "libx.a"
    made = tmp_path / "x.o"
    code = "int twice(int n) { return n * 3 + n / 7 * 11 + (n ^ 0x12345); }"
    command = ["gcc", "-xc", "-", "-O1", "-c", "-o", str(made)]
    subprocess.run(command, input=code, text=True, check=True)
    subprocess.run(["ar", "cr", str(archive), str(made)], check=True)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "core").symlink_to(crash.core)
    return {
        "core": crash.core,
        "exe": crash.exe,
        "packed": packed,
        "log": log,
        "archive": archive,
        "folder": folder,
        "new": tmp_path / "new",
    }


def started(
    words: list[str], environment: dict[str, str] | None = None
) -> tuple[subprocess.Popen[bytes], int]:
    """The command with its error stream at a terminal of 250 columns, and our end of that."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 250, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "250", **(environment or {})},
    )
    os.close(theirs)
    return process, ours


def rest_of(ours: int) -> str:
    """What else is said there."""
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:  # the end of a terminal
        pass
    os.close(ours)
    return said.decode(errors="replace")


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_it_says_what_it_is_about(command: str, files: dict[str, Path], tmp_path: Path) -> None:
    words = [word.format(**files) for word in command.split()]
    process, ours = started(words, {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    said = rest_of(ours)
    assert process.wait() == 0, said
    assert COMMANDS[command].format(**files) in said
    remaining = said.rpartition(ERASE)[2]
    assert all(line.startswith("warning: ") for line in remaining.splitlines()), said


def test_an_interrupt_leaves_a_clean_terminal() -> None:
    process, ours = started(["audit", "/usr/bin/gdb"])
    said = os.read(ours, 4096).decode()
    process.send_signal(signal.SIGINT)
    said += rest_of(ours)
    assert process.wait() == 130
    assert "Auditing /usr/bin/gdb" in said
    assert said.endswith(ERASE)
    assert "\x1b[?25l" not in said
