"""Ctrl-C at random moments, outside of gdb: `python3 -m faults.interrupting [--count N] [--seed S]`
in `tests`.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

from faults.commands import LONGEST, SCRIPT, Place, lines_of

# Its own waiting ends by Ctrl-C in order, which is what its tests look at.
NOT_HERE = {"receive", "serve"}
INTERRUPTED = 130
_OURS = f"{SCRIPT.parent}/whocall/"  # what Python says of its own beginning is no matter of ours


def _started(words: Sequence[str | Path], more: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *map(str, words)], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        env={**os.environ, **more}, start_new_session=True,
    )  # fmt: skip


def faults(place: Place, name: str, moment: float, folder: Path) -> Iterator[str]:
    """What is wrong when the command is interrupted so many seconds after its beginning."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    before = {path.name for path in place.folder.iterdir()}
    before_that = {path.name for path in temporary.iterdir()}  # one fault is told once
    process = _started(
        lines_of(place)[name],
        {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(folder / "cache")},
    )
    time.sleep(moment)
    try:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all of its processes
    except ProcessLookupError:
        pass
    try:
        out, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        yield f"{name} after {moment:.3f} s: goes on"
        return
    said = f"{name} after {moment:.3f} s, status {process.returncode}"
    if "Traceback" in out + err and _OURS in out + err:
        yield f"{said}: {err[-1500:]}"
    elif process.returncode not in (0, 1, INTERRUPTED, -signal.SIGINT):
        yield f"{said}: {err[-500:]}"
    if left := sorted({path.name for path in temporary.iterdir()} - before_that):
        yield f"{said}: left behind: {left}"
    half = {path.name for path in place.folder.iterdir()} - before
    if parts := [each for each in half if each.endswith(".part")]:
        yield f"{said}: left behind: {parts}"


def durations(place: Place, folder: Path) -> dict[str, float]:
    """How long each command takes, seconds."""
    found = {}
    for name in sorted(lines_of(place).keys() - NOT_HERE):
        begin = time.monotonic()
        with _started(lines_of(place)[name], {"XDG_CACHE_HOME": str(folder / "cache")}) as process:
            process.communicate(timeout=LONGEST)
        found[name] = time.monotonic() - begin
    return found


def campaign(place: Place, folder: Path, count: int, seed: int) -> Iterator[str]:
    """At so many moments, spread over all commands and all their time."""
    chance = random.Random(seed)
    known = durations(place, folder)
    for number in range(count):
        name = sorted(known)[number % len(known)]
        yield from faults(place, name, chance.uniform(0.0, 1.1 * known[name]), folder)


def main() -> int:
    """Prints what is wrong."""
    parser = argparse.ArgumentParser(prog="python3 -m faults.interrupting")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        import_module("conftest")  # nothing of the user's caches, as in the tests
        from faults.conftest import made_place

        place = made_place(folder)
        found = list(campaign(place, folder, arguments.count, arguments.seed))
    print("\n".join(found))
    print(f"{arguments.count:,} moments, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
