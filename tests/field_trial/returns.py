"""Frames behind the truth's end, proved by letting the process run on: a frame is real when the
thread comes back to its pc with the stack pointer that the walk says, innermost first.

The process must stand still since its core was written. Frames that never return (`main`) and those
that return after the patience stay unproved; one that is skipped by a walk is not noticed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from oracles.tools import environment

from field_trial import paths
from field_trial.score import Found, parts, places
from field_trial.truth import ThreadTruth, Truth

SECONDS, MOST_SECONDS = 0.5, 6.0
"""For each return, and for all of a core."""

MOST_FRAMES = 40

SCRIPT = Path(__file__).with_name("returns_in_gdb.py")


def prove(pid: int, core: Path, known: Truth) -> None:
    """Adds what returned to one thread of `known`: that with the most frames behind the end in the
    walk that shows the most.
    """
    claims = [
        (tid, claimed)
        for mode in ("tables", "hidden")
        for tid, claimed in _claims(core, known, mode).items()
    ]
    if claims:
        tid, claimed = max(claims, key=lambda it: len(it[1]))
        wanted = claimed[:MOST_FRAMES]
        count = _run_on(pid, tid, wanted)
        known.threads[tid].returned[:] = wanted[:count]


def _claims(core: Path, known: Truth, mode: str) -> dict[int, list[tuple[int, int]]]:
    """By thread: pc and stack pointer at the return to each frame behind the truth's end."""
    output = core.with_suffix(f".{mode}.json")
    command = [sys.executable, "-m", "field_trial.walk", str(core), known.exe, mode, str(output)]
    subprocess.run(command, cwd=paths.ROOT / "tests", check=True, capture_output=True)
    found = {}
    for word, thread in json.loads(output.read_text())["threads"].items():
        frames = [Found(*frame) for frame in thread["frames"]]
        true = known.threads.get(int(word))
        begin = _behind(frames, true) if true else 0
        if begin:
            found[int(word)] = places(frames)[begin:]
    return found


def _behind(frames: list[Found], true: ThreadTruth) -> int:
    """Index of the first frame behind the truth's end; 0 without any."""
    differing = parts([frame.pc for frame in frames], true.pcs, true.complete)
    return next((part.begin for part in differing if part.kind == "further"), 0)


def _run_on(pid: int, tid: int, claims: list[tuple[int, int]]) -> int:
    """How many of the claims came true, in order."""
    settings = [
        *("-iex", "set debuginfod enabled off", "-iex", "set auto-solib-add off"),
        *("-iex", "set print thread-events off", "-ex", "set pagination off"),
    ]
    command = ["gdb", "-nx", "-q", "-batch", *settings, "-p", str(pid), "-x", str(SCRIPT)]
    try:
        said: str | bytes = subprocess.run(
            command,
            env=environment() | {"TRIAL_CLAIMS": json.dumps([pid, tid, SECONDS, claims])},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=MOST_SECONDS,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired as error:
        # gdb was killed, and the process may not survive it: it is started again.
        said = error.stdout or b""
    text = said if isinstance(said, str) else said.decode()
    return text.count("returned ")
