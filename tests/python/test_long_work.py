"""What takes long is told to a person who waits, and to nobody else; Ctrl-C ends it anywhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from whocall.base.native_module import native

PACKAGE = Path(__file__).resolve().parents[2] / "gdbext"
FILE = "/bin/bash"
READING = f"Reading the symbols of {FILE}"
ERASE = "\r\x1b[K"
PROGRAM = (
    f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n"
    "import whocall.base.long_work as long_work\n"
    "long_work.PATIENCE = float(sys.argv[1])\n"
    "from whocall.cli.main import main\n"
    "sys.exit(main(sys.argv[2:]))\n"
)


def told(patience: float, *arguments: str, terminal: bool = True) -> str:
    """What `whocall functions` writes on its stderr."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    command = [sys.executable, "-c", PROGRAM, str(patience), "functions", *arguments, FILE]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 4096):
                said += piece
        except OSError:  # the end of a terminal
            pass
    os.close(ours)
    assert process.returncode == 0, said
    return said.decode()


def test_at_a_terminal() -> None:
    said = told(0)
    assert READING in said
    assert said.endswith(ERASE)  # and nothing of it stays


def test_not_before_it_takes_long() -> None:
    assert told(1e9) == ""


def test_nobody_waits() -> None:
    assert told(0, terminal=False) == ""


def write(path: Path) -> None:
    """A copy that this process has not read yet."""
    path.write_bytes(Path(FILE).read_bytes())


def test_an_interrupt_leaves_nothing_half_done(tmp_path: Path) -> None:
    """At the first look of every piece of work; the next attempt reads all."""
    path = tmp_path / "prog"
    write(path)
    stopped: list[str] = []

    def stop(what: str, share: float | None) -> None:
        if what not in stopped:
            stopped.append(what)
            raise KeyboardInterrupt

    try:
        native.tell_of_long_work(stop, 0.0, 0.0)
        for _ in range(10):
            try:
                found = native.functions(os.fsencode(path))
                break
            except KeyboardInterrupt:
                pass
    finally:
        native.tell_of_long_work(None)
    assert stopped[0] == f"Reading the symbols of {path}"
    other = tmp_path / "other"
    write(other)
    whole = native.functions(os.fsencode(other))
    assert [found[at] for at in range(len(found))] == [whole[at] for at in range(len(whole))]
