"""Names that were written for a terminal to obey, shown by a real one."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

WHOCALL = Path(__file__).resolve().parents[2] / "gdbext" / "whocall.py"
SOURCE = """
__attribute__((noinline)) int evilABCDEFGHI(int x) { __asm__(""); return x; }
int main(int count, char **words) { return evilABCDEFGHI(count); }
"""
EVIL = b"ev\x1b[2J\xc2\x9bil\r\x07\x08"
TOLD = rb"ev\x1b[2J\u009bil\r\x07\x08"
_STYLES = re.compile(rb"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It has a function whose name clears the screen."""
    folder = tmp_path_factory.mktemp("terminal")
    plain = folder / "plain"
    command = ["gcc", "-O1", "-x", "c", "-", "-o", plain]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    made = folder / "program"
    made.write_bytes(plain.read_bytes().replace(b"evilABCDEFGHI", EVIL))
    return made


def on_terminal(*words: str) -> bytes:
    """What a terminal is sent."""
    leader, follower = pty.openpty()
    command = [sys.executable, str(WHOCALL), *words, "--color", "always"]
    with subprocess.Popen(command, stdout=follower, stderr=follower) as child:
        os.close(follower)
        sent = b""
        while True:
            try:
                piece = os.read(leader, 4096)
            except OSError:
                break
            sent += piece
            if not piece:
                break
    os.close(leader)
    assert child.returncode is not None
    return sent


def harmless(sent: bytes) -> bool:
    text = _STYLES.sub(b"", sent).replace(b"\r\n", b"\n").decode()
    return all(letter.isprintable() or letter in "\n\t" for letter in text)


def test_a_name_is_told_and_not_obeyed(program: Path) -> None:
    sent = on_terminal("functions", str(program))
    assert TOLD in sent
    assert harmless(sent)
    assert b"\x1b[" in sent  # its own styles are


def test_nor_the_name_of_a_file(program: Path) -> None:
    sent = on_terminal("functions", str(program.with_name("ev\x1b[2Jil")))
    assert b"ev\\x1b[2Jil: cannot be opened" in sent
    assert harmless(sent)


def test_a_pipe_gets_them_told_too(program: Path) -> None:
    command = [sys.executable, WHOCALL, "functions", program]
    sent = subprocess.run(command, check=True, capture_output=True).stdout
    assert TOLD in sent
    assert harmless(sent)
