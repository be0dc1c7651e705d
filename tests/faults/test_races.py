"""Many at once, and some of them killed: what is kept for the next run stays right."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from faults.commands import SCRIPT, Place

RUNS = 12
MOMENTS = (0.1, 0.3, 0.5, 0.8)  # seconds after which a run is killed; none of them decides


def started(words: list[str | Path], cache: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *map(str, words)],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def answer(words: list[str | Path], cache: Path) -> bytes:
    run = started(words, cache)
    out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    return out


def test_many_runs_with_one_cache(place: Place) -> None:
    """Each finds it empty, half full or full, and all tell the same."""
    words: list[str | Path] = ["bt", place.core, place.exe]
    wanted = answer(words, place.folder / "alone")
    runs = [started(words, place.folder / "cache") for _ in range(RUNS)]
    for run in runs:
        out, err = run.communicate(timeout=120)
        assert (run.returncode, out) == (0, wanted), err
    assert answer(words, place.folder / "cache") == wanted


def test_runs_that_are_killed_while_they_write(place: Place) -> None:
    """A cache and a store of which a part was written: the next run is right."""
    store, cache = place.folder / "store", place.folder / "cache"
    cores = place.folder / "cores"
    cores.mkdir()
    for number in range(4):
        shutil.copy(place.core, cores / f"core.{number}")
    words: list[str | Path] = ["triage", cores, "-j", "1", "--store", store]
    for moment in MOMENTS:
        run = started(words, cache)
        time.sleep(moment)
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
    assert answer(words, cache).startswith(b"4 cores: 1 bucket; 0 could not be read")
    again = answer(words, cache)
    assert again.startswith(b"4 cores: 1 bucket; 0 could not be read")


def test_an_output_whose_writer_is_killed(place: Place) -> None:
    """The old file stays, whole, until the new one is."""
    output = place.folder / "out"
    output.write_bytes(b"old")
    for moment in MOMENTS:
        run = started(["export", place.exe, "-o", output], place.folder / "cache")
        time.sleep(moment)
        run.kill()
        run.communicate()
        assert output.read_bytes() == b"old" or output.read_bytes().startswith(b"\x7fELF")
