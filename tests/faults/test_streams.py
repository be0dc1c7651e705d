"""Standard streams that are full, closed or left: a sentence or silence, and never a traceback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from faults.commands import SCRIPT, Place, lines_of, run
from whocall.commands import own_names

NAMES = [*own_names(), "bt --all", "bt --json", "bt --list", "resolve --json", "triage --json",
         "--help", "bt --help", "--version", "--script-path"]  # fmt: skip
ENDING = [name for name in NAMES if name not in ("receive", "serve")]
UNWRITTEN = "whocall: standard output cannot be written: "


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk(name: str, place: Place) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = run(lines_of(place)[name], stdout=full)
    *more, last = ran.stderr.splitlines()
    assert last == f"{UNWRITTEN}No space left on device"
    assert all(line.startswith("warning: ") for line in more)
    assert ran.returncode == 1


def closing(redirections: str, words: list[str | Path]) -> subprocess.CompletedProcess[str]:
    """As a shell starts it: with streams that are closed."""
    command = ["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, SCRIPT, *words]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("name", NAMES)
def test_no_standard_output(name: str, place: Place) -> None:
    ran = closing(">&- </dev/null", lines_of(place)[name])
    assert ran.stderr.splitlines()[-1] == f"{UNWRITTEN}it is closed"
    assert "Traceback" not in ran.stderr
    assert ran.returncode == 1


@pytest.mark.parametrize("name", ENDING)
def test_neither_standard_input_nor_error(name: str, place: Place) -> None:
    """Warnings are not taken for results, and files that are opened not for streams."""
    words = lines_of(place)[name]
    usual = run(words)
    ran = closing("2>&- <&-", words)
    assert ran.returncode == usual.returncode
    assert ran.stderr == ""
    if name not in ("triage --json", "doctor"):
        assert _without_names(ran.stdout) == _without_names(usual.stdout)


def _without_names(text: str) -> str:
    """But for those of files that were written each time."""
    return re.sub(r"/tmp\w{8}\.symbols", "/NAME.symbols", text)


def test_complaints_that_cannot_be_written(place: Place) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = run(["bt", place.folder / "none"], stderr=full)
    assert (ran.returncode, ran.stdout) == (1, "")


@pytest.mark.parametrize(
    "words", [["bt", "-"], ["resolve"], ["triage", "-"], ["unpack", "-", "-o", "/dev/null"]]
)
def test_what_reads_a_closed_standard_input(words: list[str | Path]) -> None:
    ran = closing("<&-", words)
    assert ran.stderr.startswith("whocall: standard input is closed")
    assert ran.returncode == 1


@pytest.mark.parametrize("name", ["bt --json", "functions", "audit", "--help"])
def test_a_reader_that_has_enough(name: str, place: Place) -> None:
    """`| head -0`: silence."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ran = run(lines_of(place)[name], stdout=writing)
    finally:
        os.close(writing)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_memory_that_runs_out(place: Place) -> None:
    large = place.folder / "large"
    with large.open("wb") as file:
        file.write(place.core.read_bytes()[:4096])
        file.truncate(8 << 30)
    command = 'ulimit -v 3000000; exec "$@"'
    ran = subprocess.run(
        ["sh", "-c", command, "sh", sys.executable, SCRIPT, "bt", large],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    assert "ulimit -v" in ran.stderr
