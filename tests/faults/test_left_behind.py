"""What was half written when its writer was killed is removed by the next one that writes there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from whocall.base.output_file import write_bytes
from whocall.repair.symbol_cache import write_whole

PACKAGE = Path(__file__).resolve().parents[2] / "gdbext"
OUTPUT = """
from whocall.base.output_file import writing
with writing({path!r}, private=True) as file:
    print(flush=True)
    input()
"""
SYMBOLS = """
import os
from pathlib import Path
from whocall.repair.symbol_cache import write_whole
plain = os.fdopen
def slow(*words):
    print(flush=True)
    input()
    return plain(*words)
os.fdopen = slow
write_whole(Path({path!r}), b"x")
"""


def _output(path: Path) -> None:
    write_bytes(path, b"whole", private=True)


def _symbols(path: Path) -> None:
    write_whole(path, b"whole")


WRITERS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "an output": (OUTPUT, _output),
    "a symbol file": (SYMBOLS, _symbols),
}


def _begun(script: str, path: Path) -> subprocess.Popen[str]:
    """A process that is in the middle of writing the file."""
    process = subprocess.Popen(
        [sys.executable, "-c", script.format(path=str(path))],
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "\n"
    return process


def _age(folder: Path) -> list[Path]:
    """What is half written lies there for a minute."""
    found = [path for path in folder.iterdir() if path.name.startswith(".")]
    for path in found:
        os.utime(path, (0, 0))
    return found


@pytest.mark.parametrize("what", WRITERS)
def test_the_next_writer_removes_it(what: str, tmp_path: Path) -> None:
    script, write = WRITERS[what]
    path = tmp_path / "file"
    with _begun(script, path) as process:
        process.send_signal(signal.SIGKILL)
    assert len(_age(tmp_path)) == 1
    for name in (".new-notes", ".file.part", ".other.abcdefgh.part"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    write(path)
    left = sorted(each.name for each in tmp_path.iterdir())
    assert left == [".file.part", ".new-notes", ".other.abcdefgh.part", "file"]


@pytest.mark.parametrize("what", WRITERS)
def test_one_that_is_still_being_written_stays(what: str, tmp_path: Path) -> None:
    script, write = WRITERS[what]
    path = tmp_path / "file"
    with _begun(script, path) as process:
        (half,) = _age(tmp_path)
        write(path)
        assert half.exists()
        _, _ = process.communicate("\n", timeout=60)
    assert process.returncode == 0
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
