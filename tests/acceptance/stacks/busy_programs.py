"""Stock programs at work, to be stopped at any moment."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_suffix(".txt")
TEXT = "yes 'all work and no play 12345' | "
STARTED = 0.1
"""Seconds until a program has passed its start, as a rule."""


@dataclass(frozen=True)
class Busy:
    """How a program is started by a shell, which becomes it or the reader of a pipe's end."""

    name: str
    command: str


def busy_programs() -> list[Busy]:
    """All whose program is installed."""
    found = []
    for line in LIST.read_text().splitlines():
        name, _, command = line.partition(" ")
        reads = command.startswith("< ")
        command = command.removeprefix("< ")
        first = command.split()[0]
        if name != "#" and shutil.which(name if first == "sh" else first):
            found.append(Busy(name, f"{TEXT if reads else ''}exec {command}"))
    return found


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:
                continue
    return found


def _time_used(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return -1
    return int(fields[11]) + int(fields[12])


@contextmanager
def stopped(one: Busy, moments: random.Random, count: int) -> Iterator[Iterator[int]]:
    """The process that works most, stopped `count` times; its id each time."""
    launched = subprocess.Popen(
        ["sh", "-c", one.command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )

    def stops() -> Iterator[int]:
        time.sleep(STARTED)
        for _ in range(count):
            time.sleep(moments.uniform(0.005, 0.05))
            worker = max(_descendants(launched.pid), key=_time_used)
            if launched.poll() is not None:
                return
            try:
                os.kill(worker, signal.SIGSTOP)
            except ProcessLookupError:
                continue
            try:
                yield worker
            finally:
                with suppress(ProcessLookupError):  # it was about to end when it was stopped
                    os.kill(worker, signal.SIGCONT)

    try:
        yield stops()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(launched.pid, signal.SIGKILL)
        launched.wait()
