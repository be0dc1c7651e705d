"""What /proc tells about a process that is on its way to the place where we want to dump it.

Waiting is polling of facts (a thread sleeps in system call N, a process has used T seconds of CPU),
never a guess at a duration: a loaded machine makes it slower, not wrong.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.005


class NotReachedError(RuntimeError):
    """A program ended, or did not come where it was to come, within the patience."""


def wait_for(reached: Callable[[], bool], what: str, patience: float = PATIENCE_SECONDS) -> None:
    """Poll `reached` until it holds; raise `NotReachedError` naming `what` when the patience
    (seconds) is over.
    """
    deadline = time.monotonic() + patience
    while not reached():
        if time.monotonic() > deadline:
            raise NotReachedError(f"{what}: not reached within {patience:.0f} s")
        time.sleep(POLL_SECONDS)


def thread_ids(pid: int) -> list[int]:
    """The thread ids of a process, ascending."""
    return sorted(int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir())


def mapped_files(pid: int) -> list[Path]:
    """The files that a process has mapped, as far as they are still there."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    names = {line[line.index("/") :] for line in lines if "/" in line}
    return sorted(path for path in map(Path, names) if path.is_file())


def is_asleep(pid: int, tid: int) -> bool:
    """Whether a thread sleeps in a system call (state S in its stat line, behind the parenthesised
    name).
    """
    stat = Path(f"/proc/{pid}/task/{tid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "S"


def system_call(pid: int, tid: int) -> tuple[int, int] | None:
    """(number, first argument) of the system call a thread sleeps in; None where it runs or the
    kernel does not tell.

    /proc/PID/task/TID/syscall says `running`, or `-1 SP PC` when stopped outside a call. A kernel
    without CONFIG_HAVE_ARCH_TRACEHOOK, or a container that forbids ptrace, has no readable file.
    """
    try:
        words = Path(f"/proc/{pid}/task/{tid}/syscall").read_text().split()
    except OSError:
        return None
    if len(words) < 2 or words[0] == "-1":
        return None
    return int(words[0]), int(words[1], 16)


def is_blocked(pid: int, tid: int, number: int, descriptor: int) -> bool:
    """Whether a thread sleeps in call `number` on `descriptor`; any sleep will do where the kernel
    is silent.
    """
    call = system_call(pid, tid)
    return is_asleep(pid, tid) and (call is None or call == (number, descriptor))


def is_in_call(pid: int, tid: int, number: int) -> bool:
    """Whether a thread sleeps in call `number`, whatever its arguments."""
    call = system_call(pid, tid)
    return is_asleep(pid, tid) and (call is None or call[0] == number)


def cpu_seconds(pid: int) -> float:
    """User CPU time that a process has used so far, in seconds."""
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[11]) / os.sysconf("SC_CLK_TCK")
